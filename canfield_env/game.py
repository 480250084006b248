"""A game as a person plays it: moves, taps, undo, score and code."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .cards import card_text, parse_card
from .deals import Deal
from .kernel import episode
from .kernel.jit import announce_compilation
from .kernel.state import (
    ACTIONS,
    COLUMN,
    FOUNDATION,
    PLACE_COLUMN,
    PLACE_FOUNDATION,
    PLACE_RESERVE_TOP,
    PLACE_TALON,
    RESERVE,
    STOCK,
    WASTE,
)
from .moves import IllegalMoveError, Move, action_of_move, move_of, move_of_action, resolve
from .positions import Position, current_score, new_record
from .rules import Rules, rules_for_draw

UNDO_PRICE = 25
"""Points of the andr score that each undo costs."""


class Game:
    """One game of Canfield, as in the app: it never declares a loss, and moves nothing by itself but the fill
    of an emptied column.

    Args:
        deal: The deal.
        rules: Rules, a preset's name, a mapping or text (``Rules.read``). A deal made from a code decides the
            draw count where ``rules`` leaves it open.
        double_tap: Whether a tapped card that cannot go to its foundation goes to a column.
        clock: Gives the seconds since the start, for the andr score; without it no time passes.
        attempt: The number of the attempt at this deal, 1 the first time, for the andr score.

    Raises:
        ValueError: for bad rules, or rules whose draw count is not that of the deal's code.

    Every refused move, tap or undo raises ``IllegalMoveError`` and changes nothing.
    """

    def __init__(
        self,
        deal: Deal,
        rules: Rules | str | Mapping[str, Any] = "app",
        double_tap: bool = True,
        clock: Callable[[], float] | None = None,
        attempt: int = 1,
    ) -> None:
        source = f"the code {deal.code()}" if deal.draw_count else "the deal"
        self._start(rules_for_draw(rules, deal.draw_count, source), double_tap, clock, attempt)
        self.deal: Deal | None = deal
        number = -1 if deal.number is None else deal.number
        episode.reset_cards(self._states, 0, np.array(deal.cards, np.int8), number)

    @classmethod
    def from_code(cls, code: str, rules: Rules | str | Mapping[str, Any] = "app", **settings: Any) -> Game:
        """The game of a deal code. Its D1 or D3 decides the draw count; ``settings`` as for ``Game``.

        Raises:
            DealCodeError: if ``code`` is not a code.
            ValueError: if ``rules`` ask for another draw count.
        """
        return cls(Deal.from_code(code), rules, **settings)

    @classmethod
    def from_position(
        cls,
        position: Position | Mapping[str, Any],
        double_tap: bool = True,
        clock: Callable[[], float] | None = None,
        attempt: int = 1,
    ) -> Game:
        """A game that starts from a position (a ``Position`` or its dict), under the position's rules.

        Raises:
            PositionError: if it is not a possible position.
        """
        if not isinstance(position, Position):
            position = Position.from_dict(position)
        game = cls.__new__(cls)
        game._start(position.rules, double_tap, clock, attempt)
        game.deal = None
        position.write(game._states, 0)
        return game

    def _start(self, rules: Rules, double_tap: bool, clock: Callable[[], float] | None, attempt: int) -> None:
        if type(attempt) is not int or attempt < 1:
            raise ValueError(f"attempt is {attempt!r}, but must be 1 or more")
        announce_compilation("try_move")
        self.rules = rules
        self.double_tap = double_tap
        self._clock = clock
        self._states = new_record(rules)
        self._states["attempt"] = attempt
        # What can be undone: the record before each move, and how many undos had been made by then.
        self._history: deque[tuple[np.ndarray, int]] = deque(maxlen=rules.undo_limit)
        self._moves: list[str] = []
        self._undos = 0

    # --- What can be seen ----------------------------------------------------------------------------------

    @property
    def code(self) -> str | None:
        """The deal's code; None for a game that started from a position."""
        return None if self.deal is None else self.deal.code(self.rules.draw_count)

    @property
    def won(self) -> bool:
        """Whether all 52 cards are on the foundations."""
        return self.foundation_cards == 52

    @property
    def foundation_cards(self) -> int:
        """Cards on the foundations, the base card included."""
        return int(self._states[0]["foundation_cards"])

    @property
    def score(self) -> int:
        """The score of the rules' kind, now; the clock stands still once the game is won."""
        if not self.won:
            self._read_clock()
        return current_score(self._states, 0)

    @property
    def undos_left(self) -> int:
        """How many moves can be undone now."""
        return len(self._history)

    @property
    def moves(self) -> tuple[str, ...]:
        """The moves made and not undone, as text."""
        return tuple(self._moves)

    def position(self) -> Position:
        """The position now, hidden cards included."""
        return Position.read(self._states, 0, self.rules)

    def legal_moves(self) -> list[Move]:
        """The legal moves, in the order of their actions: of several empty columns only the first is named,
        of two tails that fit the shorter, and nothing after a win."""
        mask = np.empty(ACTIONS, np.int8)
        episode.legal_actions(self._states, 0, mask)
        return [self.move_of(action) for action in np.flatnonzero(mask).tolist()]

    def drags(self) -> dict[str, dict[str, Move]]:
        """Where each card can be dragged: by the card's text and then the target, ``"F"`` or ``"T1"``-``"T4"``, the
        move. A card inside a column stands for the tail from it. Other than ``legal_moves`` this names every empty
        column, and of two tails that fit both."""
        position = self.position()
        sources = [(WASTE, 1, card) for card in position.waste[-1:]]
        sources += [(RESERVE, 1, card) for card in position.reserve[-1:]]
        for suit, count in enumerate(position.foundations):
            if count:
                sources.append((FOUNDATION + suit, 1, suit * 13 + (position.base_rank + count - 1) % 13))
        for column, cards in enumerate(position.columns):
            sources += [(COLUMN + column, len(cards) - k, card) for k, card in enumerate(cards)]
        found: dict[str, dict[str, Move]] = {}
        tried = self._states.copy()
        for source, count, card in sources:
            for target in (FOUNDATION, COLUMN, COLUMN + 1, COLUMN + 2, COLUMN + 3):
                if episode.try_move(tried, 0, source, target, count):
                    move = move_of(self._states, 0, source, target, count)
                    found.setdefault(card_text(card), {})[move.target] = move
                    tried = self._states.copy()
        return found

    def move_of(self, action: int) -> Move:
        """The move that a legal action (0-94) makes now."""
        return move_of_action(self._states, 0, action)

    def action_of(self, move: Move | str) -> int:
        """The action (0-94) that makes a legal move now; -1 for a drag that no action makes."""
        move = Move.parse(move) if isinstance(move, str) else move
        return action_of_move(self._states, 0, move)

    # --- What can be done ----------------------------------------------------------------------------------

    def play(self, move: Move | str) -> Move:
        """Make a move, and return it as its text would be read: any legal one, drags to another empty column
        and of the longer of two tails included.

        Raises:
            IllegalMoveError: if it cannot be read, or is not legal.
        """
        move = Move.parse(move) if isinstance(move, str) else move
        made = self._try(*resolve(self._states, 0, move))
        if made is None:
            raise IllegalMoveError(f"{move} is not a legal move here")
        return made

    def tap(self, what: str) -> Move | None:
        """Tap a card (``"8H"``), or the stock (``"stock"``), and return the move that made, if any.

        The stock: a draw or redeal. A card: to its foundation where it can go there; else, with
        ``double_tap``, to the longest column that takes it (the leftmost of equally long ones), or failing
        that to an empty column, a card inside a column with all that lies on it. Nothing happens on a tap
        on a foundation, on a waste card under the top one, or where nothing is possible.

        Raises:
            IllegalMoveError: for a card that does not lie face up.
            ValueError: if ``what`` is neither a card nor the stock.
        """
        if what.strip().lower() == "stock":
            return self._try(STOCK, STOCK, 1)
        source, count = self._face_up(parse_card(what))
        if source is None:
            return None
        targets = [FOUNDATION]
        if self.double_tap:
            lengths = self._states["length"][0].tolist()
            # Longest first, so an empty column comes last; the sort keeps the leftmost of equals in front.
            targets += [COLUMN + column for column in sorted(range(4), key=lambda column: -lengths[column])]
        return next((move for target in targets if (move := self._try(source, target, count))), None)

    def undo(self) -> None:
        """Take the last move back, points included; the andr score then pays 25 for it.

        Raises:
            IllegalMoveError: where nothing is left to undo, or the rules have no undo.
        """
        if self.rules.undo_limit == 0:
            raise IllegalMoveError("these rules have no undo (undo_limit is 0)")
        if not self._history:
            raise IllegalMoveError("there is nothing left to undo")
        self._states, undos_before = self._history.pop()
        self._moves.pop()
        self._undos += 1
        self._states["andr_points"] -= UNDO_PRICE * (self._undos - undos_before)
        self._read_clock()

    def _try(self, source: int, target: int, count: int) -> Move | None:
        """Make a move and return it, or None where it is not legal."""
        before = self._states.copy()
        if not episode.try_move(self._states, 0, source, target, count):
            return None
        self._read_clock()
        self._history.append((before, self._undos))
        move = move_of(before, 0, source, target, count)
        self._moves.append(str(move))
        return move

    def _read_clock(self) -> None:
        if self._clock is not None:
            self._states["seconds"] = int(self._clock())

    def _face_up(self, card: int) -> tuple[int | None, int]:
        """The pile of a card that lies face up (None where a tap on it does nothing), and how many cards it is
        with all that lies on it."""
        s = self._states[0]
        place = int(s["place"][card])
        if place == PLACE_FOUNDATION:
            return None, 0
        if place == PLACE_RESERVE_TOP:
            return RESERVE, 1
        if PLACE_COLUMN <= place < PLACE_TALON:
            column, lap = divmod(place - PLACE_COLUMN, 4)
            k = 13 * lap + (int(s["first"][column]) - card) % 13
            return COLUMN + column, int(s["length"][column]) - k
        waste = int(s["waste_count"])
        if PLACE_TALON <= place < PLACE_TALON + waste:
            return (WASTE, 1) if place == PLACE_TALON + waste - 1 else (None, 0)
        raise IllegalMoveError(f"{card_text(card)} does not lie face up")
