"""What a player may believe: from an observation back to a record, and unseen cards dealt to the places left.

An observation names each card's place but for the *unseen* ones (code 0); as many places of reserve and talon are
then without a card. No rule looks at a hidden card, so every way to lay the unseen cards in those places has had the
same chance to look like this: a uniform shuffle is the exact belief of a player who remembers what he saw.
"""

from __future__ import annotations

import numpy as np

from .episode import clear, locate_reserve
from .jit import entry, inner
from .play import NO_CARD, note_full_pass
from .shuffle import bounded
from .state import (
    PLACE_COLUMN,
    PLACE_FOUNDATION,
    PLACE_HIDDEN,
    PLACE_RESERVE_BELOW,
    PLACE_RESERVE_TOP,
    PLACE_TALON,
    State,
)


@inner
def rebuild(s: State, observation: np.ndarray, unseen: np.ndarray) -> int:
    """Lay out in ``s``, which has the rules, what an observation shows; the unseen cards go to ``unseen``, int8,
    shape (52,), and their number is returned: -1 where there are not as many places without a card (NO_CARD).

    Places known and counts are then as in the position seen; what only scores remember, as far as the observation
    tells it.
    """
    clear(s)
    s["base_rank"] = observation[52]
    s["base_suit"] = -1
    reserve, waste = int(observation[57]), int(observation[60])
    talon = waste + int(observation[59])
    for k in range(reserve):
        s["reserve"][k] = NO_CARD
    for k in range(talon):
        s["talon"][k] = NO_CARD
    for k in range(4):
        s["foundation"][k] = observation[53 + k]
        s["foundation_cards"] = int(s["foundation_cards"]) + int(observation[53 + k])
        s["first"][k] = max(int(observation[62 + k]) - 1, 0)
        s["top"][k] = max(int(observation[66 + k]) - 1, 0)
        s["length"][k] = observation[70 + k]
    s["reserve_count"], s["waste_count"], s["talon_count"] = reserve, waste, talon
    hidden, known = 0, 0
    for card in range(52):
        place = int(observation[card])
        s["place"][card] = place
        if place == PLACE_HIDDEN:
            unseen[hidden] = card
            hidden += 1
        elif place > PLACE_RESERVE_BELOW:  # which itself is the last of the talon
            s["reserve"][reserve - 1 - (place - PLACE_RESERVE_BELOW)] = card
            known += 1
        elif place >= PLACE_TALON:
            s["talon"][place - PLACE_TALON] = card
            known += 1
        elif place == PLACE_RESERVE_TOP:
            s["reserve"][reserve - 1] = card
            known += 1
        elif place != PLACE_FOUNDATION:
            column, lap = (place - PLACE_COLUMN) // 4, (place - PLACE_COLUMN) % 4
            # The codes count columns first: PLACE_COLUMN + 4 * column + lap.
            k = 13 * lap + (int(s["first"][column]) % 13 - card % 13 + 13) % 13
            s["cards"][column] = int(s["cards"][column]) | (1 << card)
            s["suit_bits"][column] = int(s["suit_bits"][column]) | ((1 if card >= 26 else 0) << k)
    left, limit = int(observation[75]), int(s["max_redeals"])
    s["redeals"] = limit - left if limit >= 0 and left < 15 else int(observation[74])
    s["bonuses"] = observation[76]
    s["seconds"] = 100 * int(observation[79]) + int(observation[80])
    s["attempt"] = max(int(observation[81]), 1)
    points = 5 * (70 * int(observation[77]) + int(observation[78])) - 16_000
    s["andr_points"] = points + 10 * (int(s["seconds"]) // 10)
    return hidden if hidden + known == reserve + talon else -1


@inner
def deal_unseen(s: State, unseen: np.ndarray, count: int, stream: np.uint64) -> np.uint64:
    """Lay the ``count`` unseen cards in the places without one, each order with the same chance; the stream's new
    state. ``unseen`` is left in the order dealt."""
    for k in range(count - 1, 0, -1):
        stream, j = bounded(stream, k + 1)
        card = unseen[k]
        unseen[k] = unseen[j]
        unseen[j] = card
    dealt = 0
    for k in range(int(s["reserve_count"])):
        if int(s["reserve"][k]) == NO_CARD:
            s["reserve"][k] = unseen[dealt]
            dealt += 1
    locate_reserve(s)
    for k in range(int(s["talon_count"])):
        if int(s["talon"][k]) == NO_CARD:
            card = int(unseen[dealt])
            s["talon"][k] = card
            s["place"][card] = PLACE_TALON + k
            dealt += 1
    note_full_pass(s)
    return stream


@entry
def rebuild_record(states: np.ndarray, i: int, observation: np.ndarray, unseen: np.ndarray) -> int:
    """``rebuild`` in record ``i``."""
    return rebuild(states[i], observation, unseen)


@entry
def sample_worlds(
    known: np.ndarray, unseen: np.ndarray, count: int, stream: np.uint64, worlds: np.ndarray
) -> np.uint64:
    """Fill each record of ``worlds`` with record 0 of ``known`` and the unseen cards dealt; the stream's new state."""
    cards = unseen.copy()
    for i in range(len(worlds)):
        worlds[i] = known[0]
        stream = deal_unseen(worlds[i], cards, count, stream)
    return stream
