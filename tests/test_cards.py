"""Cards as numbers and as text."""

import pytest

from canfield_env import cards
from reference import PACK


def test_ids_and_texts():
    """Ids are suit * 13 + rank, suits C D H S, rank 0 an ace."""
    assert [cards.card_text(card) for card in range(52)] == PACK
    assert cards.card_text(2 * 13 + 6) == "7H"
    assert [cards.parse_card(text) for text in PACK] == list(range(52))


@pytest.mark.parametrize(
    ("text", "card"),
    [("7H", 32), ("7h", 32), (" 7H ", 32), ("7♥", 32), ("TC", 9), ("10C", 9), ("10c", 9), ("10♣", 9), ("as", 39)],
)
def test_forms_that_are_read(text, card):
    assert cards.parse_card(text) == card


@pytest.mark.parametrize(
    "text", ["", "7", "H", "H7", "1H", "0H", "11H", "7X", "7HH", "10", "7 H", "T10C", None, 7, ["7H"]]
)
def test_what_is_no_card(text):
    with pytest.raises(ValueError, match="is not a card: write a rank of") as caught:
        cards.parse_card(text)
    assert repr(text) in str(caught.value)


def test_symbols_and_names():
    assert (cards.card_symbol(32), cards.card_symbol(9), cards.card_symbol(39)) == ("7♥", "10♣", "A♠")
    assert (cards.card_name(32), cards.card_name(9)) == ("seven of hearts", "ten of clubs")
    assert [cards.parse_card(cards.card_symbol(card)) for card in range(52)] == list(range(52))


@pytest.mark.parametrize(("text", "rank"), [("A", 0), ("a", 0), ("T", 9), ("10", 9), ("K", 12), ("7", 6)])
def test_ranks(text, rank):
    assert cards.parse_rank(text) == rank


@pytest.mark.parametrize("text", ["", "1", "11", "AK", "0", None, "seven", 0.5])
def test_what_is_no_rank(text):
    with pytest.raises(ValueError, match="is not a rank"):
        cards.parse_rank(text)


def test_colours():
    assert [cards.is_red(card) for card in (0, 12, 13, 25, 26, 38, 39, 51)] == [False, False, *[True] * 4, False, False]
