"""Beliefs: sampled worlds look like the observation, and each has the same chance."""

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canfield_env import CanfieldEnv
from canfield_env.belief import Belief
from canfield_env.env import new_environment_record
from canfield_env.kernel import episode
from canfield_env.kernel.observe import OBSERVATION_SIZE
from canfield_env.kernel.state import ACTIONS
from helpers import environment, lay_out
from strategies import SEEDS, rules_dicts, shuffled_pack


def observed(world, rules):
    """What the recall tier shows of a sampled record, and its mask."""
    states = world.reshape(1).copy()
    for name in ("tier", "reward_kind", "end_when_stuck", "seconds_per_action"):
        states[name] = new_environment_record(rules, "recall", "cards", True, 5)[name]
    observation, mask = np.zeros(OBSERVATION_SIZE, np.uint8), np.zeros(ACTIONS, np.int8)
    episode.observe(states, 0, observation, mask)
    return observation.tolist(), mask.tolist()


def wander(env, deal, dice, steps):
    """The observations and masks of a game played at random."""
    observation, info = env.reset(options={"deal": deal})
    yield observation, info["action_mask"]
    for _ in range(steps):
        legal = np.flatnonzero(info["action_mask"])
        plays = [action for action in legal.tolist() if not 15 <= action < 31] or legal.tolist()
        observation, _, terminated, _, info = env.step(dice.choice(plays))
        if terminated:
            return
        yield observation, info["action_mask"]


@given(rules_dicts(), SEEDS, st.integers(0, 150))
@settings(max_examples=60)
def test_sampled_worlds_look_like_the_observation(rules, seed, steps):
    env = environment(rules, observation="recall")
    *_, (observation, mask) = wander(env, shuffled_pack(seed), random.Random(seed), steps)
    belief = Belief(observation, env.rules)
    for world in belief.sample(4, seed):
        assert observed(world, env.rules) == (observation.tolist(), mask.tolist())
        cards = [*world["reserve"][: world["reserve_count"]], *world["talon"][: world["talon_count"]]]
        assert len(set(cards)) == len(cards)


@given(SEEDS)
@settings(max_examples=20)
def test_a_world_of_which_all_is_known_is_the_position(seed):
    """From a thoughtful observation one world comes out: every field that the rules read is the game's own."""
    env = CanfieldEnv(observation="thoughtful")
    for observation, _ in wander(env, shuffled_pack(seed), random.Random(seed), 80):
        belief = Belief(observation)
        assert len(belief.unseen) == 0
        world, true = belief.sample(1, 0)[0], env.get_state()[0][0]
        for name in ("place", "length", "foundation", "cards", "suit_bits", "full_pass", "base_rank", "redeals"):
            assert np.array_equal(world[name], true[name]), name
        for pile, count in (("reserve", "reserve_count"), ("talon", "talon_count")):
            assert world[pile][: world[count]].tolist() == true[pile][: true[count]].tolist()


def test_every_order_of_the_unseen_cards_has_the_same_chance():
    position = lay_out(
        ["6C", "6D", "6H", "6S"],
        foundations="2C 4D 5H 4S",
        reserve="5S 5C 4C 3C",
        waste="5D",
        rest="waste",
        redeals=1,
    )
    env = CanfieldEnv()
    observation, _ = env.reset(options={"position": position})
    belief = Belief(observation)
    hidden = env.position().reserve[:-1]
    assert len(belief.unseen) == len(hidden)
    orders = list(itertools.permutations(sorted(belief.unseen.tolist())))
    samples = 500 * len(orders)
    worlds = belief.sample(samples, 7)
    counts = Counter(tuple(world["reserve"][: len(hidden)].tolist()) for world in worlds)
    chi_square = sum((counts[order] - 500) ** 2 / 500 for order in orders)
    assert chi_square < 3 * len(orders) + 20  # far out: below one in 10**4 for these few orders


def test_unseen_cards_go_to_the_reserve_and_the_stock_alike():
    observation, _ = CanfieldEnv().reset(options={"code": "CF1-D3-AAAAACL"})
    belief = Belief(observation)
    assert len(belief.unseen) == 12 + 34
    worlds = belief.sample(20_000, 3)
    in_reserve = Counter(worlds["reserve"][:, :12].ravel().tolist())
    assert set(in_reserve) == set(belief.unseen.tolist())
    expected = 20_000 * 12 / 46
    assert all(abs(count - expected) < 5 * (20_000 * 12 * 34 / 46**2) ** 0.5 for count in in_reserve.values())


def test_the_same_seed_gives_the_same_worlds():
    observation, _ = CanfieldEnv().reset(options={"code": "CF1-D3-AAAAACL"})
    one, same, other = (Belief(observation).sample(5, seed) for seed in (1, 1, 2))
    assert one.tobytes() == same.tobytes() != other.tobytes()


def test_an_observation_that_no_position_has_is_refused():
    observation, _ = CanfieldEnv().reset(options={"code": "CF1-D3-AAAAACL"})
    wrong = observation.copy()
    wrong[59] += 1
    with pytest.raises(ValueError, match="other cards"):
        Belief(wrong)
    with pytest.raises(ValueError, match="shape"):
        Belief(observation[:5])
