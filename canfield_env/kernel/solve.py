"""The exact search: depth first over positions, each visited once, with every card known.

**Cards** are numbered afresh. Going down the ranks and changing colour at each step visits all 26 pairs (rank,
colour) in one cycle, because 13 is odd; a *pair* is one of the 26 places p of that cycle, counted from the rank
below the base rank, black: place p has relative rank ``12 - p % 13`` (0 the base rank) and colour ``p & 1``. A
card is ``p + 26 * s`` with ``s`` its suit within the colour (0: C or D, 1: S or H). So a card fits on another
where its pair comes next in the cycle, and a column is a stretch of the cycle. Foundation ``2 * colour + s``.

**A position** is a row of words:

- ``TALON``: a bit for each of the root's waste and stock cards that is still there; their order never changes.
- ``META``: foundation counts (4 bits each), reserve count (4 bits), waste pointer (6 bits), redeals left (6 bits),
  pending take-back (3 bits).
- ``CARDS``: a bit for each card in the columns.
- ``PAIRS``: bit p says, of the cards of pair p that lie on another card, whether card and the card under it differ
  in ``s``. One bit is enough for both: two cards of a pair lie on different cards, which are the two of the pair
  before.
- ``COLUMN`` to ``COLUMN + 3``: first card + 1, length, last card. Sorted; 0 is an empty column.

Reserve and foundations follow from their counts, and ``CARDS`` from these and ``TALON``.

**The key** of a position has 128 bits and is the whole position: pairs (26), the four first cards (24), redeals
left (6), a 1; the talon's bits (34), foundation counts (16), reserve count (4), waste pointer (6), pending take-back
(3). The columns can be read back: which cards they hold follows from the rest, a card of pair p + 1 that is no
first card lies on the one card of pair p that ``PAIRS`` says. The table holds full keys, so two positions are
never mistaken for one another. docs/solver.md proves the reductions below.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .bits import highest_bit, lowest_bit, popcount, prefetch
from .jit import entry, inlined, wrapping

TALON, META, CARDS, PAIRS, COLUMN, MOVE, KEY, DEPTH = 0, 1, 2, 3, 4, 8, 9, 11
WORDS = 12
KIDS = 256  # most successors of one position, with a margin (34 + 4 * 2 * 2 + ... are possible)

# Numbers of the problem: the rules and the cards that do not change.
DRAW, WHOLE, FILL, WASTE_ONLY, TAKE_BACK, PAST_BASE, UNLIMITED, FEATURES = range(8)
RESERVE_CARDS, TALON_PLACE, TALON_CARDS = 16, 32, 96  # tables: by count, by card, by place
TALON_SET = 8  # a bit for each card of the root's talon
NOISE = 9  # 0, or a number that shakes the order in which moves are tried
DEEPEST = 10  # positions this far from the root are not looked at (which proves nothing unwinnable)
PROBLEM_WORDS = 136

# Reductions, which can be switched off to test them.
TAILS = 1  # part of a column moves only where what it lays bare is used at once
SAFE = 2  # cards that nothing will need go to the foundation at once (without take-backs)
LIFT = 4  # with take-backs: what can be undone by one is done at once, and one is made only to be built on
POINTER = 8  # no position that draws alone lead to from one met before (unlimited redeals)
ALL_FEATURES = 15

NONE = 63  # no card
TO_FOUNDATION, TO_EMPTY = 62, 61

EXHAUSTED, WON, BUDGET, TABLE_FULL, STACK_FULL, PATH_FULL = range(6)
SP, USED, NODES, LEVEL = 0, 1, 2, 3  # words of the search's own state

_M26 = (1 << 26) - 1
_M52 = (1 << 52) - 1
_POINTER_1 = 15 << 57  # of a key's first word, where positions that differ in their pointer are taken together:
_POINTER_2 = 15 << 54  # and of its second word


def _rank_of_card() -> np.ndarray:
    return np.array([12 - (card % 26) % 13 if card < 52 else 99 for card in range(64)], np.int64)


def _next_on_foundation() -> np.ndarray:
    """Entry 16 f + n: the card that foundation f takes when it holds n cards."""
    table = np.full(64, NONE, np.int64)
    for card in range(52):
        p, s = card % 26, card // 26
        table[16 * (2 * (p & 1) + s) + 12 - p % 13] = card
    return table


def _held_by_foundation() -> np.ndarray:
    """Entry 16 f + n: a bit for each of the first n cards of foundation f."""
    table = np.zeros(64, np.int64)
    for f in range(4):
        for n in range(13):
            table[16 * f + n + 1] = table[16 * f + n] | np.int64(1 << int(NEXT[16 * f + n]))
    return table


RANK = _rank_of_card()
NEXT = _next_on_foundation()
HELD = _held_by_foundation()


# --- Cards ---------------------------------------------------------------------------------------------------


@inlined
def pair_of(card: int) -> int:
    """The card's place in the cycle."""
    return card - 26 if card >= 26 else card


@inlined
def twin_of(card: int) -> int:
    """The other card of the pair."""
    return card - 26 if card >= 26 else card + 26


@inlined
def suit_of(card: int) -> int:
    """The card's foundation."""
    return 2 * (pair_of(card) & 1) + (1 if card >= 26 else 0)


@inlined
def after(p: int, steps: int) -> int:
    """The pair ``steps`` further down the cycle (0 to 26)."""
    p += steps
    return p - 26 if p >= 26 else p


@inlined
def differ(a: int, b: int) -> int:
    """1 where the two cards' suits within their colours differ."""
    return (1 if a >= 26 else 0) ^ (1 if b >= 26 else 0)


# --- Columns -------------------------------------------------------------------------------------------------


@inlined
def column_word(first: int, length: int, top: int) -> int:
    """A column of at least one card as one number; greater first cards make greater numbers."""
    return ((first + 1) << 12) | (length << 6) | top


@inlined
def first_of(column: int) -> int:
    """The first card of a column that is not empty."""
    return (column >> 12) - 1


@inlined
def length_of(column: int) -> int:
    """The column's number of cards."""
    return (column >> 6) & 63


@inlined
def top_of(column: int) -> int:
    """The last card of a column that is not empty."""
    return column & 63


@inlined
def card_under(card: int, pairs: int) -> int:
    """The card that ``card``, which is no first card, lies on."""
    p = pair_of(card)
    s = (1 if card >= 26 else 0) ^ ((pairs >> p) & 1)
    return (25 if p == 0 else p - 1) + 26 * s


@inlined
def card_at(column: int, k: int, pairs: int) -> int:
    """Card ``k`` of a column: its suit is the first one's, changed as often as the bits in between say."""
    first = first_of(column)
    s = 1 if first >= 26 else 0
    p = pair_of(first)
    for _ in range(k):
        p = after(p, 1)
        s ^= (pairs >> p) & 1
    return p + 26 * s


@inlined
def place_in(column: int, p: int) -> int:
    """How many cards of a column lie before the first one of pair ``p``, if the column is long enough."""
    k = p - pair_of(first_of(column))
    return k + 26 if k < 0 else k


# --- Changing a row ------------------------------------------------------------------------------------------


@inlined
def put_on(kid: np.ndarray, j: int, card: int) -> None:
    """Put one card, from outside the columns, on the last card of column ``j``, or alone if that is empty."""
    column = kid[COLUMN + j]
    if column == 0:
        kid[COLUMN + j] = column_word(card, 1, card)
    else:
        p = pair_of(card)
        kid[PAIRS] = (kid[PAIRS] & ~(1 << p)) | (differ(card, top_of(column)) << p)
        kid[COLUMN + j] = (column & ~63) + 64 + card
    kid[CARDS] |= 1 << card


@inlined
def emptied(problem: np.ndarray, kid: np.ndarray, j: int) -> None:
    """Column ``j`` has lost its last card: empty it, or fill it from the reserve."""
    kid[COLUMN + j] = 0
    left = (kid[META] >> 16) & 15
    if problem[FILL] == 1 and left > 0:
        kid[META] -= 1 << 16
        card = problem[RESERVE_CARDS + left]
        kid[COLUMN + j] = column_word(card, 1, card)
        kid[CARDS] |= 1 << card


@inlined
def lift_top(problem: np.ndarray, kid: np.ndarray, j: int) -> None:
    """Put the last card of column ``j`` on its foundation."""
    column = kid[COLUMN + j]
    card = top_of(column)
    kid[CARDS] &= ~(1 << card)
    kid[META] += 1 << (4 * suit_of(card))
    if length_of(column) == 1:
        emptied(problem, kid, j)
    else:
        kid[COLUMN + j] = (column & ~63) - 64 + card_under(card, kid[PAIRS])


@inlined
def move_whole(problem: np.ndarray, kid: np.ndarray, i: int, j: int) -> None:
    """Move column ``i`` onto the last card of column ``j``."""
    moved, column = kid[COLUMN + i], kid[COLUMN + j]
    p = pair_of(first_of(moved))
    kid[PAIRS] = (kid[PAIRS] & ~(1 << p)) | (differ(first_of(moved), top_of(column)) << p)
    kid[COLUMN + j] = (column & ~63) + (moved & 0xFFF)
    emptied(problem, kid, i)


@inlined
def move_tail(kid: np.ndarray, i: int, k: int, head: int, j: int) -> None:
    """Move the tail of column ``i`` from its card ``k`` (1 or more), ``head``, onto column ``j``, empty or not."""
    moved, column = kid[COLUMN + i], kid[COLUMN + j]
    bare = card_under(head, kid[PAIRS])
    count = length_of(moved) - k
    if column == 0:
        kid[COLUMN + j] = column_word(head, count, top_of(moved))
    else:
        p = pair_of(head)
        kid[PAIRS] = (kid[PAIRS] & ~(1 << p)) | (differ(head, top_of(column)) << p)
        kid[COLUMN + j] = (column & ~63) + (count << 6) + top_of(moved)
    kid[COLUMN + i] = column_word(first_of(moved), k, bare)


# --- The talon -----------------------------------------------------------------------------------------------


@inlined
def index_in_talon(problem: np.ndarray, row: np.ndarray, card: int) -> int:
    """At which place, from 1, the card lies in waste and stock if draws and at most one redeal can bring it to
    the waste's top; 64 is added where that takes the redeal; 0 where the card cannot be reached.

    With n cards left and w of them on the waste, this pass's tops are w (if any), w + 3, w + 6, ... and n; those
    after a redeal 3, 6, ... and n.
    """
    talon = row[TALON]
    place = problem[TALON_PLACE + card]
    if (talon >> place) & 1 == 0:
        return 0
    i = popcount(talon & ((1 << place) - 1)) + 1
    w = (row[META] >> 20) & 63
    if problem[DRAW] == 1:
        if i >= w or problem[UNLIMITED] == 1:
            return i
    else:
        n = popcount(talon)
        if i >= w and (i == n or (i - w) % 3 == 0):
            return i
        if i == n or i % 3 == 0:
            if problem[UNLIMITED] == 1:
                return i
        else:
            return 0
    return i + 64 if (row[META] >> 26) & 63 > 0 else 0


@inlined
def take_from_talon(problem: np.ndarray, kid: np.ndarray, card: int, index: int) -> None:
    """Take a card, at the place that ``index_in_talon`` said, off the waste.

    With unlimited redeals, drawing 1, every card left can be reached from anywhere: the pointer means nothing and
    is 0. Drawing 3, a pointer that is a multiple of 3, or behind the last card, adds no top to those of a pass
    from the start, and is 0 too.
    """
    kid[TALON] &= ~(1 << problem[TALON_PLACE + card])
    w = (index & 63) - 1
    if problem[UNLIMITED] == 1:
        if problem[DRAW] == 1 or w % 3 == 0 or w == popcount(kid[TALON]):
            w = 0
    elif index >= 64:
        kid[META] -= 1 << 26
    kid[META] = (kid[META] & ~(63 << 20)) | (w << 20)


# --- Moves ---------------------------------------------------------------------------------------------------
#
# A move is one word: bits 0-5 a card and 6-11 where it goes, with what lies on it (a card, TO_FOUNDATION or
# TO_EMPTY); 12-23 the same of a tail that moves first, or NONE; then what the search needs to make it: 24-31 the
# source, 32-33 the column it goes to (or leaves for its foundation), 34-35 the tail's column, 36-41 its place
# there, 42-43 the column it goes to; 48 and up the priority.

FROM_NOWHERE, FROM_RESERVE, FROM_FOUNDATION, FROM_COLUMN, FROM_TALON = 0, 1, 2, 8, 64
NO_TAIL = NONE << 12


@inlined
def move_word(card: int, target: int, source: int, j: int, tail: int, priority: int) -> int:
    """A move; ``tail`` is NO_TAIL or the ``tail_word`` of a tail that moves first."""
    return card | (target << 6) | (source << 24) | (j << 32) | tail | (priority << 48)


@inlined
def tail_word(head: int, target: int, i: int, k: int, j: int) -> int:
    """A tail that moves first: from column ``i``, its card ``k`` on, to column ``j``."""
    return (head << 12) | (target << 18) | (i << 34) | (k << 36) | (j << 42)


@inlined
def make(problem: np.ndarray, row: np.ndarray, kid: np.ndarray, move: int) -> None:
    """Write to ``kid`` the position that a move leads to from ``row``."""
    for k in range(8):
        kid[k] = row[k]
    kid[META] &= ~(7 << 32)
    kid[MOVE] = move
    card, target, source, j = move & 63, (move >> 6) & 63, (move >> 24) & 255, (move >> 32) & 3
    if (move >> 12) & 63 != NONE:
        move_tail(kid, (move >> 34) & 3, (move >> 36) & 63, (move >> 12) & 63, (move >> 42) & 3)
    if FROM_COLUMN <= source < FROM_TALON:
        if target == TO_FOUNDATION:
            lift_top(problem, kid, j)
        elif source < FROM_COLUMN + 4:
            move_whole(problem, kid, source - FROM_COLUMN, j)
        return
    if source == FROM_RESERVE:
        kid[META] -= 1 << 16
    elif source >= FROM_TALON:
        take_from_talon(problem, kid, card, source - FROM_TALON)
    else:
        f = source - FROM_FOUNDATION
        kid[META] -= 1 << (4 * f)
        if target < 52 and problem[FEATURES] & LIFT != 0:
            kid[META] |= (f + 1) << 32
    if target == TO_FOUNDATION:
        kid[META] += 1 << (4 * suit_of(card))
    else:
        put_on(kid, j, card)


@inlined
def is_short(cards: int) -> bool:
    """Whether no column can have 26 cards, because the columns lack some pair altogether."""
    return ((cards | (cards >> 26)) & _M26) != _M26


@inlined
def in_talon(problem: np.ndarray, row: np.ndarray) -> int:
    """A bit for each card in waste and stock: those of the root that are neither in columns nor on foundations."""
    meta = row[META]
    held = HELD[meta & 15] | HELD[16 + ((meta >> 4) & 15)] | HELD[32 + ((meta >> 8) & 15)]
    return problem[TALON_SET] & ~(row[CARDS] | held | HELD[48 + ((meta >> 12) & 15)])


@inlined
def bare_cards(row: np.ndarray) -> int:
    """A bit for each last card of a column."""
    a, b, c, d = row[COLUMN], row[COLUMN + 1], row[COLUMN + 2], row[COLUMN + 3]
    tops = ((1 if a != 0 else 0) << (a & 63)) | ((1 if b != 0 else 0) << (b & 63))
    return tops | ((1 if c != 0 else 0) << (c & 63)) | ((1 if d != 0 else 0) << (d & 63))


@inlined
def first_cards(row: np.ndarray) -> int:
    """A bit for each first card of a column."""
    a, b = (1 << (row[COLUMN] >> 12)) | (1 << (row[COLUMN + 1] >> 12)), 1 << (row[COLUMN + 2] >> 12)
    return (a | b | (1 << (row[COLUMN + 3] >> 12))) >> 1


@inlined
def source_of(problem: np.ndarray, row: np.ndarray, card: int, reserve: int) -> int:
    """Where a card that could go to a column would come from: FROM_RESERVE, FROM_TALON + its index there,
    FROM_FOUNDATION + suit, FROM_COLUMN + the column that it is first of; FROM_NOWHERE."""
    if (row[CARDS] >> card) & 1 == 1:
        for i in range(4):
            if row[COLUMN + i] >> 12 == card + 1:
                return FROM_COLUMN + i
        return FROM_NOWHERE
    if card == reserve:
        return FROM_RESERVE
    index = index_in_talon(problem, row, card)
    if index > 0:
        return FROM_TALON + index
    if problem[TAKE_BACK] == 1:
        f = suit_of(card)
        if (row[META] >> (4 * f)) & 15 == RANK[card] + 1:
            return FROM_FOUNDATION + f
    return FROM_NOWHERE


@inlined
def worth(source: int) -> int:
    """What a card's source adds to the priority of putting it on a column."""
    if source == FROM_RESERVE:
        return 70
    if source >= FROM_TALON:
        return 40
    return 60 if source >= FROM_COLUMN else 1


@inlined
def write_moves(problem: np.ndarray, row: np.ndarray, moves: np.ndarray) -> int:
    """Write the moves of position ``row`` to ``moves``; how many there are."""
    meta, cards, pairs = row[META], row[CARDS], row[PAIRS]
    left = (meta >> 16) & 15
    reserve = problem[RESERVE_CARDS + left]
    pending = (meta >> 32) & 7
    whole = problem[WHOLE] == 1
    tails = problem[FEATURES] & TAILS != 0 and not whole and is_short(cards)
    tops = bare_cards(row)
    # Columns are sorted, empty ones first.
    empty = 0 if row[COLUMN] == 0 and (problem[FILL] == 0 or left == 0) else -1
    # What could go to a column: whether the talon's cards can be reached is seen later.
    movable = (in_talon(problem, row) | first_cards(row) | (1 << reserve)) & _M52
    if problem[TAKE_BACK] == 1:
        for f in range(4):
            count = (meta >> (4 * f)) & 15
            if count > 0:
                movable |= 1 << NEXT[16 * f + count - 1]
    built_on = NONE  # the card that a pending take-back brought
    n = 0
    if pending > 0:
        built_on = NEXT[16 * (pending - 1) + ((meta >> (4 * (pending - 1))) & 15)]

    # Foundations.
    for f in range(4):
        count = (meta >> (4 * f)) & 15
        card = NEXT[16 * f + count]
        if card == NONE:
            continue
        if (cards >> card) & 1 == 1:
            if (tops >> card) & 1 == 1:
                if pending == 0:
                    j = column_ending_in(row, card)
                    moves[n] = move_word(card, TO_FOUNDATION, FROM_COLUMN, j, NO_TAIL, 100)
                    n += 1
            elif tails:
                tail_to_empty = empty if problem[WASTE_ONLY] == 0 and pending == 0 else -1
                n = lay_bare_and_lift(row, moves, n, card, tops, tail_to_empty, built_on)
        elif pending == 0:
            if card == reserve:
                moves[n] = move_word(card, TO_FOUNDATION, FROM_RESERVE, 0, NO_TAIL, 110)
                n += 1
            else:
                index = index_in_talon(problem, row, card)
                if index > 0:
                    moves[n] = move_word(card, TO_FOUNDATION, FROM_TALON + index, 0, NO_TAIL, 90)
                    n += 1

    # Columns that hold a card.
    for j in range(4):
        column = row[COLUMN + j]
        if column == 0:
            continue
        top = top_of(column)
        if problem[PAST_BASE] == 0 and RANK[top] == 0:
            continue
        p = after(pair_of(top), 1)
        twin = twin_of(top)
        bare = NONE  # the card on the twin, which could come here and lay the twin bare
        i_bare, k_bare = -1, 0
        if tails and (cards >> twin) & 1 == 1:
            if (tops >> twin) & 1 == 0:
                bare = p + 26 * ((1 if twin >= 26 else 0) ^ ((pairs >> p) & 1))
                for i in range(4):
                    if i != j and row[COLUMN + i] != 0:
                        k = place_in(row[COLUMN + i], p)
                        if 1 <= k < length_of(row[COLUMN + i]):
                            i_bare, k_bare = i, k
            elif pending == 0 and column_ending_in(row, twin) < j:
                continue  # what could be put here was put on the twin: one tail move apart
        for s in range(2):
            card = p + 26 * s
            if (movable >> card) & 1 == 0:
                continue
            source = source_of(problem, row, card, reserve)
            if source == FROM_NOWHERE or source == FROM_COLUMN + j:
                continue
            if pending > 0 and top != built_on and not FROM_FOUNDATION <= source < FROM_COLUMN:
                continue
            moves[n] = move_word(card, top, source, j, NO_TAIL, worth(source))
            n += 1
            if bare != NONE and source != FROM_COLUMN + i_bare:
                tail = tail_word(bare, top, i_bare, k_bare, j)
                moves[n] = move_word(card, twin, source, i_bare, tail, worth(source) - 1)
                n += 1
        if not tails and not whole and pending == 0:
            for i in range(4):  # every tail that is not a whole column
                if i == j or row[COLUMN + i] == 0:
                    continue
                k = place_in(row[COLUMN + i], p)
                if k == 0:
                    k = 26
                if k < length_of(row[COLUMN + i]):
                    head = card_at(row[COLUMN + i], k, pairs)
                    moves[n] = move_word(head, top, FROM_COLUMN + 4, j, tail_word(head, top, i, k, j), 30)
                    n += 1

    if empty >= 0:
        n = fill_empty(problem, row, moves, n, empty, tails, reserve, movable, pending)
    return n


@inlined
def column_ending_in(row: np.ndarray, card: int) -> int:
    """The column whose last card is ``card``, which is one's."""
    for j in range(3):
        if row[COLUMN + j] & 63 == card and row[COLUMN + j] != 0:
            return j
    return 3


@inlined
def lay_bare_and_lift(
    row: np.ndarray, moves: np.ndarray, n: int, card: int, tops: int, empty: int, built_on: int
) -> int:
    """Moves in which the tail on ``card`` moves away, onto the card's twin or an empty column, and the card goes
    to its foundation."""
    p = after(pair_of(card), 1)
    twin = twin_of(card)
    to_twin = (tops >> twin) & 1 == 1 and (built_on == NONE or built_on == twin)
    if not to_twin and empty < 0:
        return n
    head = p + 26 * ((1 if card >= 26 else 0) ^ ((row[PAIRS] >> p) & 1))
    for i in range(4):
        if row[COLUMN + i] == 0:
            continue
        k = place_in(row[COLUMN + i], p)
        if 1 <= k < length_of(row[COLUMN + i]) and card_at(row[COLUMN + i], k - 1, row[PAIRS]) == card:
            if to_twin:
                tail = tail_word(head, twin, i, k, column_ending_in(row, twin))
                moves[n] = move_word(card, TO_FOUNDATION, FROM_COLUMN, i, tail, 95)
                n += 1
            if empty >= 0:
                tail = tail_word(head, TO_EMPTY, i, k, empty)
                moves[n] = move_word(card, TO_FOUNDATION, FROM_COLUMN, i, tail, 60)
                n += 1
    return n


@inlined
def fill_empty(
    problem: np.ndarray,
    row: np.ndarray,
    moves: np.ndarray,
    n: int,
    empty: int,
    tails: bool,
    reserve: int,
    movable: int,
    pending: int,
) -> int:
    """Moves in which something goes to the empty column ``empty``."""
    meta, pairs = row[META], row[PAIRS]
    if pending == 0:
        rest = row[TALON]
        while rest != 0:
            card = problem[TALON_CARDS + lowest_bit(rest)]
            rest &= rest - 1
            index = index_in_talon(problem, row, card)
            if index > 0:
                moves[n] = move_word(card, TO_EMPTY, FROM_TALON + index, empty, NO_TAIL, 10)
                n += 1
    if problem[WASTE_ONLY] == 1:
        return n
    if pending == 0 and reserve != NONE:
        moves[n] = move_word(reserve, TO_EMPTY, FROM_RESERVE, empty, NO_TAIL, 20)
        n += 1
    if problem[TAKE_BACK] == 1:
        for f in range(4):
            count = (meta >> (4 * f)) & 15
            if count > 0 and (pending == 0 or pending == f + 1):
                card = NEXT[16 * f + count - 1]
                moves[n] = move_word(card, TO_EMPTY, FROM_FOUNDATION + f, empty, NO_TAIL, 0)
                n += 1
    if problem[WHOLE] == 1:
        return n
    for i in range(4):
        column = row[COLUMN + i]
        for k in range(1, length_of(column)):
            head = card_at(column, k, pairs)
            if not tails:
                moves[n] = move_word(head, TO_EMPTY, FROM_COLUMN + 4, 0, tail_word(head, TO_EMPTY, i, k, empty), 0)
                n += 1
                continue
            card = twin_of(head)  # it could take the head's place
            if (movable >> card) & 1 == 0:
                continue
            source = source_of(problem, row, card, reserve)
            if source == FROM_NOWHERE or source == FROM_COLUMN + i:
                continue
            if pending > 0 and not FROM_FOUNDATION <= source < FROM_COLUMN:
                continue
            tail = tail_word(head, TO_EMPTY, i, k, empty)
            moves[n] = move_word(card, card_under(head, pairs), source, i, tail, 10)
            n += 1
    return n


# --- What is done at once ------------------------------------------------------------------------------------


@inlined
def is_safe(problem: np.ndarray, meta: int, card: int) -> bool:
    """Whether, without take-backs, a card that can go to its foundation can as well go at once.

    What could ever be put on it is the two cards d of the other colour one rank down, and on these the card e
    of the other suit of its colour two ranks down. Where each d, and e, is on its foundation or next there,
    whatever would be put on the card, or on a d, can go to its foundation instead, and nothing is left to be
    put on e. With ``build_past_base`` a base-rank card can be built on again: then d or e must be up already
    where it is one, and a base-rank card is safe only where both suits of the other colour are complete.
    """
    f = suit_of(card)
    r = RANK[card]
    other = 2 - (f & 2)
    low = min((meta >> (4 * other)) & 15, (meta >> (4 * other + 4)) & 15)
    same = (meta >> (4 * (f ^ 1))) & 15
    if problem[PAST_BASE] == 1:
        if r == 0:
            return low == 13
        if r == 1:
            return low >= 1
        if r == 2:
            return low >= 1 and same >= 1
    return low >= r - 1 and same >= r - 2


@inlined
def settle(problem: np.ndarray, kid: np.ndarray) -> None:
    """Do at once, in a row, what loses nothing; sort the columns."""
    if problem[TAKE_BACK] == 0:
        if problem[FEATURES] & SAFE != 0:
            again = True
            while again:
                again = lift_safe(problem, kid)
    elif problem[FEATURES] & LIFT != 0:
        if not is_short(kid[CARDS]):
            kid[META] &= ~(7 << 32)  # nothing is restricted there
        elif (kid[META] >> 32) & 7 == 0:
            again = True
            while again:
                again = lift_reversible(problem, kid)
    a, b, c, d = kid[COLUMN], kid[COLUMN + 1], kid[COLUMN + 2], kid[COLUMN + 3]
    a, b = min(a, b), max(a, b)
    c, d = min(c, d), max(c, d)
    a, c = min(a, c), max(a, c)
    b, d = min(b, d), max(b, d)
    b, c = min(b, c), max(b, c)
    kid[COLUMN], kid[COLUMN + 1], kid[COLUMN + 2], kid[COLUMN + 3] = a, b, c, d


@inlined
def lift_safe(problem: np.ndarray, kid: np.ndarray) -> bool:
    """Put safe cards on their foundations, from columns and reserve; whether there was one.

    From the talon too where that takes no top away from later passes: drawing 1; or the last card of all where
    the pointer is 0. Both need unlimited redeals.
    """
    found = False
    left = (kid[META] >> 16) & 15
    within_reach = (bare_cards(kid) | (1 << problem[RESERVE_CARDS + left])) & _M52
    if problem[UNLIMITED] == 1:
        if problem[DRAW] == 1:
            within_reach |= in_talon(problem, kid)
        elif kid[TALON] != 0 and (kid[META] >> 20) & 63 == 0:
            within_reach |= 1 << problem[TALON_CARDS + highest_bit(kid[TALON])]
    for f in range(4):
        card = NEXT[16 * f + ((kid[META] >> (4 * f)) & 15)]
        if (within_reach >> card) & 1 == 0 or not is_safe(problem, kid[META], card):
            continue
        found = True
        if (kid[CARDS] >> card) & 1 == 1:
            lift_top(problem, kid, column_ending_in(kid, card))
        else:
            kid[META] += 1 << (4 * f)
            if problem[TALON_PLACE + card] < NONE:
                kid[TALON] &= ~(1 << problem[TALON_PLACE + card])
            else:
                kid[META] -= 1 << 16
    return found


@inlined
def lift_reversible(problem: np.ndarray, kid: np.ndarray) -> bool:
    """Put the last cards of columns of two or more on their foundations, which a take-back can undo; whether
    there was one."""
    found = False
    for j in range(4):
        column = kid[COLUMN + j]
        if length_of(column) >= 2:
            card = top_of(column)
            if (kid[META] >> (4 * suit_of(card))) & 15 == RANK[card]:
                lift_top(problem, kid, j)
                found = True
    return found


# --- Keys and the table --------------------------------------------------------------------------------------


@inlined
def write_key(problem: np.ndarray, kid: np.ndarray) -> None:
    """Write the key of a row, whose columns are sorted, to its two words."""
    meta, cards, pairs = kid[META], kid[CARDS], kid[PAIRS]
    a, b, c, d = kid[COLUMN] >> 12, kid[COLUMN + 1] >> 12, kid[COLUMN + 2] >> 12, kid[COLUMN + 3] >> 12
    pending = (meta >> 32) & 7
    # Bits of pairs of which no card lies on another mean nothing.
    lying = cards & ~first_cards(kid)
    pairs &= (lying | (lying >> 26)) & _M26
    if problem[FEATURES] & TAILS != 0 and problem[WHOLE] == 0 and pending == 0 and is_short(cards):
        # A tail on one card of a pair whose other card is bare: one move leads from each to the other.
        tops = bare_cards(kid)
        twins = ((tops >> 26) | (tops << 26)) & cards & ~tops
        below = (twins | (twins >> 26)) & _M26
        pairs &= ~((below << 1) | (below >> 25))
    kid[KEY] = pairs | (a << 26) | (b << 32) | (c << 38) | (d << 44) | (((meta >> 26) & 63) << 50) | (1 << 56)
    kid[KEY + 1] = kid[TALON] | ((meta & 0xFFFFF) << 34) | (pending << 60)
    w = (meta >> 20) & 63
    if not merges(problem):
        kid[KEY + 1] |= w << 54
    elif w % 3 == 1:
        kid[KEY] |= (w // 3 + 1) << 57
    elif w % 3 == 2:
        kid[KEY + 1] |= (w // 3 + 1) << 54


@inlined
def merges(problem: np.ndarray) -> bool:
    """Whether the table takes positions together that differ in their waste pointer only."""
    return problem[UNLIMITED] == 1 and problem[FEATURES] & POINTER != 0


@inlined
@wrapping
def hash_numbers(a: int, b: int) -> Any:
    """A number of 62 bits that looks random."""
    x = np.uint64(a) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(b) * np.uint64(0xC2B2AE3D27D4EB4F)
    x ^= x >> np.uint64(32)
    x *= np.uint64(0xD6E8FEB86659FD93)
    x ^= x >> np.uint64(29)
    return np.int64(x & np.uint64(0x3FFFFFFFFFFFFFFF))


@inlined
def slot_of(table: np.ndarray, a: int, b: int, merge: bool) -> Any:
    """Where in the table to look for a key first."""
    if merge:
        return (hash_numbers(a & ~_POINTER_1, b & ~_POINTER_2) << 1) & (len(table) - 2)
    return (hash_numbers(a, b) << 1) & (len(table) - 2)


@inlined
def insert(table: np.ndarray, slot: int, a: int, b: int, merge: bool) -> bool:
    """Put a key into the table, looking from word ``slot`` (even) on; whether it was new.

    No key is 0 in its first word: bit 56 is always set. The table is never full.

    With ``merge`` (drawing 3, unlimited redeals), one entry stands for all positions that differ in their waste
    pointer only. Draws lead from a pointer to every greater one of the same residue modulo 3, and through a redeal
    to 0. So the entry holds the smallest pointer met of residue 1 (as ``w // 3 + 1``, 0 for none) and of residue 2;
    a greater one is not new, nor is 0 once the entry is there.
    """
    size = len(table)
    while table[slot] != 0:
        if merge:
            if ((table[slot] ^ a) & ~_POINTER_1) | ((table[slot + 1] ^ b) & ~_POINTER_2) == 0:
                known, met = table[slot] & _POINTER_1, a & _POINTER_1
                if met != 0 and (known == 0 or met < known):
                    table[slot] ^= known ^ met
                    return True
                known, met = table[slot + 1] & _POINTER_2, b & _POINTER_2
                if met != 0 and (known == 0 or met < known):
                    table[slot + 1] ^= known ^ met
                    return True
                return False
        elif table[slot] == a and table[slot + 1] == b:
            return False
        slot += 2
        if slot == size:
            slot = 0
    table[slot] = a
    table[slot + 1] = b
    return True


@entry
def rehash(problem: np.ndarray, old: np.ndarray, new: np.ndarray) -> None:
    """Put all keys of a table into a larger one that is all 0. Tables are 1-D int64 of a power of 2 words."""
    merge = merges(problem)
    for slot in range(0, len(old), 2):
        if old[slot] != 0:
            insert(new, slot_of(new, old[slot], old[slot + 1], merge), old[slot], old[slot + 1], merge)


@entry
def successors(problem: np.ndarray, row: np.ndarray, kids: np.ndarray, moves: np.ndarray) -> int:
    """Write the positions that the moves of ``row`` lead to, with their keys, to ``kids``; how many (for tests)."""
    n = write_moves(problem, row, moves)
    for i in range(n):
        make(problem, row, kids[i], moves[i])
        settle(problem, kids[i])
        write_key(problem, kids[i])
    return n


# --- The search ----------------------------------------------------------------------------------------------


@entry
def start(problem: np.ndarray, root: np.ndarray, stack: np.ndarray, table: np.ndarray, search: np.ndarray) -> None:
    """Begin a search at ``root`` (WORDS): it alone is in the table and on the stack."""
    for k in range(WORDS):
        stack[0, k] = root[k]
    settle(problem, stack[0])
    write_key(problem, stack[0])
    stack[0, DEPTH] = 0
    stack[0, MOVE] = 0
    a, b, merge = stack[0, KEY], stack[0, KEY + 1], merges(problem)
    insert(table, slot_of(table, a, b, merge), a, b, merge)
    search[SP] = 1
    search[USED] = 1
    search[NODES] = 1
    search[LEVEL] = 0


@entry
def search_on(
    problem: np.ndarray,
    stack: np.ndarray,
    path: np.ndarray,
    kids: np.ndarray,
    moves: np.ndarray,
    order: np.ndarray,
    table: np.ndarray,
    search: np.ndarray,
    budget: int,
    most_used: int,
) -> int:
    """Go on with a search until it ends, ``budget`` positions in all were met, ``most_used`` are in the table, or
    an array is full; which of these.

    ``stack`` (any number, WORDS) holds the positions met and not yet looked at, the next one last; ``path``
    (any number, WORDS) those from the root to the one looked at. At WON, ``path`` up to ``search[LEVEL]`` is
    the won game.
    """
    merge = merges(problem)
    while True:
        sp = search[SP]
        if sp == 0:
            return EXHAUSTED
        if search[NODES] >= budget:
            return BUDGET
        if search[USED] > most_used:
            return TABLE_FULL
        if sp + KIDS > len(stack):
            return STACK_FULL
        sp -= 1
        level = stack[sp, DEPTH]
        if level + 2 > len(path):
            return PATH_FULL
        search[SP] = sp
        for k in range(WORDS):
            path[level, k] = stack[sp, k]
        search[LEVEL] = level
        if path[level, META] & 0xFFFF == 0xDDDD:
            return WON  # the root, by what was done at once there
        if level >= problem[DEEPEST]:
            continue
        row = path[level]
        n = write_moves(problem, row, moves)
        for i in range(n):
            kid = kids[i]
            make(problem, row, kid, moves[i])
            settle(problem, kid)
            if kids[i, META] & 0xFFFF == 0xDDDD:
                for k in range(WORDS):
                    path[level + 1, k] = kids[i, k]
                search[LEVEL] = level + 1
                return WON
            write_key(problem, kid)
            slot = slot_of(table, kid[KEY], kid[KEY + 1], merge)
            prefetch(table, slot)
            order[0, i] = slot
        new = 0
        for i in range(n):
            if insert(table, order[0, i], kids[i, KEY], kids[i, KEY + 1], merge):
                # Sorted by priority, the highest last; of equals the first made comes last.
                priority = moves[i] >> 48
                if problem[NOISE] != 0:
                    priority += hash_numbers(moves[i] & 0xFFFFFF, problem[NOISE]) & 63
                j = new
                while j > 0 and order[2, j - 1] >= priority:
                    order[1, j] = order[1, j - 1]
                    order[2, j] = order[2, j - 1]
                    j -= 1
                order[1, j] = i
                order[2, j] = priority
                new += 1
        for j in range(new):
            i = order[1, j]
            for k in range(DEPTH):
                stack[sp + j, k] = kids[i, k]
            stack[sp + j, DEPTH] = level + 1
        search[SP] = sp + new
        search[USED] += new
        search[NODES] += new
