"""Moves as text, and moves and actions both ways."""

import pickle

import pytest

from canfield_env import Game, IllegalMoveError, Move
from helpers import lay_out, long_column, texts
from reference import PACK

COLUMNS = ("T1", "T2", "T3", "T4")


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("D", Move("D", "D")),
        ("W>F", Move("W", "F")),
        ("R>F", Move("R", "F")),
        ("T3>F", Move("T3", "F")),
        ("W>T2", Move("W", "T2")),
        ("R>T1", Move("R", "T1")),
        ("FH>T4", Move("FH", "T4")),
        ("T1>T3", Move("T1", "T3")),
        ("T1>T3*2", Move("T1", "T3", 2)),
        ("T1>T3*52", Move("T1", "T3", 52)),
    ],
)
def test_text_of_a_move(text, move):
    assert Move.parse(text) == Move.parse(text.lower()) == Move.parse(f" {text} ") == move
    assert str(move) == text
    assert pickle.loads(pickle.dumps(move)) == move


@pytest.mark.parametrize(
    "text",
    [
        *("", "X", "DD", "D>D", "W", "W>", ">T1", "W>W", "W>R", "F>T1", "FX>T1", "T0>F", "T5>F", "T1>T5", "T1-T2"),
        *("T1 > T2", "T1>T2*", "T1>T2*0", "T1>T2*01", "T1>T2*-1", "T1>T2*100", "T1>T2*2*2", "W>FH", "T1>FC", "D*1"),
        *("Ｔ1>F", None, 5),
    ],
)
def test_what_is_no_move(text):
    with pytest.raises(IllegalMoveError, match="is not a move: write D to draw, or such as W>F") as caught:
        Move.parse(text)
    assert repr(text) in str(caught.value)


def everything():
    """A game in which nearly every kind of action is legal."""
    return Game.from_position(
        lay_out(["TC 9H", "JH", "", "7H"], foundations="TD 6S 7C", waste="8C", rest="waste", rules="app")
    )


def test_an_illegal_move_names_itself():
    with pytest.raises(IllegalMoveError, match="T1>T4 is not a legal move here"):
        everything().play("T1>T4")


def test_onto_an_empty_column_the_number_must_be_given():
    game = everything()
    with pytest.raises(IllegalMoveError, match=r"T1>T3 goes to an empty column: say how many cards, such as T1>T3\*1"):
        game.play("T1>T3")
    assert str(game.play("T1>T3*1")) == "T1>T3*1"


def test_the_number_is_left_out_where_it_says_nothing():
    game = everything()
    assert str(game.play("T1>T2*2")) == "T1>T2"
    game.undo()
    assert str(game.play("W>T1*1")) == "W>T1"
    game.undo()
    assert str(game.play("T4>F*1")) == "T4>F"


def test_legal_moves_are_exactly_what_the_actions_do():
    game = everything()
    moves = game.legal_moves()
    assert texts(moves) == {
        *("D", "W>F", "W>T1", "W>T3", "T4>F", "T1>T2", "T1>T3*1"),
        *("FC>T3", "FD>T3", "FS>T3", "FS>T4"),
    }
    actions = [game.action_of(move) for move in moves]
    assert actions == sorted(set(actions))
    assert [game.move_of(action) for action in actions] == moves
    assert [game.action_of(str(move)) for move in moves] == actions


def test_the_actions_places():
    """0 draw · 1 W>F · 2-5 W>T · 6 R>F · 7-10 R>T · 11-14 T>F · 15-30 F>T · 31-42 T>T · 43-94 tail to empty."""
    expected = {"D": 0, "W>F": 1, "R>F": 6}
    expected |= {f"W>T{j + 1}": 2 + j for j in range(4)} | {f"R>T{j + 1}": 7 + j for j in range(4)}
    expected |= {f"T{i + 1}>F": 11 + i for i in range(4)}
    expected |= {f"F{suit}>T{j + 1}": 15 + 4 * k + j for k, suit in enumerate("CDHS") for j in range(4)}
    expected |= {f"T{i + 1}>T{j + 1}": 31 + 3 * i + j - (j > i) for i in range(4) for j in range(4) if i != j}
    assert sorted(expected.values()) == list(range(43))
    game = Game.from_position(lay_out(["8C", "9D", "TS", "JD"], foundations="7H", rules="app"))
    for text, action in expected.items():
        assert game.action_of(text) == action or text.startswith("T")
        assert str(game.move_of(action)) == text
    # Between columns only where a tail fits.
    assert {text: game.action_of(text) for text in ("T1>T2", "T2>T3", "T3>T4")} == {
        text: expected[text] for text in ("T1>T2", "T2>T3", "T3>T4")
    }


def test_a_tail_to_the_first_empty_column_is_named_by_its_first_card():
    column = long_column(40)
    game = Game.from_position(lay_out(["", " ".join(column), "", ""], base="A"))
    for depth in range(1, 40):
        action = 43 + PACK.index(column[depth])
        assert str(game.move_of(action)) == f"T2>T1*{40 - depth}"
        assert game.action_of(f"T2>T1*{40 - depth}") == action
        assert game.action_of(f"T2>T3*{40 - depth}") == -1
