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
    return suit * 13 + (int(s["base_rank"]) + int(s["foundation"][suit]) - 1) % 13


# --- What fits where ---------------------------------------------------------------------------------------


@inner
def fits_foundation(s: State, card: int) -> bool:
    """Whether the card is its foundation's next: the base rank first, then one rank up, until 13 lie there."""
    count = int(s["foundation"][card // 13])
    return count < 13 and card % 13 == (int(s["base_rank"]) + count) % 13


@inner
def fits_card(s: State, card: int, top: int) -> bool:
    """Whether a column that ends in ``top`` takes the card: one rank down (king on ace), the other colour."""
    rank = top % 13
    return (
        (card % 13 + 1) % 13 == rank
        and is_red(card) != is_red(top)
        and (int(s["build_past_base"]) == 1 or rank != int(s["base_rank"]))
    )


@inner
def empty_column_takes(s: State, source: int) -> bool:
    """Whether an empty column takes a card, or a tail, from this pile."""
    if int(s["auto_fill"]) == 1 and int(s["reserve_count"]) > 0:
        return False  # such a column is the reserve's to fill
    return source == WASTE or int(s["waste_only"]) == 0


@inner
def tail_that_fits(s: State, source: int, target: int) -> int:
    """How many cards the shortest tail of column ``source`` has that fits on column ``target``; 0 for none.

    Neither column is empty. Of a column, the card of a given rank and colour comes again every 26 cards.
    """
    length = int(s["length"][source])
    first = int(s["first"][source])
    top = int(s["top"][target])
    rank = top % 13
    if int(s["build_past_base"]) == 0 and rank == int(s["base_rank"]):
        return 0
    k = (first % 13 - rank + 14) % 13  # the first card one rank below the target's top ...
    if (k & 1) == (is_red(first) ^ is_red(top)):
        k += 13  # ... and of the other colour
    if k >= length:
        return 0
    if int(s["whole_columns"]) == 1:
        return length if k == 0 else 0
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
    redeals = int(s["max_redeals"])
    return int(s["talon_count"]) > 0 and (redeals < 0 or int(s["redeals"]) < redeals)


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
        return count == 1 and fits_foundation(s, card)
    if source == target:
        return False
    from_column = source >= COLUMN
    if from_column and int(s["whole_columns"]) == 1 and count < available:
        return False
    if int(s["length"][target - COLUMN]) == 0:
        return empty_column_takes(s, source) and not (from_column and count == available)
    return fits_card(s, card, int(s["top"][target - COLUMN]))


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
    talon = int(s["talon_count"]) - 1
    for k in range(waste, talon):
        later = int(s["talon"][k + 1])
        s["talon"][k] = later
        s["place"][later] = PLACE_TALON + k
    s["waste_count"] = waste
    s["talon_count"] = talon
    return card


@inner
def take_from_reserve(s: State) -> int:
    """Take the reserve's top card; the next one is turned up."""
    count = int(s["reserve_count"]) - 1
    card = int(s["reserve"][count])
    s["reserve_count"] = count
    locate_reserve(s)
    if count == 0 and int(s["bonuses"]) & RESERVE_BONUS == 0:
        s["bonuses"] = int(s["bonuses"]) | RESERVE_BONUS
        s["andr_points"] = int(s["andr_points"]) + 500
    return card


@inner
def locate_reserve(s: State) -> None:
    """Write the places of the reserve's cards."""
    count = int(s["reserve_count"])
    for k in range(count - 1):
        s["place"][int(s["reserve"][k])] = PLACE_RESERVE_BELOW + count - 1 - k
    if count > 0:
        s["place"][int(s["reserve"][count - 1])] = PLACE_RESERVE_TOP


@inner
def put_on_column(s: State, column: int, card: int) -> None:
    """Put one card on a column, empty or not."""
    length = int(s["length"][column])
    bit = 1 if card >= 26 else 0  # hearts of the red suits, spades of the black ones
    if length == 0:
        s["first"][column] = card
        s["suit_bits"][column] = bit
    else:
        s["suit_bits"][column] = int(s["suit_bits"][column]) | (bit << length)
    s["length"][column] = length + 1
    s["top"][column] = card
    s["place"][card] = PLACE_COLUMN + 4 * column + length // 13


@inner
def drop_from_column(s: State, column: int, count: int) -> None:
    """Take ``count`` cards off a column's end."""
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
        s["suit_bits"][target] = 0
    for moved in range(count):
        s["place"][column_card(s, source, k + moved)] = PLACE_COLUMN + 4 * target + (length + moved) // 13
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
def cards_taken_from_waste(s: State) -> np.int64:
    """Bit c is set where card c, were it the waste's top, could go to a foundation or a column."""
    taken = np.int64(0)
    base = int(s["base_rank"])
    for suit in range(4):
        count = int(s["foundation"][suit])
        if count < 13:
            taken |= np.int64(1) << (suit * 13 + (base + count) % 13)
    for column in range(4):
        if int(s["length"][column]) == 0:
            if empty_column_takes(s, WASTE):
                return (np.int64(1) << 52) - 1
        else:
            top = int(s["top"][column])
            if int(s["build_past_base"]) == 1 or top % 13 != base:
                rank = (top % 13 + 12) % 13
                if is_red(top):
                    taken |= (np.int64(1) << rank) | (np.int64(1) << (39 + rank))
                else:
                    taken |= (np.int64(1) << (13 + rank)) | (np.int64(1) << (26 + rank))
    return taken


@inner
def no_play_to_come(s: State) -> bool:
    """Whether the player can know, where no play is possible now, that none will ever be.

    He knows once he has seen the whole stock: it is empty, or a redeal was made. Then the waste tops still
    to come in this pass count, and those of one full pass after a redeal (where draws of three turn up
    other cards than in this one); draws alone change nothing else.
    """
    waste, talon, count = int(s["waste_count"]), int(s["talon_count"]), int(s["draw_count"])
    if waste < talon and int(s["redeals"]) == 0:
        return False
    taken = cards_taken_from_waste(s)
    turned = waste
    while turned < talon:
        turned = min(turned + count, talon)
        if (taken >> int(s["talon"][turned - 1])) & 1:
            return False
    redeals = int(s["max_redeals"])
    if redeals < 0 or int(s["redeals"]) < redeals:
        turned = 0
        while turned < talon:
            turned = min(turned + count, talon)
            if (taken >> int(s["talon"][turned - 1])) & 1:
                return False
    return True
