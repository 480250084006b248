"""Deals and their codes: the generator written again from its docstring, twenty pinned deals, and bad codes."""

import json
import math
import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canfield_env import Deal, DealCodeError, Game
from canfield_env.cards import card_text
from canfield_env.deals import NUMBERS, code_draw_count, number_code
from helpers import DATA

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"  # RFC 4648 base 32
GOLDEN = json.loads((DATA / "golden_deals.json").read_text(encoding="utf-8"))
NUMBER = st.integers(0, 2**35 - 1)


# --- the generator, written again in plain whole numbers from the docstring of kernel/shuffle.py -----------------

PACK = [
    19, 27, 42, 26, 25, 11, 30, 32, 44, 28, 5, 31, 36, 49, 14, 2, 10, 29,
    7, 43, 24, 41, 20, 17, 39, 0, 12, 23, 47, 45, 50, 33, 35, 38, 1, 4,
    3, 34, 15, 46, 9, 37, 8, 6, 21, 48, 51, 18, 13, 40, 22, 16,
]  # fmt: skip


def outputs(state):
    """SplitMix64."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        yield z ^ (z >> 31)


def below(n, stream):
    """Lemire's bounded draw on 32 bits."""
    while True:
        m = (next(stream) >> 32) * n
        if m % 2**32 >= 2**32 % n:
            return m >> 32


def shuffled(number):
    """Fisher and Yates."""
    cards, stream = list(PACK), outputs(number)
    for k in range(51, 0, -1):
        j = below(k + 1, stream)
        cards[k], cards[j] = cards[j], cards[k]
    return cards


@pytest.mark.plain
def test_the_generator_gives_splitmix64_values():
    """The published first outputs of SplitMix64 for the seed 1234567 (so that the copy above is right)."""
    stream = outputs(1234567)
    assert [next(stream) for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.plain
@given(NUMBER)
def test_any_deal_is_the_one_its_description_says(number):
    assert list(Deal.from_number(number).cards) == shuffled(number)


@pytest.mark.plain
@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden["code"])
def test_golden_codes(golden):
    """Twenty codes pinned to their 52 cards. If this fails, every code names another deal: never change the file."""
    deal = Deal.from_code(golden["code"])
    assert " ".join(card_text(card) for card in deal.cards) == golden["cards"]
    assert deal.code() == golden["code"]
    assert [card_text(card) for card in shuffled(deal.number)] == golden["cards"].split()


def test_there_are_twenty_golden_codes_of_both_draws():
    assert len({golden["code"] for golden in GOLDEN}) == 20
    assert {golden["code"][:6] for golden in GOLDEN} == {"CF1-D1", "CF1-D3"}


def test_deals_are_unbiased():
    """Each card comes to each place about equally often."""
    count = 5_200
    places = [[0] * 52 for _ in range(52)]
    for number in range(count):
        for place, card in enumerate(Deal.from_number(number).cards):
            places[place][card] += 1
    chi_square = sum((seen - count / 52) ** 2 / (count / 52) for row in places for seen in row)
    freedom = 51 * 51
    assert abs(chi_square - freedom) < 5 * math.sqrt(2 * freedom)


# --- codes ------------------------------------------------------------------------------------------------------


def letters_of(number, length):
    """The number in base 32, most significant letter first."""
    text = ""
    for _ in range(length):
        number, digit = divmod(number, 32)
        text = LETTERS[digit] + text
    return text


@given(NUMBER, st.sampled_from([1, 3]))
def test_numbered_codes_round_trip(number, draw_count):
    code = f"CF1-D{draw_count}-{letters_of(number, 7)}"
    deal = Deal.from_code(code)
    assert (deal.number, deal.draw_count) == (number, draw_count)
    assert deal == Deal.from_number(number)
    assert deal.code() == str(deal) == number_code(number, draw_count) == code
    assert deal.code(draw_count=4 - draw_count) == code.replace(f"D{draw_count}", f"D{4 - draw_count}")
    assert code_draw_count(code) == draw_count


def test_letters_are_most_significant_first():
    assert Deal.from_code("CF1-D3-AAAAACL").number == 75 == 2 * 32 + 11
    assert Deal.from_code("CF1-D3-BAAAAAA").number == 32**6
    assert Deal.from_code("CF1-D3-AAAAAAA").number == 0
    assert Deal.from_code("CF1-D3-7777777").number == 2**35 - 1 == NUMBERS - 1


@pytest.mark.parametrize("code", ["cf1-d3-aaaaacl", "Cf1-D3-AaAaAcL", "CF1-d3-AAAAACL"])
def test_lower_case_is_accepted(code):
    deal = Deal.from_code(code)
    assert deal.number == 75
    assert deal.code() == "CF1-D3-AAAAACL"
    cfx = deal_without_number().code()
    assert Deal.from_code(cfx.lower()) == deal_without_number()


def deal_without_number(seed=0):
    return Deal(tuple(random.Random(seed).sample(range(52), 52)))


def rank(cards):
    """The lexicographic rank of a permutation of 0-51, by counting: smaller cards still to come, times (n - 1 - k)!"""
    return sum(sum(other < card for other in cards[k + 1 :]) * math.factorial(51 - k) for k, card in enumerate(cards))


@given(st.permutations(range(52)), st.sampled_from([1, 3]))
def test_cfx_is_the_lexicographic_rank_in_46_letters(cards, draw_count):
    code = f"CFX-D{draw_count}-{letters_of(rank(cards), 46)}"
    assert Deal(tuple(cards)).code(draw_count) == code
    deal = Deal.from_code(code)
    assert deal.cards == tuple(cards)
    assert (deal.number, deal.draw_count, deal.code()) == (None, draw_count, code)


def test_cfx_first_and_last():
    assert Deal(tuple(range(52))).code() == "CFX-D3-" + "A" * 46
    last = f"CFX-D3-{letters_of(math.factorial(52) - 1, 46)}"
    assert Deal.from_code(last).cards == tuple(range(51, -1, -1))
    assert math.factorial(52) < 32**46  # so there are letters beyond


def test_a_numbered_deals_cfx_code_is_the_same_deal():
    """A Deal made from a number or a CF1 code has that code again, any other a CFX code."""
    numbered = Deal.from_number(75)
    by_cards = Deal(numbered.cards)
    assert by_cards == numbered
    assert hash(by_cards) == hash(numbered)
    assert (numbered.code()[:3], by_cards.code()[:3]) == ("CF1", "CFX")
    assert Deal.from_code(by_cards.code()) == numbered


def test_a_deal_is_made_of_ids_or_texts():
    deal = Deal.from_number(12)
    assert Deal(tuple(card_text(card) for card in deal.cards)) == deal
    assert Deal(list(deal.cards)) == deal
    assert pickle.loads(pickle.dumps(deal)) == deal
    assert pickle.loads(pickle.dumps(deal)).code() == deal.code()


# --- what is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("", "'' has 1 parts between hyphens, not 3"),
        ("CF1", "has 1 parts"),
        ("CF1-D3", "has 2 parts"),
        ("CF1-D3-AAAAACL-X", "has 4 parts"),
        ("CF1D3AAAAACL", "has 1 parts"),
        ("CF2-D3-AAAAACL", "begins with 'CF2': this version knows the forms CF1 and CFX"),
        ("-D3-AAAAACL", "begins with ''"),
        (" CF1-D3-AAAAACL", "begins with ' CF1'"),
        ("ＣF1-D3-AAAAACL", "begins with 'ＣF1'"),
        ("CF1-D2-AAAAACL", "its second part is 'D2', but must be D1 or D3"),
        ("CF1-3-AAAAACL", "its second part is '3'"),
        ("CF1-D３-AAAAACL", "its second part is 'D３'"),
        ("CF1-D13-AAAAACL", "its second part is 'D13'"),
        ("CF1-D3-AAAAAC", "its last part has 6 letters, but CF1 takes 7"),
        ("CF1-D3-AAAAACLA", "its last part has 8 letters, but CF1 takes 7"),
        ("CF1-D3-", "its last part has 0 letters"),
        ("CF1-D3-AAAAACL ", "its last part has 8 letters"),
        ("CFX-D3-AAAAACL", "its last part has 7 letters, but CFX takes 46"),
        ("CF1-D3-AAAAA1L", "'1', letter 6 of its last part, is not one of A-Z and 2-7"),
        ("CF1-D3-0AAAACL", "'0', letter 1 of its last part"),
        ("CF1-D3-AAA8ACL", "'8', letter 4 of its last part"),
        ("cf1-d3-aaaaa9l", "'9', letter 6 of its last part"),
        ("CF1-D3-AAAAACÉ", "'É', letter 7 of its last part"),
        ("CF1-D3-AAAAAſL", "'ſ', letter 6 of its last part"),  # upper() would make it an S
        ("CF1-D3-AAAAAßL", "'ß', letter 6 of its last part"),  # and this one two
        ("CFX-D3-" + "A" * 45 + "1", "'1', letter 46 of its last part"),
        ("CFX-D3-" + "7" * 46, "beyond the last of the 52! orders"),
        ("CFX-D3-" + letters_of(math.factorial(52), 46), "beyond the last of the 52! orders"),
        (None, "a deal code is text such as 'CF1-D3-AAAAACL', not None"),
        (75, "not 75"),
    ],
)
def test_bad_codes(code, message):
    with pytest.raises(DealCodeError) as caught:
        Deal.from_code(code)
    assert message in str(caught.value)
    assert repr(code) in str(caught.value)
    with pytest.raises(DealCodeError):
        Game.from_code(code)


@given(st.text(max_size=20))
def test_any_other_text_is_a_code_error(text):
    try:
        deal = Deal.from_code(text)
    except DealCodeError:
        return
    assert deal.code() == text.upper()


@pytest.mark.parametrize("number", [-1, 2**35, 2**64, 10**30])
def test_numbers_out_of_range(number):
    with pytest.raises(ValueError, match=f"deal number {number} is not a whole number from 0 to {2**35 - 1}"):
        Deal.from_number(number)


@pytest.mark.parametrize("number", [1.0, "75", None])
def test_numbers_of_another_kind(number):
    with pytest.raises(ValueError, match=f"deal number {number!r} is not a whole number"):
        Deal.from_number(number)


@pytest.mark.parametrize(
    ("cards", "message"),
    [
        (range(51), "a deal has 52 cards, not 51"),
        (range(53), "a deal has 52 cards, not 53"),
        ((), "not 0"),
        (range(1, 53), "52 at position 51 is not a card id from 0 to 51"),
        ((-1, *range(1, 52)), "-1 at position 0 is not a card id"),
        ((0, 0, *range(2, 52)), "AC comes twice, again at position 1"),
        ((*range(51), 7), "8C comes twice, again at position 51"),
        (("1X", *range(1, 52)), "'1X' is not a card"),
    ],
)
def test_bad_cards(cards, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  (the message is checked below)
        Deal(tuple(cards))
    assert message in str(caught.value)


@pytest.mark.parametrize("draw_count", [0, 2, -1, 13, True])
def test_a_code_of_another_draw(draw_count):
    with pytest.raises(ValueError, match="must be 1 or 3") as caught:
        Deal.from_number(1).code(draw_count)
    assert repr(draw_count) in str(caught.value)
