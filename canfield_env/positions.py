"""Positions: what lies where at one moment, every card named, as data, text and speech."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from .cards import (
    CARD_TEXTS,
    RANK_NAMES,
    RANKS,
    SUIT_NAMES,
    SUITS,
    card_name,
    card_text,
    is_red,
    parse_card,
    parse_rank,
)
from .kernel import episode
from .kernel.state import SCORE_ANDR, SCORE_APP, SCORE_CASINO, STATE_DTYPE
from .rules import Rules, rules_for_draw

_KEYS = ("rules", "draw_count", "base_rank", "foundations", "reserve", "columns", "stock", "waste", "redeals")
_OPTIONAL = ("draw_count", "redeals")
_SCORE_KINDS = {"app": SCORE_APP, "casino": SCORE_CASINO, "andr": SCORE_ANDR}
_SPOKEN_SUITS = (2, 3, 1, 0)  # hearts, spades, diamonds, clubs


class PositionError(ValueError):
    """Data that are not a possible position; the message says what is wrong."""


@dataclass(frozen=True)
class Position:
    """A position: all 52 cards, hidden ones included. Checked when it is made.

    Attributes:
        rules: The rules it is played under.
        base_rank: Rank of the base card, 0 an ace to 12 a king.
        foundations: Number of cards on each foundation, in the order C D H S.
        reserve: Card ids, bottom to top.
        columns: Four tuples of card ids, first to last.
        stock: Card ids, the next drawn first.
        waste: Card ids, bottom to top.
        redeals: Redeals made. It also says what a player can know: before the first redeal he has not seen
            the stock, after it all of it.
        base_suit: The base card's suit, 0-3, where it is known. It only decides which foundation
            ``describe`` names first, and is no part of the position's data or of its equality.

    Raises:
        PositionError: if it is not a possible position.
    """

    rules: Rules
    base_rank: int
    foundations: tuple[int, ...]
    reserve: tuple[int, ...]
    columns: tuple[tuple[int, ...], ...]
    stock: tuple[int, ...]
    waste: tuple[int, ...]
    redeals: int = 0
    base_suit: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        self._check_counts()
        self._check_cards()
        for number, column in enumerate(self.columns, 1):
            self._check_column(number, column)
        if self.rules.auto_fill and self.reserve:
            for number, column in enumerate(self.columns, 1):
                if not column:
                    raise PositionError(f"column {number} is empty, but the reserve should have filled it")

    def _check_counts(self) -> None:
        if not 0 <= self.base_rank < 13:
            raise PositionError(f"base_rank is {self.base_rank}, but must be from 0 to 12")
        if len(self.foundations) != 4:
            raise PositionError(f"there are 4 foundations, not {len(self.foundations)}")
        for suit, count in zip(SUITS, self.foundations, strict=True):
            if not 0 <= count <= 13:
                raise PositionError(f"foundation {suit} holds {count} cards, but must hold from 0 to 13")
        if not self.rules.take_back and sum(self.foundations) == 0:
            raise PositionError("the foundations are empty, but without take-backs the base card stays on its own")
        if len(self.columns) != 4:
            raise PositionError(f"there are 4 columns, not {len(self.columns)}")
        if len(self.reserve) > 13:
            raise PositionError(f"the reserve holds {len(self.reserve)} cards, but at most 13 are dealt to it")
        if len(self.stock) + len(self.waste) > 34:
            raise PositionError(
                f"stock and waste hold {len(self.stock) + len(self.waste)} cards, but at most 34 are dealt to them"
            )
        if not 0 <= self.redeals < 2**31:
            raise PositionError(f"redeals is {self.redeals}, but cannot be negative or that large")
        if self.rules.max_redeals is not None and self.redeals > self.rules.max_redeals:
            raise PositionError(f"{self.redeals} redeals were made, but the rules allow {self.rules.max_redeals}")

    def _check_cards(self) -> None:
        piles: dict[str, Iterable[int]] = {
            f"foundation {SUITS[suit]}": [suit * 13 + (self.base_rank + k) % 13 for k in range(count)]
            for suit, count in enumerate(self.foundations)
        }
        piles |= {"the reserve": self.reserve, "the stock": self.stock, "the waste": self.waste}
        piles |= {f"column {number}": column for number, column in enumerate(self.columns, 1)}
        where: dict[int, str] = {}
        for pile, cards in piles.items():
            for card in cards:
                if not 0 <= card < 52:
                    raise PositionError(f"{card} in {pile} is not a card id from 0 to 51")
                if card in where:
                    raise PositionError(f"{card_text(card)} lies in {where[card]} and again in {pile}")
                where[card] = pile
        missing = [text for card, text in enumerate(CARD_TEXTS) if card not in where]
        if missing:
            raise PositionError(f"{len(missing)} of the 52 cards are missing: {' '.join(missing)}")

    def _check_column(self, number: int, column: Sequence[int]) -> None:
        for upper, lower in pairwise(column):
            where = f"column {number}: {card_text(lower)} cannot lie on {card_text(upper)}"
            if (lower % 13 + 1) % 13 != upper % 13:
                raise PositionError(f"{where}: columns build down by one rank (a king goes on an ace)")
            if is_red(lower) == is_red(upper):
                raise PositionError(f"{where}: columns alternate in colour")
            if not self.rules.build_past_base and upper % 13 == self.base_rank:
                raise PositionError(f"{where}: with build_past_base=False no card goes on a card of the base rank")

    # --- As data and text ----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The position as plain data for JSON; ``from_dict`` reads it."""
        plain_rules = self.rules.to_plain()
        if not isinstance(plain_rules, str):
            plain_rules.pop("draw_count", None)
            plain_rules = plain_rules if len(plain_rules) > 1 else plain_rules["preset"]
        return {
            "rules": plain_rules,
            "draw_count": self.rules.draw_count,
            "base_rank": RANKS[self.base_rank],
            "foundations": dict(zip(SUITS, self.foundations, strict=True)),
            "reserve": _texts(self.reserve),
            "columns": [_texts(column) for column in self.columns],
            "stock": _texts(self.stock),
            "waste": _texts(self.waste),
            "redeals": self.redeals,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Position:
        """Read a position from plain data as ``to_dict`` writes them. ``redeals`` may be left out, and so may
        ``draw_count``, for that of ``rules``.

        Raises:
            PositionError: if a key is unknown or missing, a value cannot be read, or it is no possible position.
        """
        if not isinstance(data, Mapping):
            raise PositionError(f"a position is a mapping, not {data!r}")
        for key in data:
            if key not in _KEYS:
                raise PositionError(f"{key!r} is not a key of a position: the keys are {', '.join(_KEYS)}")
        for key in _KEYS:
            if key not in data and key not in _OPTIONAL:
                raise PositionError(f"the position has no {key!r}")
        try:
            rules = rules_for_draw(data["rules"], _draw_count(data), "the position")
            return cls(
                rules=rules,
                base_rank=parse_rank(data["base_rank"]),
                foundations=_read_foundations(data["foundations"]),
                reserve=_read_pile("reserve", data["reserve"]),
                columns=tuple(
                    _read_pile(f"column {number}", pile)
                    for number, pile in enumerate(_list("columns", data["columns"]), 1)
                ),
                stock=_read_pile("stock", data["stock"]),
                waste=_read_pile("waste", data["waste"]),
                redeals=_whole("redeals", data.get("redeals", 0)),
            )
        except PositionError:
            raise
        except ValueError as error:
            raise PositionError(str(error)) from error

    def __str__(self) -> str:
        lines = [
            f"rules {self.rules}",
            f"base {RANKS[self.base_rank]}",
            f"redeals {self.redeals}",
            "foundations " + " ".join(f"{suit}{count}" for suit, count in zip(SUITS, self.foundations, strict=True)),
            " ".join(["reserve", *_texts(self.reserve)]),
            *(" ".join([f"T{number}", *_texts(column)]) for number, column in enumerate(self.columns, 1)),
            " ".join(["stock", *_texts(self.stock)]),
            " ".join(["waste", *_texts(self.waste)]),
        ]
        return "\n".join(lines)

    @classmethod
    def parse(cls, text: str) -> Position:
        """Read a position from the text that ``str(position)`` writes; the lines may come in any order.

        Raises:
            PositionError: if a line is unknown, missing or there twice, or it is no possible position.
        """
        names = ("rules", "base", "redeals", "foundations", "reserve", "T1", "T2", "T3", "T4", "stock", "waste")
        lines: dict[str, list[str]] = {}
        for line in filter(None, (line.split() for line in text.splitlines())):
            name, *words = line
            if name not in names:
                raise PositionError(f"{name!r} begins no line of a position: the lines are {', '.join(names)}")
            if name in lines:
                raise PositionError(f"the line {name!r} is there twice")
            lines[name] = words
        for name in names:
            if name not in lines:
                raise PositionError(f"the position has no line {name!r}")
        return cls.from_dict(
            {
                "rules": "".join(lines["rules"]),
                "base_rank": "".join(lines["base"]),
                "foundations": {word[:1]: _number("foundations", word[1:]) for word in lines["foundations"]},
                "reserve": lines["reserve"],
                "columns": [lines[f"T{number}"] for number in range(1, 5)],
                "stock": lines["stock"],
                "waste": lines["waste"],
                "redeals": _number("redeals", "".join(lines["redeals"])),
            }
        )

    def describe(self) -> str:
        """The position in words, as the app reads it out: only what lies open, in a fixed order.

        The base card's suit is the first foundation; where a position does not say which it is, the first
        one begun of hearts, spades, diamonds, clubs stands for it.
        """
        parts = [f"Stock: {_cards(len(self.stock))}"]
        parts.append(f"Waste: {card_name(self.waste[-1])}" if self.waste else "Waste: empty")
        reserve = f"Reserve: {_cards(len(self.reserve))}"
        parts.append(f"{reserve}, top card {card_name(self.reserve[-1])}" if self.reserve else "Reserve: empty")
        parts.append(f"Base rank: {RANK_NAMES[self.base_rank]}")
        for suit in self._spoken_suits():
            count = self.foundations[suit]
            top = suit * 13 + (self.base_rank + count - 1) % 13
            said = f"{card_name(top)}, {_cards(count)}" if count else "empty"
            parts.append(f"Foundation of {SUIT_NAMES[suit]}: {said}")
        for number, column in enumerate(self.columns, 1):
            said = ", ".join(card_name(card) for card in column) if column else "empty"
            parts.append(f"Column {number}: {said}")
        return ". ".join(parts) + "."

    def _spoken_suits(self) -> list[int]:
        first = self.base_suit
        if first is None:
            first = next((suit for suit in _SPOKEN_SUITS if self.foundations[suit]), _SPOKEN_SUITS[0])
        return [first, *(suit for suit in _SPOKEN_SUITS if suit != first)]

    # --- As a record ---------------------------------------------------------------------------------------

    def write(self, states: np.ndarray, i: int) -> None:
        """Lay this position out in record ``i`` of ``states``; its rules and settings must be there already."""
        columns = np.zeros((4, 52), np.int8)
        for column, cards in enumerate(self.columns):
            columns[column, : len(cards)] = cards
        episode.load(
            states,
            i,
            self.base_rank,
            -1 if self.base_suit is None else self.base_suit,
            np.array(self.foundations, np.int8),
            np.array(self.reserve, np.int8),
            columns,
            np.array([len(cards) for cards in self.columns], np.int8),
            np.array(self.waste + self.stock, np.int8),
            len(self.waste),
            self.redeals,
        )

    @classmethod
    def read(cls, states: np.ndarray, i: int, rules: Rules) -> Position:
        """The position of record ``i`` of ``states``, played under ``rules``."""
        s = states[i]
        talon = tuple(s["talon"][: s["talon_count"]].tolist())
        waste = int(s["waste_count"])
        columns = np.empty((4, 52), np.int8)
        episode.column_cards(states, i, columns)
        return cls(
            rules=rules,
            base_rank=int(s["base_rank"]),
            foundations=tuple(s["foundation"].tolist()),
            reserve=tuple(s["reserve"][: s["reserve_count"]].tolist()),
            columns=tuple(tuple(cards[:length].tolist()) for cards, length in zip(columns, s["length"], strict=True)),
            stock=talon[waste:],
            waste=talon[:waste],
            redeals=int(s["redeals"]),
            base_suit=int(s["base_suit"]) if s["base_suit"] >= 0 else None,
        )


def new_record(rules: Rules) -> np.ndarray:
    """One record of ``STATE_DTYPE``, shape (1,), with the fields that ``rules`` decide."""
    states = np.zeros(1, STATE_DTYPE)
    states["draw_count"] = rules.draw_count
    states["whole_columns"] = rules.column_moves == "whole"
    states["auto_fill"] = rules.auto_fill
    states["waste_only"] = rules.empty_column == "waste"
    states["take_back"] = rules.take_back
    states["build_past_base"] = rules.build_past_base
    states["max_redeals"] = -1 if rules.max_redeals is None else rules.max_redeals
    states["score_kind"] = _SCORE_KINDS[rules.score]
    states["deck_price"] = rules.deck_price
    states["attempt"] = 1
    return states


def current_score(states: np.ndarray, i: int) -> int:
    """The score of record ``i``, of its rules' kind."""
    return int(episode.scores(states, i)[int(states["score_kind"][i])])


def _texts(cards: Iterable[int]) -> list[str]:
    return [card_text(card) for card in cards]


def _cards(count: int) -> str:
    return "1 card" if count == 1 else f"{count} cards" if count else "empty"


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise PositionError(f"{name} must be a list, not {value!r}")
    return list(value)


def _read_pile(name: str, value: Any) -> tuple[int, ...]:
    try:
        return tuple(parse_card(card) for card in _list(name, value))
    except PositionError:
        raise
    except ValueError as error:
        raise PositionError(f"{name}: {error}") from error


def _read_foundations(value: Any) -> tuple[int, ...]:
    if not isinstance(value, Mapping) or set(value) != set(SUITS):
        raise PositionError(f"foundations must give a number of cards for each of C, D, H and S, not {value!r}")
    return tuple(_whole(f"foundation {suit}", value[suit]) for suit in SUITS)


def _whole(name: str, value: Any) -> int:
    if type(value) is not int:
        raise PositionError(f"{name} must be a whole number, not {value!r}")
    return value


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise PositionError(f"{name}: {text!r} is not a number")
    return int(text)


def _draw_count(data: Mapping[str, Any]) -> int | None:
    draw_count = data.get("draw_count")
    if draw_count not in (None, 1, 3) or isinstance(draw_count, bool):
        raise PositionError(f"draw_count is {draw_count!r}, but must be 1 or 3")
    return draw_count
