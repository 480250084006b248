"""The 95 actions of the environment, their mask, and what a player knows that no play is left.

0 draw or redeal · 1 W>F · 2-5 W>T · 6 R>F · 7-10 R>T · 11-14 T>F · 15-30 foundation > T (15 + 4 suit +
column) · 31-42 T>T, the shortest tail that fits on a column that is not empty (31 + 3 i + j, less 1 where
j > i) · 43-94 the tail headed by card c (43 + c) to the first empty column.
"""

from __future__ import annotations

import numpy as np

from .jit import inner
from .play import (
    ALL_CARDS,
    NO_CARD,
    can_draw,
    column_card,
    column_takes,
    empty_column_takes,
    first_empty_column,
    foundation_top,
    foundations_take,
    movable_heads,
    no_play_to_come,
    redeal_left,
    tail_that_fits,
)
from .state import COLUMN, FOUNDATION, PLACE_COLUMN, PLACE_TALON, RESERVE, STOCK, WASTE, State

WASTE_TO_FOUNDATION, WASTE_TO_COLUMN, RESERVE_TO_FOUNDATION, RESERVE_TO_COLUMN = 1, 2, 6, 7
COLUMN_TO_FOUNDATION, FOUNDATION_TO_COLUMN, COLUMN_TO_COLUMN, TAIL_TO_EMPTY = 11, 15, 31, 43

WORD = 48
"""Sets of actions are held in two words: bits 0-47, and 48-94."""

SPREAD = np.array([[byte >> bit & 1 for bit in range(8)] for byte in range(256)], np.int8)


def _piles(action: int) -> tuple[int, int]:
    """Source and target of the actions 0-42, and of the tails a column to be replaced."""
    if action < WASTE_TO_FOUNDATION:
        return STOCK, STOCK
    if action < RESERVE_TO_FOUNDATION:
        return WASTE, FOUNDATION if action < WASTE_TO_COLUMN else COLUMN + action - WASTE_TO_COLUMN
    if action < COLUMN_TO_FOUNDATION:
        return RESERVE, FOUNDATION if action < RESERVE_TO_COLUMN else COLUMN + action - RESERVE_TO_COLUMN
    if action < FOUNDATION_TO_COLUMN:
        return COLUMN + action - COLUMN_TO_FOUNDATION, FOUNDATION
    if action < COLUMN_TO_COLUMN:
        suit, column = divmod(action - FOUNDATION_TO_COLUMN, 4)
        return FOUNDATION + suit, COLUMN + column
    i, j = divmod(action - COLUMN_TO_COLUMN, 3)
    return COLUMN + i, COLUMN + j + (j >= i)


SOURCE, TARGET = (np.array(piles, np.int8) for piles in zip(*map(_piles, range(TAIL_TO_EMPTY)), strict=True))


@inner
def decode(s: State, action: int) -> tuple[int, int, int]:
    """The move (source, target, count) that an action means in this position; a count of 0 where none."""
    if action < TAIL_TO_EMPTY:
        source, target = int(SOURCE[action]), int(TARGET[action])
        count = tail_that_fits(s, source - COLUMN, target - COLUMN) if action >= COLUMN_TO_COLUMN else 1
        return source, target, count
    card = action - TAIL_TO_EMPTY
    empty = first_empty_column(s)
    place = int(s["place"][card])
    if empty < 0 or not PLACE_COLUMN <= place < PLACE_TALON:
        return COLUMN, COLUMN, 0
    column, lap = (place - PLACE_COLUMN) // 4, (place - PLACE_COLUMN) % 4
    k = 13 * lap + (int(s["first"][column]) % 13 - card % 13 + 13) % 13
    return COLUMN + column, COLUMN + empty, int(s["length"][column]) - k


@inner
def encode(s: State, source: int, target: int, count: int) -> int:
    """The action that makes this legal move, or -1: another empty column, or the longer of two tails."""
    if source == STOCK:
        return 0
    if target == FOUNDATION:
        if source == WASTE:
            return WASTE_TO_FOUNDATION
        return RESERVE_TO_FOUNDATION if source == RESERVE else COLUMN_TO_FOUNDATION + source - COLUMN
    column = target - COLUMN
    if int(s["length"][column]) == 0 and column != first_empty_column(s):
        return -1
    if source == WASTE:
        return WASTE_TO_COLUMN + column
    if source == RESERVE:
        return RESERVE_TO_COLUMN + column
    if source < COLUMN:
        return FOUNDATION_TO_COLUMN + 4 * (source - FOUNDATION) + column
    i = source - COLUMN
    if int(s["length"][column]) == 0:
        return TAIL_TO_EMPTY + column_card(s, i, int(s["length"][i]) - count)
    if tail_that_fits(s, i, column) != count:
        return -1
    return COLUMN_TO_COLUMN + 3 * i + column - (1 if column > i else 0)


@inner
def in_words(plays: int, tails: int) -> tuple[int, int]:
    """Bits of the actions 0-42, and of the heads of tails (actions 43-94), as the two words of a set of actions."""
    return plays | (tails & 31) << TAIL_TO_EMPTY, tails >> 5


@inner
def write_mask(s: State, mask: np.ndarray) -> None:
    """Write the legal actions to ``mask``, shape (95,), and to the record, with whether the player is stuck.

    All true where the game has ended, or nothing can be done.
    """
    plays, tails, wanted = legal_plays(s)
    drawable = can_draw(s)
    s["stuck"] = 0
    # One test, nearly always false, before the branches of no_play_to_come.
    if (plays | tails == 0) & ((wanted & int(s["full_pass"]) == 0) | (not redeal_left(s))):
        s["stuck"] = 1 if int(s["foundation_cards"]) < 52 and no_play_to_come(s, wanted) else 0
    low, high = in_words(plays | (1 if drawable else 0), tails)
    s["legal"][0] = low
    s["legal"][1] = high
    if int(s["ended"]) == 1 or low | high == 0:
        low, high = -1, -1
    spread_bits(low, high, mask)


@inner
def is_legal(s: State, action: int) -> bool:
    """Whether the action is legal, by the last mask written."""
    word = 1 if action >= WORD else 0
    return (int(s["legal"][word]) >> (action - WORD * word)) & 1 == 1


@inner
def spread_bits(low: int, high: int, mask: np.ndarray) -> None:
    """Write the bits of the two words of actions to ``mask``, one entry each, eight at a time."""
    for group in range(6):
        for bit in range(8):
            mask[8 * group + bit] = SPREAD[(low >> 8 * group) & 255, bit]
    for group in range(5):
        for bit in range(8):
            mask[WORD + 8 * group + bit] = SPREAD[(high >> 8 * group) & 255, bit]
    for bit in range(7):
        mask[WORD + 40 + bit] = (high >> (40 + bit)) & 1


@inner
def legal_plays(s: State) -> tuple[int, int, int]:
    """The legal actions but the draw as bits: those of actions 1-42, and the heads of tails (actions 43-94); and
    the cards that the board takes from the waste."""
    if int(s["foundation_cards"]) == 52:
        return 0, 0, 0
    takes = foundations_take(s)
    waste, reserve = int(s["waste_count"]), int(s["reserve_count"])
    waste_top = int(s["talon"][waste - 1]) if waste > 0 else NO_CARD
    reserve_top = int(s["reserve"][reserve - 1]) if reserve > 0 else NO_CARD
    plays = ((takes >> waste_top) & 1) << WASTE_TO_FOUNDATION
    plays |= ((takes >> reserve_top) & 1) << RESERVE_TO_FOUNDATION
    clubs, diamonds, hearts, spades = NO_CARD, NO_CARD, NO_CARD, NO_CARD
    if int(s["take_back"]) == 1:
        clubs, diamonds = top_or_none(s, 0), top_or_none(s, 1)
        hearts, spades = top_or_none(s, 2), top_or_none(s, 3)
    wanted = takes
    for column in range(4):
        # An empty column fits no card, and has none to move: no branch asks for it here.
        fits = column_takes(s, column)
        wanted |= fits
        top = int(s["top"][column]) if int(s["length"][column]) > 0 else NO_CARD
        plays |= ((takes >> top) & 1) << (COLUMN_TO_FOUNDATION + column)
        plays |= ((fits >> waste_top) & 1) << (WASTE_TO_COLUMN + column)
        plays |= ((fits >> reserve_top) & 1) << (RESERVE_TO_COLUMN + column)
        plays |= ((fits >> clubs) & 1) << (FOUNDATION_TO_COLUMN + column)
        plays |= ((fits >> diamonds) & 1) << (FOUNDATION_TO_COLUMN + 4 + column)
        plays |= ((fits >> hearts) & 1) << (FOUNDATION_TO_COLUMN + 8 + column)
        plays |= ((fits >> spades) & 1) << (FOUNDATION_TO_COLUMN + 12 + column)
        for other in range(4):
            if other != column:
                fitting = 1 if fits & movable_heads(s, other) != 0 else 0
                plays |= fitting << (COLUMN_TO_COLUMN + 3 * other + column - (1 if column > other else 0))
    empty = first_empty_column(s)
    if empty < 0:
        return plays, 0, wanted
    more, tails = legal_to_empty(s, empty)
    return plays | more, tails, ALL_CARDS if empty_column_takes(s, WASTE) else wanted


@inner
def top_or_none(s: State, suit: int) -> int:
    """The foundation's top card, or NO_CARD."""
    return foundation_top(s, suit) if int(s["foundation"][suit]) > 0 else NO_CARD


@inner
def legal_to_empty(s: State, column: int) -> tuple[int, int]:
    """The legal plays to ``column``, the first empty one: bits of actions 1-42, and heads of tails."""
    plays, tails = 0, 0
    if int(s["waste_count"]) > 0 and empty_column_takes(s, WASTE):
        plays |= 1 << (WASTE_TO_COLUMN + column)
    if empty_column_takes(s, RESERVE):
        if int(s["reserve_count"]) > 0:
            plays |= 1 << (RESERVE_TO_COLUMN + column)
        for suit in range(4):
            if int(s["take_back"]) == 1 and int(s["foundation"][suit]) > 0:
                plays |= 1 << (FOUNDATION_TO_COLUMN + 4 * suit + column)
        for other in range(4):
            if int(s["whole_columns"]) == 0 and int(s["length"][other]) > 0:
                tails |= int(s["cards"][other]) ^ (1 << int(s["first"][other]))
    return plays, tails
