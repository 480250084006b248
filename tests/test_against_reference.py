"""The compiled engine against the reference engine, move by move, under every rule set and mix.

The reference is written from ``rules.md`` alone; here the package's two faces, ``Game`` and ``CanfieldEnv``,
must agree with it in everything a caller can see.
"""

import copy
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canfield_env import CanfieldEnv, Deal, Game, IllegalMoveError, Position, Rules
from helpers import REWARDS, TIERS, texts
from reference import PACK, PRESETS, SUITS, Reference
from strategies import (
    SEEDS,
    built_position,
    decks,
    endgame_positions,
    rules_dicts,
    shuffled_pack,
    weight,
    whole_position,
)

PILES = ("W", "R", *("F" + suit for suit in SUITS), "T1", "T2", "T3", "T4")
ALL_TEXTS = [
    "D",
    *(
        f"{source}>{target}{count}"
        for source in PILES
        for target in ("F", "T1", "T2", "T3", "T4")
        for count in ("", *(f"*{n}" for n in range(1, 53)))
    ),
]
SHORT_TEXTS = [text for text in ALL_TEXTS if "*" not in text]
SHORT_TEXTS = [text for text in ALL_TEXTS if "*" not in text]
PRESET_RULES = [{**rules, "draw_count": draw} for rules in PRESETS.values() for draw in (3, 1)]


# --- what must be equal -------------------------------------------------------------------------------------


def is_a_move(reference, drags, text):
    """Whether the reference's game, of these drags, has this move, in any of the forms it can be written in."""
    move, _, count = text.partition("*")
    if not count:
        return text in drags
    source, target = move.split(">")
    if source[0] != "T" or target == "F":
        return count == "1" and move in drags
    i, j = int(source[1]) - 1, int(target[1]) - 1
    if reference.columns[j]:
        return not reference.won and int(count) in reference.fitting_counts(i, j)
    return text in drags


def check_game(game, reference, rules_dict):
    """Everything that ``Game`` shows."""
    position = game.position()
    plain = position.to_dict()
    assert Rules.read(plain.pop("rules")) == Rules.read({**rules_dict, "draw_count": 3})
    assert plain == {"draw_count": rules_dict["draw_count"], **reference.position()}
    assert position.rules == Rules.read(rules_dict)
    assert texts(game.legal_moves()) == reference.legal_moves()
    assert game.score == reference.score(rules_dict["score"])
    assert game.foundation_cards == reference.foundation_cards
    assert game.won == reference.won


def check_refusals(game, reference, dice):
    """A few texts that are no moves here: refused, and nothing changed."""
    before = game.position(), game.score, game.undos_left, game.moves
    drags = reference.drag_moves()
    tried = dice.sample(ALL_TEXTS, 5) + dice.sample(SHORT_TEXTS, 5)
    refused = [text for text in tried if not is_a_move(reference, drags, text)]
    for text in refused:
        with pytest.raises(IllegalMoveError):
            game.play(text)
    assert (game.position(), game.score, game.undos_left, game.moves) == before


def decode(observation, reference):
    """Where the observation says that each card it shows is, in the words of ``Reference.visible``."""
    seen = {}
    for card, code in enumerate(observation[:52].tolist()):
        if code == 1:
            seen[PACK[card]] = ("foundation",)
        elif code == 2:
            seen[PACK[card]] = ("reserve", 0)
        elif 3 <= code < 19:
            column, lap = (code - 3) % 16 // 4, (code - 3) % 4
            first = int(observation[62 + column]) - 1
            seen[PACK[card]] = ("column", column, 13 * lap + (first - card) % 13)
        elif 53 <= code < 65:
            seen[PACK[card]] = ("reserve", code - 52)
        elif code != 0:
            seen[PACK[card]] = ("order", code - 19)
    return seen


def card_code(pile, place):
    """A card of a pile as the observation's count fields name it: its id + 1, 0 for none."""
    return PACK.index(pile[place]) + 1 if pile else 0


def count_fields(reference, reward):
    """The fields after the cards' places, from the reference."""
    rules = reference.rules
    left = rules["max_redeals"]
    fields = [
        reference.base_rank,
        *(len(reference.foundations[suit]) for suit in SUITS),
        len(reference.reserve),
        card_code(reference.reserve, -1),
        len(reference.stock),
        len(reference.waste),
        card_code(reference.waste, -1),
        *(card_code(column, 0) for column in reference.columns),
        *(card_code(column, -1) for column in reference.columns),
        *(len(column) for column in reference.columns),
        min(reference.redeals, 15),
        15 if left is None else min(left - reference.redeals, 15),
    ]
    if "andr" not in (rules["score"], reward):
        return [*fields, 0, 0, 0, 0, 0, 0]
    bonuses = sum(1 << bit for bit, name in enumerate([*SUITS, "R"]) if name in reference.bonuses_gone)
    score = min(max((reference.score("andr") + 16_000) // 5, 0), 4_899)
    clock = min(reference.seconds, 9_999)
    return [*fields, bonuses, *divmod(score, 70), *divmod(clock, 100), min(reference.attempt, 15)]


def value(reference, reward):
    """The sum whose change the reward is."""
    if reward == "cards":
        return 5 * reference.foundation_cards
    return int(reference.won) if reward == "win" else reference.score(reward)


def check_environment(outcome, reference, env, settings, *, paid, ended):
    """Everything that ``reset`` and ``step`` hand out."""
    observation, reward, terminated, truncated, info = outcome
    assert observation in env.observation_space
    assert decode(observation, reference) == reference.visible(settings["observation"])
    assert observation[52:].tolist() == count_fields(reference, settings["reward"])

    actions = reference.legal_actions()
    everything = ended or not actions
    mask = [everything or action in actions for action in range(95)]
    assert info["action_mask"].tolist() == mask
    assert env.action_masks().tolist() == mask

    assert reward == paid
    assert (terminated, truncated) == (ended, False)
    assert info["score"] == reference.score(reference.rules["score"])
    assert info["foundation_cards"] == reference.foundation_cards
    assert info["is_success"] == reference.won
    assert info["stuck"] == reference.dead()
    assert info["illegal_action"] is False


def check_illegal_action(last, reference, env, dice):
    """An action that is not legal changes nothing, is paid 0, and is said to be illegal."""
    observation, _, terminated, _, info = last
    illegal = sorted(set(range(95)) - reference.legal_actions())
    if not illegal:
        return
    before, _ = env.get_state()
    seen, reward, ended, truncated, again = env.step(dice.choice(illegal))
    assert env.get_state()[0] == before
    assert (seen == observation).all()
    assert (reward, ended, truncated) == (0, terminated, False)
    assert again["illegal_action"] is True
    for key in set(info) - {"illegal_action"}:
        assert np.array_equal(again[key], info[key]), key


def play_all_three(rules_dict, start, seed, steps, settings, attempt):
    """A game in lockstep: reference, ``Game`` and ``CanfieldEnv``."""
    dice = random.Random(seed)
    clock = [0]
    env = CanfieldEnv(rules=rules_dict, **settings)
    if isinstance(start, dict):
        reference = Reference.from_position(start, rules_dict, attempt=attempt)
        position = whole_position(start, rules_dict)
        game = Game.from_position(position, clock=lambda: clock[0], attempt=attempt)
        option = {"position": position}
    else:
        reference = Reference.deal(start, rules_dict, attempt=attempt)
        game = Game(Deal(start), rules_dict, clock=lambda: clock[0], attempt=attempt)
        option = {"deal": start}
    observation, info = env.reset(options={**option, "attempt": attempt})
    last = observation, 0, False, False, info
    check_game(game, reference, rules_dict)
    check_environment(last, reference, env, settings, paid=0, ended=False)
    for _ in range(steps):
        moves = sorted(reference.legal_moves())
        if not moves:
            break
        check_refusals(game, reference, dice)
        if not reference.dead():
            check_illegal_action(last, reference, env, dice)
        text = dice.choices(moves, [weight(move) for move in moves])[0]
        action = next(action for action in reference.legal_actions() if reference.action_text(action) == text)
        assert game.action_of(text) == env.action_of(text) == action
        assert str(game.move_of(action)) == str(env.move_of(action)) == text

        before = value(reference, settings["reward"])
        clock[0] += settings["seconds_per_action"]
        reference.play(text, seconds=clock[0])
        assert str(game.play(text)) == text
        last = env.step(action)
        ended = reference.won or (settings["end_when_stuck"] and reference.dead())
        check_game(game, reference, rules_dict)
        check_environment(
            last, reference, env, settings, paid=value(reference, settings["reward"]) - before, ended=ended
        )
        if ended:
            break


SETTINGS = st.fixed_dictionaries(
    {
        "observation": st.sampled_from(TIERS),
        "reward": st.sampled_from(REWARDS),
        "end_when_stuck": st.booleans(),
        "seconds_per_action": st.sampled_from([5, 0, 7, 1000]),
    }
)
ATTEMPTS = st.sampled_from([1, 2, 14, 15, 40])


# --- the properties -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules_dict", PRESET_RULES, ids=lambda rules: f"{rules['score']}-{rules['draw_count']}")
@given(decks(), SEEDS, SETTINGS, ATTEMPTS)
@settings(max_examples=6)
def test_presets_from_deals(rules_dict, pack, seed, settings, attempt):
    play_all_three(rules_dict, pack, seed, 80, settings, attempt)


@pytest.mark.plain
@pytest.mark.parametrize("rules_dict", PRESET_RULES, ids=lambda rules: f"{rules['score']}-{rules['draw_count']}")
@pytest.mark.parametrize("seed", range(2))
def test_presets_without_the_jit_too(rules_dict, seed):
    dice = random.Random(seed)
    settings = {"observation": TIERS[seed], "reward": "andr", "end_when_stuck": True, "seconds_per_action": 5}
    start = built_position(rules_dict, dice) if seed else shuffled_pack(seed)
    play_all_three(rules_dict, start, seed, 25, settings, 2)


@given(rules_dicts(), decks(), SEEDS, SETTINGS, ATTEMPTS)
@settings(max_examples=30)
def test_mixes_from_deals(rules_dict, pack, seed, settings, attempt):
    play_all_three(rules_dict, pack, seed, 60, settings, attempt)


RULES_AND_POSITIONS = rules_dicts().flatmap(lambda rules: st.tuples(st.just(rules), endgame_positions(rules)))


@given(RULES_AND_POSITIONS, SEEDS, SETTINGS, ATTEMPTS)
@settings(max_examples=150)
def test_mixes_from_positions(rules_and_position, seed, settings, attempt):
    """Long columns, endgames, short stocks, positions that are dead or about to be won."""
    play_all_three(*rules_and_position, seed, 25, settings, attempt)


@given(st.one_of(RULES_AND_POSITIONS, st.tuples(rules_dicts(), decks())), SEEDS, st.booleans())
@settings(max_examples=80)
def test_drags_and_undos(rules_and_start, seed, with_clock):
    """Every drag, to any empty column and of the longer of two tails too, in any form; and undo."""
    rules_dict, start = rules_and_start
    dice, clock = random.Random(seed), [0.0]
    read_clock = (lambda: clock[0]) if with_clock else None
    if isinstance(start, dict):
        reference = Reference.from_position(start, rules_dict)
        game = Game.from_position(whole_position(start, rules_dict), clock=read_clock)
    else:
        reference = Reference.deal(start, rules_dict)
        game = Game(Deal(start), rules_dict, clock=read_clock)
    history, played, undos = [], [], 0  # history: before each move, the reference and how many undos there were
    limit = rules_dict["undo_limit"]
    for _ in range(30):
        clock[0] += dice.choice([0, 0.5, 3, 40]) if with_clock else 0
        # The clock's reading counts at once, but stops at a win.
        if not reference.won:
            reference.seconds = int(clock[0])
        check_game(game, reference, rules_dict)
        check_refusals(game, reference, dice)
        assert game.undos_left == len(history)
        assert list(game.moves) == played
        if dice.random() < 0.3:
            if not history:
                with pytest.raises(IllegalMoveError):
                    game.undo()
                check_game(game, reference, rules_dict)
                continue
            game.undo()
            undos += 1
            reference, undos_before = history.pop()
            reference.andr_points -= 25 * (undos - undos_before)  # what undos cost, no undo gives back
            played.pop()
            continue
        drags = sorted(reference.drag_moves())
        if not drags:
            if not history:
                break
            continue
        text = dice.choice(drags)
        before = copy.deepcopy(reference)
        reference.play(text, seconds=int(clock[0]))
        move = game.play(text if dice.random() < 0.5 else text.lower())
        assert str(move) == text
        history.append((before, undos))
        if limit is not None:
            history = history[max(0, len(history) - limit) :]
        played.append(text)


@given(RULES_AND_POSITIONS, SEEDS)
@settings(max_examples=40)
def test_every_way_to_write_a_move(rules_and_position, seed):
    """Of all texts that can be read as moves, ``play`` takes just those that the reference has."""
    rules_dict, start = rules_and_position
    reference = Reference.from_position(start, rules_dict)
    position = Position.from_dict(whole_position(start, rules_dict))
    candidates = random.Random(seed).sample(ALL_TEXTS, 60) + SHORT_TEXTS
    candidates += [f"{source}>{target}*{n}" for source in PILES for target in PILES[-4:] for n in (1, 2, 27)]
    drags = reference.drag_moves()
    game = Game.from_position(position)
    for text in candidates:
        if not is_a_move(reference, drags, text):
            with pytest.raises(IllegalMoveError):
                game.play(text)
        else:
            game.play(text)
            game = Game.from_position(position)
    assert game.position() == position


def test_this_machinery_reaches_what_matters():
    """The random games above must really come to wins, dead ends, long columns and second redeals."""
    reached = set()
    for seed in range(200):
        dice = random.Random(seed)
        rules_dict = dice.choice(PRESET_RULES)
        reference = Reference.from_position(built_position(rules_dict, dice), rules_dict)
        for _ in range(25):
            moves = sorted(reference.legal_moves())
            longest = max(len(column) for column in reference.columns)
            reached |= {size for size in (14, 27, 40) if longest >= size}
            reached |= {"dead"} if reference.dead() else set()
            reached |= {"won"} if reference.won else set()
            reached |= {"two tails"} if reference.drag_moves() - reference.legal_moves() else set()
            reached |= {f"stock {len(reference.stock)}"}
            if not moves:
                break
            reference.play(dice.choices(moves, [weight(move) for move in moves])[0])
    assert reached >= {14, 27, 40, "dead", "won", "two tails", *(f"stock {n}" for n in (1, 2, 4, 5))}
