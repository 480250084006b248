"""The exact solver: can this position be won, and how, with every card known?

The search itself is ``kernel/solve.py``; how it works, and why what it leaves out loses nothing, is in
docs/solver.md.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from .deals import Deal
from .kernel import episode
from .kernel import solve as kernel
from .moves import Move, resolve
from .positions import Position, new_record
from .rules import Rules, rules_for_draw

VERDICTS = ("won", "unwinnable", "unknown")
DEFAULT_TABLE_MEGABYTES = 1024

_CHUNK = 50_000
"""Positions between two looks at the clock."""
_ROUNDS = (2_000, 20_000, 100_000)
"""Positions that each of several searches may meet by the end of each round."""
_END = 3_000
"""Positions to meet in looking for a short end of a long won game."""
_SHORT = 150
"""Steps of the longest lines (draws and what is done at once not counted) that all searches but one look at."""
_FIRST_TABLE = 2**13
_LOAD = 0.7
"""The share of the table's places that may be taken."""


@dataclass(frozen=True)
class Solution:
    """What a search found.

    Attributes:
        verdict: ``"won"``: ``moves`` win; ``"unwinnable"``: all positions that matter were searched, no line
            wins; ``"unknown"``: a limit came first.
        moves: The moves of a won game from the position asked about, draws included; else empty.
        nodes: Different positions met, the first one included.
        seconds: Wall-clock time taken.
        reason: For ``"unknown"`` the limit that came first: ``"nodes"``, ``"seconds"`` or ``"memory"``; else "".
    """

    verdict: str
    moves: tuple[Move, ...]
    nodes: int
    seconds: float
    reason: str = ""


def solve(
    what: Deal | Position | str | Mapping[str, Any],
    rules: Rules | str | Mapping[str, Any] | None = None,
    *,
    max_nodes: int | None = None,
    max_seconds: float | None = None,
    table_megabytes: int = DEFAULT_TABLE_MEGABYTES,
    features: int = kernel.ALL_FEATURES,
) -> Solution:
    """Decide whether a deal or position can be won.

    Args:
        what: A ``Deal``, a deal's code, a ``Position`` or its dict.
        rules: For a deal, rules in any form ``Rules.read`` takes; by default "app". A code decides the draw count
            where they leave it open. A position has its own rules; others given must be the same.
        max_nodes: Most positions to meet; None for no limit.
        max_seconds: Most seconds to take, looked at every some ten milliseconds; None for no limit.
        table_megabytes: Most memory for the table of positions met, at 16 bytes a position; while the table grows
            up to an eighth more.
        features: Which reductions to use (``kernel.ALL_FEATURES``); to test them.

    Raises:
        ValueError: for a code, position or rules that cannot be read or do not fit together.
    """
    began = time.perf_counter()
    position = root_position(what, rules)
    if sum(position.foundations) == 52:
        return Solution("won", (), 1, time.perf_counter() - began)
    verdict, reason, nodes, rows = _decide(
        *_problem(position, features),
        math.inf if max_nodes is None else max_nodes,
        math.inf if max_seconds is None else began + max_seconds,
        table_megabytes,
    )
    moves: tuple[Move, ...] = ()
    if verdict == "won":
        moves = _line(position, rows)
        replay(position, moves)
    return Solution(verdict, moves, nodes, time.perf_counter() - began, reason)


def _decide(
    problem: np.ndarray, root: np.ndarray, most_nodes: float, deadline: float, table_megabytes: int
) -> tuple[str, str, int, np.ndarray]:
    """Verdict, reason, positions met, rows of the won game.

    Several searches take turns, for longer each round: a deal that can be won is often won at once in one order
    of trying moves and not for a long time in another. Only the first one's end proves a position unwinnable;
    after the last round it goes on alone. Where take-backs are allowed the others look for a line without any,
    a far smaller search.
    """
    variants = [problem, *_variants(problem)]
    searches: list[_Search] = []
    empty = np.empty((0, kernel.WORDS), np.int64)
    try:
        order = [*range(1, len(variants)), 0]
        for budget, k in [(_ROUNDS[0], 0), *product(_ROUNDS, order), (math.inf, 0)]:
            if k == len(searches):
                searches.append(_Search(variants[k], root, table_megabytes))
            status = kernel.BUDGET
            while status == kernel.BUDGET and searches[k].nodes < budget:
                nodes = sum(search.nodes for search in searches)
                if nodes >= most_nodes:
                    return "unknown", "nodes", nodes, empty
                if time.perf_counter() >= deadline:
                    return "unknown", "seconds", nodes, empty
                chunk = min(_CHUNK, budget - searches[k].nodes, most_nodes - nodes)
                status = searches[k].go_on(searches[k].nodes + int(chunk))
            nodes = sum(search.nodes for search in searches)
            if status == kernel.WON:
                rows = searches[k].won_rows()
                if len(rows) > _SHORT:
                    rows, more = _shorter(variants[1], rows, table_megabytes)
                    nodes += more
                return "won", "", nodes, rows
            if k == 0 and status == kernel.EXHAUSTED:
                return "unwinnable", "", nodes, empty
            if k == 0 and status != kernel.BUDGET:
                return "unknown", "memory", nodes, empty
        raise AssertionError("the last turn ends in one of these ways")
    finally:
        for search in searches:
            search.close()


def _shorter(problem: np.ndarray, rows: np.ndarray, table_megabytes: int) -> tuple[np.ndarray, int]:
    """A won game that leaves the long one ``rows`` early for a short end, if one is found soon, else ``rows``; and
    positions met. With take-backs the one search without a limit on length can wander for thousands of moves."""
    nodes = 0
    level = 4
    while level < len(rows):
        search = _Search(problem, rows[level], table_megabytes)
        status = search.go_on(_END)
        nodes += search.nodes
        found = search.won_rows()
        search.close()
        if status == kernel.WON:
            # The end's first position is that of the row, after what is safe was done at once.
            found[0, kernel.MOVE] = rows[level, kernel.MOVE]
            return np.concatenate([rows[:level], found]), nodes
        level += 4 + level // 8
    return rows, nodes


def _variants(problem: np.ndarray) -> list[np.ndarray]:
    """The problem with moves tried in orders that noise shakes, and where take-backs are allowed without them;
    none looks at long lines."""
    take_back = problem[kernel.TAKE_BACK]
    variants = []
    for allowed, noise in ((0, 0), (0, 1), (0, 2), (1, 3)) if take_back else ((0, 1), (0, 2)):
        variant = problem.copy()
        variant[kernel.TAKE_BACK] = allowed
        variant[kernel.NOISE] = noise
        variant[kernel.DEEPEST] = _SHORT
        variants.append(variant)
    return variants


def root_position(
    what: Deal | Position | str | Mapping[str, Any], rules: Rules | str | Mapping[str, Any] | None = None
) -> Position:
    """The position that ``solve`` starts from; arguments and errors as there."""
    if isinstance(what, str):
        what = Deal.from_code(what)
    if isinstance(what, Deal):
        source = f"the code {what.code()}" if what.draw_count else "the deal"
        read = rules_for_draw("app" if rules is None else rules, what.draw_count, source)
        cards, base = what.cards, what.cards[13]
        return Position(
            rules=read,
            base_rank=base % 13,
            foundations=tuple(int(suit == base // 13) for suit in range(4)),
            reserve=cards[:13],
            columns=tuple((card,) for card in cards[14:18]),
            stock=cards[18:],
            waste=(),
            base_suit=base // 13,
        )
    position = what if isinstance(what, Position) else Position.from_dict(what)
    if rules is not None:
        read = rules_for_draw(rules, position.rules.draw_count, "the position")
        if read != position.rules:
            raise ValueError(f"the position's rules are {position.rules}, not {read}")
    return position


def replay(position: Position, moves: tuple[Move, ...]) -> None:
    """Play ``moves`` from ``position`` as a ``Game`` does (the same functions, without its history, which takes
    ten times as long); they must win it.

    Raises:
        RuntimeError: if they do not, which would be a mistake of the solver.
    """
    states = new_record(position.rules)
    position.write(states, 0)
    for move in moves:
        if not episode.try_move(states, 0, *resolve(states, 0, move)):
            raise RuntimeError(f"the solver found a line with a move that is not legal: {move}")
    if states["foundation_cards"][0] != 52:
        raise RuntimeError("the solver found a line that does not win")


# --- Cards of the search -------------------------------------------------------------------------------------

_SUIT_OF_FOUNDATION = (0, 3, 1, 2)
"""The suit (C D H S as 0-3) of the search's foundation 2 * colour + s."""
_FOUNDATION_OF_SUIT = (0, 2, 3, 1)


def _number_of(card: int, base_rank: int) -> int:
    """The search's number of a card id."""
    f = _FOUNDATION_OF_SUIT[card // 13]
    p = 12 - (card % 13 - base_rank) % 13
    if p & 1 != f >> 1:
        p += 13
    return p + 26 * (f & 1)


def _numbers(base_rank: int) -> list[int]:
    """The search's number of each card id."""
    return [_number_of(card, base_rank) for card in range(52)]


def _problem(position: Position, features: int) -> tuple[np.ndarray, np.ndarray]:
    """The search's problem and first row for a position."""
    rules = position.rules
    number = _numbers(position.base_rank)
    problem = np.zeros(kernel.PROBLEM_WORDS, np.int64)
    problem[kernel.DRAW] = rules.draw_count
    problem[kernel.WHOLE] = rules.column_moves == "whole"
    problem[kernel.FILL] = rules.auto_fill
    problem[kernel.WASTE_ONLY] = rules.empty_column == "waste"
    problem[kernel.TAKE_BACK] = rules.take_back
    problem[kernel.PAST_BASE] = rules.build_past_base
    problem[kernel.UNLIMITED] = rules.max_redeals is None
    if rules.column_moves == "tail" and not features & kernel.TAILS:
        features &= ~kernel.LIFT  # a pending take-back knows tails only with what they lay bare
    problem[kernel.FEATURES] = features
    problem[kernel.DEEPEST] = 2**40
    reserve, talon = position.reserve, position.waste + position.stock
    problem[kernel.RESERVE_CARDS] = kernel.NONE
    for k, card in enumerate(reserve):
        problem[kernel.RESERVE_CARDS + 1 + k] = number[card]
    problem[kernel.TALON_PLACE : kernel.TALON_PLACE + 64] = 63
    for k, card in enumerate(talon):
        problem[kernel.TALON_PLACE + number[card]] = k
        problem[kernel.TALON_SET] |= 1 << number[card]
        problem[kernel.TALON_CARDS + k] = number[card]

    row = np.zeros(kernel.WORDS, np.int64)
    row[kernel.TALON] = (1 << len(talon)) - 1
    waste = len(position.waste)
    redeals_left = 0
    if rules.max_redeals is None:
        # Such a pointer adds nothing to a pass from the start (kernel.take_from_talon).
        if rules.draw_count == 1 or waste % 3 == 0 or not position.stock:
            waste = 0
    else:
        # Of two redeals with no card played from the waste in between, one can be left out: 34 are enough.
        redeals_left = min(rules.max_redeals - position.redeals, 34)
    meta = len(reserve) << 16 | waste << 20 | redeals_left << 26
    for suit, count in enumerate(position.foundations):
        meta |= count << (4 * _FOUNDATION_OF_SUIT[suit])
    row[kernel.META] = meta
    cards = pairs = 0
    for j, column in enumerate(position.columns):
        for k, card in enumerate(column):
            cards |= 1 << number[card]
            if k > 0:
                pairs |= int((number[card] >= 26) != (number[column[k - 1]] >= 26)) << (number[card] % 26)
        if column:
            row[kernel.COLUMN + j] = (number[column[0]] + 1) << 12 | len(column) << 6 | number[column[-1]]
    row[kernel.CARDS] = cards
    row[kernel.PAIRS] = pairs
    return problem, row


class _Search:
    """A search that can be gone on with, and the memory it works in, which grows as it needs it."""

    def __init__(self, problem: np.ndarray, root: np.ndarray, table_megabytes: int) -> None:
        self._problem = problem
        self._most_words = 2 ** max(10, (table_megabytes * 2**17).bit_length() - 1)
        self._table = _take_table(min(_FIRST_TABLE, self._most_words))
        self._stack = np.empty((4096, kernel.WORDS), np.int64)
        self._path = np.empty((512, kernel.WORDS), np.int64)
        self._kids = np.empty((kernel.KIDS, kernel.WORDS), np.int64)
        self._moves = np.empty(kernel.KIDS, np.int64)
        self._order = np.empty((3, kernel.KIDS), np.int64)
        self._search = np.zeros(4, np.int64)
        kernel.start(problem, root, self._stack, self._table, self._search)

    @property
    def nodes(self) -> int:
        """Positions met so far."""
        return int(self._search[kernel.NODES])

    def go_on(self, budget: int) -> int:
        """Search until ``budget`` positions in all were met; the kernel's status, TABLE_FULL or STACK_FULL only
        where no memory is left to give."""
        while True:
            status = kernel.search_on(
                self._problem,
                self._stack,
                self._path,
                self._kids,
                self._moves,
                self._order,
                self._table,
                self._search,
                budget,
                int(_LOAD * (len(self._table) // 2)) - kernel.KIDS,
            )
            if status == kernel.TABLE_FULL:
                if len(self._table) >= self._most_words:
                    return status
                larger = _take_table(min(4 * len(self._table), self._most_words))
                kernel.rehash(self._problem, self._table, larger)
                _keep_table(self._table)
                self._table = larger
            elif status == kernel.STACK_FULL:
                if self._stack.size >= max(self._most_words, 2**18):
                    return status
                self._stack = np.concatenate([self._stack, np.empty_like(self._stack)])
            elif status == kernel.PATH_FULL:
                if self._path.size >= max(self._most_words, 2**18):
                    return status
                self._path = np.concatenate([self._path, np.empty_like(self._path)])
            else:
                return int(status)

    def won_rows(self) -> np.ndarray:
        """The positions of the won game, shape (their number, WORDS), after WON."""
        return self._path[: self._search[kernel.LEVEL] + 1]

    def close(self) -> None:
        """Give the table back; the search cannot go on."""
        _keep_table(self._table)
        self._table = np.zeros(0, np.int64)


_tables: dict[int, np.ndarray] = {}
"""A table of each smaller length that no search uses now: memory that the system has handed out already is far
cheaper to clear than new memory is to get. Taking one out is one step, so two threads never get the same."""


def _take_table(words: int) -> np.ndarray:
    """A table of so many words, all 0."""
    table = _tables.pop(words, None)
    if table is None:
        return np.zeros(words, np.int64)
    table.fill(0)
    return table


def _keep_table(table: np.ndarray) -> None:
    """Keep a table that no search uses any more, if it is of 64 MiB or less."""
    if 0 < len(table) <= 2**23:
        _tables[len(table)] = table


# --- From rows to moves --------------------------------------------------------------------------------------


class _Table:
    """The piles as lists, on which a won game's steps become moves."""

    def __init__(self, position: Position) -> None:
        self._fill = position.rules.auto_fill
        self._draw_count = position.rules.draw_count
        self._columns = [list(column) for column in position.columns]
        self._reserve = list(position.reserve)
        self._stock, self._waste = list(position.stock), list(position.waste)
        self.counts = list(position.foundations)
        self._base_rank = position.base_rank
        self.moves: list[Move] = []

    def next_card(self, suit: int) -> int:
        """The card id that the suit's foundation takes next."""
        return suit * 13 + (self._base_rank + self.counts[suit]) % 13

    def in_mid_talon(self, card: int) -> bool:
        """Whether, drawing 3, a card lies in waste or stock but not as the last of both."""
        talon = self._waste + self._stock
        return self._draw_count == 3 and card in talon[:-1]

    def move(self, card: int, onto: int | None, to_foundation: bool) -> bool:
        """Move a card, with what lies on it in a column, onto another card, to an empty column or its foundation;
        False where it is covered."""
        if to_foundation:
            target = -1
        elif onto is None:
            target = next(j for j in range(4) if not self._columns[j])
        else:
            target = next(j for j in range(4) if self._columns[j] and self._columns[j][-1] == onto)
        taken = [card]
        source = next((j for j in range(4) if card in self._columns[j]), -1)
        count = None
        if source >= 0:
            k = self._columns[source].index(card)
            taken = self._columns[source][k:]
            if to_foundation and len(taken) > 1:
                return False
            del self._columns[source][k:]
            name = f"T{source + 1}"
            if target >= 0 and (not self._columns[target] or len(taken) > 26):
                count = len(taken)
        elif self._reserve and self._reserve[-1] == card:
            self._reserve.pop()
            name = "R"
        elif card in self._waste or card in self._stock:
            self._draw_to(card)
            self._waste.pop()
            name = "W"
        elif not to_foundation and card == self.next_card(card // 13) - 1 + 13 * (self._top_rank(card) == 12):
            self.counts[card // 13] -= 1
            name = "F" + "CDHS"[card // 13]
        else:
            return False
        if to_foundation:
            self.counts[card // 13] += 1
        else:
            self._columns[target] += taken
        self.moves.append(Move(name, "F" if to_foundation else f"T{target + 1}", count))
        if source >= 0 and not self._columns[source] and self._fill and self._reserve:
            self._columns[source].append(self._reserve.pop())
        return True

    def _top_rank(self, card: int) -> int:
        return (self._base_rank + self.counts[card // 13] - 1) % 13

    def _draw_to(self, card: int) -> None:
        for _ in range(80):  # two passes of 34 single cards and the redeals
            if self._waste and self._waste[-1] == card:
                return
            self.moves.append(Move("D", "D"))
            if self._stock:
                self._waste += self._stock[: self._draw_count]
                del self._stock[: self._draw_count]
            else:
                self._stock, self._waste = self._waste, []
        raise RuntimeError("the solver plays a card that no draw turns up")


def _line(position: Position, rows: np.ndarray) -> tuple[Move, ...]:
    """The moves of a won game given by its positions: each row's move, then the foundation moves that were made
    at once after it."""
    id_of = {number: card for card, number in enumerate(_numbers(position.base_rank))}
    table = _Table(position)
    for level, row in enumerate(rows.tolist()):
        if level > 0:
            word = row[kernel.MOVE]
            steps = [(word >> shift & 63, word >> (shift + 6) & 63) for shift in (12, 0)]
            for head, target in dict.fromkeys(steps):  # a tail that just moves is named twice
                if head != kernel.NONE:
                    if not table.move(id_of[head], id_of.get(target), target == kernel.TO_FOUNDATION):
                        raise RuntimeError("the solver's line moves a card that is covered")
        _lift(table, row[kernel.META])
    return tuple(table.moves)


def _lift(table: _Table, meta: int) -> None:
    """Play foundation moves until the foundations hold what ``meta`` says."""
    wanted = [meta >> 4 * _FOUNDATION_OF_SUIT[suit] & 15 for suit in range(4)]
    while table.counts != wanted:
        moved = False
        for suit in range(4):
            if table.counts[suit] < wanted[suit] and not table.in_mid_talon(table.next_card(suit)):
                moved |= table.move(table.next_card(suit), None, True)
        if not moved:
            raise RuntimeError("the solver's line lifts a card that is covered")
