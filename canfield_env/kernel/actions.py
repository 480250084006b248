"""The 95 actions of the environment, their mask, and what a player knows that no play is left.

0 draw or redeal · 1 W>F · 2-5 W>T · 6 R>F · 7-10 R>T · 11-14 T>F · 15-30 foundation > T (15 + 4 suit +
column) · 31-42 T>T, the shortest tail that fits on a column that is not empty (31 + 3 i + j, less 1 where
j > i) · 43-94 the tail headed by card c (43 + c) to the first empty column.
"""

from __future__ import annotations

import numpy as np

from .jit import inner
from .play import (
    can_draw,
    can_play,
    column_card,
    empty_column_takes,
    first_empty_column,
    fits_card,
    fits_foundation,
    foundation_top,
    no_play_to_come,
    tail_that_fits,
)
from .state import (
    COLUMN,
    FOUNDATION,
    PLACE_COLUMN,
    PLACE_TALON,
    RESERVE,
    STOCK,
    WASTE,
    State,
)

WASTE_TO_FOUNDATION, WASTE_TO_COLUMN, RESERVE_TO_FOUNDATION, RESERVE_TO_COLUMN = 1, 2, 6, 7
COLUMN_TO_FOUNDATION, FOUNDATION_TO_COLUMN, COLUMN_TO_COLUMN, TAIL_TO_EMPTY = 11, 15, 31, 43


@inner
def decode(s: State, action: int) -> tuple[int, int, int]:
    """The move (source, target, count) that an action means in this position; a count of 0 where none."""
    if action < WASTE_TO_FOUNDATION:
        return STOCK, STOCK, 1
    if action < WASTE_TO_COLUMN:
        return WASTE, FOUNDATION, 1
    if action < RESERVE_TO_FOUNDATION:
        return WASTE, COLUMN + action - WASTE_TO_COLUMN, 1
    if action < RESERVE_TO_COLUMN:
        return RESERVE, FOUNDATION, 1
    if action < COLUMN_TO_FOUNDATION:
        return RESERVE, COLUMN + action - RESERVE_TO_COLUMN, 1
    if action < FOUNDATION_TO_COLUMN:
        return COLUMN + action - COLUMN_TO_FOUNDATION, FOUNDATION, 1
    if action < COLUMN_TO_COLUMN:
        suit, column = (action - FOUNDATION_TO_COLUMN) // 4, (action - FOUNDATION_TO_COLUMN) % 4
        return FOUNDATION + suit, COLUMN + column, 1
    if action < TAIL_TO_EMPTY:
        i, j = (action - COLUMN_TO_COLUMN) // 3, (action - COLUMN_TO_COLUMN) % 3
        j += 1 if j >= i else 0
        both = int(s["length"][i]) > 0 and int(s["length"][j]) > 0
        return COLUMN + i, COLUMN + j, tail_that_fits(s, i, j) if both else 0
    card = action - TAIL_TO_EMPTY
    empty = first_empty_column(s)
    place = int(s["place"][card])
    if empty < 0 or not PLACE_COLUMN <= place < PLACE_TALON:
        return COLUMN, COLUMN, 0
    column, lap = (place - PLACE_COLUMN) // 4, (place - PLACE_COLUMN) % 4
    k = 13 * lap + (int(s["first"][column]) % 13 - card % 13 + 13) % 13
    return COLUMN + column, COLUMN + empty, int(s["length"][column]) - k


@inner
def is_legal(s: State, action: int, source: int, target: int, count: int) -> bool:
    """Whether ``action``, decoded to this move, is one of the legal actions: of empty columns only the first."""
    if source == STOCK:
        return can_draw(s)
    if target >= COLUMN and action < TAIL_TO_EMPTY and int(s["length"][target - COLUMN]) == 0:
        if target - COLUMN != first_empty_column(s):
            return False
    return can_play(s, source, target, count)


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
def write_mask(s: State, mask: np.ndarray) -> None:
    """Write the legal actions to ``mask``, shape (95,), and to the record whether the player is stuck.

    All true where the game has ended, or nothing can be done.
    """
    mask[:] = 0
    plays = 0
    if int(s["foundation_cards"]) < 52:
        plays = mark_plays(s, mask)
    drawable = can_draw(s)
    s["stuck"] = 1 if plays == 0 and int(s["foundation_cards"]) < 52 and no_play_to_come(s) else 0
    if drawable:
        mask[0] = 1
    if int(s["ended"]) == 1 or (plays == 0 and not drawable):
        mask[:] = 1


@inner
def mark_plays(s: State, mask: np.ndarray) -> int:
    """Mark every legal action but the draw, from the few cards that can move; how many there are."""
    plays = 0
    empty = first_empty_column(s)
    if int(s["waste_count"]) > 0:
        card = int(s["talon"][int(s["waste_count"]) - 1])
        plays += mark_card(s, mask, card, WASTE, empty, WASTE_TO_FOUNDATION, WASTE_TO_COLUMN)
    if int(s["reserve_count"]) > 0:
        card = int(s["reserve"][int(s["reserve_count"]) - 1])
        plays += mark_card(s, mask, card, RESERVE, empty, RESERVE_TO_FOUNDATION, RESERVE_TO_COLUMN)
    if int(s["take_back"]) == 1:
        for suit in range(4):
            if int(s["foundation"][suit]) > 0:
                card = foundation_top(s, suit)
                to_column = FOUNDATION_TO_COLUMN + 4 * suit
                plays += mark_card(s, mask, card, FOUNDATION + suit, empty, -1, to_column)
    tails = empty >= 0 and int(s["whole_columns"]) == 0 and empty_column_takes(s, COLUMN)
    for i in range(4):
        length = int(s["length"][i])
        if length == 0:
            continue
        if fits_foundation(s, int(s["top"][i])):
            mask[COLUMN_TO_FOUNDATION + i] = 1
            plays += 1
        for j in range(4):
            if j != i and int(s["length"][j]) > 0 and tail_that_fits(s, i, j) > 0:
                mask[COLUMN_TO_COLUMN + 3 * i + j - (1 if j > i else 0)] = 1
                plays += 1
        if tails:
            for k in range(1, length):
                mask[TAIL_TO_EMPTY + column_card(s, i, k)] = 1
            plays += length - 1
    return plays


@inner
def mark_card(
    s: State, mask: np.ndarray, card: int, source: int, empty: int, to_foundation: int, to_column: int
) -> int:
    """Mark where one card can go: ``to_foundation`` (-1: not asked) and ``to_column`` + column."""
    plays = 0
    if to_foundation >= 0 and fits_foundation(s, card):
        mask[to_foundation] = 1
        plays += 1
    for column in range(4):
        if int(s["length"][column]) == 0:
            takes = column == empty and empty_column_takes(s, source)
        else:
            takes = fits_card(s, card, int(s["top"][column]))
        if takes:
            mask[to_column + column] = 1
            plays += 1
    return plays
