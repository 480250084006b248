"""The rules: what may move where, what a move does, what it scores, and when nothing more can be done.

A move is a source pile, a target pile and a number of cards (state.py has the piles' numbers). Cards are
ids as in cards.py; a column's cards count from 0, the first one dealt or put there.
"""

from __future__ import annotations

import numpy as np

from .jit import inner
from .state import (
    COLUMN,
    FOUNDATION,
    PLACE_COLUMN,
    PLACE_FOUNDATION,
    PLACE_RESERVE_BELOW,
    PLACE_RESERVE_TOP,
    PLACE_TALON,
    RESERVE,
    REWARD_ANDR,
    REWARD_APP,
    REWARD_CARDS,
    REWARD_CASINO,
    SCORE_ANDR,
    SCORE_APP,
    STOCK,
    WASTE,
    State,
)

RESERVE_BONUS = 16  # bit of "bonuses"
ALL_CARDS = (1 << 52) - 1
NO_CARD = 63  # stands for the top of an empty pile: its bit is set in no set of cards


# --- Sets of cards: bit c stands for card c ----------------------------------------------------------------


def _fits_on(top: int) -> int:
    """The cards that a column ending in ``top`` takes: one rank down (a king on an ace), the other colour."""
    rank, red = (top % 13 + 12) % 13, top // 13 in (1, 2)
    return sum(1 << suit * 13 + rank for suit in ((0, 3) if red else (1, 2)))


FITS_ON = np.array([_fits_on(top) for top in range(52)], np.int64)


# --- Cards -------------------------------------------------------------------------------------------------


@inner
def is_red(card: int) -> int:
    """1 for diamonds and hearts, 0 for clubs and spades."""
    return 1 if 13 <= card < 39 else 0


@inner
def column_card(s: State, column: int, k: int) -> int:
    """The card at place ``k`` of a column: ranks go down from the first card, colours alternate."""
    first = int(s["first"][column])
    rank = (first % 13 + 52 - k) % 13
    bit = (int(s["suit_bits"][column]) >> k) & 1
    suit = 1 + bit if is_red(first) ^ (k & 1) else 3 * bit
    return suit * 13 + rank


@inner
def foundation_top(s: State, suit: int) -> int:
    """The top card of a foundation that is not empty."""
    rank = int(s["base_rank"]) + int(s["foundation"][suit]) - 1
    return suit * 13 + rank - (13 if rank >= 13 else 0)


# --- What fits where ---------------------------------------------------------------------------------------


@inner
def foundations_take(s: State) -> int:
    """The cards that go on the foundations: of each suit the base rank first, then one rank up (an ace after a
    king), until 13 lie there."""
    takes = 0
    base = int(s["base_rank"])
    for suit in range(4):
        count = int(s["foundation"][suit])
        rank = base + count - (13 if base + count >= 13 else 0)
        takes |= (1 if count < 13 else 0) << (suit * 13 + rank)
    return takes


@inner
def column_takes(s: State, column: int) -> int:
    """The cards that fit on a column's last card; none where the column is empty."""
    top = int(s["top"][column])
    if int(s["length"][column]) == 0 or (int(s["build_past_base"]) == 0 and top % 13 == int(s["base_rank"])):
        return 0
    return int(FITS_ON[top])


@inner
def movable_heads(s: State, column: int) -> int:
    """The cards of a column that may head a tail moved to another column: all, or with whole columns the first."""
    cards = int(s["cards"][column])
    return cards & (1 << int(s["first"][column])) if int(s["whole_columns"]) == 1 else cards


@inner
def empty_column_takes(s: State, source: int) -> bool:
    """Whether an empty column takes a card, or a tail, from this pile."""
    if int(s["auto_fill"]) == 1 and int(s["reserve_count"]) > 0:
        return False  # such a column is the reserve's to fill
    return source == WASTE or int(s["waste_only"]) == 0


@inner
def tail_that_fits(s: State, source: int, target: int) -> int:
    """How many cards the shortest tail of column ``source`` has that fits on column ``target``; 0 for none.

    Of a column, the card of a given rank and colour comes again every 26 cards.
    """
    if column_takes(s, target) & movable_heads(s, source) == 0:
        return 0
    length, first, top = int(s["length"][source]), int(s["first"][source]), int(s["top"][target])
    if int(s["whole_columns"]) == 1:
        return length
    k = (first % 13 - top % 13 + 14) % 13  # the first card one rank below the target's top ...
    if (k & 1) == (is_red(first) ^ is_red(top)):
        k += 13  # ... and of the other colour
    return (length - 1 - k) % 26 + 1


@inner
def first_empty_column(s: State) -> int:
    """The first empty column, or -1."""
    for column in range(4):
        if int(s["length"][column]) == 0:
            return column
    return -1


@inner
def can_draw(s: State) -> bool:
    """Whether a draw is possible: from the stock, or a redeal where one is left."""
    if int(s["waste_count"]) < int(s["talon_count"]):
        return True
    return int(s["talon_count"]) > 0 and redeal_left(s)


@inner
def redeal_left(s: State) -> bool:
    """Whether the rules allow one more redeal."""
    return int(s["max_redeals"]) < 0 or int(s["redeals"]) < int(s["max_redeals"])


@inner
def can_play(s: State, source: int, target: int, count: int) -> bool:
    """Whether this move is in the rules, a drag to any empty column and of any tail included.

    ``source``: WASTE, RESERVE, FOUNDATION + suit or COLUMN + column; ``target``: FOUNDATION or
    COLUMN + column; ``count``: cards moved.
    """
    if int(s["foundation_cards"]) == 52 or count < 1:
        return False
    if source == WASTE:
        if int(s["waste_count"]) == 0:
            return False
        available = 1
        card = int(s["talon"][int(s["waste_count"]) - 1])
    elif source == RESERVE:
        if int(s["reserve_count"]) == 0:
            return False
        available = 1
        card = int(s["reserve"][int(s["reserve_count"]) - 1])
    elif source < COLUMN:
        suit = source - FOUNDATION
        if int(s["take_back"]) == 0 or int(s["foundation"][suit]) == 0 or target == FOUNDATION:
            return False
        available = 1
        card = foundation_top(s, suit)
    else:
        available = int(s["length"][source - COLUMN])
        if count > available:
            return False
        card = column_card(s, source - COLUMN, available - count)
    if count > available:
        return False
    if target == FOUNDATION:
        return count == 1 and (foundations_take(s) >> card) & 1 == 1
    if source == target:
        return False
    from_column = source >= COLUMN
    if from_column and int(s["whole_columns"]) == 1 and count < available:
        return False
    if int(s["length"][target - COLUMN]) == 0:
        return empty_column_takes(s, source) and not (from_column and count == available)
    return (column_takes(s, target - COLUMN) >> card) & 1 == 1


# --- Moves -------------------------------------------------------------------------------------------------


@inner
def draw(s: State) -> None:
    """Turn up to draw_count cards onto the waste; with the stock empty, the waste back into the stock."""
    waste, talon = int(s["waste_count"]), int(s["talon_count"])
    if waste < talon:
        s["waste_count"] = min(waste + int(s["draw_count"]), talon)
    else:
        s["waste_count"] = 0
        s["redeals"] = int(s["redeals"]) + 1
        s["andr_points"] = int(s["andr_points"]) - (125 if int(s["draw_count"]) == 3 else 200)


@inner
def take_from_waste(s: State) -> int:
    """Take the waste's top card; the ones after it in the talon move up by one."""
    waste = int(s["waste_count"]) - 1
    card = int(s["talon"][waste])
    first = np.int8(waste)
    for k in range(33):  # all of them, whatever is left: a loop of fixed length is many cards at a time
        s["talon"][k] = s["talon"][k + 1] if np.int8(k) >= first else s["talon"][k]
    low, high = np.int8(PLACE_TALON + waste), np.int8(PLACE_RESERVE_BELOW)
    for other in range(52):
        place = s["place"][other]
        s["place"][other] = place - np.int8((low < place) & (place <= high))
    s["waste_count"] = waste
    s["talon_count"] = int(s["talon_count"]) - 1
    note_full_pass(s)
    return card


@inner
def take_from_reserve(s: State) -> int:
    """Take the reserve's top card; the next one is turned up."""
    count = int(s["reserve_count"]) - 1
    card = int(s["reserve"][count])
    s["reserve_count"] = count
    for other in range(52):
        place = s["place"][other]
        s["place"][other] = place - np.int8(place > np.int8(PLACE_RESERVE_BELOW))
    if count > 0:
        s["place"][int(s["reserve"][count - 1])] = PLACE_RESERVE_TOP
    elif int(s["bonuses"]) & RESERVE_BONUS == 0:
        s["bonuses"] = int(s["bonuses"]) | RESERVE_BONUS
        s["andr_points"] = int(s["andr_points"]) + 500
    return card


@inner
def put_on_column(s: State, column: int, card: int) -> None:
    """Put one card on a column, empty or not."""
    length = int(s["length"][column])
    if length == 0:
        s["first"][column] = card
    s["cards"][column] = int(s["cards"][column]) | (1 << card)
    # Of the red suits hearts have the bit, of the black ones spades.
    s["suit_bits"][column] = int(s["suit_bits"][column]) | ((1 if card >= 26 else 0) << length)
    s["length"][column] = length + 1
    s["top"][column] = card
    s["place"][card] = PLACE_COLUMN + 4 * column + length // 13


@inner
def drop_from_column(s: State, column: int, count: int) -> None:
    """Take ``count`` cards, which ``cards`` no longer has, off a column's end."""
    length = int(s["length"][column]) - count
    s["length"][column] = length
    s["suit_bits"][column] = int(s["suit_bits"][column]) & ((1 << length) - 1)
    if length > 0:
        s["top"][column] = column_card(s, column, length - 1)


@inner
def put_on_foundation(s: State, card: int) -> None:
    """Put a card on its suit's foundation, and pay for it."""
    suit = card // 13
    count = int(s["foundation"][suit]) + 1
    s["foundation"][suit] = count
    s["foundation_cards"] = int(s["foundation_cards"]) + 1
    s["place"][card] = PLACE_FOUNDATION
    s["app_score"] = int(s["app_score"]) + 5
    points = 60
    if count == 13 and int(s["bonuses"]) & (1 << suit) == 0:
        s["bonuses"] = int(s["bonuses"]) | (1 << suit)
        points += 350
    s["andr_points"] = int(s["andr_points"]) + points


@inner
def play(s: State, source: int, target: int, count: int) -> None:
    """Make a move that ``can_play`` allows, or a draw (``source`` STOCK) that ``can_draw`` allows.

    An ``auto_fill`` that takes the reserve's last card pays the andr score's 500 for the reserve run empty:
    only the 45 points for a card put on a column are not paid for a fill.
    """
    if source == STOCK:
        draw(s)
        return
    if source >= COLUMN and target >= COLUMN:
        move_tail(s, source - COLUMN, target - COLUMN, count)
    else:
        if source == WASTE:
            card = take_from_waste(s)
        elif source == RESERVE:
            card = take_from_reserve(s)
        elif source < COLUMN:
            suit = source - FOUNDATION
            card = foundation_top(s, suit)
            s["foundation"][suit] = int(s["foundation"][suit]) - 1
            s["foundation_cards"] = int(s["foundation_cards"]) - 1
        else:
            card = int(s["top"][source - COLUMN])
            s["cards"][source - COLUMN] = int(s["cards"][source - COLUMN]) ^ (1 << card)
            drop_from_column(s, source - COLUMN, 1)
        if target == FOUNDATION:
            put_on_foundation(s, card)
        else:
            put_on_column(s, target - COLUMN, card)
            if source == WASTE or source == RESERVE:
                s["andr_points"] = int(s["andr_points"]) + 45
    if source >= COLUMN and int(s["length"][source - COLUMN]) == 0:
        if int(s["auto_fill"]) == 1 and int(s["reserve_count"]) > 0:
            put_on_column(s, source - COLUMN, take_from_reserve(s))


@inner
def move_tail(s: State, source: int, target: int, count: int) -> None:
    """Move the last ``count`` cards of a column onto another."""
    k = int(s["length"][source]) - count
    length = int(s["length"][target])
    if length == 0:
        s["first"][target] = column_card(s, source, k)
    moved = 0
    for m in range(count):
        card = column_card(s, source, k + m)
        moved |= 1 << card
        s["place"][card] = PLACE_COLUMN + 4 * target + (length + m) // 13
    s["cards"][target] = int(s["cards"][target]) | moved
    s["cards"][source] = int(s["cards"][source]) ^ moved
    s["suit_bits"][target] = int(s["suit_bits"][target]) | ((int(s["suit_bits"][source]) >> k) << length)
    s["length"][target] = length + count
    s["top"][target] = s["top"][source]
    drop_from_column(s, source, count)


# --- Scores ------------------------------------------------------------------------------------------------


@inner
def casino_score(s: State) -> int:
    """Dollars: 5 a foundation card, 500 in all for a complete game, less the price of the pack."""
    cards = int(s["foundation_cards"])
    return (500 if cards == 52 else 5 * cards) - int(s["deck_price"])


@inner
def andr_score(s: State) -> int:
    """Points of the moves, less 10 for each full 10 seconds; a win adds its bonus (rules.md, section 3)."""
    score = int(s["andr_points"]) - 10 * (int(s["seconds"]) // 10)
    if int(s["foundation_cards"]) == 52:
        score += 2 * score - 180 * int(s["attempt"]) - 10 * int(s["seconds"])
    return score


@inner
def score(s: State) -> int:
    """The score of the rules' own kind."""
    kind = int(s["score_kind"])
    if kind == SCORE_APP:
        return int(s["app_score"])
    return andr_score(s) if kind == SCORE_ANDR else casino_score(s)


@inner
def value(s: State) -> int:
    """The sum whose change is the reward."""
    kind = int(s["reward_kind"])
    if kind == REWARD_CARDS:
        return 5 * int(s["foundation_cards"])
    if kind == REWARD_APP:
        return int(s["app_score"])
    if kind == REWARD_CASINO:
        return casino_score(s)
    if kind == REWARD_ANDR:
        return andr_score(s)
    return 1 if int(s["foundation_cards"]) == 52 else 0


# --- The end -----------------------------------------------------------------------------------------------


@inner
def note_full_pass(s: State) -> None:
    """Note, whenever the talon has changed, which cards a whole pass through it makes the waste's top."""
    talon, count = int(s["talon_count"]), int(s["draw_count"])
    tops, turned = 0, 0
    while turned < talon:
        turned = min(turned + count, talon)
        tops |= 1 << int(s["talon"][turned - 1])
    s["full_pass"] = tops


@inner
def no_play_to_come(s: State, wanted: int) -> bool:
    """Whether the player can know, where no play is possible now, that none will ever be.

    He knows once he has seen the whole stock: it is empty, or a redeal was made. Then the waste tops of one full
    pass after a redeal count (draws of three may turn up other cards there than in this one), and those still to
    come in this pass; draws alone change nothing else. ``wanted`` are the cards that the board takes from the
    waste.
    """
    turned, talon, count = int(s["waste_count"]), int(s["talon_count"]), int(s["draw_count"])
    if turned < talon and int(s["redeals"]) == 0:
        return False
    if redeal_left(s) and wanted & int(s["full_pass"]) != 0:
        return False
    while turned < talon:
        turned = min(turned + count, talon)
        if (wanted >> int(s["talon"][turned - 1])) & 1:
            return False
    return True
