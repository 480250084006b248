"""Every line of ``rules.md`` as a test with its own name; the line stands, quoted, in its docstring."""

import dataclasses
import itertools
import random

import pytest

from canfield_env import CanfieldEnv, Deal, Game, IllegalMoveError, Move, Position, PositionError, Rules
from canfield_env.cards import card_text, is_red, parse_card
from helpers import (
    PUBLISHED_CODE,
    column_text,
    dead_position,
    environment,
    lay_out,
    long_column,
    published_winning_line,
    texts,
)
from reference import RANKS

PRESETS = ("app", "hoyle", "andr")
EVERY_PRESET = pytest.mark.parametrize("rules", PRESETS)


def start(columns, *, clock=None, attempt=1, double_tap=True, **layout):
    """A game from a position laid out by hand."""
    return Game.from_position(lay_out(columns, **layout), double_tap=double_tap, clock=clock, attempt=attempt)


def columns_of(game):
    return [column_text(column) for column in game.position().columns]


def pile(game, name):
    return column_text(getattr(game.position(), name))


def moves_of(game):
    return texts(game.legal_moves())


def refuses(game, *moves):
    """Whether the game refuses every one of these moves, and stays as it is."""
    before = game.position(), game.score, game.undos_left, game.moves
    for move in moves:
        with pytest.raises(IllegalMoveError):
            game.play(move)
    return (game.position(), game.score, game.undos_left, game.moves) == before


# --- 1. What all three rule sets share: the deal -------------------------------------------------------------


@EVERY_PRESET
def test_one_pack_of_52_cards(rules):
    """One 52-card pack, no jokers. Ranks A 2 … 10 J Q K; ♥ ♦ red, ♣ ♠ black."""
    position = Game(Deal.from_number(3), rules).position()
    base = [13 * suit + position.base_rank for suit in range(4) if position.foundations[suit]]
    dealt = [*position.reserve, *base, *itertools.chain(*position.columns), *position.stock]
    assert sorted(card_text(card) for card in dealt) == sorted(a + b for a in "A23456789TJQK" for b in "CDHS")
    assert [is_red(parse_card("7" + suit)) for suit in "HDCS"] == [True, True, False, False]


@EVERY_PRESET
@pytest.mark.parametrize("seed", range(3))
def test_deal_order(rules, seed):
    """Deal order (position 0 first): 13 cards to the reserve, stacked, so the thirteenth is on top; 1 base card
    to its suit's foundation; 1 card face up to each of columns 1-4; the other 34 are the stock, face down, the
    nineteenth card of the deal being the first drawn."""
    cards = random.Random(seed).sample(range(52), 52)
    game = Game(Deal(tuple(cards)), {"preset": rules, "draw_count": 1})
    position = game.position()
    assert position.reserve == tuple(cards[:13])  # bottom to top
    assert position.foundations == tuple(int(suit == cards[13] // 13) for suit in range(4))
    assert position.base_rank == cards[13] % 13
    assert position.columns == tuple((card,) for card in cards[14:18])
    assert position.stock == tuple(cards[18:])
    game.play("D")
    assert game.position().waste == (cards[18],)


@EVERY_PRESET
def test_waste_and_other_foundations_start_empty(rules):
    """Waste and the other three foundations start empty. No card is dealt to the waste at the start."""
    position = Game(Deal.from_number(11), rules).position()
    assert position.waste == ()
    assert sorted(position.foundations) == [0, 0, 0, 1]


# --- the reserve


def test_only_the_top_of_the_reserve_can_be_played():
    """Reserve: only its top card is seen and can be played, to a foundation or a column."""
    game = start(["8C", "TC", "QC", "2C"], foundations="7H", reserve="7S 7D", stock="9C")
    assert {move for move in moves_of(game) if move[0] == "R"} == {"R>F", "R>T1"}
    below = start(["8C", "TC", "QC", "2C"], foundations="7H", reserve="7D 4C", stock="9C")
    assert not {move for move in moves_of(below) if move[0] == "R"}
    with pytest.raises(IllegalMoveError):
        below.tap("7D")


@pytest.mark.parametrize("text", ["W>R", "T1>R", "R>R", "FH>R"])
def test_nothing_goes_to_the_reserve(text):
    """No card is ever put on it."""
    with pytest.raises(IllegalMoveError):
        Game(Deal.from_number(1)).play(text)


def test_the_reserves_count_is_always_seen():
    """The player always sees how many cards are left."""
    position = lay_out(["8C", "TC", "QC", "2C"], reserve="7S 7D 4C", rest="waste", foundations="KH")
    count = len(position.reserve)
    assert 3 < count < 13
    assert f"({count})" in render(position).splitlines()[2]
    assert f"Reserve: {count} cards" in position.describe()
    for tier in ("screen", "recall", "thoughtful"):
        observation, _ = environment(observation=tier).reset(options={"position": position})
        assert observation[57] == count


def render(position):
    env = environment(position.rules, render_mode="ansi")
    env.reset(options={"position": position})
    return env.render()


# --- foundations


def test_each_foundation_is_bound_to_its_suit():
    """Foundations: one per suit, each bound to its suit."""
    game = start(["8H", "8S", "QC", "2C"], foundations="7H", base="7", waste="9H")
    assert moves_of(game) & {"T1>F", "T2>F", "W>F"} == {"T1>F"}
    game.play("T1>F")
    assert game.position().foundations == (0, 0, 2, 0)


def test_the_base_cards_rank_is_the_base_rank():
    """The base card's rank is the base rank."""
    deal = Deal.from_number(17)
    assert Game(deal).position().base_rank == deal.cards[13] % 13


def test_an_empty_foundation_takes_only_the_base_rank_of_its_suit():
    """An empty foundation takes only the base-rank card of its suit;"""
    game = start(["7S", "8S", "AD", "KC"], foundations="7H")
    assert moves_of(game) & {"T1>F", "T2>F", "T3>F", "T4>F"} == {"T1>F"}


@pytest.mark.parametrize(("top", "card"), [("7H", "8H"), ("9H", "TH"), ("QH", "KH"), ("KH", "AH"), ("AH", "2H")])
def test_then_one_rank_up_an_ace_after_a_king(top, card):
    """then one rank up at a time, an ace after a king, until it holds 13."""
    other = RANKS[(RANKS.index(card[0]) + 1) % 13] + "H"
    game = start([card, other, "5C", "5S"], foundations=top)
    assert moves_of(game) & {"T1>F", "T2>F"} == {"T1>F"}
    assert refuses(game, "T2>F")
    game.play("T1>F")
    assert "T2>F" in moves_of(game)


def test_a_complete_foundation_takes_nothing():
    """until it holds 13. A complete one takes nothing."""
    game = start(["6H", "7S", "5C", "3S"], foundations="5H 7D")
    game.play("T1>F")
    assert game.position().foundations[2] == 13
    assert not [move for move in moves_of(game) if move in ("T1>F", "T3>F", "T4>F", "W>F", "R>F")]
    assert refuses(game, "T1>F", "R>F", "W>F")


# --- columns


def test_columns_build_down_by_one_in_alternating_colours():
    """Columns build down by one rank in alternating colours,"""
    game = start(["9C", "9D", "8H", "TS"], foundations="7H", waste="8S")
    assert {move for move in moves_of(game) if ">T" in move and move[0] in "WT"} == {"W>T2", "T3>T1", "T2>T4"}
    assert refuses(game, "W>T1", "T3>T2", "T1>T4", "T1>T2")


@pytest.mark.parametrize("base", ["A", "K", "7"])
def test_a_king_goes_on_an_ace_whatever_the_base_rank(base):
    """and wrap: a king goes on an ace of the other colour whatever the base rank is,"""
    game = start(["KH", "AS", "AD", "4C"], foundations=f"{base}C", base=base)
    assert "T1>T2" in moves_of(game)
    assert refuses(game, "T1>T3")
    game.play("T1>T2")
    assert columns_of(game)[1] == "AS KH"


def test_any_card_goes_on_the_next_rank_up_the_base_rank_too():
    """and any card on the next rank up, the base rank too (6♥ on 7♠ in a game whose base is 7)."""
    game = start(["6H", "7S", "4D", "TC"], foundations="7H")
    game.play("T1>T2")
    assert columns_of(game)[1] == "7S 6H"


def test_all_cards_in_a_column_are_face_up():
    """All cards in a column are face up."""
    position = lay_out(["TC 9D 8C", "KS", "4D", "QC"], foundations="7H")
    observation, _ = environment(observation="screen").reset(options={"position": position})
    assert all(observation[parse_card(card)] != 0 for card in ("TC", "9D", "8C"))
    assert "9♦" in render(position) and "nine of diamonds" in position.describe()
    assert Game.from_position(position).tap("9D") is None  # it can be tapped, though it fits nowhere


@pytest.mark.parametrize("length", [14, 26, 27, 40, 50])
def test_there_is_no_limit_on_a_columns_length(length):
    """There is no limit but the pack on a column's length (a column can hold 14 cards or more through the wrap)."""
    column = long_column(length, "KC")
    rank, black = RANKS[RANKS.index(column[-1][0]) - 1], column[-1][1] in "DH"
    card = next(rank + suit for suit in ("CS" if black else "DH") if rank + suit not in column)
    foundations = "5H" if length < 27 else ""  # so that the rest has its place in the waste
    game = start([" ".join(column), "", "", ""], foundations=foundations, waste=card, base="K")
    assert columns_of(game)[0] == " ".join(column)
    game.play("W>T1")
    assert columns_of(game)[0] == " ".join([*column, card])
    game.undo()
    # Every tail of it moves, and comes back.
    for count in range(1, length):
        game.play(f"T1>T2*{count}")
        assert columns_of(game)[:2] == [" ".join(column[:-count]), " ".join(column[-count:])]
        assert Position.parse(str(game.position())) == game.position()
        game.play(f"T2>T1*{count}")
        assert columns_of(game)[0] == " ".join(column)


def test_a_column_of_52_cards():
    """There is no limit but the pack: all 52 in one column, every foundation taken back."""
    column = long_column(52)
    game = start([" ".join(column), "", "", ""], base="A")
    assert columns_of(game) == [" ".join(column), "", "", ""]
    assert moves_of(game) == {"T1>F", *(f"T1>T2*{n}" for n in range(1, 52))}
    game.play("T1>F")
    assert columns_of(game)[0] == " ".join(column[:51])


# --- stock and waste


@pytest.mark.parametrize("draw_count", [1, 3])
@pytest.mark.parametrize("cards", [1, 2, 4, 5])
def test_a_draw_turns_up_to_n_cards_fewer_when_fewer_are_left(cards, draw_count):
    """Stock and waste: a draw turns up to n cards (n = 3 or 1) onto the waste, one after the other, so the last
    one turned is on top; fewer when fewer are left."""
    stock = ["2C", "9D", "4S", "JH", "QC"][:cards]
    game = start(["8C", "TC", "KS", "2D"], foundations="7H", stock=" ".join(stock), rest="waste", draw_count=draw_count)
    waste = pile(game, "waste").split()
    drawn = 0
    while drawn < cards:
        game.play("D")
        drawn = min(drawn + draw_count, cards)
        assert pile(game, "waste").split() == waste + stock[:drawn]
        assert pile(game, "stock").split() == stock[drawn:]
    assert game.position().redeals == 0
    game.play("D")
    assert pile(game, "stock").split() == waste + stock
    assert (pile(game, "waste"), game.position().redeals) == ("", 1)


def test_only_the_wastes_top_card_is_playable():
    """Only the waste's top card is playable; when it is played the one under it is."""
    game = start(["8C", "TC", "KS", "2D"], foundations="7H", waste="8H 9D")
    assert {move for move in moves_of(game) if move[0] == "W"} == {"W>T2"}
    game.play("W>T2")
    assert {move for move in moves_of(game) if move[0] == "W"} == {"W>F"}


def test_a_redeal_turns_the_waste_back_order_kept_and_turns_no_card_up():
    """With the stock empty, the next draw turns the whole waste back into the stock face down (a redeal), order
    kept, so the same cards come in the same order; it turns no card up."""
    game = Game(Deal.from_number(5))
    order = game.position().stock
    first_pass = []
    while game.position().stock:
        game.play("D")
        first_pass.append(game.position().waste)
    assert game.position().waste == order
    game.play("D")
    assert game.position().stock == order
    assert game.position().waste == ()
    second_pass = []
    while game.position().stock:
        game.play("D")
        second_pass.append(game.position().waste)
    assert first_pass == second_pass
    observation, _ = environment(observation="screen").reset(
        options={"position": dataclasses.replace(game.position(), stock=order, waste=())}
    )
    assert not any(observation[card] for card in order)  # face down


@EVERY_PRESET
def test_there_is_no_limit_on_redeals(rules):
    """There is no limit on redeals."""
    game = Game(Deal.from_number(5), rules)
    for _ in range(13 * 60):
        game.play("D")
    assert game.position().redeals == 60
    assert Move("D", "D") in game.legal_moves()


def test_with_stock_and_waste_both_empty_there_is_no_draw():
    """With stock and waste both empty there is no draw."""
    game = start(["6C", "6S", "6H", "6D"], foundations="5C 5D 5H 5S")
    assert moves_of(game) >= {"T1>F", "T2>F", "T3>F", "T4>F"}
    assert "D" not in moves_of(game)
    assert refuses(game, "D")
    assert game.tap("stock") is None
    assert game.undos_left == 0


# --- the end


def test_a_win_is_all_52_cards_on_the_foundations():
    """Win: all 52 cards on the foundations."""
    game = start(["6C", "6S", "", ""], foundations="5C 6D 6H 5S")
    game.play("T1>F")
    assert not game.won
    game.play("T2>F")
    assert game.won
    assert game.position().foundations == (13, 13, 13, 13)


@EVERY_PRESET
def test_the_game_itself_never_declares_a_loss(rules):
    """The game itself never declares a loss."""
    position = dead_position(rules)
    game = Game.from_position(position)
    _, info = environment(position.rules).reset(options={"position": position})
    assert info["stuck"]
    for _ in range(50):
        assert moves_of(game) == {"D"}
        game.play("D")
    assert not game.won


def test_after_a_win_no_move_is_left_but_an_undo():
    """After a win no move is left (an undo is, where the rule set has it)."""
    game = start(["6C", "", "", ""], foundations="5C 6D 6H 6S")
    game.play("T1>F")
    assert game.won and game.legal_moves() == []
    assert refuses(game, "D", "FC>T1", "FC>T2", "T1>F")
    assert game.tap("6C") is None
    game.undo()
    assert not game.won and "T1>F" in moves_of(game)
    hoyle = start(["6C", "", "", ""], foundations="5C 6D 6H 6S", rules="hoyle")
    hoyle.play("T1>F")
    with pytest.raises(IllegalMoveError):
        hoyle.undo()


# --- what is not a move


def test_a_whole_column_onto_an_empty_one_is_not_a_move():
    """What is not a move: a whole column onto an empty one,"""
    game = start(["9C 8H", "KC", "", ""], foundations="6D 6S", waste="JC")
    assert "T1>T3*1" in moves_of(game)
    assert not moves_of(game) & {"T1>T3*2", "T2>T3*1"}
    assert refuses(game, "T1>T3*2", "T1>T4*2", "T2>T3*1", "T1>T3*3")


def test_a_draw_with_stock_and_waste_both_empty_is_not_a_move():
    """and a draw with stock and waste both empty."""
    game = start(["6C", "6S", "", ""], foundations="5C 6D 6H 5S")
    assert "D" not in moves_of(game)
    assert refuses(game, "D")


def test_lists_name_the_first_empty_column_only_and_a_player_may_drag_to_any():
    """Empty columns are alike: where several are empty, lists of legal moves name the first only (a player may
    drag to any)."""
    game = start(["9C 8H", "", "KC", ""], foundations="6D 6S", waste="JC")
    assert {move for move in moves_of(game) if move[:4] in ("W>T2", "W>T4", "T1>T")} == {"W>T2", "T1>T2*1"}
    game.play("W>T4")
    assert columns_of(game)[3] == "JC"
    game.undo()
    assert game.action_of("W>T4") == -1
    game.play("T1>T4*1")
    assert columns_of(game) == ["9C", "", "KC", "8H"]


def test_of_two_tails_that_fit_lists_name_the_shorter_and_a_player_may_drag_the_longer():
    """Of two tails of one column that both fit on a card (they are 26 cards apart, so this takes a column of 27
    or more), lists name the shorter; a player may drag the longer."""
    column = long_column(27, "KC")  # KC … KS: both black kings fit on a red ace
    game = start([" ".join(column), "AH", "", ""], base="A")
    assert {move for move in moves_of(game) if move.startswith("T1>T2")} == {"T1>T2"}
    game.play("T1>T2")
    assert columns_of(game)[1] == "AH KS"
    game.undo()
    assert str(game.play("T1>T2*1")) == "T1>T2"
    game.undo()
    assert game.action_of("T1>T2*27") == -1
    assert str(game.play("T1>T2*27")) == "T1>T2*27"
    assert columns_of(game)[:2] == ["", "AH " + " ".join(column)]
    game.undo()
    assert refuses(game, "T1>T2*26", "T1>T2*2")


# --- nothing by itself


def test_no_card_goes_to_a_foundation_on_its_own():
    """Nothing moves by itself except what a rule set below says of an emptied column: no card goes to a
    foundation on its own,"""
    game = start(["7S", "8H", "4D", "TC"], foundations="7H", waste="7D")
    game.play("D")
    assert game.position().foundations == (0, 0, 1, 0)
    assert columns_of(game) == ["7S", "8H", "4D", "TC"]


def test_a_game_as_good_as_won_is_not_finished_for_the_player():
    """and a game that is as good as won is not finished for the player."""
    game = start(["6C 5H", "5S", "6H", "6S"], foundations="4H 5C 6D 4S")
    game.play("T2>F")
    assert game.foundation_cards == 48
    assert not game.won


def test_the_joint_order_of_stock_and_waste_never_changes():
    """Because no card is ever added to stock or waste, their joint order never changes"""
    game = Game(Deal.from_number(8))
    order = game.position().stock
    dice = random.Random(0)
    for _ in range(200):
        moves = [move for move in game.legal_moves() if move.source != "T"]
        game.play(dice.choice(moves))
        left = game.position().waste + game.position().stock
        assert left == tuple(card for card in order if card in left)
    assert len(left) < 34


# --- 2. Where they differ -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rules", "counts"), [("app", {1, 2, 3}), ("hoyle", set()), ("andr", {1, 2, 3})])
def test_what_moves_from_column_to_column(rules, counts):
    """what moves from column to column | any tail of a column, so the whole of it too | the whole column only |
    any tail"""
    for count in (1, 2, 3):
        onto = ["9D", "TC", "JD"][count - 1]
        game = start(["TS 9H 8C", onto, "2D", "4D"], foundations="7H", rules=rules)
        if count in counts or count == 3:
            game.play("T1>T2")
            assert columns_of(game)[1].split() == [onto, *["TS", "9H", "8C"][3 - count :]]
        else:
            assert refuses(game, "T1>T2", f"T1>T2*{count}")


@pytest.mark.parametrize(("rules", "filled"), [("app", True), ("hoyle", True), ("andr", False)])
@pytest.mark.parametrize("move", ["T1>T2", "T1>F"])
def test_a_column_that_a_move_empties(rules, filled, move):
    """a column that a move empties | is filled at once, in the same move, from the reserve's top | the same | is
    not filled; takes any card or tail the player chooses, reserve included"""
    game = start(["8H", "9C", "QH JS", "2C"], foundations="7H", reserve="4C KD", waste="AC", rules=rules)
    reserve = len(game.position().reserve)
    game.play(move)
    assert columns_of(game)[0] == ("KD" if filled else "")
    assert len(game.position().reserve) == reserve - filled
    if not filled:
        assert moves_of(game) >= {"R>T1", "W>T1", "T3>T1*1"}
        game.play("R>T1")
        assert columns_of(game)[0] == "KD"


def test_a_filling_card_can_at_once_go_on_to_a_foundation():
    """is filled at once, in the same move, from the reserve's top: by a card that can itself go on."""
    game = start(["8H", "9C", "QH", "2C"], foundations="7H", reserve="4C TH 9H", waste="AC")
    game.play("T1>F")
    assert columns_of(game)[0] == "9H"  # it stays: nothing moves by itself
    assert game.position().foundations[2] == 2
    game.play("T1>F")
    assert columns_of(game)[0] == "TH"
    game.play("T1>F")
    assert columns_of(game)[0] == "4C"
    assert game.score == 15
    for _ in range(3):
        game.undo()
    assert columns_of(game)[0] == "8H" and pile(game, "reserve").endswith("4C TH 9H")


def test_a_foundation_move_of_the_last_reserve_card_leaves_the_column():
    """an empty column once the reserve is empty | app: stays empty; takes any one card (waste, foundation) or any
    tail"""
    game = start(["7H", "KC", "QH JC", "2C"], foundations="6D 6S", waste="9C", rest="waste")
    assert game.position().reserve == ()
    game.play("T1>F")
    assert columns_of(game)[0] == ""
    game.play("D")
    assert columns_of(game)[0] == ""  # stays empty
    game.undo()
    assert moves_of(game) >= {"W>T1", "FH>T1", "FD>T1", "FS>T1", "T3>T1*1"}
    assert refuses(game, "T2>T1*1", "R>T1")


def test_hoyles_empty_column_takes_only_the_wastes_top():
    """an empty column once the reserve is empty | hoyle: stays empty as long as the player likes; takes only the
    waste's top card"""
    game = start(["7H", "KC", "QH JC", "2C"], foundations="6D 6S", waste="9C", rest="waste", rules="hoyle")
    game.play("T1>F")
    assert {move for move in moves_of(game) if ">T1" in move} == {"W>T1"}
    assert refuses(game, "T3>T1*1", "T3>T1*2", "T2>T1*1", "FH>T1", "FD>T1")
    for _ in range(3):
        game.play("D")
        assert columns_of(game)[0] == ""


def test_andrs_empty_column_takes_any_card_or_tail():
    """an empty column once the reserve is empty | andr: takes any card or tail"""
    game = start(["7H", "KC", "QH JC TH", "2C"], foundations="6D 6S", waste="9C", rest="waste", rules="andr")
    assert game.position().reserve == ()
    game.play("T1>F")
    assert {move for move in moves_of(game) if ">T1" in move} == {"W>T1", "T3>T1*1", "T3>T1*2"}


@pytest.mark.parametrize(("rules", "allowed"), [("app", True), ("hoyle", False), ("andr", False)])
def test_foundation_top_back_to_a_column(rules, allowed):
    """foundation top back to a column | allowed, whenever it fits there | not allowed | not allowed"""
    game = start(["9C", "KC", "QH", "2C"], foundations="8H", rules=rules)
    assert ("FH>T1" in moves_of(game)) == allowed
    assert refuses(game, "FH>T2", "FH>T3", "FC>T1", "FH>F")
    if allowed:
        game.play("FH>T1")
        assert columns_of(game)[0] == "9C 8H"
        assert game.position().foundations == (0, 0, 1, 0)
    else:
        assert refuses(game, "FH>T1")


def test_the_base_card_may_be_taken_back_too():
    """(the base card too: the app excepts none)"""
    game = start(["8C", "KC", "QH", "2C"], foundations="7H")
    game.play("FH>T1")
    assert game.position().foundations == (0, 0, 0, 0)
    assert columns_of(game)[0] == "8C 7H"
    assert game.position().base_rank == RANKS.index("7")
    assert refuses(game, "T4>F")
    game.play("T1>F")
    assert game.position().foundations == (0, 0, 1, 0)


@EVERY_PRESET
@pytest.mark.parametrize(("change", "drawn"), [({}, 3), ({"draw_count": 1}, 1)])
def test_the_draw(rules, change, drawn):
    """draw | 3 (default) or 1 | 3 (default) or 1 | 3 (default) or 1"""
    game = Game(Deal.from_number(2), {"preset": rules, **change})
    game.play("D")
    assert len(game.position().waste) == drawn


@pytest.mark.parametrize(("rules", "limit"), [("app", 100), ("hoyle", 0), ("andr", 150)])
def test_undo(rules, limit):
    """undo | the last 100 actions | none | allowed, at a price"""
    game = Game(Deal.from_number(2), rules)
    for _ in range(150):
        game.play("D")
    assert game.undos_left == limit
    for _ in range(limit):
        game.undo()
    with pytest.raises(IllegalMoveError):
        game.undo()
    assert len(game.moves) == 150 - limit


@pytest.mark.parametrize(("rules", "scores"), [("app", (0, 5)), ("hoyle", (-45, -40)), ("andr", (0, 60))])
def test_score(rules, scores):
    """score | app | casino | andr"""
    game = start(["8H", "KC", "QH", "2C"], foundations="7H", rules=rules)
    first = game.score
    game.play("T1>F")
    assert (first, game.score) == scores


# --- the fields


def test_rules_is_a_frozen_dataclass_with_a_field_for_each_line():
    """Each line of this table is one field of the frozen dataclass Rules, so that the three are presets and a
    user can make a fourth by mixing"""
    fields = {
        "draw_count": (3, 3, 3),
        "column_moves": ("tail", "whole", "tail"),
        "auto_fill": (True, True, False),
        "empty_column": ("any", "waste", "any"),
        "take_back": (True, False, False),
        "build_past_base": (True, True, True),
        "max_redeals": (None, None, None),
        "undo_limit": (100, 0, None),
        "score": ("app", "casino", "andr"),
        "deck_price": (50, 50, 50),
    }
    assert [field.name for field in dataclasses.fields(Rules)] == list(fields)
    for name, values in fields.items():
        assert tuple(getattr(Rules.preset(preset), name) for preset in PRESETS) == values, name
    with pytest.raises(dataclasses.FrozenInstanceError):
        Rules().draw_count = 1
    assert Rules() == Rules.preset("app")


def test_field_draw_count():
    """draw_count: cards a draw turns up: 1 or 3"""
    for count in (1, 3):
        game = Game(Deal.from_number(2), Rules(draw_count=count))
        game.play("D")
        assert len(game.position().waste) == count


def test_field_column_moves():
    """column_moves: what may move from column to column"""
    for value, legal in (("tail", True), ("whole", False)):
        game = start(["TS 9H", "TC", "2D", "4D"], column_moves=value)
        assert ("T1>T2" in moves_of(game)) == legal
        whole = start(["TS 9H", "JD", "2D", "4D"], column_moves=value)
        assert "T1>T2" in moves_of(whole)


def test_field_auto_fill():
    """auto_fill: an emptied column is filled from the reserve in the same move"""
    for value, column in ((True, "KD"), (False, "")):
        game = start(["8H", "9C", "QH", "2C"], foundations="7H", reserve="KD", auto_fill=value)
        game.play("T1>F")
        assert columns_of(game)[0] == column


@pytest.mark.parametrize("auto_fill", [True, False])
def test_field_empty_column(auto_fill):
    """empty_column: what an empty column takes (where auto_fill, only once the reserve is empty)"""
    for value, sources in (("any", {"W", "F", "T"}), ("waste", {"W"})):
        game = start(
            ["", "KC", "QH JC", "2C"],
            foundations="6D 6S",
            waste="9C",
            rest="waste",
            empty_column=value,
            auto_fill=auto_fill,
        )
        assert {move[0] for move in moves_of(game) if ">T1" in move} == sources


def test_field_take_back():
    """take_back: a foundation's top card may go back to a column"""
    for value in (True, False):
        game = start(["9C", "KC", "QH", "2C"], foundations="8H", rules="hoyle", take_back=value)
        assert ("FH>T1" in moves_of(game)) == value


def test_field_build_past_base():
    """build_past_base: False: in a column, no card goes on a card of the base rank"""
    for value in (True, False):
        game = start(["7S", "9C", "QH", "2C"], foundations="7H", waste="6D", build_past_base=value)
        assert ("W>T1" in moves_of(game)) == value
        # The base rank itself goes on the next rank up all the same.
        other = start(["8S", "9C", "QH", "2C"], foundations="7H", waste="7D", build_past_base=value)
        assert "W>T1" in moves_of(other)


def test_field_max_redeals():
    """max_redeals: None: no limit"""
    for limit in (None, 0, 2):
        game = Game(Deal.from_number(5), Rules(max_redeals=limit))
        for _ in range(3 if limit is None else limit):
            for _ in range(12):
                game.play("D")
            game.play("D")
        for _ in range(12):
            game.play("D")
        assert game.position().stock == ()
        assert (Move("D", "D") in game.legal_moves()) == (limit is None)
        assert limit is None or refuses(game, "D")


def test_field_undo_limit():
    """undo_limit: actions that can be undone in a Game"""
    for limit, left in ((0, 0), (1, 1), (5, 5), (None, 8)):
        game = Game(Deal.from_number(5), Rules(undo_limit=limit))
        for _ in range(8):
            game.play("D")
        assert game.undos_left == left


def test_field_score():
    """score: section 3"""
    for kind, points in (("app", 5), ("casino", -40), ("andr", 60)):
        game = start(["8H", "KC", "QH", "2C"], foundations="7H", score=kind)
        game.play("T1>F")
        assert game.score == points


def test_field_deck_price():
    """deck_price: dollars, for the casino score"""
    assert Game(Deal.from_number(1), Rules.preset("hoyle", deck_price=52)).score == -47


def test_a_preset_with_changes_as_call_plain_data_and_text():
    """Rules.preset("app", draw_count=1, take_back=False) gives a preset with changes; as plain data the same is
    {"preset": "app", "draw_count": 1, "take_back": false}, and on a command line
    app,draw_count=1,take_back=false."""
    rules = Rules.preset("app", draw_count=1, take_back=False)
    assert (rules.draw_count, rules.take_back, rules.auto_fill) == (1, False, True)
    assert Rules.read({"preset": "app", "draw_count": 1, "take_back": False}) == rules
    assert Rules.read("app,draw_count=1,take_back=false") == rules
    assert rules.to_plain() == {"preset": "app", "draw_count": 1, "take_back": False}
    assert str(rules) == "app,draw_count=1,take_back=false"


def test_a_name_such_a_dict_or_a_rules_is_taken_wherever_rules_are_asked_for():
    """A name, such a dict or a Rules is taken wherever rules are asked for."""
    deal = Deal.from_number(1)
    for value in ("hoyle", {"preset": "hoyle"}, Rules.preset("hoyle")):
        assert Game(deal, value).rules == Rules.preset("hoyle")
        assert CanfieldEnv(rules=value).rules == Rules.preset("hoyle")
        assert Game.from_code(deal.code(), value).rules == Rules.preset("hoyle")
    data = Game(deal, "hoyle").position().to_dict()
    for value in ("hoyle", {"preset": "hoyle"}):
        assert Position.from_dict({**data, "rules": value}).rules == Rules.preset("hoyle")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("draw_count", 2),
        ("draw_count", "3"),
        ("column_moves", "half"),
        ("auto_fill", 1),
        ("empty_column", "none"),
        ("take_back", None),
        ("build_past_base", "yes"),
        ("max_redeals", -1),
        ("max_redeals", 1.5),
        ("undo_limit", True),
        ("score", "vegas"),
        ("deck_price", -50),
        ("deck_price", None),
    ],
)
def test_a_value_out_of_range_is_refused_and_the_field_named(field, value):
    """A value out of range is refused with an error that names the field;"""
    with pytest.raises(ValueError, match=field):
        Rules(**{field: value})
    with pytest.raises(ValueError, match=field):
        Game(Deal.from_number(1), {"preset": "andr", field: value})


def test_every_combination_of_valid_values_is_a_game():
    """every combination of valid values is a game."""
    dice = random.Random(0)
    deal = Deal.from_number(4)
    for column_moves, auto_fill, empty_column, take_back, build_past_base, score in itertools.product(
        ("tail", "whole"), (True, False), ("any", "waste"), (True, False), (True, False), ("app", "casino", "andr")
    ):
        rules = Rules(
            draw_count=dice.choice((1, 3)),
            column_moves=column_moves,
            auto_fill=auto_fill,
            empty_column=empty_column,
            take_back=take_back,
            build_past_base=build_past_base,
            max_redeals=dice.choice((None, 0, 3)),
            score=score,
        )
        game = Game(deal, rules)
        for _ in range(15):
            moves = game.legal_moves()
            game.play(dice.choice(moves))
        assert Position.from_dict(game.position().to_dict()) == game.position()


def test_two_sentences_are_advice_not_rules():
    """Two sentences are advice, not rules: the French page's to draw only when no card can move between columns,
    and Hoyle's to move base-rank cards up at once."""
    french = start(["8H", "9C", "QH", "2C"], foundations="7H", rules="andr")
    assert moves_of(french) >= {"D", "T1>T2"}
    hoyle = start(["7S", "8D", "QH", "2C"], foundations="7H", rules="hoyle")
    assert moves_of(hoyle) >= {"T1>F", "T1>T2", "D"}
    hoyle.play("T1>T2")
    assert columns_of(hoyle)[1] == "8D 7S"


# --- 3. The scores: app ---------------------------------------------------------------------------------------


def test_app_starts_at_0_and_pays_5_for_a_card_put_on_a_foundation():
    """app: starts at 0, never below 0. A card put on a foundation from reserve, column or waste: +5. Everything
    else, draws and redeals included: 0."""
    game = start(["8H", "JC", "QH", "2C"], foundations="7H", reserve="4C TD", waste="9C", stock="3C")
    scores = [game.score]
    for move in ("T1>F", "T1>T2", "W>T2", "T2>T3", "D"):
        game.play(move)
        scores.append(game.score)
    assert scores == [0, 5, 5, 5, 5, 5]
    from_each = start(["8H", "7S", "QC", "2C"], foundations="7H", reserve="9H", waste="TH")
    for move in ("T1>F", "R>F", "W>F"):
        if move == "R>F":
            assert columns_of(from_each)[0] == "9H"  # it filled the column
            move = "T1>F"
        from_each.play(move)
    assert from_each.score == 15
    from_reserve = start(["KC", "7S", "QC", "2C"], foundations="7H", reserve="8H")
    from_reserve.play("R>F")
    assert from_reserve.score == 5
    redeals = Game(Deal.from_number(1))
    for _ in range(40):
        redeals.play("D")
    assert redeals.score == 0
    assert redeals.position().redeals == 3


def test_app_a_take_back_costs_nothing_and_pays_again():
    """Taking a card back from a foundation costs nothing, and putting it there again pays 5 again, so the app's
    score can be farmed."""
    game = start(["9C", "KC", "QH", "2C"], foundations="8H")
    for turn in range(4):
        assert game.score == 5 * turn
        game.play("FH>T1")
        assert game.score == 5 * turn
        game.play("T1>F")
    assert game.score == 20


def test_app_a_win_without_a_take_back_ends_at_255():
    """A game won without a take-back ends at 51 × 5 = 255."""
    game = Game.from_code(PUBLISHED_CODE)
    for move in published_winning_line():
        assert move[0] != "F"
        game.play(move)
    assert game.won
    assert game.score == 255


def test_app_undo_takes_the_points_away_again():
    """Undo takes the undone action's points away again."""
    game = start(["8H", "KC", "QH", "2C"], foundations="7H")
    game.play("T1>F")
    game.undo()
    assert game.score == 0


# --- casino


def test_casino_net_of_the_price():
    """casino: the player buys the pack (50 dollars), gets 5 dollars for each card on a foundation at the end, the
    base card included … Net of the price: −45 at the deal, break-even at 10 cards,"""
    assert Game(Deal.from_number(1), "hoyle").score == -45
    ten = start(["KC", "KD", "QS", "2C"], foundations="TH 9D 9C", rules="hoyle")
    assert ten.foundation_cards == 10
    assert ten.score == 0


def test_casino_500_in_all_for_a_complete_game():
    """and 500 dollars in all (not on top) for a complete game … +450 for a win."""
    game = start(["6C", "", "", ""], foundations="5C 6D 6H 6S", rules="hoyle")
    assert game.score == 51 * 5 - 50
    game.play("T1>F")
    assert game.score == 450


def test_casino_the_price_is_a_field():
    """The price is the field deck_price: the version known from Wikipedia sells the pack for 52."""
    assert Game(Deal.from_number(1), "hoyle,deck_price=52").score == 5 - 52


def test_casino_a_take_back_gives_the_5_dollars_back():
    """A take-back, where a mix allows it, gives the 5 dollars back."""
    game = start(["9C", "KC", "QH", "2C"], foundations="8H", rules="hoyle", take_back=True)
    game.play("FH>T1")
    assert game.score == -45
    game.play("T1>F")
    assert game.score == -40


# --- andr


@pytest.mark.parametrize("move", ["W>T1", "R>T2"])
def test_andr_waste_or_reserve_to_column_45(move):
    """andr: waste or reserve → column +45;"""
    game = start(["9C", "JS", "QH", "2C"], foundations="7H", reserve="KD TD", waste="8D", rules="andr")
    game.play(move)
    assert game.score == 45


def test_andr_column_to_column_pays_nothing():
    """andr: only what the line names pays: a move between columns does not."""
    game = start(["9C", "TD", "QH", "2C"], foundations="7H", rules="andr")
    game.play("T1>T2")
    assert game.score == 0


@pytest.mark.parametrize("move", ["W>F", "R>F", "T1>F"])
def test_andr_any_card_to_a_foundation_60(move):
    """any card → foundation +60;"""
    game = start(["7C", "TD", "QH", "2C"], foundations="7H", reserve="KD 7D", waste="7S", rules="andr")
    game.play(move)
    assert game.score == 60


def test_andr_reserve_run_empty_500_once():
    """the reserve run empty +500, once;"""
    game = start(["9C", "JC", "QH", "2C"], foundations="7D 6S", reserve="8D", rest="waste", rules="andr")
    assert len(game.position().reserve) == 1
    game.play("R>T1")
    assert game.score == 45 + 500
    game.undo()
    assert game.score == -25
    game.play("R>T1")
    assert game.score == 45 + 500 - 25


def test_andr_foundation_completed_350_each():
    """a foundation completed +350 each;"""
    game = start(["6H", "6S", "6C 5D", "5C"], foundations="5H 5S 4C 4D", rules="andr")
    game.play("T1>F")
    assert game.score == 60 + 350
    game.play("T2>F")
    assert game.score == 2 * (60 + 350)


def test_andr_10_for_each_full_10_seconds_played():
    """−10 for each full 10 seconds played;"""
    clock = [0]
    game = Game(Deal.from_number(1), "andr", clock=lambda: clock[0])
    for seconds, score in ((9.99, 0), (10, -10), (19, -10), (20, -20), (125, -120)):
        clock[0] = seconds
        assert game.score == score


def test_andr_25_for_each_undo():
    """−25 for each undo; … An undo takes the undone action's points back and then costs its 25, which nothing
    gives back."""
    game = start(["8H", "7S", "QH", "2C"], foundations="7H", rules="andr")
    game.play("T1>F")
    game.play("T2>F")
    game.undo()
    assert game.score == 60 - 25
    game.undo()
    assert game.score == -50
    game.play("T1>F")
    assert game.score == 60 - 50
    game.undo()
    assert game.score == -75


@pytest.mark.parametrize(("draw_count", "price"), [(3, -125), (1, -200)])
def test_andr_a_redeal(draw_count, price):
    """each complete new pass of the pack (a redeal) −125 when drawing 3, −200 when drawing 1."""
    game = Game(Deal.from_number(1), {"preset": "andr", "draw_count": draw_count})
    while game.position().stock:
        game.play("D")
    assert game.score == 0
    game.play("D")
    assert game.score == price


def test_andr_bonus_on_a_win():
    """On a win, a bonus of 2 × (score at the end) − 180 × (number of the attempt, 1 the first time this deal is
    tried) − 10 × (seconds the game took) is added."""
    for attempt, seconds in ((1, 0), (1, 37), (3, 120)):
        clock = [0]
        game = start(
            ["6C", "", "", ""],
            foundations="5C 6D 6H 6S",
            rules="andr",
            clock=lambda clock=clock: clock[0],
            attempt=attempt,
        )
        clock[0] = seconds
        game.play("T1>F")
        at_the_end = 60 + 350 - 10 * (seconds // 10)
        assert game.score == at_the_end + 2 * at_the_end - 180 * attempt - 10 * seconds
        clock[0] += 1000  # the game is over: the clock stands still
        assert game.score == at_the_end + 2 * at_the_end - 180 * attempt - 10 * seconds
        game.undo()  # and the bonus goes with the win
        assert game.score == -25 - 10 * ((seconds + 1000) // 10)


def test_andr_may_go_below_0():
    """May go below 0."""
    game = Game(Deal.from_number(1), "andr")
    game.play("D")
    game.undo()
    assert game.score == -25


def test_andr_time_is_an_input_and_an_undo_does_not_turn_it_back():
    """Time is an input (a clock given by the caller; an undo does not turn it back), never read inside the rules"""
    clock = [0]
    game = Game(Deal.from_number(1), "andr", clock=lambda: clock[0])
    clock[0] = 10
    game.play("D")
    clock[0] = 20
    game.undo()
    assert game.score == -20 - 25
    without = Game(Deal.from_number(1), "andr")
    without.play("D")
    assert without.score == 0


def test_andr_an_environment_counts_seconds_for_each_legal_action():
    """an environment counts seconds_per_action (default 5) for each legal action,"""
    for settings, score in (({}, -10), ({"seconds_per_action": 20}, -60), ({"seconds_per_action": 0}, 0)):
        env = environment("andr", **settings)
        env.reset(options={"deal": Deal.from_number(1)})
        for action in (0, 0, 0, 6, 6):  # the last two are not legal
            _, _, _, _, info = env.step(action)
        assert info["illegal_action"]
        assert info["score"] == score


def test_andr_an_environment_takes_the_attempt_as_a_reset_option():
    """and takes the number of the attempt as the reset option attempt (default 1)."""
    position = lay_out(["6C", "", "", ""], foundations="5C 6D 6H 6S", rules="andr")
    for options, attempt in (({}, 1), ({"attempt": 4}, 4)):
        env = environment("andr", seconds_per_action=0)
        env.reset(options={"position": position, **options})
        _, _, terminated, _, info = env.step(11)
        assert terminated
        assert info["score"] == 3 * 410 - 180 * attempt


# --- every score


@pytest.mark.parametrize(("score", "paid"), [("app", 5), ("casino", 5), ("andr", 60)])
def test_the_filling_of_an_emptied_column_pays_nothing(score, paid):
    """Under every score the filling of an emptied column by itself pays nothing;"""
    game = start(["8H", "9C", "QH", "2C"], foundations="7H", reserve="4C KD", score=score)
    before = game.score
    game.play("T1>F")
    assert columns_of(game)[0] == "KD"
    assert game.score - before == paid


@pytest.mark.parametrize("score", ["app", "andr"])
def test_a_take_back_pays_nothing(score):
    """under app and andr so does a take-back;"""
    game = start(["9C", "KC", "QH", "2C"], foundations="8H", score=score)
    game.play("FH>T1")
    assert game.score == 0


def test_one_time_bonuses_are_paid_once_a_game():
    """one-time bonuses are paid once a game."""
    game = start(["6H", "7C", "QC", ""], foundations="5H 6D 6S", rest="waste", score="andr")
    scores = []
    for move in ("T1>F", "FH>T2", "T2>F"):
        game.play(move)
        scores.append(game.score)
    assert scores == [410, 410, 470]


def test_from_a_given_position_the_scores_start():
    """From a given position, app and andr start at 0 and casino at the value of the cards that lie there."""
    for rules, score in (("app", 0), ("andr", 0), ("hoyle", 5 * 26 - 50)):
        game = start(["6H", "7C", "QC", ""], foundations="6S 6D", rest="waste", rules=rules)
        assert game.score == score


def test_from_a_given_position_bonuses_for_what_is_done_already_are_gone():
    """one-time bonuses are paid once a game: not for a suit that lies complete, or a reserve empty, from the start."""
    game = start(["9C", "7C", "QS", "2C"], foundations="6D 7H", rest="waste", waste="8H", rules="andr")
    game.play("W>F")
    assert game.score == 60


# --- 4. Taps --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("card", ["7S", "7D", "7C"])
def test_a_tapped_card_goes_to_its_foundation(card):
    """Tap a face-up card: if it can go to its foundation it goes."""
    game = start(["8D 7S", "8C", "8S", "2C"], foundations="7H", waste="7D", reserve="7C")
    assert str(game.tap(card)) in {"T1>F", "W>F", "R>F"}
    assert game.foundation_cards == 2
    assert game.score == 5


def test_a_tapped_card_goes_to_the_longest_column_that_takes_it():
    """If not, and the setting "double-tap" is on (it is by default), it goes to the longest column that takes it"""
    game = start(["9C", "TD 9S", "KS", "2C"], foundations="7H", waste="8D")
    assert str(game.tap("8D")) == "W>T2"
    assert columns_of(game)[1] == "TD 9S 8D"


def test_a_tapped_card_goes_to_the_leftmost_of_equally_long_columns():
    """(the leftmost of equally long ones),"""
    game = start(["KS", "JH TS 9D", "2C", "JD TC 9H"], foundations="7H", waste="8S")
    assert str(game.tap("8S")) == "W>T2"


def test_a_tapped_card_goes_failing_that_to_an_empty_column():
    """or failing that to an empty column;"""
    game = start(["", "KC", "2C", ""], foundations="6S 6D", waste="8C", rest="waste")
    assert str(game.tap("8C")) == "W>T1"
    taking = start(["", "KC", "2C", "9H"], foundations="6S 6D", waste="8C", rest="waste")
    assert str(taking.tap("8C")) == "W>T4"  # a card that takes it comes before an empty column


def test_otherwise_nothing_happens():
    """otherwise nothing happens, as on a tap on a foundation."""
    game = start(["9C", "TD", "KS", "2C"], foundations="7H", waste="5D", reserve="3D")
    before = game.position()
    for card in ("5D", "3D", "KS", "7H"):
        assert game.tap(card) is None
    assert (game.position(), game.undos_left, game.score) == (before, 0, 0)


def test_a_tap_never_takes_back_even_where_a_drag_would():
    """as on a tap on a foundation … (a tap never takes back)."""
    game = start(["9C", "TD", "KS", "2C"], foundations="8H")
    assert game.tap("8H") is None
    assert game.tap("7H") is None
    game.play("FH>T1")


def test_double_tap_off():
    """If not, and the setting "double-tap" is on …; otherwise nothing happens"""
    game = start(["9C", "TD 9S", "KS", "7S"], foundations="7H", waste="8D", double_tap=False)
    assert game.tap("8D") is None
    assert game.undos_left == 0
    assert str(game.tap("7S")) == "T4>F"  # to its foundation it goes still
    assert str(game.tap("stock")) == "D"


def test_a_card_that_does_not_lie_face_up_cannot_be_tapped():
    """A card that does not lie face up cannot be tapped: an error that tells nothing about where it is."""
    game = start(["9C", "TD", "KS", "2C"], foundations="7H", waste="5D", reserve="3D 4D", stock="JD")
    messages = set()
    for card in ("3D", "JD"):
        with pytest.raises(IllegalMoveError) as caught:
            game.tap(card)
        messages.add(str(caught.value).replace(card, "…"))
    assert len(messages) == 1
    message = messages.pop()
    assert not any(word in message for word in ("stock", "reserve", "waste"))


def test_a_tap_inside_a_column_means_the_tail_from_that_card():
    """A tap on a card inside a column means the tail from that card."""
    game = start(["TC 9D 8C 7D", "TS", "KS", "2C"], foundations="7H")
    assert str(game.tap("9D")) == "T1>T2"
    assert columns_of(game)[:2] == ["TC", "TS 9D 8C 7D"]
    # Only a last card can go to a foundation.
    inner = start(["8C 7D 6C", "TS", "KS", "2C"], foundations="7H")
    assert inner.tap("7D") is None
    assert inner.foundation_cards == 1
    empty = start(["TC 9H 8C", "", "KC", "2C"], foundations="6D 6S", rest="waste", waste="TH")
    assert str(empty.tap("9H")) == "T1>T2*2"
    assert empty.tap("2C") is None  # a whole column does not go to an empty one


def test_a_tap_on_a_long_columns_card_finds_its_place():
    """A tap on a card inside a column means the tail from that card: in a column of three laps too."""
    column = long_column(40)
    for depth in (1, 12, 13, 14, 25, 26, 27, 39):
        game = start([" ".join(column), "", "", ""], base="A")
        move = game.tap(column[depth])
        assert columns_of(game)[:2] == [" ".join(column[:depth]), " ".join(column[depth:])], (depth, move)


def test_under_hoyle_a_tap_inside_a_column_does_nothing():
    """hoyle: the whole column only"""
    game = start(["TC 9D", "TS", "JD", "2C"], foundations="7H", rules="hoyle")
    assert game.tap("9D") is None
    assert str(game.tap("TC")) == "T1>T3"


def test_a_tap_on_the_stock_draws_or_redeals():
    """A tap on the stock draws, or redeals."""
    game = start(["9C", "TD", "KS", "2C"], foundations="7H", stock="5D", rest="waste")
    assert str(game.tap("stock")) == "D"
    assert game.position().waste[-1] == parse_card("5D")
    game.tap("stock")
    assert (game.position().waste, game.position().redeals) == ((), 1)


def test_drag_any_legal_move_take_backs_included():
    """Drag: any legal move, take-backs from a foundation included (a tap never takes back)."""
    game = start(["9C", "TD", "KS", "2C"], foundations="8H", waste="9S")
    moves = moves_of(game)
    assert moves >= {"FH>T1", "W>T2", "D", "T1>T2"}
    for move in moves:
        game.play(move)
        game.undo()


# --- undo


def test_undo_one_at_a_time_points_included():
    """Undo: the last 100 actions, one at a time, points included."""
    game = Game.from_code(PUBLISHED_CODE)
    states = []
    for move in published_winning_line()[:60]:
        states.append((game.position(), game.score))
        game.play(move)
    for state in reversed(states):
        game.undo()
        assert (game.position(), game.score) == state


def test_undo_reaches_back_100_actions_and_no_more():
    """Undo: the last 100 actions"""
    game = Game.from_code(PUBLISHED_CODE)
    states = []
    for move in published_winning_line()[:130]:
        states.append(game.position())
        game.play(move)
    for _ in range(100):
        game.undo()
    assert game.position() == states[30]
    assert game.undos_left == 0
    with pytest.raises(IllegalMoveError):
        game.undo()
    assert game.position() == states[30]


def test_undo_across_a_fill_puts_the_reserve_card_back_face_down():
    """An undo restores the position to the letter: the reserve card that filled a column goes back face down
    under nobody's eyes,"""
    game = start(["8H", "9C", "QH", "2C"], foundations="7H", reserve="4C KD")
    before = game.position()
    assert game.tap("8H") is not None
    assert columns_of(game)[0] == "KD" and pile(game, "reserve").endswith("4C")
    game.undo()
    assert game.position() == before
    with pytest.raises(IllegalMoveError):
        game.tap("4C")  # it lay on top for a moment, and is hidden again


def test_undo_across_a_draw_hides_the_card_again():
    """a drawn card is hidden again."""
    game = start(["9C", "TD", "KS", "2C"], foundations="7H", stock="5D JC 3H 4S", draw_count=3)
    before = game.position()
    game.play("D")
    assert game.position().waste[-1] == parse_card("3H")
    game.undo()
    assert game.position() == before
    with pytest.raises(IllegalMoveError):
        game.tap("3H")


def test_undo_across_a_redeal():
    """An undo restores the position to the letter"""
    game = Game(Deal.from_number(4))
    for _ in range(12):
        game.play("D")
    before = game.position()
    game.play("D")
    assert game.position().redeals == 1
    game.undo()
    assert game.position() == before


def test_an_undo_with_nothing_left_or_where_the_rules_have_none_is_refused():
    """An undo with nothing left to undo, or where undo_limit is 0, is refused like an illegal move."""
    fresh = Game(Deal.from_number(4))
    with pytest.raises(IllegalMoveError, match="nothing left to undo"):
        fresh.undo()
    hoyle = Game(Deal.from_number(4), "hoyle")
    hoyle.play("D")
    after = hoyle.position()
    with pytest.raises(IllegalMoveError, match="undo_limit"):
        hoyle.undo()
    assert (hoyle.position(), hoyle.moves) == (after, ("D",))


# --- codes: see test_deals.py for the letters and their errors


def test_every_deal_has_a_code():
    """Code: every deal has one, such as CF1-D3-AAAAACL"""
    assert Deal.from_number(75).code() == PUBLISHED_CODE
    assert Game(Deal.from_number(75)).code == PUBLISHED_CODE
    assert Game(Deal.from_number(75), "app,draw_count=1").code == "CF1-D1-AAAAACL"
    shuffled = Deal(tuple(random.Random(0).sample(range(52), 52)))
    assert Deal.from_code(shuffled.code()) == shuffled
    assert shuffled.code().startswith("CFX-D3-")


def test_the_same_code_always_gives_the_same_deal():
    """The same code always gives the same deal, stock order included (twenty are pinned in test_deals.py)."""
    assert Deal.from_code(PUBLISHED_CODE).cards == Deal.from_code(PUBLISHED_CODE).cards == Deal.from_number(75).cards


def test_d1_and_d3_of_one_number_are_the_same_cards():
    """D1 and D3 of one number are the same 52 cards."""
    for letters in ("AAAAACL", "AAAAAAA", "7777777"):
        one, three = Deal.from_code(f"CF1-D1-{letters}"), Deal.from_code(f"CF1-D3-{letters}")
        assert one.cards == three.cards
        assert (one.draw_count, three.draw_count) == (1, 3)


# --- the spoken board


def test_the_spoken_board():
    """Spoken board: the app reads a position out in this order, in words: stock and its number of cards, waste
    (its top card, or empty), reserve with its number of cards and its top card; the base rank; the foundations,
    the base card's suit first …, each by its suit, its top card and its number of cards, or as empty; the columns
    1 to 4, each card from the first to the last."""
    game = Game.from_code(PUBLISHED_CODE)
    for move in ("R>T2", "R>F", "T2>T4"):
        game.play(move)
    assert game.position().describe() == (
        "Stock: 34 cards. Waste: empty. Reserve: 10 cards, top card jack of spades. Base rank: seven. "
        "Foundation of hearts: eight of hearts, 2 cards. Foundation of spades: empty. "
        "Foundation of diamonds: empty. Foundation of clubs: empty. "
        "Column 1: six of clubs. Column 2: queen of spades. Column 3: queen of hearts. "
        "Column 4: ace of spades, king of hearts, queen of clubs."
    )
    position = lay_out(["", "TC", "KC", "2D AC"], foundations="KD 6S", waste="7H TH", rest="stock")
    spoken = position.describe()
    assert "Waste: ten of hearts." in spoken
    assert "Reserve: empty." in spoken
    assert "Foundation of spades: six of spades, 13 cards." in spoken
    assert "Column 1: empty." in spoken and "Column 4: two of diamonds, ace of clubs." in spoken


@pytest.mark.parametrize(
    ("base", "order"),
    [
        ("7H", ["hearts", "spades", "diamonds", "clubs"]),
        ("7S", ["spades", "hearts", "diamonds", "clubs"]),
        ("7D", ["diamonds", "hearts", "spades", "clubs"]),
        ("7C", ["clubs", "hearts", "spades", "diamonds"]),
    ],
)
def test_the_base_cards_suit_is_spoken_first(base, order):
    """the base card's suit first (that is "the first foundation"; the others in the order hearts, spades,
    diamonds, clubs, our choice after the one published example)"""
    cards = [parse_card(base)]
    rest = [card for card in range(52) if card not in cards]
    spoken = Game(Deal((*rest[:13], *cards, *rest[13:]))).position().describe()
    assert [part.split()[2].rstrip(":") for part in spoken.split(". ") if part.startswith("Foundation")] == order


def test_the_spoken_board_tells_nothing_hidden():
    """(Position.describe() gives this sentence, for screen readers and for the terminal.) Hidden cards stay hidden."""
    position = lay_out(["9C", "TD", "KS", "2C"], foundations="7H", stock="5D JC 3H", reserve="4C 3D", waste="8C 9H")
    spoken = position.describe()
    for name in ("five of diamonds", "jack of clubs", "four of clubs", "eight of clubs"):
        assert name not in spoken
    for name in ("three of diamonds", "nine of hearts"):
        assert name in spoken


# --- refused


def test_a_refused_move_or_tap_changes_nothing():
    """A refused move or tap changes nothing: not the position, the score, the history nor the undo count."""
    game = Game.from_code(PUBLISHED_CODE)
    game.play("R>T2")
    hidden = card_text(game.position().reserve[0])
    before = game.position(), game.score, game.moves, game.undos_left, game.won
    for move in ("W>F", "T4>F", "T1>T2", "T1>T2*3", "FH>T1*2", "nonsense", "", "D>T1", "T5>F"):
        with pytest.raises(IllegalMoveError):
            game.play(move)
    for card in (hidden, card_text(game.position().stock[5])):
        with pytest.raises(IllegalMoveError):
            game.tap(card)
    with pytest.raises(ValueError, match="not a card"):
        game.tap("1X")
    assert (game.position(), game.score, game.moves, game.undos_left, game.won) == before


# --- 5. The published deal ------------------------------------------------------------------------------------


def test_the_published_deal():
    """Of deal CF1-D3-AAAAACL this much is published: base card 7♥; columns 6♣, K♥, Q♥, A♠; reserve, from the top,
    Q♣, 8♥, Q♠, J♠ and nine more."""
    deal = Deal.from_code(PUBLISHED_CODE)
    game = Game(deal)
    assert deal.number == 75
    assert card_text(deal.cards[13]) == "7H"
    assert columns_of(game) == ["6C", "KH", "QH", "AS"]
    assert pile(game, "reserve").split()[::-1][:4] == ["QC", "8H", "QS", "JS"]
    assert len(game.position().reserve) == 13


def test_the_three_published_moves():
    """A won game starts: Q♣ from the reserve to column 2; 8♥ from the reserve to its foundation; then K♥ with Q♣
    on it to column 4, onto A♠, and column 2 is filled with Q♠, leaving 10 cards in the reserve, J♠ on top, two
    cards on the hearts foundation, and the columns 6♣ / Q♠ / Q♥ / A♠ K♥ Q♣."""
    game = Game.from_code(PUBLISHED_CODE)
    for move in ("R>T2", "R>F", "T2>T4"):
        game.play(move)
    assert len(game.position().reserve) == 10
    assert game.position().reserve[-1] == parse_card("JS")
    assert game.position().foundations == (0, 0, 2, 0)
    assert columns_of(game) == ["6C", "QS", "QH", "AS KH QC"]


def test_the_ace_of_spades_cannot_start_the_spades_foundation():
    """A♠ cannot start the spades foundation: only 7♠ can."""
    game = Game.from_code(PUBLISHED_CODE)
    assert refuses(game, "T4>F")
    other = start(["6C", "KH", "7S", "AS"], foundations="7H")
    assert "T3>F" in moves_of(other) and "T4>F" not in moves_of(other)


def test_number_75_can_be_won_after_the_three_published_moves():
    """number 75 gives the nine published cards in their places and the position after the three published moves
    can be won (app, draw 3): the published game was won. Keep a winning line for it as a golden test"""
    line = published_winning_line()
    assert line[:3] == ["R>T2", "R>F", "T2>T4"]
    game = Game.from_code(PUBLISHED_CODE, "app")
    for move in line:
        assert move in moves_of(game)
        game.play(move)
    assert game.won
    assert game.foundation_cards == 52


def test_no_deal_is_special_cased():
    """Then every code, this one included, goes through the same path: no deal is special-cased."""
    # test_deals.py writes the generator again and compares; here only that neighbours differ as any two do.
    neighbours = [Deal.from_number(number).cards for number in (74, 75, 76)]
    for one, other in itertools.combinations(neighbours, 2):
        assert sum(a == b for a, b in zip(one, other, strict=True)) < 10


# --- positions that cannot be


def test_no_empty_column_beside_a_reserve_that_should_have_filled_it():
    """a column that a move empties | is filled at once: so such a position cannot be, under app and hoyle."""
    for rules in ("app", "hoyle"):
        with pytest.raises(PositionError, match="column 2 is empty, but the reserve should have filled it"):
            lay_out(["9C", "", "KC", "2C"], foundations="KS", reserve="4C", rules=rules)
    assert lay_out(["9C", "", "KC", "2C"], foundations="KS", reserve="4C", rules="andr").columns[1] == ()
