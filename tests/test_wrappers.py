"""The wrappers say the same as the observation, in spaces that the checkers accept."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import canfield_env  # noqa: F401  (registers the ids)
from canfield_env.kernel.observe import OBSERVATION_NVEC
from canfield_env.wrappers import (
    ONE_HOT_SIZE,
    PLANES,
    CardPlanes,
    MaskedDictObservation,
    OneHotObservation,
    card_planes,
    one_hot,
)

PLANE = {name: k for k, (name, _, _) in enumerate(PLANES)}

WRAPPED = {
    "one-hot": lambda env: OneHotObservation(env),
    "one-hot float": lambda env: OneHotObservation(env, dtype="float32"),
    "planes": lambda env: CardPlanes(env),
    "masked": lambda env: MaskedDictObservation(env),
    "masked planes": lambda env: MaskedDictObservation(CardPlanes(env)),
    "masked one-hot": lambda env: MaskedDictObservation(OneHotObservation(env)),
}


def walk(env: gym.Env[Any, Any], seed: int, steps: int) -> Any:
    """Observations, masks and the environment along a random game."""
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    for _ in range(steps):
        yield observation, info
        action = rng.choice(np.flatnonzero(info["action_mask"]))
        observation, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            observation, info = env.reset()


@pytest.mark.parametrize("name", WRAPPED)
def test_check_env(name: str) -> None:
    env = WRAPPED[name](gym.make("Canfield-v0", disable_env_checker=True))
    with warnings.catch_warnings():
        # The checker says of every wrapped environment that it is one.
        warnings.filterwarnings("ignore", message=".*is different from the unwrapped version")
        check_env(env)


@pytest.mark.parametrize("name", WRAPPED)
@pytest.mark.parametrize("env_id", ["Canfield-v0", "CanfieldAndr-v0"])
def test_observations_lie_in_the_space(name: str, env_id: str) -> None:
    env = WRAPPED[name](gym.make(env_id, observation="thoughtful"))
    for observation, _ in walk(env, seed=1, steps=300):
        assert observation in env.observation_space


@pytest.mark.parametrize("name", WRAPPED)
def test_spec_makes_the_same_again(name: str) -> None:
    env = WRAPPED[name](gym.make("CanfieldDraw1-v0"))
    assert env.spec is not None
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    first, second = env.reset(seed=3)[0], again.reset(seed=3)[0]
    assert again.observation_space == env.observation_space
    assert pickle.dumps(first) == pickle.dumps(second)


def test_one_hot_has_one_for_each_code() -> None:
    offsets = np.cumsum(OBSERVATION_NVEC) - OBSERVATION_NVEC
    codes = [observation for observation, _ in walk(gym.make("Canfield-v0"), seed=2, steps=200)]
    for observation in codes:
        assert np.array_equal(np.flatnonzero(one_hot(observation)), offsets + observation)
    batch = one_hot(np.stack(codes), np.float32)
    assert batch.dtype == np.float32
    assert batch.shape == (200, ONE_HOT_SIZE)
    assert np.array_equal(batch[7], one_hot(codes[7]))


@pytest.mark.parametrize("observation", ["screen", "recall", "thoughtful"])
def test_planes_agree_with_the_position(observation: str) -> None:
    env = gym.make("Canfield-v0", observation=observation)
    for codes, _ in walk(env, seed=4, steps=300):
        position = env.unwrapped.position()  # type: ignore[attr-defined]
        planes = card_planes(codes).reshape(len(PLANES), 52)
        columns = [list(column) for column in position.columns]
        for k, column in enumerate(columns):
            assert set(np.flatnonzero(planes[PLANE["column_1"] + k])) == set(column)
        assert set(np.flatnonzero(planes[PLANE["column_first"]])) == {column[0] for column in columns if column}
        assert set(np.flatnonzero(planes[PLANE["column_top"]])) == {column[-1] for column in columns if column}
        assert set(np.flatnonzero(planes[PLANE["waste_top"]])) == set(position.waste[-1:])
        assert set(np.flatnonzero(planes[PLANE["reserve_top"]])) == set(position.reserve[-1:])
        assert planes[PLANE["foundation"]].sum() == sum(position.foundations)
        assert (planes[PLANE["stock_count"]] == len(position.stock)).all()
        known = {
            "screen": position.waste[-3:],
            "recall": position.waste,
            "thoughtful": position.waste,
        }[observation]
        assert set(np.flatnonzero(planes[PLANE["waste"]])) == set(known)
        if observation == "thoughtful":
            talon = [*position.waste, *position.stock]
            assert [int(planes[PLANE["talon_place"], card]) for card in talon] == list(range(1, len(talon) + 1))
            depths = [int(planes[PLANE["reserve_depth"], card]) for card in position.reserve]
            assert depths == list(reversed(range(len(position.reserve))))
            assert not planes[PLANE["hidden"]].any()


def test_planes_mark_what_the_foundations_take_next() -> None:
    observation, _ = gym.make("Canfield-v0").reset(seed=5)
    planes = card_planes(observation)
    base = int(observation[52])
    assert np.array_equal(np.flatnonzero(planes[PLANE["base_rank"]].sum(0)), [base])
    for suit in range(4):
        cards = int(observation[53 + suit])
        assert np.array_equal(np.flatnonzero(planes[PLANE["foundation_next"], suit]), [(base + cards) % 13])


def test_masked_dict_holds_the_mask_of_the_step() -> None:
    env = MaskedDictObservation(gym.make("Canfield-v0"))
    for observation, info in walk(env, seed=6, steps=300):
        assert set(observation) == {"observations", "action_mask"}
        assert observation["action_mask"].dtype == np.int8
        assert np.array_equal(observation["action_mask"], info["action_mask"])


def test_wrong_use_is_refused() -> None:
    with pytest.raises(ValueError, match="dtype is 'int8', but must be"):
        OneHotObservation(gym.make("Canfield-v0"), dtype="int8")
    with pytest.raises(ValueError, match="OneHotObservation takes Canfield's own observation"):
        OneHotObservation(gym.make("CartPole-v1"))
    with pytest.raises(ValueError, match="CardPlanes takes Canfield's own observation"):
        CardPlanes(OneHotObservation(gym.make("Canfield-v0")))
