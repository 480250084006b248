"""Episodes: dealing, stepping and asking, as the entry points that Python calls.

Entry points take an array of records and an index: handing over a single record from Python costs seven
times as much.
"""

from __future__ import annotations

import numpy as np

from . import shuffle
from .actions import decode, encode, in_words, is_legal, legal_plays, spread_bits, write_mask
from .jit import entry, inner
from .observe import write_observation
from .play import (
    RESERVE_BONUS,
    andr_score,
    can_draw,
    can_play,
    casino_score,
    column_card,
    note_full_pass,
    play,
    put_on_column,
    score,
    tail_that_fits,
    value,
)
from .state import (
    PLACE_FOUNDATION,
    PLACE_RESERVE_BELOW,
    PLACE_RESERVE_TOP,
    PLACE_TALON,
    STOCK,
    State,
)


@inner
def clear(s: State) -> None:
    """Empty table, scores at their start; rules, settings, attempt and stream stay."""
    for column in range(4):
        s["first"][column] = 0
        s["length"][column] = 0
        s["top"][column] = 0
        s["cards"][column] = 0
        s["suit_bits"][column] = 0
        s["foundation"][column] = 0
    s["foundation_cards"] = 0
    s["reserve_count"] = 0
    s["talon_count"] = 0
    s["waste_count"] = 0
    s["bonuses"] = 0
    s["stuck"] = 0
    s["ended"] = 0
    s["redeals"] = 0
    s["app_score"] = 0
    s["andr_points"] = 0
    s["seconds"] = 0
    s["number"] = -1


@inner
def locate_reserve(s: State) -> None:
    """Write the places of the reserve's cards."""
    count = int(s["reserve_count"])
    for k in range(count):
        s["place"][int(s["reserve"][k])] = PLACE_RESERVE_BELOW + count - 1 - k
    if count > 0:
        s["place"][int(s["reserve"][count - 1])] = PLACE_RESERVE_TOP


@inner
def deal(s: State, cards: np.ndarray) -> None:
    """Deal 52 cards: the reserve, the base card, the columns, the stock."""
    clear(s)
    for k in range(13):
        s["reserve"][k] = cards[k]
    s["reserve_count"] = 13
    locate_reserve(s)
    base = int(cards[13])
    s["base_rank"] = base % 13
    s["base_suit"] = base // 13
    s["foundation"][base // 13] = 1
    s["foundation_cards"] = 1
    s["place"][base] = PLACE_FOUNDATION
    for column in range(4):
        put_on_column(s, column, int(cards[14 + column]))
    for k in range(34):
        card = int(cards[18 + k])
        s["talon"][k] = card
        s["place"][card] = PLACE_TALON + k
    s["talon_count"] = 34
    note_full_pass(s)


@inner
def deal_number(s: State, number: np.int64) -> None:
    """Deal by number."""
    cards = np.empty(52, np.int8)
    shuffle.shuffle(number, cards)
    deal(s, cards)
    s["number"] = number


@inner
def step(s: State, action: int, observation: np.ndarray, mask: np.ndarray) -> tuple[int, bool]:
    """Take one action and write what the player then sees; the reward, and whether the action was illegal.

    An illegal action changes nothing; after the end every action is one. A position that is dead when the
    episode starts in it ends at the first step, whatever the action.
    """
    reward, illegal = 0, True
    if int(s["ended"]) == 0:
        if is_legal(s, action):
            illegal = False
            source, target, count = decode(s, action)
            before = value(s)
            play(s, source, target, count)
            s["seconds"] = int(s["seconds"]) + int(s["seconds_per_action"])
            reward = value(s) - before
    write_mask(s, mask)
    if int(s["foundation_cards"]) == 52 or (int(s["stuck"]) == 1 and int(s["end_when_stuck"]) == 1):
        s["ended"] = 1
        mask[:] = 1
    write_observation(s, observation)
    return reward, illegal


# --- Entry points ------------------------------------------------------------------------------------------


@entry
def shuffle_number(number: np.int64, cards: np.ndarray) -> None:
    """Write deal ``number`` to ``cards``, int8, shape (52,)."""
    shuffle.shuffle(number, cards)


@entry
def reset_cards(states: np.ndarray, i: int, cards: np.ndarray, number: int) -> None:
    """Deal ``cards``, int8, shape (52,), which are deal ``number`` (-1: of no number), to record ``i``."""
    deal(states[i], cards)
    states[i]["number"] = number


@entry
def load(
    states: np.ndarray,
    i: int,
    base_rank: int,
    base_suit: int,
    foundation: np.ndarray,
    reserve: np.ndarray,
    columns: np.ndarray,
    lengths: np.ndarray,
    talon: np.ndarray,
    waste_count: int,
    redeals: int,
) -> None:
    """Lay out a position that was checked: piles as int8 card ids; ``columns``, shape (4, 52), and their
    ``lengths``; ``foundation``, the counts; ``talon``, the waste from its bottom and then the stock.

    Bonuses for what is already done (a complete suit, an empty reserve) are gone.
    """
    s = states[i]
    clear(s)
    s["base_rank"] = base_rank
    s["base_suit"] = base_suit
    for suit in range(4):
        count = int(foundation[suit])
        s["foundation"][suit] = count
        s["foundation_cards"] = int(s["foundation_cards"]) + count
        for k in range(count):
            s["place"][suit * 13 + (base_rank + k) % 13] = PLACE_FOUNDATION
        if count == 13:
            s["bonuses"] = int(s["bonuses"]) | (1 << suit)
    for k in range(len(reserve)):
        s["reserve"][k] = reserve[k]
    s["reserve_count"] = len(reserve)
    locate_reserve(s)
    if len(reserve) == 0:
        s["bonuses"] = int(s["bonuses"]) | RESERVE_BONUS
    for column in range(4):
        for k in range(int(lengths[column])):
            put_on_column(s, column, int(columns[column, k]))
    for k in range(len(talon)):
        s["talon"][k] = talon[k]
        s["place"][int(talon[k])] = PLACE_TALON + k
    s["talon_count"] = len(talon)
    note_full_pass(s)
    s["waste_count"] = waste_count
    s["redeals"] = redeals
    if int(s["foundation_cards"]) == 52:
        # Not won in this game: what a win adds (andr_score) comes to nothing, and the score starts at 0.
        s["andr_points"] = 60 * int(s["attempt"])


@entry
def observe(states: np.ndarray, i: int, observation: np.ndarray, mask: np.ndarray) -> tuple[bool, bool, int, int]:
    """Write record ``i``'s observation, uint8, and its mask, int8, shape (95,); ended, stuck, score, foundation
    cards."""
    s = states[i]
    write_mask(s, mask)
    write_observation(s, observation)
    return int(s["ended"]) == 1, int(s["stuck"]) == 1, score(s), int(s["foundation_cards"])


@entry
def step_single(
    states: np.ndarray, action: int, observation: np.ndarray, mask: np.ndarray
) -> tuple[int, bool, bool, bool, int, int]:
    """Step record 0: reward, terminated, whether the action was illegal, stuck, score, foundation cards."""
    s = states[0]
    reward, illegal = step(s, action, observation, mask)
    return (
        reward,
        int(s["ended"]) == 1,
        illegal,
        int(s["stuck"]) == 1,
        score(s),
        int(s["foundation_cards"]),
    )


@entry
def legal_actions(states: np.ndarray, i: int, mask: np.ndarray) -> None:
    """Write record ``i``'s legal actions to ``mask``, int8, shape (95,): all 0 where nothing can be done."""
    plays, tails, _ = legal_plays(states[i])
    low, high = in_words(plays | (1 if can_draw(states[i]) else 0), tails)
    spread_bits(low, high, mask)


@entry
def try_move(states: np.ndarray, i: int, source: int, target: int, count: int) -> bool:
    """Make a move in record ``i`` if the rules have it (a drag to any empty column included); whether it was made."""
    s = states[i]
    if not (can_draw(s) if source == STOCK else can_play(s, source, target, count)):
        return False
    play(s, source, target, count)
    return True


@entry
def decode_action(states: np.ndarray, i: int, action: int) -> tuple[int, int, int]:
    """The move (source, target, count) of an action in record ``i``; a count of 0 where it means none."""
    return decode(states[i], action)


@entry
def encode_move(states: np.ndarray, i: int, source: int, target: int, count: int) -> int:
    """The action of a legal move in record ``i``, or -1 where no action makes it."""
    return encode(states[i], source, target, count)


@entry
def scores(states: np.ndarray, i: int) -> tuple[int, int, int]:
    """The app, casino and andr scores of record ``i``."""
    s = states[i]
    return int(s["app_score"]), casino_score(s), andr_score(s)


@entry
def fitting_tail(states: np.ndarray, i: int, source: int, target: int) -> int:
    """How many cards the shortest tail of column ``source`` has that fits on column ``target``; 0 for none."""
    s = states[i]
    return tail_that_fits(s, source, target) if source != target else 0


@entry
def column_cards(states: np.ndarray, i: int, cards: np.ndarray) -> None:
    """Write the columns' card ids, first to last, to the rows of ``cards``, int8, shape (4, 52)."""
    for column in range(4):
        for k in range(int(states[i]["length"][column])):
            cards[column, k] = column_card(states[i], column, k)
