"""Cards as numbers and as text.

A card id is ``suit * 13 + rank``, suits in the order C D H S, rank 0 an ace and 12 a king, so ids run
from 0 (ace of clubs) to 51 (king of spades).
"""

from __future__ import annotations

RANKS = "A23456789TJQK"
SUITS = "CDHS"
SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
SUIT_SYMBOLS = "♣♦♥♠"
RANK_NAMES = (
    "ace", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king",
)  # fmt: skip

CARD_TEXTS = tuple(rank + suit for suit in SUITS for rank in RANKS)
_CARD_IDS = {text: card for card, text in enumerate(CARD_TEXTS)}
_CARD_IDS |= {"10" + suit: suit_index * 13 + 9 for suit_index, suit in enumerate(SUITS)}
_SYMBOLS_TO_LETTERS = str.maketrans(SUIT_SYMBOLS, SUITS)


def card_text(card: int) -> str:
    """The two letters of card id ``card`` (0-51), such as ``"7H"`` or ``"TC"``."""
    return CARD_TEXTS[card]


def card_symbol(card: int) -> str:
    """Card id ``card`` (0-51) as shown to people, such as ``"7♥"`` or ``"10♣"``."""
    rank = RANKS[card % 13]
    return ("10" if rank == "T" else rank) + SUIT_SYMBOLS[card // 13]


def card_name(card: int) -> str:
    """Card id ``card`` (0-51) in words, such as ``"seven of hearts"``."""
    return f"{RANK_NAMES[card % 13]} of {SUIT_NAMES[card // 13]}"


def parse_card(text: str) -> int:
    """The card id of ``text``: ``"7H"``, ``"TC"``, ``"10C"`` or ``"7♥"``, in upper or lower case.

    Raises:
        ValueError: if ``text`` names no card.
    """
    card = _CARD_IDS.get(text.strip().upper().translate(_SYMBOLS_TO_LETTERS)) if isinstance(text, str) else None
    if card is None:
        raise ValueError(f"{text!r} is not a card: write a rank of {RANKS} and a suit of {SUITS}, such as '7H'")
    return card


def parse_rank(text: str) -> int:
    """The rank (0 an ace, 12 a king) of ``text``: a letter of ``A23456789TJQK``, or ``"10"``.

    Raises:
        ValueError: if ``text`` names no rank.
    """
    letter = "T" if text == "10" else str(text).upper()
    if len(letter) != 1 or letter not in RANKS:
        raise ValueError(f"{text!r} is not a rank: write one of {', '.join(RANKS)}")
    return RANKS.index(letter)


def is_red(card: int) -> bool:
    """Whether card id ``card`` is a diamond or a heart."""
    return card // 13 in (1, 2)
