"""The reference engine against positions made by hand from rules.md, and against what must hold in any game.

The hand-made positions often leave out cards that do not matter; the reference asks for no whole pack.
"""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import ANDR, APP, HOYLE, PACK, PRESETS, RANKS, RULE_FIELDS, SUITS, Reference
from strategies import (
    SEEDS,
    built_positions,
    decks,
    endgame_positions,
    play_randomly,
    rules_dicts,
    whole_position,
)


def cards(text):
    return text.split()


def game(
    rules,
    columns=("", "", "", ""),
    *,
    reserve="",
    stock="",
    waste="",
    base="7",
    foundations=(0, 0, 1, 0),
    redeals=0,
    attempt=1,
    seconds=0,
    **changes,
):
    """A game from a hand-made position; foundations are counts in the order C D H S, changes rule fields."""
    position = {
        "base_rank": base,
        "foundations": dict(zip(SUITS, foundations, strict=True)),
        "reserve": cards(reserve),
        "columns": [cards(column) for column in columns],
        "stock": cards(stock),
        "waste": cards(waste),
        "redeals": redeals,
    }
    assert set(changes) <= set(RULE_FIELDS)
    return Reference.from_position(position, {**rules, **changes}, attempt=attempt, seconds=seconds)


def column_texts(a_game):
    return [" ".join(column) for column in a_game.columns]


# --- the published deal (§5) --------------------------------------------------------------------------------


def published_deal(seed):
    """The nine published cards in their places, the other 43 in any order."""
    pack = [None] * 52
    pack[12], pack[11], pack[10], pack[9] = "QC", "8H", "QS", "JS"  # the reserve from its top
    pack[13:18] = ["7H", "6C", "KH", "QH", "AS"]
    others = [card for card in PACK if card not in pack]
    random.Random(seed).shuffle(others)
    return [card or others.pop() for card in pack]


@pytest.mark.parametrize("seed", range(5))
def test_published_deal(seed):
    pack = published_deal(seed)
    played = Reference.deal(pack, APP)
    assert played.position()["base_rank"] == "7"
    assert played.foundation_cards == 1
    assert column_texts(played) == ["6C", "KH", "QH", "AS"]
    assert len(played.stock) == 34 and played.waste == []
    assert "T4>F" not in played.legal_moves()  # A♠ cannot start the spades foundation
    assert "T2>T4" in played.legal_moves()  # K♥ on A♠: columns wrap
    played.play("R>T2")
    played.play("R>F")
    played.play("T2>T4")
    assert column_texts(played) == ["6C", "QS", "QH", "AS KH QC"]
    assert len(played.reserve) == 10 and played.reserve[-1] == "JS"
    assert played.position()["foundations"] == {"C": 0, "D": 0, "H": 2, "S": 0}
    assert [played.score(kind) for kind in ("app", "casino", "andr")] == [5, -40, 105]
    assert played.stock == pack[18:]


def test_deal_order():
    played = Reference.deal(PACK, APP)
    assert played.reserve == PACK[:13]
    assert played.foundations == {"C": [], "D": ["AD"], "H": [], "S": []}
    assert column_texts(played) == ["2D", "3D", "4D", "5D"]
    assert played.stock[0] == PACK[18]  # the nineteenth card of the deal is the first drawn


# --- stock and waste (§1) -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw_count", "stock", "waste_after", "stock_after"),
    [
        (3, "2C", "9D 2C", ""),
        (3, "2C 3C", "9D 2C 3C", ""),
        (3, "2C 3C 4C 5C", "9D 2C 3C 4C", "5C"),
        (3, "2C 3C 4C 5C 6C", "9D 2C 3C 4C", "5C 6C"),
        (1, "2C", "9D 2C", ""),
        (1, "2C 3C", "9D 2C", "3C"),
    ],
)
def test_draw(draw_count, stock, waste_after, stock_after):
    played = game(APP, stock=stock, waste="9D", draw_count=draw_count)
    played.play("D")
    assert played.waste == cards(waste_after)
    assert played.stock == cards(stock_after)
    assert played.redeals == 0


def test_redeal_keeps_order_and_turns_no_card():
    played = game(APP, stock="2C 3C 4C 5C 6C")
    played.play("D")
    played.play("D")
    assert played.waste == cards("2C 3C 4C 5C 6C")
    played.play("D")
    assert played.stock == cards("2C 3C 4C 5C 6C")
    assert played.waste == []
    assert played.redeals == 1
    played.play("D")
    assert played.waste == cards("2C 3C 4C")


def test_no_draw_with_stock_and_waste_empty():
    assert game(APP, ("2C", "", "", "")).legal_moves() == {"FH>T2"}


@pytest.mark.parametrize(("most", "redeals", "allowed"), [(None, 99, True), (0, 0, False), (2, 1, True), (2, 2, False)])
def test_max_redeals(most, redeals, allowed):
    turned = game(HOYLE, ("2C", "2S", "2H", "2D"), waste="9D TD", redeals=redeals, max_redeals=most)
    assert ("D" in turned.legal_moves()) is allowed
    unturned = game(HOYLE, ("2C", "2S", "2H", "2D"), stock="9D TD", redeals=redeals, max_redeals=most)
    assert "D" in unturned.legal_moves()


def test_only_top_of_waste_and_reserve_play():
    played = game(HOYLE, ("6C", "QH", "2H", "2D"), waste="8H 5D", reserve="8H JC")
    assert played.legal_moves() == {"W>T1", "R>T2", "D"}


# --- foundations (§1) ---------------------------------------------------------------------------------------


def test_foundation_starts_with_base_rank_and_wraps():
    played = game(HOYLE, ("KH", "AS", "7S", "8C"), foundations=(0, 0, 6, 0))  # hearts 7 … Q
    assert played.legal_moves() == {"T1>F", "T3>F", "T1>T2"}  # 7♠ goes not on 8♣
    played.play("T1>F")
    assert played.foundations["H"][-1] == "KH"
    played = game(HOYLE, ("AH", "2S", "", ""), foundations=(0, 0, 7, 0))  # hearts 7 … K
    assert "T1>F" in played.legal_moves()


def test_complete_foundation_takes_nothing():
    assert not game(APP, foundations=(0, 0, 13, 0)).goes_on_foundation("7H")


def test_only_the_last_card_of_a_column_goes_to_a_foundation():
    assert "T1>F" not in game(APP, ("8H 7C", "2S", "2D", "2C"), foundations=(1, 0, 1, 0)).legal_moves()
    assert "T1>F" in game(APP, ("9C 8H", "2S", "2D", "2C")).legal_moves()


# --- columns (§1, §2) ---------------------------------------------------------------------------------------


def test_columns_alternate_and_wrap():
    played = game(HOYLE, ("AS", "2D", "2C", "7S"), waste="KH")
    assert played.legal_moves() == {"W>T1", "T1>T2", "T4>F", "D"}  # K♥ on A♠; A♠ on 2♦, not on 2♣
    assert "W>T4" in game(HOYLE, ("AS", "2D", "2C", "7S"), waste="6H").legal_moves()  # 6♥ on 7♠, base 7


def test_build_past_base():
    columns = ("7S", "8D 7C", "8S", "2C")
    bases_up = {"T1>F", "T2>F"}
    assert game(HOYLE, columns, waste="6H").legal_moves() == {"D", "W>T1", "W>T2"} | bases_up
    assert game(HOYLE, columns, waste="6H", build_past_base=False).legal_moves() == {"D"} | bases_up
    # the base card itself still goes on the next rank up
    assert "W>T3" in game(APP, columns, waste="7D", build_past_base=False).legal_moves()


def test_any_tail_moves_under_app():
    played = game(APP, ("9C 8D 7C", "9S", "2D", "2H"), reserve="QH")
    assert played.legal_moves() == {"T1>T2", "T1>F"}
    played.play("T1>T2")
    assert column_texts(played) == ["9C", "9S 8D 7C", "2D", "2H"]


def test_whole_column_only_under_hoyle():
    tail = game(HOYLE, ("9C 8D 7C", "9S", "2D", "2H"))
    assert tail.legal_moves() == {"T1>F"}
    whole = game(HOYLE, ("9C 8D 7C", "TH", "2D", "2H"), foundations=(1, 0, 1, 0), reserve="4C 5C")
    assert whole.legal_moves() == {"T1>T2"}
    whole.play("T1>T2")
    assert column_texts(whole) == ["5C", "TH 9C 8D 7C", "2D", "2H"]
    assert whole.reserve == ["4C"]


def test_emptied_column_is_filled_by_a_foundation_move_too():
    played = game(APP, ("8H", "2C", "2D", "2S"), reserve="9H")
    played.play("T1>F")
    assert column_texts(played)[0] == "9H"
    assert played.reserve == []
    played.play("T1>F")
    assert column_texts(played)[0] == ""  # the reserve is empty: it stays empty


def test_andr_column_is_not_filled_and_takes_the_reserve():
    played = game(ANDR, ("8H", "2C", "QD JC", "2S"), reserve="4C 9H", waste="5C")
    played.play("T1>F")
    assert column_texts(played)[0] == ""
    assert played.reserve == cards("4C 9H")
    assert played.legal_moves() == {"D", "R>F", "R>T1", "W>T1", "T3>T1*1"}
    played.play("R>T1")
    assert column_texts(played)[0] == "9H"


def test_empty_column_under_hoyle_takes_only_the_waste():
    played = game(HOYLE, ("2C AD", "", "", "2S"), waste="5C", stock="6C")
    assert played.legal_moves() == {"D", "W>T2"}
    assert played.drag_moves() == {"D", "W>T2", "W>T3"}


def test_empty_column_under_app_takes_any_card_or_tail_but_no_whole_column():
    played = game(APP, ("2C AD KS", "", "", "2S"), waste="5C", foundations=(0, 0, 1, 0))
    assert played.legal_moves() == {"D", "W>T2", "FH>T2", "T1>T2*1", "T1>T2*2", "T1>T4"}
    assert played.drag_moves() - played.legal_moves() == {"W>T3", "FH>T3", "T1>T3*1", "T1>T3*2"}
    played.play("T1>T3*2")
    assert column_texts(played) == ["2C", "", "AD KS", "2S"]


def test_mixes_of_the_empty_column():
    # not filled, but only for the waste: the reserve stays out of it
    mix = game(ANDR, ("2C AD", "", "5H", "2D"), reserve="9S", waste="JC", empty_column="waste")
    assert mix.legal_moves() == {"D", "W>T2"}
    # whole columns only, any card to an empty one: no tail goes there
    mix = game(HOYLE, ("2C AD", "", "5H", "2D"), waste="JC", empty_column="any", take_back=True)
    assert mix.legal_moves() == {"D", "W>T2", "FH>T2"}


def test_take_back():
    columns = ("8S", "8D", "9C", "2D")
    played = game(APP, columns)
    assert played.legal_moves() == {"FH>T1", "T2>T3"}  # 7♥, the base card, goes back on 8♠
    played.play("FH>T1")
    assert played.foundation_cards == 0
    assert column_texts(played)[0] == "8S 7H"
    assert "T1>F" in played.legal_moves()  # and up again
    assert game(APP, columns, take_back=False).legal_moves() == {"T2>T3"}
    complete = game(APP, ("7S", "2C", "4D", "4H"), foundations=(0, 0, 13, 0))
    assert complete.legal_moves() == {"FH>T1", "T1>F"}  # 6♥ from a complete one


def test_empty_base_foundation_takes_only_the_base_card():
    played = game(APP, ("8S 7H", "8H", "2D", "2C"), foundations=(0, 0, 0, 0))
    assert played.goes_on_foundation("7H") and not played.goes_on_foundation("8H")


def long_column(length, head_rank="K", suits=("SC", "HD")):
    """A column of that length from a black card on; its first 26 cards are ♠♥, the next 26 ♣♦."""
    first = RANKS.index(head_rank)
    return [RANKS[(first - k) % 13] + suits[k % 2][k // 26] for k in range(length)]


def test_column_of_14_through_the_wrap():
    column = " ".join(long_column(13))
    played = game(APP, (column, "2D", "2C", "4C"), waste="KH", foundations=(0, 0, 0, 0), base="6")
    assert played.columns[0][-1] == "AS"
    played.play("W>T1")
    assert len(played.columns[0]) == 14
    assert played.columns[0][0] == "KS" and played.columns[0][-1] == "KH"


def test_two_tails_that_fit():
    column = long_column(28)  # K♠ … A♥ (26), K♣, Q♦
    assert column[25:] == ["AH", "KC", "QD"]
    assert len(set(column)) == 28
    played = game(APP, (" ".join(column), "AD", "", ""), base="6", foundations=(0, 0, 0, 0))
    assert {text for text in played.legal_moves() if ">T2" in text} == {"T1>T2"}
    assert {text for text in played.drag_moves() if ">T2" in text} == {"T1>T2", "T1>T2*28"}
    shorter = Reference.from_position(played.position(), played.rules)
    shorter.play("T1>T2")
    assert shorter.columns[1] == ["AD", "KC", "QD"]
    assert len(shorter.columns[0]) == 26
    played.play("T1>T2*28")
    assert played.columns[0] == [] and played.columns[1] == ["AD", *column]


def test_two_tails_under_whole():
    column = long_column(28)
    played = game(HOYLE, (" ".join(column), "AD", "", ""), base="6")
    assert played.drag_moves() == {"T1>T2"}
    played.play("T1>T2")
    assert played.columns[1] == ["AD", *column]


def test_illegal_moves_change_nothing():
    played = game(APP, ("2C AD", "", "5H", "2S"), waste="9S", stock="JC")
    before = played.position()
    for text in ["", *cards("W>F T1>T2 T1>T2*2 T1>T2*0 T9>F X R>F W>T1 T1>T4*1 d FS>T1")]:
        with pytest.raises(ValueError, match="is not a move"):
            played.play(text, seconds=50)
        assert played.position() == before and played.seconds == 0


# --- the end ------------------------------------------------------------------------------------------------


def test_win_and_scores_of_a_win():
    played = game(ANDR, ("6C", "", "", ""), foundations=(12, 13, 13, 13), attempt=2)
    assert played.score("casino") == 51 * 5 - 50
    played.play("T1>F", seconds=57)
    assert played.won and played.legal_moves() == played.drag_moves() == set()
    assert played.legal_actions() == set()
    assert not played.dead()
    assert played.score("casino") == 450
    assert played.score("app") == 5
    before_win = 60 + 350 - 50
    assert played.score("andr") == before_win + 2 * before_win - 180 * 2 - 10 * 57


def test_no_take_back_after_a_win():
    assert game(APP, foundations=(13, 13, 13, 13)).drag_moves() == set()


def test_dead_only_once_the_stock_is_known():
    columns = ("2C", "2S", "4C", "4S")
    assert not game(HOYLE, columns, stock="6C 6S JC").dead()  # never seen
    assert game(HOYLE, columns, stock="6C 6S JC", redeals=1).dead()
    assert game(HOYLE, columns, waste="6C 6S JC").dead()  # seen: all of it lies in the waste
    assert game(HOYLE, columns).dead()  # nothing left to see
    assert not game(HOYLE, columns, waste="6C 6S JC", stock="QC").dead()


def test_dead_looks_through_this_pass_and_one_after_a_redeal():
    columns = ("2C", "2S", "4C", "4S")
    # 8♥ comes up as the sixth card of this pass
    assert not game(HOYLE, columns, stock="6C 6S JC QC QS 8H", redeals=1).dead()
    # 8♥ lies under the third: never the top when three are drawn, and it is when one is
    assert game(HOYLE, columns, stock="6C 8H JC", redeals=1).dead()
    assert not game(HOYLE, columns, stock="6C 8H JC", redeals=1, draw_count=1).dead()
    # passed over in this pass (6♣ 8♥ Q♣), on top in the next (J♣ 6♣ 8♥)
    assert not game(HOYLE, columns, waste="JC", stock="6C 8H QC", redeals=1).dead()
    assert game(HOYLE, columns, waste="JC", stock="6C 8H QC", redeals=1, max_redeals=1).dead()


def test_dead_with_columns_and_take_backs():
    assert not game(HOYLE, ("2C", "AD", "4C", "4S")).dead()  # A♦ on 2♣
    assert not game(APP, ("8C", "2S", "4C", "4S")).dead()  # a take-back is a play
    assert game(APP, ("9C", "2S", "4C", "4S")).dead()
    assert not game(HOYLE, ("2C", "", "4C", "4S"), stock="6C", redeals=3).dead()  # W>T2 after the draw
    assert game(HOYLE, ("2C 3H", "", "4C", "4S")).dead()


def test_dead_changes_nothing():
    played = game(HOYLE, ("2C", "2S", "4C", "4S"), waste="JC", stock="6C 8H QC", redeals=1)
    before = played.position()
    played.dead()
    assert played.position() == before


# --- the scores (§3) ----------------------------------------------------------------------------------------


def scores(a_game):
    return tuple(a_game.score(kind) for kind in ("app", "casino", "andr"))


def test_scores_at_the_start():
    assert scores(Reference.deal(PACK, APP)) == (0, -45, 0)
    assert scores(Reference.deal(PACK, {**APP, "deck_price": 52})) == (0, -47, 0)
    assert scores(game(APP, foundations=(3, 4, 5, 0), base="A")) == (0, 10, 0)
    assert scores(game(ANDR, foundations=(13, 13, 13, 13))) == (0, 450, 0)


def test_score_of_each_kind_of_move():
    played = game(ANDR, ("JD", "6C", "", "QD"), reserve="2C TC", waste="4C 5H 8H", stock="2S")
    steps = [
        ("W>F", 5, 60),
        ("R>T1", 0, 45),
        ("W>T2", 0, 45),
        ("T1>T3*1", 0, 0),
        ("T3>T1", 0, 0),
        ("R>T3", 0, 545),  # the reserve run empty
        ("D", 0, 0),
        ("D", 0, -125),
    ]
    for text, app, andr in steps:
        before = scores(played)
        played.play(text)
        assert scores(played)[0] - before[0] == app, text
        assert scores(played)[2] - before[2] == andr, text
        assert scores(played)[1] - before[1] == app, text  # 5 dollars a card, as the app's points


def test_redeal_price_when_drawing_one():
    played = game(ANDR, waste="2C", draw_count=1)
    played.play("D")
    assert played.score("andr") == -200


def test_time_costs():
    played = game(ANDR, stock="2C 3C 4C 5C")
    played.play("D", seconds=9)
    assert played.score("andr") == 0
    played.play("D", seconds=29)
    assert played.score("andr") == -20
    played.play("D")  # the clock as it was, and a redeal
    assert played.score("andr") == -20 - 125


def test_take_back_scores():
    played = game(APP, ("8S", "4H", "9C", "2D"))
    played.play("FH>T1")
    assert scores(played) == (0, -50, 0)
    played.play("T1>F")
    assert scores(played) == (5, -45, 60)


def test_completion_is_paid_once():
    played = game(APP, ("7S 6H", "4H", "9C", "2D"), foundations=(0, 0, 12, 0))
    played.play("T1>F")
    assert played.score("andr") == 60 + 350
    played.play("FH>T1")
    played.play("T1>F")
    assert played.score("andr") == 60 + 350 + 60


def test_completion_given_is_not_paid():
    played = game(APP, ("7S", "4H", "9C", "2D"), foundations=(0, 0, 13, 0))
    played.play("FH>T1")
    played.play("T1>F")
    assert scores(played) == (5, 15, 60)


def test_a_fill_that_empties_the_reserve():
    played = game(APP, ("JC", "QH", "9C", "2D"), reserve="4S", score="andr")
    played.play("T1>T2")
    assert played.score("andr") == 500  # for the reserve run empty; no 45 for the fill
    assert column_texts(played)[0] == "4S"


def test_empty_reserve_given_is_not_paid():
    played = game(ANDR, ("JC", "QH", "9C", "2D"), waste="8H")
    played.play("W>F")
    assert played.score("andr") == 60


# --- what a player sees, and the actions (design.md) --------------------------------------------------------


def test_visible():
    played = game(
        APP,
        ("9C 8D", "2S", "", ""),
        reserve="4C 5C",
        waste="AC 2C 3C 6C",
        stock="TC JC",
        foundations=(0, 0, 2, 0),
    )
    table = {
        "7H": ("foundation",),
        "8H": ("foundation",),
        "9C": ("column", 0, 0),
        "8D": ("column", 0, 1),
        "2S": ("column", 1, 0),
        "5C": ("reserve", 0),
    }
    fan = {"2C": ("order", 1), "3C": ("order", 2), "6C": ("order", 3)}
    under = {"AC": ("order", 0)}
    stock = {"TC": ("order", 4), "JC": ("order", 5)}
    assert played.visible("screen") == {**table, **fan}
    assert played.visible("recall") == {**table, **fan, **under}
    assert played.visible("thoughtful") == {**table, **fan, **under, **stock, "4C": ("reserve", 1)}
    played.rules["draw_count"] = 1
    assert played.visible("screen") == {**table, "6C": ("order", 3)}
    played.redeals = 1
    assert played.visible("recall") == {**table, **fan, **under, **stock}


def test_action_texts():
    played = game(APP, ("9C 8D 7S", "2S", "", ""))
    numbers = {
        0: "D",
        1: "W>F",
        5: "W>T4",
        6: "R>F",
        7: "R>T1",
        10: "R>T4",
        11: "T1>F",
        14: "T4>F",
        15: "FC>T1",
        30: "FS>T4",
    }
    for action, text in numbers.items():
        assert played.action_text(action) == text
    for suit_number, suit in enumerate(SUITS):
        for j in range(4):
            assert played.action_text(15 + 4 * suit_number + j) == f"F{suit}>T{j + 1}"
    for i in range(4):
        for j in range(4):
            if i != j:
                assert played.action_text(31 + 3 * i + j - (j > i)) == f"T{i + 1}>T{j + 1}"
    assert played.action_text(43 + PACK.index("8D")) == "T1>T3*2"
    assert played.action_text(43 + PACK.index("9C")) == "T1>T3*3"  # the whole column: a text, but not legal
    assert 43 + PACK.index("9C") not in played.legal_actions()
    assert played.action_text(43 + PACK.index("AC")) is None
    assert PACK[0] == "AC" and PACK[13] == "AD" and PACK[51] == "KS"


def test_presets_have_all_fields():
    for rules in PRESETS.values():
        assert tuple(rules) == RULE_FIELDS


# --- what holds in every game -------------------------------------------------------------------------------


def all_cards(position):
    """Every card of a position, the foundations' too."""
    base = RANKS.index(position["base_rank"])
    found = [RANKS[(base + k) % 13] + suit for suit in SUITS for k in range(position["foundations"][suit])]
    for pile in (*position["columns"], position["reserve"], position["stock"], position["waste"]):
        found = found + pile
    return found


def check_position(position, rules):
    """What design.md says that reading a position checks, and some more that every real game keeps to."""
    assert sorted(all_cards(position)) == sorted(PACK)
    assert all(0 <= count <= 13 for count in position["foundations"].values())
    assert rules["take_back"] or any(position["foundations"].values())
    assert len(position["columns"]) == 4
    assert len(position["reserve"]) <= 13
    assert len(position["stock"]) + len(position["waste"]) <= 34
    if rules["auto_fill"] and position["reserve"]:
        assert all(position["columns"])
    for column in position["columns"]:
        for upper, lower in itertools.pairwise(column):
            assert (upper[1] in "DH") != (lower[1] in "DH")
            assert lower[0] + upper[0] in "A23456789TJQKA"  # one rank down, a king on an ace too
            assert rules["build_past_base"] or upper[0] != position["base_rank"]
    assert position["redeals"] >= 0
    assert rules["max_redeals"] is None or position["redeals"] <= rules["max_redeals"]


@given(rules_dicts().flatmap(lambda rules: st.tuples(st.just(rules), endgame_positions(rules))))
def test_strategy_positions_are_valid(rules_and_position):
    rules, position = rules_and_position
    check_position(position, rules)
    read = Reference.from_position(position, rules)
    assert not read.won
    assert read.position() == position
    assert whole_position(position, rules)["draw_count"] == rules["draw_count"]


@given(rules_dicts(), decks(), SEEDS)
@settings(max_examples=50, deadline=None)
def test_games_keep_to_the_rules(rules, pack, seed):
    check_any_game(Reference.deal(pack, rules), 60, random.Random(seed))


@given(rules_dicts().flatmap(lambda rules: st.tuples(st.just(rules), built_positions(rules))), SEEDS)
@settings(deadline=None)
def test_built_games_keep_to_the_rules(rules_and_position, seed):
    rules, position = rules_and_position
    check_any_game(Reference.from_position(position, rules), 15, random.Random(seed))


def check_any_game(played, moves, dice):
    """Random drags; after each the position is valid, and actions, moves and drags agree with each other."""
    for _ in range(moves):
        order = played.waste + played.stock
        legal, drags, actions = played.legal_moves(), played.drag_moves(), played.legal_actions()
        assert legal <= drags
        assert bool(legal) == bool(drags)
        texts = [played.action_text(action) for action in actions]
        assert sorted(texts) == sorted(legal)  # each by exactly one action
        if played.dead():
            assert legal <= {"D"}
        if not drags:
            return
        text = dice.choice(sorted(drags))
        cards_before = played.foundation_cards
        points_before = played.score("app")
        played.play(text)
        check_position(played.position(), played.rules)
        change = 1 if text.endswith(">F") else -1 if text[0] == "F" else 0
        assert played.foundation_cards - cards_before == change
        assert played.score("app") - points_before == max(0, 5 * change)
        left = played.waste + played.stock
        assert left == [card for card in order if card in left]  # §1: their joint order never changes


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_random_play_never_wins_by_itself(seed):
    """`play_randomly` stops short of a win, so that the positions it leaves are ones an environment takes."""
    played = game(APP, ("6C", "5C", "", ""), foundations=(11, 13, 13, 13))
    play_randomly(played, 50, random.Random(seed))
    assert not played.won
