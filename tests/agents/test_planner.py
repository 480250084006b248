"""The planner: it is fair, it repeats, and it plays under every rule set."""

import random

import numpy as np
import pytest

from agents.planner import PlannerPlayer, PlannerSettings
from agents.players import register_players
from canfield_env import CanfieldEnv, Deal, Rules
from canfield_env.evaluation import evaluate
from canfield_env.players import load_player
from canfield_env.suites import load_suite

CODE = "CF1-D3-AAAAACL"
SIMS = "sims=8"


def game(player, deal, rules=Rules(), steps=1_000, seed=1):  # noqa: B008
    """What the player saw and did in a game."""
    env = CanfieldEnv(rules=rules, observation=player.observation)
    observation, info = env.reset(options={"deal": deal})
    player.begin(env.rules, seed)
    history = []
    for _ in range(steps):
        action = player.act(observation, info["action_mask"].view(bool))
        assert info["action_mask"][action]
        history.append((observation.tolist(), action))
        observation, _, terminated, _, info = env.step(action)
        if terminated:
            break
    return history


def test_what_differs_only_in_hidden_cards_is_decided_alike_until_it_is_seen():
    player, dice = PlannerPlayer(SIMS), random.Random(5)
    for number in range(6):
        deal = list(Deal.from_number(number).cards)
        first = game(player, deal)
        # Other reserve cards under the top one, and in every second game another stock.
        other = list(deal)
        places = [*range(12), *(range(18, 52) if number % 2 else ())]
        cards = [deal[place] for place in places]
        dice.shuffle(cards)
        for place, card in zip(places, cards, strict=True):
            other[place] = card
        second = game(player, other)
        alike = 0
        for (seen, action), (also_seen, other_action) in zip(first, second, strict=False):
            if seen != also_seen:
                break
            assert action == other_action
            alike += 1
        assert alike > (0 if number % 2 else 12)


def test_it_is_given_the_recall_tier():
    register_players()
    for name in ("planner", "planner:sims=4", "planner:ms=1"):
        assert load_player(name).observation == "recall"


def test_the_same_seed_gives_the_same_game_whatever_was_played_before():
    deal = Deal.from_code(CODE).cards
    player = PlannerPlayer(SIMS)
    first = game(player, deal)
    game(player, Deal.from_number(3).cards)
    assert game(player, deal) == first
    assert game(PlannerPlayer(SIMS), deal) == first
    assert game(player, deal, seed=2) != first


@pytest.mark.parametrize(
    "rules",
    [
        "app,draw_count=1",
        "hoyle",
        "andr",
        "andr,max_redeals=2,draw_count=1",
        "app,max_redeals=0",
        "hoyle,max_redeals=1,build_past_base=false",
        "app,column_moves=whole,auto_fill=false",
        "app,auto_fill=false,empty_column=waste",
    ],
)
def test_it_plays_under_every_rule_set(rules):
    player = PlannerPlayer(SIMS)
    for number in range(3):
        game(player, Deal.from_number(number).cards, Rules.read(rules), steps=300)


def test_the_tree_starts_again_when_it_is_full():
    player = PlannerPlayer("sims=64")
    player._tree = type(player._tree)(2**12)
    assert len(game(player, Deal.from_code(CODE).cards)) > 50


def test_it_wins_some_games():
    register_players()
    result = evaluate("planner:sims=16", load_suite("draw3-dev").codes[:20])
    assert sum(row.won for row in result.rows) >= 4  # 40 % or so


def test_milliseconds_are_a_budget():
    player = PlannerPlayer("ms=0.5")
    assert len(game(player, Deal.from_code(CODE).cards, steps=60)) == 60


def test_settings_are_read():
    assert PlannerSettings.read("").sims == 200
    settings = PlannerSettings.read("ms=2, noise=0.1")
    assert (settings.sims, settings.ms, settings.noise) == (None, 2.0, 0.1)
    assert settings.to_array().dtype == np.float64
    for wrong in ("simulations=3", "sims=many", "sims=0", "sims=3,ms=3", "noise=-1", "sims"):
        with pytest.raises(ValueError, match="planner"):
            PlannerSettings.read(wrong)
