"""Deals and their codes.

A code such as ``CF1-D3-AAAAACL`` names a deal by number: ``CF1`` the generator (specified in
``canfield_env/kernel/shuffle.py``), ``D3`` or ``D1`` how many cards a draw turns up, and seven letters of
RFC 4648 base 32 (A-Z, 2-7), most significant first, for the number. ``CFX-D3-`` and 46 letters carry any
order of the cards: its rank among all 52! permutations of the card ids in lexicographic order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import index
from typing import Any

import numpy as np

from .cards import card_text, parse_card
from .kernel import episode

NUMBERS = 2**35
"""How many numbered deals there are: numbers run from 0 to ``NUMBERS - 1``."""

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_CODE_LENGTHS = {"CF1": 7, "CFX": 46}


class DealCodeError(ValueError):
    """A text that is not a deal code; the message says what is wrong and where."""


@dataclass(frozen=True)
class Deal:
    """The order in which the 52 cards are dealt.

    Attributes:
        cards: The 52 card ids (``cards.py``), position 0 the first card dealt: 13 to the reserve, the base
            card, one to each of the columns 1-4, then the stock.
        number: The deal's number, where it was made from one; else None.
        draw_count: 1 or 3 where the deal was made from a code, which says so; else None.

    Two deals with the same cards are equal.

    Raises:
        ValueError: if ``cards`` are not the 52 cards, each once.
    """

    cards: tuple[int, ...]
    number: int | None = field(default=None, compare=False)
    draw_count: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        cards = tuple(_card_id(card) for card in self.cards)
        if len(cards) != 52:
            raise ValueError(f"a deal has 52 cards, not {len(cards)}")
        seen: set[int] = set()
        for position, card in enumerate(cards):
            if not 0 <= card < 52:
                raise ValueError(f"deal: {card} at position {position} is not a card id from 0 to 51")
            if card in seen:
                raise ValueError(f"deal: {card_text(card)} comes twice, again at position {position}")
            seen.add(card)
        object.__setattr__(self, "cards", cards)

    @classmethod
    def from_number(cls, number: int) -> Deal:
        """Deal ``number``, 0 to 2**35 - 1, of the generator.

        Raises:
            ValueError: if there is no such number.
        """
        if not isinstance(number, int | np.integer) or not 0 <= number < NUMBERS:
            raise ValueError(f"deal number {number!r} is not a whole number from 0 to {NUMBERS - 1}")
        cards = np.empty(52, np.int8)
        episode.shuffle_number(np.int64(number), cards)
        return cls(tuple(cards.tolist()), number=int(number))

    @classmethod
    def from_code(cls, code: str) -> Deal:
        """The deal of a code, in upper or lower case.

        Raises:
            DealCodeError: if ``code`` is not a code; the message says what is wrong and where.
        """
        form, draw_count, value = _read_code(code)
        if form == "CF1":
            deal = cls.from_number(value)
            return cls(deal.cards, number=value, draw_count=draw_count)
        if value >= math.factorial(52):
            raise DealCodeError(f"code {code!r}: its letters stand for a number beyond the last of the 52! orders")
        return cls(_permutation(value), draw_count=draw_count)

    def code(self, draw_count: int | None = None) -> str:
        """The deal's code: a ``CF1`` code where it was made from a number, a ``CFX`` code elsewhere.

        ``draw_count`` (1 or 3) is by default that of the code the deal was made from, or 3.
        """
        if draw_count is None:
            draw_count = self.draw_count or 3
        if draw_count not in (1, 3) or isinstance(draw_count, bool):
            raise ValueError(f"draw_count is {draw_count!r}, but must be 1 or 3")
        if self.number is None:
            return _write_code("CFX", draw_count, _lexicographic_rank(self.cards))
        return number_code(self.number, draw_count)

    def __str__(self) -> str:
        return self.code()


def code_draw_count(code: str) -> int:
    """How many cards a draw turns up in the game that ``code`` names, 1 or 3; raises ``DealCodeError``."""
    return _read_code(code)[1]


def number_code(number: int, draw_count: int) -> str:
    """The ``CF1`` code of deal ``number`` (0 to 2**35 - 1), drawing ``draw_count``."""
    return _write_code("CF1", draw_count, number)


def _write_code(form: str, draw_count: int, value: int) -> str:
    letters = "".join(_LETTERS[value >> 5 * k & 31] for k in reversed(range(_CODE_LENGTHS[form])))
    return f"{form}-D{draw_count}-{letters}"


def _read_code(code: str) -> tuple[str, int, int]:
    """A code's form, draw count and number."""
    if not isinstance(code, str):
        raise DealCodeError(f"a deal code is text such as 'CF1-D3-AAAAACL', not {code!r}")
    parts = code.split("-")
    if len(parts) != 3:
        raise DealCodeError(f"code {code!r} has {len(parts)} parts between hyphens, not 3, as in 'CF1-D3-AAAAACL'")
    form, draw, letters = (part.upper() if part.isascii() else part for part in parts)
    if form not in _CODE_LENGTHS:
        raise DealCodeError(f"code {code!r} begins with {parts[0]!r}: this version knows the forms CF1 and CFX")
    if draw not in ("D1", "D3"):
        raise DealCodeError(f"code {code!r}: its second part is {parts[1]!r}, but must be D1 or D3")
    if len(letters) != _CODE_LENGTHS[form]:
        raise DealCodeError(
            f"code {code!r}: its last part has {len(letters)} letters, but {form} takes {_CODE_LENGTHS[form]}"
        )
    value = 0
    for k, letter in enumerate(letters):
        if letter not in _LETTERS:
            raise DealCodeError(
                f"code {code!r}: {parts[2][k]!r}, letter {k + 1} of its last part, is not one of A-Z and 2-7"
            )
        value = value * 32 + _LETTERS.index(letter)
    return form, int(draw[1]), value


def _card_id(card: Any) -> int:
    return parse_card(card) if isinstance(card, str) else index(card)


def _lexicographic_rank(cards: Iterable[int]) -> int:
    """The rank of a permutation of 0-51 among all of them in lexicographic order."""
    rest, rank = list(range(52)), 0
    for card in cards:
        rank = rank * len(rest) + rest.index(card)
        rest.remove(card)
    return rank


def _permutation(rank: int) -> tuple[int, ...]:
    """The permutation of 0-51 with this lexicographic rank."""
    rest, cards = list(range(52)), []
    for k in reversed(range(52)):
        index, rank = divmod(rank, math.factorial(k))
        cards.append(rest.pop(index))
    return tuple(cards)
