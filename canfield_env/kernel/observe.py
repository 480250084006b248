"""The observation: everything a player knows of the game, and nothing else, as small codes."""

from __future__ import annotations

import numpy as np

from .jit import inner
from .play import andr_score
from .state import (
    PLACE_CODES,
    PLACE_HIDDEN,
    PLACE_TALON,
    REWARD_ANDR,
    SCORE_ANDR,
    TIER_SCREEN,
    TIER_THOUGHTFUL,
    State,
)

# The fields after the 52 card places: name, entries, values an entry can take, meaning.
COUNT_FIELDS = (
    ("base_rank", 1, 13, "rank of the base card, 0 an ace"),
    ("foundation", 4, 14, "cards on the foundations, C D H S"),
    ("reserve_count", 1, 14, "cards in the reserve"),
    ("reserve_top", 1, 53, "the reserve's top card + 1, 0 for none"),
    ("stock_count", 1, 35, "cards in the stock"),
    ("waste_count", 1, 35, "cards in the waste"),
    ("waste_top", 1, 53, "the waste's top card + 1, 0 for none"),
    ("column_first", 4, 53, "the columns' first cards + 1, 0 for none"),
    ("column_top", 4, 53, "the columns' last cards + 1, 0 for none"),
    ("column_length", 4, 53, "cards in the columns"),
    ("redeals", 1, 16, "redeals made, 15 for 15 or more"),
    ("redeals_left", 1, 16, "redeals left, 15 for 15 or more or no limit"),
    ("bonuses", 1, 32, "andr only: bit 0-3 a suit's completion paid, bit 4 the reserve's"),
    ("score", 2, 70, "andr only: (score + 16,000) / 5 as 70 * first + second, saturating"),
    ("clock", 2, 100, "andr only: seconds as 100 * first + second, 9,999 for that or more"),
    ("attempt", 1, 16, "andr only: number of the attempt, 15 for 15 or more"),
)
OBSERVATION_NVEC = np.array(
    [PLACE_CODES] * 52 + [values for _, entries, values, _ in COUNT_FIELDS for _ in range(entries)], dtype=np.int64
)
OBSERVATION_SIZE = len(OBSERVATION_NVEC)


@inner
def write_observation(s: State, observation: np.ndarray) -> None:
    """Write the observation of the record's tier to ``observation``, uint8, shape (OBSERVATION_SIZE,).

    A card's code is its place (state.py), or 0 where the player has not seen it (or, ``screen``, does not
    see it now). What he sees of the talon is a range of places:

    * ``screen``: the fan, the top draw_count cards of the waste.
    * ``recall``: the whole waste, and after a redeal the whole stock too: he saw it all go by.
    * ``thoughtful``: all of it, and the reserve.
    """
    waste, talon = int(s["waste_count"]), int(s["talon_count"])
    tier = int(s["tier"])
    seen_from, seen_to = PLACE_TALON, PLACE_TALON + waste
    if tier == TIER_THOUGHTFUL:
        seen_to = PLACE_CODES
    elif tier == TIER_SCREEN:
        seen_from = PLACE_TALON + max(waste - int(s["draw_count"]), 0)
    elif int(s["redeals"]) > 0:
        seen_to = PLACE_TALON + talon
    low, high = np.int8(seen_from), np.int8(seen_to)  # as narrow as the places: many cards at a time
    for card in range(52):
        place = s["place"][card]
        seen = (place < np.int8(PLACE_TALON)) | ((low <= place) & (place < high))
        observation[card] = place if seen else np.int8(PLACE_HIDDEN)

    observation[52] = int(s["base_rank"])
    for suit in range(4):
        observation[53 + suit] = int(s["foundation"][suit])
    reserve = int(s["reserve_count"])
    observation[57] = reserve
    observation[58] = int(s["reserve"][reserve - 1]) + 1 if reserve > 0 else 0
    observation[59] = talon - waste
    observation[60] = waste
    observation[61] = int(s["talon"][waste - 1]) + 1 if waste > 0 else 0
    for column in range(4):
        length = int(s["length"][column])
        observation[62 + column] = int(s["first"][column]) + 1 if length > 0 else 0
        observation[66 + column] = int(s["top"][column]) + 1 if length > 0 else 0
        observation[70 + column] = length
    redeals, limit = int(s["redeals"]), int(s["max_redeals"])
    observation[74] = min(redeals, 15)
    observation[75] = 15 if limit < 0 else min(max(limit - redeals, 0), 15)
    for k in range(76, 82):
        observation[k] = 0
    if int(s["score_kind"]) == SCORE_ANDR or int(s["reward_kind"]) == REWARD_ANDR:
        # Only this score has a memory: what a win still brings depends on the points and the time so far.
        observation[76] = int(s["bonuses"])
        score = min(max((andr_score(s) + 16_000) // 5, 0), 70 * 70 - 1)
        observation[77] = score // 70
        observation[78] = score % 70
        clock = min(int(s["seconds"]), 9_999)
        observation[79] = clock // 100
        observation[80] = clock % 100
        observation[81] = min(int(s["attempt"]), 15)
