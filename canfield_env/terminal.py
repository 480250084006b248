"""Playing in the terminal: lines of text in, the table as text out."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Callable
from typing import Any

from .board import board_text
from .cards import card_text, parse_card
from .deals import NUMBERS, Deal
from .game import Game
from .rules import Rules, rules_for_draw

HELP = """\
8H         tap a card: to its foundation, or else to a column (with all that lies on it)
R>T2       a move: W waste, R reserve, FH a foundation, T1-T4 a column; to a foundation W>F, R>F, T3>F
T1>T3*2    a move of exactly two cards; needed onto an empty column
D, stock   draw, or turn the waste over
moves      the legal moves          score      the score and the cards on the foundations
board      the table                describe   the table in words
undo       take the last move back  code       the deal's code
again      this deal from its start new [CODE] another deal: of this code, or at random
help       this list                quit       end (Ctrl-D and Ctrl-C too)"""


class Table:
    """A player at the terminal: a game, and what he can ask for. The game never says that it is lost.

    Args:
        rules: Rules as the user gave them; a code decides the draw count where they leave it open.
        code: The first deal; None for a random one.
        double_tap: Whether a tapped card that cannot go to its foundation goes to a column.
        write: Takes each text for the player.

    Raises:
        ValueError: for bad rules or a bad code.
    """

    def __init__(
        self,
        rules: Rules | str,
        code: str | None = None,
        double_tap: bool = True,
        write: Callable[[str], object] = print,
    ) -> None:
        self._rules = rules
        self._double_tap = double_tap
        self._write = write
        self.game = self._deal(random_deal(rules) if code is None else Deal.from_code(code), 1)
        self._attempt = 1
        self._commands: dict[str, Callable[[], object]] = {
            "moves": lambda: write(" ".join(map(str, self.game.legal_moves())) or "no move is left"),
            "score": lambda: write(score_text(self.game)),
            "board": self.show,
            "describe": lambda: write(self.game.position().describe()),
            "code": lambda: write(str(self.game.code)),
            "undo": self._undo,
            "again": lambda: self._begin(self._this_deal(), self._attempt + 1),
            "new": lambda: self._begin(random_deal(self._rules), 1),
            "help": lambda: write(HELP),
        }

    def show(self) -> None:
        """Write the table."""
        self._write(board_text(self.game.position(), self.game.code, self.game.score))

    def do(self, line: str) -> None:
        """Do what one line says; a line that cannot be done is answered with why, and changes nothing."""
        words = line.split()
        if not words:
            return
        try:
            command = self._commands.get(words[0].lower())
            if command and len(words) == 1:
                command()
            elif words[0].lower() == "new" and len(words) == 2:
                self._begin(Deal.from_code(words[1]), 1)
            elif words[0].lower() == "tap" and len(words) == 2:
                self._tap(words[1])
            elif len(words) == 1 and (words[0].lower() == "stock" or is_card(words[0])):
                self._tap(words[0])
            else:
                self._move("".join(words))
        except ValueError as error:
            self._write(f"{error}  (help lists what can be said)")

    def _begin(self, deal: Deal, attempt: int) -> None:
        self.game, self._attempt = self._deal(deal, attempt), attempt
        self.show()

    def _deal(self, deal: Deal, attempt: int) -> Game:
        started = time.monotonic()
        rules = rules_for_draw(self._rules, deal.draw_count, f"the code {deal.code()}")
        clock: Callable[[], float] = lambda: time.monotonic() - started  # noqa: E731
        return Game(deal, rules, double_tap=self._double_tap, clock=clock, attempt=attempt)

    def _this_deal(self) -> Deal:
        assert self.game.deal is not None
        return self.game.deal

    def _move(self, text: str) -> None:
        self.game.play(text)
        self._after()

    def _tap(self, what: str) -> None:
        if self.game.tap(what) is None:
            self._write(
                f"nothing happens on a tap on {what if what.lower() == 'stock' else card_text(parse_card(what))}"
            )
        else:
            self._after()

    def _undo(self) -> None:
        self.game.undo()
        self.show()

    def _after(self) -> None:
        self.show()
        if self.game.won:
            self._write(f"Won, in {len(self.game.moves)} moves. {score_text(self.game)}")


def play(table: Table, ask: Callable[[str], str] = input) -> None:
    """Let a person play, until he quits or his lines end. A prompt is written to a terminal only."""
    prompt = "> " if sys.stdin.isatty() else ""
    table.show()
    try:
        while (line := ask(prompt).strip()).lower() not in ("quit", "exit", "q"):
            table.do(line)
    except (EOFError, KeyboardInterrupt):
        if prompt:
            table._write("")
    table._write(f"Goodbye. This deal: {table.game.code}")


def random_deal(rules: Rules | str | dict[str, Any]) -> Deal:
    """A deal by chance, coded for the draw count of ``rules``."""
    number = secrets.randbelow(NUMBERS)
    return Deal(Deal.from_number(number).cards, number, Rules.read(rules).draw_count)


def score_text(game: Game) -> str:
    """The score and what lies on the foundations."""
    return f"{game.rules.score} score {game.score}, {game.foundation_cards} of 52 cards on the foundations"


def is_card(text: str) -> bool:
    """Whether ``text`` names a card."""
    try:
        parse_card(text)
    except ValueError:
        return False
    return True
