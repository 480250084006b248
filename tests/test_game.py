"""What ``Game`` does beside the rules' lines (test_rules_lines.py)."""

import copy
import pickle
import random

import pytest

from canfield_env import CanfieldEnv, Deal, DealCodeError, Game, IllegalMoveError, Rules
from helpers import PUBLISHED_CODE, lay_out, published_winning_line, texts


def test_a_codes_draw_decides():
    assert Game.from_code("CF1-D1-AAAAACL").rules == Rules(draw_count=1)
    assert Game.from_code("CF1-D3-AAAAACL", "hoyle").rules == Rules.preset("hoyle")
    assert Game(Deal.from_code("CF1-D1-AAAAACL"), {"preset": "andr"}).rules == Rules.preset("andr", draw_count=1)
    assert Game(Deal.from_code("CF1-D1-AAAAACL")).code == "CF1-D1-AAAAACL"
    assert Game(Deal.from_number(75), Rules(draw_count=1)).code == "CF1-D1-AAAAACL"


@pytest.mark.parametrize("rules", ["app,draw_count=3", {"draw_count": 3}, Rules()])
def test_a_draw_count_that_says_otherwise_is_an_error(rules):
    for make in (Game.from_code, lambda code, rules: Game(Deal.from_code(code), rules)):
        with pytest.raises(ValueError, match="CF1-D1-AAAAACL draws 1, but the rules say draw_count=3"):
            make("CF1-D1-AAAAACL", rules)


@pytest.mark.parametrize("attempt", [0, -1, 1.5, "1", None, True])
def test_bad_attempts(attempt):
    with pytest.raises(ValueError, match=r"attempt is .* but must be 1 or more"):
        Game(Deal.from_number(1), attempt=attempt)
    with pytest.raises(ValueError, match="attempt is"):
        Game.from_position(lay_out(["9C", "TD", "KS", "2C"], foundations="7H"), attempt=attempt)


def test_a_bad_code():
    with pytest.raises(DealCodeError):
        Game.from_code("CF1-D3-AAAAAC")


def test_a_game_from_a_position_has_no_code():
    game = Game.from_position(lay_out(["9C", "TD", "KS", "2C"], foundations="7H", rules="hoyle"))
    assert (game.code, game.deal, game.rules) == (None, None, Rules.preset("hoyle"))


def test_moves_and_undos_are_counted():
    game = Game.from_code(PUBLISHED_CODE)
    line = published_winning_line()
    for number, move in enumerate(line):
        assert str(game.play(move)) == move
        assert game.moves == tuple(line[: number + 1])
        assert game.undos_left == min(number + 1, 100)
    game.undo()
    assert game.moves == tuple(line[:-1])
    assert not game.won and game.undos_left == 99


def test_a_new_move_after_an_undo():
    game = Game.from_code(PUBLISHED_CODE)
    for move in ("R>T2", "R>F", "T2>T4"):
        game.play(move)
    game.undo()
    game.play("D")
    assert game.moves == ("R>T2", "R>F", "D")
    for _ in range(3):
        game.undo()
    assert game.position() == Game.from_code(PUBLISHED_CODE).position()
    assert game.moves == ()


def test_moves_given_as_moves_and_as_text():
    game = Game.from_code(PUBLISHED_CODE)
    for move in game.legal_moves():
        assert game.play(move) == move
        game.undo()
        assert game.play(str(move).lower()) == move
        game.undo()


def test_the_list_of_legal_moves_has_each_once_and_all_can_be_played():
    dice = random.Random(0)
    for number in range(20):
        game = Game(Deal.from_number(number), dice.choice(["app", "hoyle", "andr"]))
        for _ in range(40):
            moves = game.legal_moves()
            assert len(texts(moves)) == len(moves)
            game.play(dice.choice(moves))


@pytest.mark.parametrize("what", ["", "stick", "1H", "W", "T1", "stock!"])
def test_a_tap_on_nothing(what):
    with pytest.raises(ValueError, match="is not a card") as caught:
        Game(Deal.from_number(1)).tap(what)
    assert not isinstance(caught.value, IllegalMoveError)


@pytest.mark.parametrize("what", ["stock", "STOCK", " Stock "])
def test_taps_on_the_stock(what):
    game = Game(Deal.from_number(1))
    assert str(game.tap(what)) == "D"
    assert game.moves == ("D",)


def test_a_tap_on_the_stock_with_no_redeal_left_does_nothing():
    game = Game(Deal.from_number(1), Rules(max_redeals=0))
    for _ in range(12):
        game.tap("stock")
    assert game.tap("stock") is None
    assert game.undos_left == 12


def test_a_tapped_waste_card_under_the_top_stays():
    """A card in the fan lies face up, but only the waste's top card is playable."""
    game = Game.from_position(lay_out(["9C", "TD", "KS", "2C"], foundations="7H", waste="8H 3D"))
    assert game.tap("8H") is None
    assert game.undos_left == 0


def test_a_tap_that_moved_can_be_undone():
    game = Game.from_position(lay_out(["8H", "TD", "KS", "2C"], foundations="7H", waste="3D"))
    before = game.position(), game.score
    game.tap("8H")
    game.undo()
    assert (game.position(), game.score) == before


def test_the_clock_is_read_at_each_move():
    clock = [0.0]
    game = Game(Deal.from_number(1), "andr", clock=lambda: clock[0])
    clock[0] = 29.9
    game.play("D")
    assert game.score == -20
    clock[0] = 30.0
    assert game.score == -30


def test_a_game_can_be_copied_and_pickled():
    game = Game.from_code(PUBLISHED_CODE)
    for move in published_winning_line()[:40]:
        game.play(move)
    for copied in (copy.deepcopy(game), pickle.loads(pickle.dumps(game))):
        assert (copied.position(), copied.moves, copied.score) == (game.position(), game.moves, game.score)
        copied.undo()
        assert copied.undos_left == game.undos_left - 1
        for move in published_winning_line()[39:]:
            copied.play(move)
        assert copied.won and not game.won


def test_a_game_and_an_environment_know_the_same_moves():
    game, env = Game.from_code(PUBLISHED_CODE), CanfieldEnv()
    env.reset(options={"code": PUBLISHED_CODE})
    for text in published_winning_line():
        move = game.play(text)
        _, _, terminated, _, info = env.step(env.action_of(move))
        assert env.position() == game.position()
        assert (info["score"], info["foundation_cards"]) == (game.score, game.foundation_cards)
    assert terminated and game.won
