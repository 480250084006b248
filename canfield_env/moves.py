"""Moves as text.

Piles: ``W`` waste, ``R`` reserve, ``FC FD FH FS`` foundations, ``T1``-``T4`` columns. Moves: ``D`` (a draw or
redeal), ``W>F``, ``R>F``, ``T3>F``, ``W>T2``, ``R>T1``, ``FH>T4``, ``T1>T3`` (the tail that fits, the shorter of
two), ``T1>T3*2`` (exactly two cards; onto an empty column the number must be given).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from .cards import SUITS
from .kernel import episode
from .kernel.state import COLUMN, FOUNDATION, RESERVE, STOCK, WASTE

_PILES = {"D": STOCK, "W": WASTE, "R": RESERVE}
_PILES |= {"F" + suit: FOUNDATION + k for k, suit in enumerate(SUITS)}
_PILES |= {f"T{column + 1}": COLUMN + column for column in range(4)}
_PILE_NAMES = {pile: name for name, pile in _PILES.items()}
_FORM = re.compile(r"D|(?P<source>W|R|F[CDHS]|T[1-4])>(?P<target>F|T[1-4])(?:\*(?P<count>[1-9][0-9]?))?")


class IllegalMoveError(ValueError):
    """A move, tap, undo or action that the rules, or the position, do not have. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Move:
    """A move; ``str(move)`` is its text.

    Attributes:
        source: ``"D"``, ``"W"``, ``"R"``, ``"FC"`` ... ``"FS"`` or ``"T1"`` ... ``"T4"``.
        target: ``"F"`` or ``"T1"`` ... ``"T4"``; ``"D"`` for a draw.
        count: The number of cards where it matters: onto an empty column, or for the longer of two tails.
    """

    source: str
    target: str
    count: int | None = None

    @classmethod
    def parse(cls, text: str) -> Move:
        """The move that ``text`` says, in upper or lower case.

        Raises:
            IllegalMoveError: if ``text`` is not the text of a move.
        """
        match = _FORM.fullmatch(text.strip().upper()) if isinstance(text, str) else None
        if match is None:
            raise IllegalMoveError(
                f"{text!r} is not a move: write D to draw, or such as W>F, R>T2, T3>F, FH>T4, T1>T3 or T1>T3*2"
            )
        if match["source"] is None:
            return cls("D", "D")
        return cls(match["source"], match["target"], int(match["count"]) if match["count"] else None)

    def __str__(self) -> str:
        if self.source == "D":
            return "D"
        return f"{self.source}>{self.target}" + (f"*{self.count}" if self.count else "")


def move_of(states: np.ndarray, i: int, source: int, target: int, count: int) -> Move:
    """The kernel's (source, target, count) as a move in the position of record ``i``."""
    if source == STOCK:
        return Move("D", "D")
    if target == FOUNDATION:
        return Move(_PILE_NAMES[source], "F")
    if source < COLUMN or count == episode.fitting_tail(states, i, source - COLUMN, target - COLUMN):
        return Move(_PILE_NAMES[source], _PILE_NAMES[target])
    return Move(_PILE_NAMES[source], _PILE_NAMES[target], count)


def move_of_action(states: np.ndarray, i: int, action: int) -> Move:
    """The move that a legal ``action`` (0-94) makes in the position of record ``i``."""
    return move_of(states, i, *episode.decode_action(states, i, action))


def resolve(states: np.ndarray, i: int, move: Move) -> tuple[int, int, int]:
    """The kernel's (source, target, count) for ``move`` in the position of record ``i``, legal or not.

    Raises:
        IllegalMoveError: where the number of cards is missing.
    """
    source = _PILES[move.source]
    if source == STOCK:
        return STOCK, STOCK, 1
    target = FOUNDATION if move.target == "F" else _PILES[move.target]
    if move.count is not None:
        return source, target, move.count
    if source < COLUMN or target == FOUNDATION:
        return source, target, 1
    if states["length"][i, target - COLUMN] == 0:
        raise IllegalMoveError(f"{move} goes to an empty column: say how many cards, such as {move}*1")
    return source, target, episode.fitting_tail(states, i, source - COLUMN, target - COLUMN)


def action_of_move(states: np.ndarray, i: int, move: Move) -> int:
    """The action (0-94) that makes a legal ``move`` in the position of record ``i``, or -1 where none does
    (a drag to another empty column than the first, or of the longer of two tails)."""
    return int(episode.encode_move(states, i, *resolve(states, i, move)))
