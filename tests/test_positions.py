"""Positions as data and text, and every impossible one with what is said of it."""

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canfield_env import CanfieldEnv, Deal, Game, Position, PositionError, Rules
from helpers import lay_out
from strategies import endgame_positions, rules_dicts, whole_position

RULES_AND_POSITIONS = rules_dicts().flatmap(lambda rules: st.tuples(st.just(rules), endgame_positions(rules)))


# --- round trips ------------------------------------------------------------------------------------------------


@given(RULES_AND_POSITIONS)
def test_data_and_text_round_trip(rules_and_position):
    rules, data = rules_and_position
    position = Position.from_dict(whole_position(data, rules))
    assert position.rules == Rules(**rules)
    written = json.loads(json.dumps(position.to_dict()))
    assert {key: value for key, value in written.items() if key not in ("rules", "draw_count")} == data
    assert Position.from_dict(written) == position
    assert Position.parse(str(position)) == position
    assert pickle.loads(pickle.dumps(position)) == position
    assert hash(Position.from_dict(written)) == hash(position)
    assert Game.from_position(position).position() == position
    env = CanfieldEnv(rules=position.rules)
    env.reset(options={"position": written})
    assert env.position() == position


def good():
    """The data of a position with something in every pile."""
    return {
        "rules": "app",
        "draw_count": 3,
        "base_rank": "7",
        "foundations": {"C": 0, "D": 0, "H": 2, "S": 0},
        "reserve": ["JS"],
        "columns": [["6C"], ["QS"], ["QH"], ["AS", "KH", "QC"]],
        "stock": [*REST[:20]],
        "waste": [*REST[20:]],
        "redeals": 1,
    }


USED = {"7H", "8H", "JS", "6C", "QS", "QH", "AS", "KH", "QC"}
REST = [rank + suit for suit in "DS" for rank in "A23456789TJQK" if rank + suit not in USED]
REST += [rank + suit for suit in "CH" for rank in "A23456789TJQK" if rank + suit not in USED]
REST, IN_RESERVE = REST[:34], REST[34:]


def read(**changes):
    data = good()
    data["reserve"] = [*IN_RESERVE, "JS"]
    for key, value in changes.items():
        data[key] = value
    return Position.from_dict(data)


def test_the_example_is_good():
    position = read()
    assert position.redeals == 1
    assert position.foundations == (0, 0, 2, 0)
    assert len(position.reserve) == 10


def test_the_text_can_be_read_by_a_person():
    lines = str(Game(Deal.from_number(75)).position()).splitlines()
    assert lines[:4] == ["rules app", "base 7", "redeals 0", "foundations C0 D0 H1 S0"]
    assert lines[4].startswith("reserve ") and lines[4].endswith("JS QS 8H QC")
    assert lines[5:9] == ["T1 6C", "T2 KH", "T3 QH", "T4 AS"]
    assert (lines[9][:6], lines[10]) == ("stock ", "waste")


def test_text_lines_may_come_in_any_order():
    position = read()
    lines = str(position).splitlines()
    assert Position.parse("\n\n".join(lines[::-1]) + "\n") == position


def test_ten_is_read_in_both_forms():
    data = read().to_dict()
    tens = json.loads(json.dumps(data).replace('"T', '"10'))
    assert tens != data
    assert Position.from_dict(tens) == read()
    ten = lay_out(["JC", "QH", "2C", "4C"], foundations="TH", base="T")
    assert Position.from_dict({**ten.to_dict(), "base_rank": "10"}) == ten


def test_redeals_and_draw_count_may_be_left_out():
    data = read(redeals=0).to_dict()
    del data["redeals"], data["draw_count"]
    assert Position.from_dict(data) == read(redeals=0)
    data["rules"] = {"preset": "hoyle", "draw_count": 1}
    assert Position.from_dict(data).rules == Rules.preset("hoyle", draw_count=1)
    assert Position.from_dict({**data, "draw_count": 1}).rules.draw_count == 1
    assert Position.from_dict({**data, "rules": "app", "draw_count": 1}).rules.draw_count == 1


def test_the_base_suit_is_no_part_of_a_position():
    position = Game(Deal.from_number(75)).position()
    again = Position.from_dict(position.to_dict())
    assert (position.base_suit, again.base_suit) == (2, None)
    assert position == again
    assert again.describe() == position.describe()


@pytest.mark.parametrize(("rules", "score"), [("app", 0), ("hoyle", 450), ("andr", 0)])
def test_a_won_position_can_be_read(rules, score):
    """From a given position, app and andr start at 0 and casino at the value of the cards that lie there."""
    data = {"rules": rules, "base_rank": "A", "foundations": dict.fromkeys("CDHS", 13)}
    data |= {"reserve": [], "columns": [[], [], [], []], "stock": [], "waste": []}
    for attempt in (1, 7):
        game = Game.from_position(data, clock=lambda: 100, attempt=attempt)
        assert game.won and game.legal_moves() == [] and game.score == score


# --- what is refused --------------------------------------------------------------------------------------------


def swap(pile, number, card):
    """The good position's pile with another card at one place."""
    cards = list({**good(), "reserve": [*IN_RESERVE, "JS"]}[pile])
    cards[number] = card
    return {pile: cards}


FOUNDATIONS = good()["foundations"]
COLUMNS = good()["columns"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"base_rank": "1"}, "'1' is not a rank: write one of A, 2,"),
        ({"base_rank": None}, "None is not a rank"),
        ({"foundations": [0, 0, 2, 0]}, "foundations must give a number of cards for each of C, D, H and S, not [0, 0"),
        ({"foundations": {"C": 0, "D": 0, "H": 2}}, "foundations must give a number of cards for each"),
        ({"foundations": {**FOUNDATIONS, "X": 0}}, "foundations must give a number of cards for each"),
        ({"foundations": {**FOUNDATIONS, "H": "2"}}, "foundation H must be a whole number, not '2'"),
        ({"foundations": {**FOUNDATIONS, "H": True}}, "foundation H must be a whole number, not True"),
        ({"foundations": {**FOUNDATIONS, "H": 14}}, "foundation H holds 14 cards, but must hold from 0 to 13"),
        ({"foundations": {**FOUNDATIONS, "C": -1}}, "foundation C holds -1 cards"),
        ({"foundations": {**FOUNDATIONS, "H": 1}}, "1 of the 52 cards are missing: 8H"),
        ({"foundations": {**FOUNDATIONS, "H": 3}}, "9H lies in foundation H and again in "),
        ({"reserve": "JS"}, "reserve must be a list, not 'JS'"),
        ({"reserve": None}, "reserve must be a list, not None"),
        ({"reserve": [*IN_RESERVE, "11S"]}, "reserve: '11S' is not a card"),
        ({"reserve": [*IN_RESERVE, 49]}, "reserve: 49 is not a card"),
        ({"reserve": IN_RESERVE}, "1 of the 52 cards are missing: JS"),
        ({"reserve": [*IN_RESERVE, "JS", "JS"]}, "JS lies in the reserve and again in the reserve"),
        ({"reserve": [*IN_RESERVE, "JS", "6C"]}, "6C lies in the reserve and again in column 1"),
        (
            {"reserve": [*IN_RESERVE, "JS", *REST[:4]], "stock": REST[4:20]},
            "the reserve holds 14 cards, but at most 13",
        ),
        ({"reserve": [*IN_RESERVE[1:], "JS"], "stock": [*IN_RESERVE[:1], *REST[:20]]}, "hold 35 cards, but at most 34"),
        ({"stock": None}, "stock must be a list, not None"),
        (swap("stock", 3, "Z1"), "stock: 'Z1' is not a card"),
        (swap("waste", 3, ""), "waste: '' is not a card"),
        (swap("waste", 3, REST[0]), f"{REST[0]} lies in the stock and again in the waste"),
        ({"columns": {"T1": []}}, "columns must be a list"),
        ({"columns": COLUMNS[:3]}, "there are 4 columns, not 3"),
        ({"columns": [*COLUMNS, []]}, "there are 4 columns, not 5"),
        ({"columns": [*COLUMNS[:3], "AS"]}, "column 4 must be a list, not 'AS'"),
        ({"columns": [["6C"], ["XX"], *COLUMNS[2:]]}, "column 2: 'XX' is not a card"),
        (
            {"columns": [["6C"], ["QS"], ["QH"], ["KH", "AS", "QC"]]},
            "column 4: AS cannot lie on KH: columns build down",
        ),
        (
            {"columns": [["6C"], ["QS"], ["QH"], ["AS", "QC", "KH"]]},
            "column 4: QC cannot lie on AS: columns build down",
        ),
        (
            {"columns": [["6C"], ["QC"], [], ["AS", "KH", "QH", "QS"]]},
            "column 4: QH cannot lie on KH: columns alternate",
        ),
        (
            {"columns": [["6C"], ["QS", "QC"], ["QH"], ["AS", "KH"]]},
            "column 2: QC cannot lie on QS: columns build down",
        ),
        ({"columns": [[], ["QS"], ["QH"], ["AS", "KH", "QC"]]}, "1 of the 52 cards are missing: 6C"),
        (
            {"columns": [[], ["QS"], ["QH"], COLUMNS[3]], "reserve": ["6C", *IN_RESERVE, "JS"]},
            "column 1 is empty, but the reserve should have filled it",
        ),
        ({"redeals": -1}, "redeals is -1, but cannot be negative"),
        ({"redeals": 2**31}, "redeals is 2147483648, but cannot be negative or that large"),
        ({"redeals": 1.0}, "redeals must be a whole number, not 1.0"),
        ({"redeals": None}, "redeals must be a whole number, not None"),
        ({"rules": {"max_redeals": 0}}, "1 redeals were made, but the rules allow 0"),
        ({"rules": "klondike"}, "'klondike' is not a rule set"),
        ({"rules": None}, "None is neither Rules"),
        ({"rules": {"draw_count": 1}}, "the position draws 3, but the rules say draw_count=1"),
        ({"draw_count": 2}, "draw_count is 2, but must be 1 or 3"),
        ({"draw_count": "3"}, "draw_count is '3', but must be 1 or 3"),
        ({"draw_count": True}, "draw_count is True"),
        ({"base": "7"}, "'base' is not a key of a position: the keys are rules, draw_count, base_rank"),
    ],
)
def test_impossible_positions(changes, message):
    with pytest.raises(PositionError) as caught:
        read(**changes)
    assert message in str(caught.value)
    # And nothing is changed anywhere that reads it.
    env = CanfieldEnv()
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(PositionError):
        env.reset(seed=2, options={"position": {**good(), "reserve": [*IN_RESERVE, "JS"], **changes}})
    after = env.get_state()
    assert (after[0] == before[0]).all() and after[1] == before[1]
    with pytest.raises(PositionError):
        Game.from_position({**good(), "reserve": [*IN_RESERVE, "JS"], **changes})


@pytest.mark.parametrize("key", ["rules", "base_rank", "foundations", "reserve", "columns", "stock", "waste"])
def test_missing_keys(key):
    data = read().to_dict()
    del data[key]
    with pytest.raises(PositionError, match=f"the position has no '{key}'"):
        Position.from_dict(data)


@pytest.mark.parametrize("data", [None, [], "app", 5])
def test_not_a_mapping(data):
    with pytest.raises(PositionError, match="a position is a mapping, not"):
        Position.from_dict(data)


def test_build_past_base_false_refuses_a_card_on_the_base_rank():
    columns = ["7S 6D", "QC", "QH", "KS"]
    with pytest.raises(PositionError, match="column 1: 6D cannot lie on 7S: with build_past_base=False"):
        lay_out(columns, foundations="7H", build_past_base=False)
    assert lay_out(columns, foundations="7H").columns[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("base 7", "bottom 7"), "'bottom' begins no line of a position: the lines are rules"),
        (lambda text: text + "\nbase 7", "the line 'base' is there twice"),
        (lambda text: text.replace("waste", "stock"), "the line 'stock' is there twice"),
        (lambda text: text.replace("T4 ", "T5 "), "'T5' begins no line"),
        (lambda text: text.replace("base 7\n", ""), "the position has no line 'base'"),
        (lambda text: text.replace("redeals 1", "redeals one"), "redeals: 'one' is not a number"),
        (lambda text: text.replace("redeals 1", "redeals -1"), "redeals: '-1' is not a number"),
        (lambda text: text.replace("redeals 1", "redeals"), "redeals: '' is not a number"),
        (lambda text: text.replace("H2", "Hx"), "foundations: 'x' is not a number"),
        (lambda text: text.replace("H2", ""), "foundations must give a number of cards"),
        (lambda text: text.replace("rules app", "rules kiosk"), "'kiosk' is not a rule set"),
        (lambda text: text.replace("T1 6C", "T1 6X"), "column 1: '6X' is not a card"),
        (lambda text: "", "the position has no line 'rules'"),
    ],
)
def test_text_that_is_no_position(change, message):
    with pytest.raises(PositionError) as caught:
        Position.parse(change(str(read())))
    assert message in str(caught.value)


def test_a_position_made_in_python_is_checked_too():
    position = read()
    fields = {name: copy.copy(getattr(position, name)) for name in position.__dataclass_fields__}
    assert Position(**fields) == position
    for name, value, message in (
        ("base_rank", 13, "base_rank is 13, but must be from 0 to 12"),
        ("foundations", (0, 0, 2), "there are 4 foundations, not 3"),
        ("reserve", (52, *position.reserve[1:]), "52 in the reserve is not a card id from 0 to 51"),
        ("waste", (-1, *position.waste[1:]), "-1 in the waste is not a card id"),
    ):
        with pytest.raises(PositionError) as caught:
            Position(**{**fields, name: value})
        assert message in str(caught.value)
