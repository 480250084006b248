"""The rule sets as Python values, plain data and text."""

import json

import pytest
from hypothesis import given

from canfield_env import Deal, Game, Rules
from canfield_env.rules import rules_for_draw
from strategies import rules_dicts


@given(rules_dicts())
def test_plain_data_and_text_round_trip(fields):
    rules = Rules(**fields)
    assert Rules.read(fields) == rules
    assert Rules.read(json.loads(json.dumps(rules.to_plain()))) == rules
    assert Rules.read(str(rules)) == rules
    assert Rules.read(rules) is rules
    assert hash(Rules(**fields)) == hash(rules)


def test_presets_are_written_by_name():
    for name in ("app", "hoyle", "andr"):
        assert Rules.preset(name).to_plain() == str(Rules.preset(name)) == name
    assert Rules.preset("hoyle", undo_limit=None, max_redeals=3).to_plain() == {
        "preset": "hoyle",
        "max_redeals": 3,
        "undo_limit": None,
    }


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("app", Rules()),
        (" hoyle , draw_count = 1 ", Rules.preset("hoyle", draw_count=1)),
        ("andr,take_back=TRUE", Rules.preset("andr", take_back=True)),
        ("app,undo_limit=none,max_redeals=3", Rules(undo_limit=None, max_redeals=3)),
        ("app,max_redeals=null", Rules()),
        ("hoyle,column_moves=tail,score=andr", Rules.preset("hoyle", column_moves="tail", score="andr")),
    ],
)
def test_text_that_is_read(text, rules):
    assert Rules.read(text) == rules


def test_a_mapping_without_a_preset_changes_app():
    assert Rules.read({"draw_count": 1}) == Rules(draw_count=1)
    assert Rules.read({}) == Rules()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "'' is not a rule set: choose one of app, hoyle, andr"),
        ("App", "'App' is not a rule set"),
        ("klondike", "'klondike' is not a rule set"),
        ({"preset": "klondike"}, "'klondike' is not a rule set"),
        ({"preset": None}, "None is not a rule set"),
        ({"preset": ["app"]}, r"\['app'\] is not a rule set"),
        ("app,draw=1", "'draw' is not a field: the fields are draw_count, column_moves, auto_fill"),
        ({"drawcount": 1}, "'drawcount' is not a field"),
        ("app,draw_count", "'draw_count' is not of the form field=value"),
        ("app,draw_count=1,draw_count=3", "gives 'draw_count' twice"),
        ("app,draw_count=2", "draw_count is 2, but must be 1 or 3"),
        ("app,draw_count=three", "draw_count is 'three'"),
        ("app,draw_count=-1", "draw_count is '-1'"),
        ("app,take_back=no", "take_back is 'no', but must be True or False"),
        ({"take_back": 1}, "take_back is 1, but must be True or False"),
        ({"draw_count": True}, "draw_count is True"),
        ({"draw_count": 3.0}, "draw_count is 3.0"),
        ({"max_redeals": -1}, "max_redeals is -1, but must be a whole number from 0 to"),
        ({"undo_limit": 0.5}, "undo_limit is 0.5"),
        ({"deck_price": None}, "deck_price is None"),
        ({"deck_price": 10**9}, "deck_price is 1000000000"),
        ({"score": "Casino"}, "score is 'Casino', but must be 'app' or 'casino' or 'andr'"),
        (None, "None is neither Rules"),
        (7, "7 is neither Rules"),
        (["app"], "is neither Rules"),
    ],
)
def test_bad_rules(value, message):
    with pytest.raises(ValueError, match=message):
        Rules.read(value)
    with pytest.raises(ValueError, match=message):
        Game(Deal.from_number(1), value)


def test_a_draw_count_from_elsewhere():
    """A code's draw count fills in where the rules leave it open; else both must agree."""
    assert rules_for_draw("hoyle", 1, "x") == Rules.preset("hoyle", draw_count=1)
    assert rules_for_draw({"preset": "hoyle"}, 1, "x") == Rules.preset("hoyle", draw_count=1)
    assert rules_for_draw("app,draw_count=1", 1, "x") == Rules(draw_count=1)
    assert rules_for_draw(Rules(), None, "x") == Rules()
    for rules in (Rules(), "app,draw_count=3", {"draw_count": 3}):
        with pytest.raises(ValueError, match="the letter draws 1, but the rules say draw_count=3"):
            rules_for_draw(rules, 1, "the letter")
