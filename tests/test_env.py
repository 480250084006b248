"""The Gymnasium environment: its contracts with Gymnasium and Stable-Baselines3, its options, and its determinism.

What it does with the rules is in test_against_reference.py and test_rules_lines.py.
"""

import copy
import json
import pickle
import random
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env as gymnasium_check_env

from canfield_env import CanfieldEnv, Deal, DealCodeError, IllegalMoveError, PositionError, Rules
from canfield_env.kernel.observe import COUNT_FIELDS
from helpers import IDS, PUBLISHED_CODE, REWARDS, TIERS, dead_position, environment, lay_out, published_winning_line

INFO_KEYS = {"action_mask", "code", "score", "foundation_cards", "illegal_action", "is_success", "stuck"}
EVERY_ID = pytest.mark.parametrize("env_id", IDS)
EVERY_TIER = pytest.mark.parametrize("tier", TIERS)


def almost_won(**layout):
    """One move, action 11, wins."""
    return lay_out(["6C", "", "", ""], foundations="5C 6D 6H 6S", **layout)


def equal(one, other):
    """Whether two things that an environment handed out are equal, of one type."""
    if isinstance(one, tuple):
        return len(one) == len(other) and all(equal(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and bool((one == other).all())
    return type(one) is type(other) and one == other


# --- Gymnasium and Stable-Baselines3 ------------------------------------------------------------------------------


@EVERY_ID
@EVERY_TIER
def test_gymnasium_check_env(env_id, tier):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gymnasium_check_env(gym.make(env_id, observation=tier).unwrapped)


@EVERY_ID
@EVERY_TIER
def test_stable_baselines3_check_env(env_id, tier):
    pytest.importorskip("stable_baselines3", reason="an extra")
    from stable_baselines3.common.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make(env_id, observation=tier, render_mode="ansi").unwrapped)


@pytest.mark.parametrize(
    ("env_id", "rules"),
    list(zip(IDS, [Rules(), Rules(draw_count=1), Rules.preset("hoyle"), Rules.preset("andr")], strict=True)),
)
def test_ids(env_id, rules):
    env = gym.make(env_id)
    assert env.unwrapped.rules == rules
    assert env.spec.max_episode_steps == 1_000
    assert env.action_space == gym.spaces.Discrete(95)


def test_the_observation_space():
    space = environment().observation_space
    assert isinstance(space, gym.spaces.MultiDiscrete)
    assert space.dtype == np.uint8
    assert space.nvec.dtype == np.int64  # Stable-Baselines3 adds it up: uint8 would overflow
    assert space.nvec.max() <= 255
    assert space.shape[0] <= 128
    assert space == environment("andr", observation="screen").observation_space


def test_every_observation_lies_in_the_space():
    """And the space is no larger than it need be: codes near the top of each field are met."""
    env = environment("andr", observation="thoughtful", end_when_stuck=False)
    highest = np.zeros(82, np.int64)
    for number in range(40):
        observation, info = env.reset(options={"deal": Deal.from_number(number)})
        for step in range(60):
            highest = np.maximum(highest, observation)
            assert observation in env.observation_space
            legal = np.flatnonzero(info["action_mask"])
            observation, _, _, _, info = env.step(int(legal[-1 - step % min(2, len(legal))]))
    nvec = env.observation_space.nvec
    assert (highest < nvec).all()
    assert highest[:52].min() >= 52
    assert highest[57] == 13 and highest[59] == 34


def test_truncation_by_the_time_limit_keeps_the_true_mask():
    """At a truncation the true mask stays (the position lives on)."""
    env = gym.make("Canfield-v0", max_episode_steps=5, end_when_stuck=False)
    env.reset(seed=1)
    for step in range(5):
        _, _, terminated, truncated, info = env.step(0)
        assert not terminated
        assert truncated == (step == 4)
    assert not info["action_mask"].all()


# --- copies and saving --------------------------------------------------------------------------------------------


def played_environment(steps=30, **settings):
    env = environment(**{"rules": "andr", "render_mode": "ansi", **settings})
    _, info = env.reset(seed=11)
    dice = random.Random(11)
    for _ in range(steps):
        _, _, _, _, info = env.step(dice.choice(np.flatnonzero(info["action_mask"]).tolist()))
    return env


def assert_same_future(one, other, steps=60):
    dice = random.Random(5)
    for _ in range(steps):
        assert one.render() == other.render()
        assert (one.action_masks() == other.action_masks()).all()
        action = dice.choice(np.flatnonzero(one.action_masks()).tolist())
        outcome = one.step(action)
        assert equal(outcome, other.step(action))
        if outcome[2]:
            assert equal(one.reset(), other.reset())
    assert equal(one.reset(), other.reset())


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_copies_have_the_same_future_and_one_each(copied):
    env = played_environment()
    other, third = copied(env), copied(env)
    assert_same_future(env, other)
    assert third.render() != env.render()
    assert_same_future(third, copied(third))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_a_wrapped_environment_can_be_copied(copied):
    env = gym.make("Canfield-v0")
    env.reset(seed=3)
    other = copied(env)
    assert equal(env.step(0), other.step(0))


def test_specs_are_plain_json():
    position = Deal.from_number(4).code()
    env = gym.make(
        "CanfieldHoyle-v0",
        draw_count=1,
        observation="screen",
        reward="casino",
        end_when_stuck=False,
        strict=True,
        deals=[position.replace("D3", "D1")],
        seconds_per_action=3,
        render_mode="ansi",
    )
    text = env.spec.to_json()
    json.loads(text)
    again = gym.make(gym.envs.registration.EnvSpec.from_json(text))
    assert again.spec.to_json() == text
    assert again.unwrapped.rules == env.unwrapped.rules == Rules.preset("hoyle", draw_count=1)
    assert equal(env.reset(seed=1), again.reset(seed=1))
    assert env.render() == again.render()
    assert equal(env.step(0), again.step(0))
    with pytest.raises(IllegalMoveError):
        again.step(1)


@EVERY_ID
def test_every_ids_spec_round_trips(env_id):
    env = gym.make(env_id, rules={"preset": "app", "draw_count": 1}, deals=[almost_won(draw_count=1).to_dict()])
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert equal(env.reset(seed=1), again.reset(seed=1))


def test_get_and_set_state():
    """They save and restore everything exactly: score, clock, stream."""
    env = played_environment()
    state = env.get_state()
    render, mask = env.render(), env.action_masks()
    actions, outcomes = [], []
    dice = random.Random(2)
    for _ in range(50):
        actions.append(dice.choice(np.flatnonzero(env.action_masks()).tolist()))
        outcomes.append(env.step(actions[-1]))
    following = env.reset()
    for other in (env, played_environment(steps=0), environment("andr", render_mode="ansi")):
        observation, info = other.set_state(state)
        assert observation in other.observation_space
        assert other.render() == render
        assert (other.action_masks() == mask).all() and (info["action_mask"] == mask).all()
        for action, outcome in zip(actions, outcomes, strict=True):
            assert equal(other.step(action), outcome)
        assert equal(other.reset(), following)


def test_a_saved_state_is_not_touched_by_what_comes_after():
    env = played_environment()
    state = env.get_state()
    saved = state[0].copy()
    env.step(0)
    assert (state[0] == saved).all()
    env.set_state(state)
    env.step(0)
    assert (state[0] == saved).all()


# --- determinism --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"rules": "andr", "reward": "andr", "observation": "screen"},
        {"rules": "hoyle", "draw_count": 1, "reward": "win", "observation": "thoughtful"},
        {"rules": "app,auto_fill=false", "reward": "app", "end_when_stuck": False},
    ],
)
def test_equal_seeds_give_equal_lives(settings):
    """Observation, reward, flags and info, for thousands of steps and across resets."""
    one, other = CanfieldEnv(**settings), CanfieldEnv(**settings)
    outcome = one.reset(seed=123)
    assert equal(outcome, other.reset(seed=123))
    assert set(outcome[1]) == INFO_KEYS
    dice = random.Random(0)
    codes = set()
    for step in range(3_000):
        action = dice.choice(np.flatnonzero(one.action_masks()).tolist())
        outcome = one.step(action)
        assert equal(outcome, other.step(action))
        assert set(outcome[4]) == INFO_KEYS
        if outcome[2] or step % 200 == 199:
            outcome = one.reset()
            assert equal(outcome, other.reset())
            codes.add(outcome[1]["code"])
    assert len(codes) >= 15


def types(outcome):
    observation, reward, terminated, truncated, info = outcome
    return type(observation), type(reward), type(terminated), type(truncated), {key: type(info[key]) for key in info}


def test_types_are_python_s_and_numpy_s():
    env = environment()
    _, info = env.reset(seed=1)
    outcome = env.step(0)
    plain = {"score": int, "foundation_cards": int, "illegal_action": bool, "is_success": bool, "stuck": bool}
    assert types(outcome) == (np.ndarray, float, bool, bool, {"action_mask": np.ndarray, "code": str, **plain})
    assert {key: type(info[key]) for key in plain} == plain
    assert (info["action_mask"].dtype, env.action_masks().dtype) == (np.int8, bool)
    assert outcome[0].dtype == np.uint8


def test_what_is_handed_out_is_the_callers_to_keep():
    env = environment()
    observation, info = env.reset(seed=1)
    kept = observation.copy(), info["action_mask"].copy()
    later, _, _, _, _ = env.step(0)
    assert (observation == kept[0]).all() and (info["action_mask"] == kept[1]).all()
    later[:] = 0
    env.action_masks()[:] = False
    assert env.action_masks().any()


def codes_of(env, count, **first):
    return [env.reset(**(first if k == 0 else {}))[1]["code"] for k in range(count)]


def test_reset_goes_on_with_the_stream():
    env = environment()
    first = codes_of(env, 20, seed=9)
    assert len(set(first)) == 20
    assert codes_of(env, 20, seed=9) == first
    assert codes_of(env, 20, seed=10) != first


def test_reset_with_seed_none_does_not_seed_again():
    env, other = environment(), environment()
    env.reset(seed=4)
    other.reset(seed=4)
    assert env.reset(seed=None)[1]["code"] == other.reset()[1]["code"]


def test_steps_and_given_deals_do_not_move_the_stream():
    """What a caller plays in between leaves the deals to come as they were."""
    env = environment()
    plain = codes_of(env, 5, seed=3)
    env.reset(seed=3)
    codes = [plain[0]]
    for _ in range(4):
        env.step(0)
        env.reset(options={"code": PUBLISHED_CODE})
        codes.append(env.reset()[1]["code"])
    assert codes == plain


def test_without_a_seed_deals_differ():
    assert environment().reset()[1]["code"] != environment().reset()[1]["code"]


def test_the_stream_is_pinned():
    """The deals of a seed are a promise, on every machine and NumPy version."""
    env = environment()
    assert codes_of(env, 3, seed=0) == PINNED_STREAM
    numbers = [Deal.from_code(code).number for code in PINNED_STREAM]
    assert numbers == stream_numbers(np.random.default_rng(0).bit_generator.random_raw(), 3)


PINNED_STREAM = ["CF1-D3-4KMHWS2", "CF1-D3-WSOEAK7", "CF1-D3-TAJQKAE"]


def stream_numbers(state, count):
    """SplitMix64 in whole numbers: the top 35 bits of each output."""
    numbers = []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        numbers.append((z ^ (z >> 31)) >> 29)
    return numbers


# --- actions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", [-1, 95, 1_000, 2**40, -(2**40)])
def test_numbers_that_are_no_action(action):
    env = environment()
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(ValueError, match=f"action {action} is not one of the 95 actions, 0 to 94"):
        env.step(action)
    assert equal(env.get_state(), before)


@pytest.mark.parametrize("action", [1.0, "0", None, [0], np.float32(0)])
def test_values_that_are_no_number(action):
    env = environment()
    env.reset(seed=1)
    with pytest.raises(TypeError):
        env.step(action)


@pytest.mark.parametrize("kind", [int, np.int64, np.int32, np.uint8, np.array])
def test_kinds_of_numbers(kind):
    env, other = environment(), environment()
    env.reset(seed=1)
    other.reset(seed=1)
    assert equal(env.step(kind(0)), other.step(0))


def test_an_illegal_action_changes_nothing():
    env = environment("andr")
    observation, info = env.reset(seed=1)
    before = env.get_state()
    for action in np.flatnonzero(info["action_mask"] == 0).tolist():
        again, reward, terminated, truncated, told = env.step(action)
        assert equal((again, reward, terminated, truncated), (observation, 0.0, False, False))
        assert told["illegal_action"] is True
        assert equal({**told, "illegal_action": False}, info)
        assert equal(env.get_state(), before)
    _, _, _, _, told = env.step(0)
    assert told["illegal_action"] is False


def test_strict_raises_instead():
    env = environment(strict=True)
    _, info = env.reset(seed=1)
    before = env.get_state()
    for action in np.flatnonzero(info["action_mask"] == 0).tolist():
        with pytest.raises(IllegalMoveError, match=f"action {action} is not legal here"):
            env.step(action)
        assert equal(env.get_state(), before)
        assert (env.action_masks() == info["action_mask"]).all()
    _, _, _, _, told = env.step(0)
    assert told["illegal_action"] is False


def won(**settings):
    env = environment(**settings)
    env.reset(options={"position": almost_won()})
    return env, env.step(11)


def test_after_the_end_every_action_is_illegal():
    env, (observation, reward, terminated, truncated, info) = won()
    assert (reward, terminated, truncated) == (5.0, True, False)
    assert info["is_success"] is True and info["illegal_action"] is False
    assert info["action_mask"].all()
    before = env.get_state()
    for action in range(95):
        again = env.step(action)
        assert equal(again, (observation, 0.0, True, False, {**info, "illegal_action": True}))
        assert equal(env.get_state(), before)


def test_after_the_end_strict_raises():
    env, (_, _, terminated, _, _) = won(strict=True)
    assert terminated
    for action in range(95):
        with pytest.raises(IllegalMoveError):
            env.step(action)


def test_an_episode_ends_where_the_player_can_know_that_all_is_over():
    found = 0
    for number in range(60):
        env, other = environment("hoyle"), environment("hoyle", end_when_stuck=False)
        env.reset(options={"deal": Deal.from_number(number)})
        _, info = other.reset(options={"deal": Deal.from_number(number)})
        for _ in range(120):
            plays = np.flatnonzero(info["action_mask"][1:]) + 1
            action = int(plays[0]) if len(plays) else 0
            _, _, terminated, _, told = env.step(action)
            _, _, never, _, info = other.step(action)
            assert not never or info["is_success"]
            assert terminated == told["stuck"] == info["stuck"]
            if terminated:
                found += 1
                assert told["action_mask"].all()
                assert info["action_mask"].tolist() == [1] + [0] * 94  # a draw is possible still
                break
    assert found > 20


def test_where_nothing_can_be_done_the_mask_is_all_true():
    """Never all false: all true where, with end_when_stuck=False, nothing can be done."""
    position = lay_out(
        ["KC", "JC", "9C", "5C"], foundations="7H", rest="waste", rules="hoyle", max_redeals=0, waste="2H"
    )
    env = environment(position.rules, end_when_stuck=False)
    _, info = env.reset(options={"position": position})
    for _ in range(20):
        _, reward, terminated, _, info = env.step(0)
        assert info["action_mask"].any()
    assert info["stuck"] and info["action_mask"].all() and info["illegal_action"]
    assert (reward, terminated) == (0.0, False)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("action", [0, 1, 94])
def test_a_dead_start_ends_at_its_first_step(strict, action):
    """one that is dead ends at its first step, whatever the action, strict or not (its mask is true where anything
    can be done, else all true)."""
    env = environment("hoyle", strict=strict)
    _, info = env.reset(options={"position": dead_position("hoyle")})
    assert info["stuck"] is True
    assert info["action_mask"].tolist() == [1] + [0] * 94
    _, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (0.0, True, False)
    assert info["stuck"] is True and info["is_success"] is False
    assert info["illegal_action"] == (action != 0)
    assert info["action_mask"].all()


def test_a_dead_start_lives_on_with_end_when_stuck_false():
    env = environment("hoyle", end_when_stuck=False)
    env.reset(options={"position": dead_position("hoyle")})
    for _ in range(30):
        _, _, terminated, _, info = env.step(0)
        assert not terminated and info["stuck"] is True


def test_a_won_position_is_refused():
    data = {"rules": "app", "base_rank": "A", "foundations": dict.fromkeys("CDHS", 13)}
    data |= {"reserve": [], "columns": [[], [], [], []], "stock": [], "waste": []}
    with pytest.raises(ValueError, match="position: the position is already won"):
        environment().reset(options={"position": data})
    with pytest.raises(ValueError, match=r"deals\[1\]: the position is already won"):
        environment(deals=[PUBLISHED_CODE, data])


# --- where deals come from ----------------------------------------------------------------------------------------


def test_reset_options_name_the_start():
    env = environment()
    deal = Deal.from_number(75)
    for options, code in (
        ({"code": PUBLISHED_CODE}, PUBLISHED_CODE),
        ({"code": PUBLISHED_CODE.lower()}, PUBLISHED_CODE),
        ({"deal": deal}, PUBLISHED_CODE),
        ({"deal": Deal(deal.cards)}, Deal(deal.cards).code()),
        ({"deal": list(deal.cards)}, Deal(deal.cards).code()),
        ({"deal": np.array(deal.cards)}, Deal(deal.cards).code()),
    ):
        observation, info = env.reset(options=options)
        assert info["code"] == code
        assert env.position().stock == deal.cards[18:]
        assert equal(env.reset(options={"code": PUBLISHED_CODE})[0], observation)
    for position in (almost_won(), almost_won().to_dict()):
        _, info = env.reset(options={"position": position})
        assert info["code"] is None
        assert env.position() == almost_won()
        assert (info["score"], info["foundation_cards"]) == (0, 51)


def test_the_codes_draw_is_the_environments():
    env = environment("app", draw_count=1)
    _, info = env.reset(options={"code": "CF1-D1-AAAAACL"})
    assert info["code"] == "CF1-D1-AAAAACL"
    assert env.reset(options={"deal": Deal.from_number(75)})[1]["code"] == "CF1-D1-AAAAACL"
    assert env.reset(seed=1)[1]["code"].startswith("CF1-D1-")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"code": "CF1-D1-AAAAACL"}, ValueError, "CF1-D1-AAAAACL draws 1, but the environment draws 3"),
        ({"deal": Deal.from_code("CF1-D1-AAAAACL")}, ValueError, "draws 1, but the environment draws 3"),
        ({"code": "CF1-D3-AAAAAC"}, DealCodeError, "letters"),
        ({"deal": [1, 2, 3]}, ValueError, "a deal has 52 cards, not 3"),
        ({"position": {"rules": "app"}}, PositionError, "the position has no"),
        (
            {"position": almost_won(rules="hoyle")},
            ValueError,
            r"hoyle \(draw 3\), the environment under app \(draw 3\)",
        ),
        ({"position": almost_won(draw_count=1)}, ValueError, r"draw_count=1 \(draw 1\), the environment under app"),
        ({"cod": PUBLISHED_CODE}, ValueError, "'cod' is not a reset option: these are code, deal, position, attempt"),
        ({"code": PUBLISHED_CODE, "deal": Deal.from_number(1)}, ValueError, "code and deal name two starts"),
        ({"attempt": 0}, ValueError, "attempt is 0, but must be a whole number from 1"),
        ({"attempt": 1.0}, ValueError, "attempt is 1.0"),
        ({"attempt": True}, ValueError, "attempt is True"),
        ({"attempt": 10**7}, ValueError, "attempt is 10000000"),
    ],
)
def test_bad_reset_options_change_nothing(options, error, message):
    env = environment()
    env.reset(seed=1)
    env.step(0)
    before, mask = env.get_state(), env.action_masks()
    with pytest.raises(error, match=message):
        env.reset(seed=2, options=options)
    assert equal(env.get_state(), before)
    assert (env.action_masks() == mask).all()
    other = environment()
    other.reset(seed=1)
    assert env.reset()[1]["code"] == other.reset()[1]["code"]  # the seed was not taken either


def test_deals_random_deals_numbers():
    env = environment(deals="random")
    for code in codes_of(env, 5, seed=1):
        assert Deal.from_code(code).number is not None


def test_deals_a_list_of_codes():
    codes = [Deal.from_number(number).code() for number in range(4)]
    drawn = codes_of(environment(deals=codes), 200, seed=1)
    assert set(drawn) == set(codes)
    assert all(30 <= drawn.count(code) <= 70 for code in codes)  # about equally often
    assert codes_of(environment(deals=codes), 200, seed=1) == drawn
    assert codes_of(environment(deals=tuple(codes)), 200, seed=2) != drawn


def test_deals_a_list_of_positions():
    positions = [almost_won(), lay_out(["8H", "TD", "KS", "2C"], foundations="7H")]
    env = environment(deals=[positions[0], positions[1].to_dict()])
    seen = set()
    for _ in range(30):
        _, info = env.reset()
        assert info["code"] is None
        assert env.position() in positions
        seen.add(env.position())
    assert seen == set(positions)


def test_deals_a_mixed_list():
    env = environment(deals=[PUBLISHED_CODE, Deal.from_number(3), almost_won(), Deal.from_number(9).cards])
    codes = set(codes_of(env, 60, seed=1))
    assert codes == {PUBLISHED_CODE, Deal.from_number(3).code(), None, Deal(Deal.from_number(9).cards).code()}


def test_deals_a_suite():
    from canfield_env.suites import load_suite

    codes = set(load_suite("draw3-dev").codes)
    assert set(codes_of(environment(deals="draw3-dev"), 20, seed=1)) <= codes


@pytest.mark.parametrize(
    ("deals", "message"),
    [
        ([], r"deals is \[\], but must be a list of codes or positions, a suite's name, or 'random'"),
        ("no-such-suite", "there is no suite 'no-such-suite'"),
        ([PUBLISHED_CODE, "CF1-D3-AAAAAC"], "its last part has 6 letters"),
        ([PUBLISHED_CODE, "CF1-D1-AAAAACL"], r"deals\[1\]: CF1-D1-AAAAACL draws 1, but the environment draws 3"),
        ([almost_won(rules="hoyle")], r"deals\[0\]: it is played under hoyle"),
        ("draw1-dev", "draws 1, but the environment draws 3"),
    ],
)
def test_bad_deals(deals, message):
    with pytest.raises(ValueError, match=message):
        environment(deals=deals)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rules": "klondike"}, "'klondike' is not a rule set"),
        ({"rules": "hoyle,draw_count=3", "draw_count": 1}, "the environment's draw_count draws 1, but the rules say"),
        ({"draw_count": 2}, "draw_count is 2, but must be 1 or 3"),
        ({"observation": "all"}, "observation is 'all', but must be one of screen, recall, thoughtful"),
        ({"observation": None}, "observation is None"),
        ({"reward": "money"}, "reward is 'money', but must be one of cards, app, casino, andr, win"),
        ({"seconds_per_action": -1}, "seconds_per_action is -1, but must be a whole number from 0 to 1000"),
        ({"seconds_per_action": 1.5}, "seconds_per_action is 1.5"),
        ({"seconds_per_action": True}, "seconds_per_action is True"),
        ({"render_mode": "human3d"}, "render_mode is 'human3d', but must be one of"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        CanfieldEnv(**settings)


def test_draw_count_fills_in_where_the_rules_leave_it_open():
    assert CanfieldEnv(rules="hoyle", draw_count=1).rules == Rules.preset("hoyle", draw_count=1)
    assert CanfieldEnv(rules="hoyle,draw_count=1").rules == Rules.preset("hoyle", draw_count=1)
    assert CanfieldEnv(rules=Rules(draw_count=1), draw_count=1).rules == Rules(draw_count=1)


# --- rewards ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("reward", "total"), [("cards", 255), ("app", 255), ("casino", 495), ("win", 1)])
def test_what_a_won_deal_returns(reward, total):
    env = environment(reward=reward)
    env.reset(options={"code": PUBLISHED_CODE})
    rewards = []
    for move in published_winning_line():
        _, paid, terminated, _, info = env.step(env.action_of(move))
        rewards.append(paid)
        assert terminated == (len(rewards) == len(published_winning_line()))
    assert sum(rewards) == total
    assert info["score"] == 255  # the rules' own score, whatever the reward
    assert info["is_success"] is True and info["foundation_cards"] == 52


@pytest.mark.parametrize("reward", REWARDS)
def test_a_take_back(reward):
    env = environment(reward=reward)
    env.reset(options={"position": lay_out(["9C", "KC", "QH", "2C"], foundations="8H")})
    _, back, _, _, _ = env.step(env.action_of("FH>T1"))
    _, again, _, _, _ = env.step(env.action_of("T1>F"))
    expected = {"cards": (-5, 5), "app": (0, 5), "casino": (-5, 5), "andr": (0, 60 - 10), "win": (0, 0)}
    assert (back, again) == expected[reward]


# --- rendering ----------------------------------------------------------------------------------------------------


def test_the_board_as_text():
    env = environment(render_mode="ansi")
    env.reset(options={"code": PUBLISHED_CODE})
    for move in ("R>T2", "R>F", "T2>T4", "D"):
        env.step(env.action_of(move))
    fan = " ".join("♣♦♥♠"[card // 13] for card in env.position().waste)
    lines = env.render().splitlines()
    assert lines[0] == f"Canfield · {PUBLISHED_CODE} · app, draw 3 · base 7 · score 5"
    assert lines[1] == "Foundations  -♣   -♦   8♥ (2)   -♠"
    assert lines[2] == "Reserve      J♠ (10)"
    assert lines[3] == "Stock        31 face down, 0 redeals"
    assert lines[4].startswith("Waste        ") and lines[4].endswith("(3)")
    assert [symbol for symbol in lines[4] if symbol in "♣♦♥♠"] == fan.split()
    assert [line.split() for line in lines[6:]] == [
        ["T1", "T2", "T3", "T4"],
        ["6♣", "Q♠", "Q♥", "A♠"],
        ["K♥"],
        ["Q♣"],
    ]


def test_render_without_a_mode_warns():
    env = environment()
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


def test_the_specification_lists_every_field_of_the_observation():
    """The table in the class docstring is that of the kernel."""
    specification = " ".join(CanfieldEnv.__doc__.split())
    start = 52
    for name, entries, values, meaning in COUNT_FIELDS:
        index = str(start) if entries == 1 else f"{start}-{start + entries - 1}"
        assert f"| {index} | {name} | 0-{values - 1} | {meaning} |" in specification
        start += entries
    assert start == CanfieldEnv().observation_space.shape[0]


def test_nothing_can_be_done_before_the_first_reset():
    env = CanfieldEnv()
    for act in (lambda: env.step(0), env.position):
        with pytest.raises(gym.error.ResetNeeded, match="reset"):
            act()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"code": 5}, "code is 5"), ({"deal": 5}, "deal is 5"), ({"position": 5}, "position is 5")],
)
def test_starts_of_the_wrong_kind_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        CanfieldEnv().reset(options=options)


@pytest.mark.parametrize("name", ["strict", "end_when_stuck"])
def test_flags_are_true_or_false(name):
    with pytest.raises(ValueError, match=f"{name} is 'no', but must be True or False"):
        CanfieldEnv(**{name: "no"})
