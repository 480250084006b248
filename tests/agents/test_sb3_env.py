"""The bridge gives Stable-Baselines3 what it expects, and what the environments said."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.evaluation import evaluate_policy as evaluate_unmasked
from stable_baselines3.common.monitor import Monitor

import canfield_env  # noqa: F401  (registers the ids)
from agents.checkpoints import policy_arguments
from agents.loop_guard import LoopGuard, tables
from agents.sb3_env import CanfieldVecEnv, make_vec_env
from canfield_env.vector_env import CanfieldVectorEnv

NETWORK = {"features": [16], "net_arch": {"pi": [16], "vf": [16]}, "activation_fn": "relu"}


def choose(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


def small_model(env: CanfieldVecEnv) -> MaskablePPO:
    return MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=16,
        batch_size=32,
        n_epochs=1,
        seed=0,
        policy_kwargs=policy_arguments(env.nvec, NETWORK),
    )


def test_spaces() -> None:
    env = make_vec_env("Canfield-v0", 3)
    assert env.observation_space == gym.spaces.Box(0, np.array(env.nvec, np.uint8) - 1, dtype=np.uint8)
    assert env.action_space == gym.spaces.Discrete(95)
    observations = env.reset()
    assert observations.dtype == np.uint8
    assert observations.shape == (3, 82)
    assert sum(env.nvec) == 4695
    env.close()


def test_steps_equal_those_of_single_environments() -> None:
    """Observations, rewards, ends, masks and statistics, step for step, over many episodes."""
    count, limit, scale = 4, 40, 0.5
    env = make_vec_env("Canfield-v0", count, reward_scale=scale, max_episode_steps=limit)
    singles = [gym.make("Canfield-v0", max_episode_steps=limit) for _ in range(count)]
    env.seed(11)
    observations = env.reset()
    starts = [single.reset(seed=11 + i) for i, single in enumerate(singles)]
    assert np.array_equal(observations, np.stack([observation for observation, _ in starts]))
    assert [info["code"] for info in env.reset_infos] == [info["code"] for _, info in starts]
    rng = np.random.default_rng(0)
    returns, lengths, ends = np.zeros(count), np.zeros(count, int), 0
    for _ in range(300):
        masks = get_action_masks(env)
        assert masks.dtype == bool
        fresh = np.stack([single.unwrapped.action_masks() for single in singles])  # type: ignore[attr-defined]
        assert np.array_equal(masks, fresh)
        actions = choose(masks, rng)
        before = observations.copy()
        last = observations
        observations, rewards, dones, infos = env.step(actions)
        assert np.array_equal(last, before), "the observation of the step before was written over"
        for i, single in enumerate(singles):
            observation, reward, terminated, truncated, info = single.step(int(actions[i]))
            returns[i] += reward
            lengths[i] += 1
            assert rewards[i] == reward * scale
            assert dones[i] == (terminated or truncated)
            if dones[i]:
                ends += 1
                assert np.array_equal(infos[i]["terminal_observation"], observation)
                assert infos[i]["TimeLimit.truncated"] == (truncated and not terminated)
                assert infos[i]["episode"]["r"] == returns[i]
                assert infos[i]["episode"]["l"] == lengths[i]
                assert infos[i]["episode"]["t"] >= 0
                assert infos[i]["is_success"] is info["is_success"]
                assert infos[i]["foundation_cards"] == info["foundation_cards"]
                returns[i] = lengths[i] = 0
                observation, _ = single.reset()
            else:
                assert infos[i] == {}
            assert np.array_equal(observations[i], observation)
    assert ends > 20
    env.close()


def test_guarded_masks_leave_out_what_was_done() -> None:
    env = make_vec_env("Canfield-v0", 3, loop_guard=True, max_episode_steps=60)
    plain = make_vec_env("Canfield-v0", 3, max_episode_steps=60)
    guards = [LoopGuard() for _ in range(3)]
    rng = np.random.default_rng(1)
    env.seed(5)
    plain.seed(5)
    observations = env.reset()
    plain.reset()
    narrowed = 0
    for _ in range(200):
        keys = tables(observations)
        expected = plain.action_masks().copy()
        for guard, key, mask in zip(guards, keys, expected):
            guard.narrow(key, mask)
        assert np.array_equal(env.action_masks(), expected)
        narrowed += int((expected != plain.action_masks()).any())
        actions = choose(env.action_masks(), rng)
        for guard, key, action in zip(guards, keys, actions):
            guard.note(key, int(action))
        observations, _, dones, _ = env.step(actions)
        plain.step(actions)
        for i in np.flatnonzero(dones):
            guards[i].clear()
    assert narrowed > 20


@pytest.mark.parametrize("loop_guard", [False, True])
def test_state_goes_over_to_another_environment(loop_guard: bool) -> None:
    first, second = (make_vec_env("Canfield-v0", 3, loop_guard=loop_guard, max_episode_steps=50) for _ in range(2))
    rng = np.random.default_rng(2)
    first.seed(1)
    first.reset()
    second.reset()
    for _ in range(70):
        first.step(choose(first.action_masks(), rng))
    second.set_state({key: np.array(value) for key, value in first.get_state().items()})
    for _ in range(120):
        assert np.array_equal(first.action_masks(), second.action_masks())
        actions = choose(first.action_masks(), rng)
        results = [env.step(actions) for env in (first, second)]
        for mine, other in zip(results[0][:3], results[1][:3]):
            assert np.array_equal(mine, other)
        for info, other in zip(results[0][3], results[1][3]):
            assert info.keys() == other.keys()
            assert not info or {**info["episode"], "t": 0} == {**other["episode"], "t": 0}


def test_what_stable_baselines_asks_for() -> None:
    env = make_vec_env("Canfield-v0", 3)
    env.reset()
    assert is_masking_supported(env)
    assert env.get_attr("render_mode") == [None] * 3
    assert len(env.get_attr("action_masks", indices=[0, 2])) == 2
    assert np.array_equal(env.env_method("action_masks", indices=1)[0], env.action_masks()[1])
    assert env.env_is_wrapped(Monitor) == [True] * 3
    assert env.env_is_wrapped(gym.wrappers.TimeLimit) == [False] * 3
    assert not env.has_attr("nothing")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        env.get_attr("nothing")
    with pytest.raises(AttributeError, match="no method 'close'"):
        env.env_method("close")
    with pytest.raises(AttributeError, match="'rules' cannot be set"):
        env.set_attr("rules", "hoyle")


def test_reset_options_and_seeds_serve_once() -> None:
    env = make_vec_env("Canfield-v0", 2)
    env.set_options({"code": "CF1-D3-AAAAACL"})
    env.reset()
    assert env.reset_infos == [{"code": "CF1-D3-AAAAACL"}] * 2
    env.reset()
    assert env.reset_infos[0] != env.reset_infos[1]
    codes = ["CF1-D3-AAAAACL", "CF1-D3-AAAAACM"]
    env.set_options([{"code": code} for code in codes])
    env.reset()
    assert env.reset_infos == [{"code": code} for code in codes]
    env.set_options([{}, {"code": "CF1-D3-AAAAACL"}])
    with pytest.raises(ValueError, match="the same options"):
        env.reset()


def test_another_autoreset_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="autoreset_mode is NEXT_STEP, but must be SAME_STEP"):
        CanfieldVecEnv(CanfieldVectorEnv(2))


def test_maskable_ppo_learns_and_is_evaluated_on_it(tmp_path: Any) -> None:
    env, eval_env = (
        make_vec_env("Canfield-v0", 4, max_episode_steps=40),
        make_vec_env("Canfield-v0", 2, max_episode_steps=40),
    )
    model = small_model(env)
    callback = MaskableEvalCallback(
        eval_env, n_eval_episodes=2, eval_freq=20, log_path=str(tmp_path), best_model_save_path=str(tmp_path), verbose=0
    )
    model.learn(256, callback)
    assert len(model.ep_info_buffer or ()) > 0
    assert (tmp_path / "best_model.zip").is_file()
    with np.load(tmp_path / "evaluations.npz") as evaluations:
        assert evaluations["results"].shape[1] == 2
        assert "successes" in evaluations
    returns, lengths = evaluate_policy(model, eval_env, n_eval_episodes=2, return_episode_rewards=True)
    assert isinstance(lengths, list) and all(0 < length <= 40 for length in lengths)
    assert isinstance(returns, list) and all(value % 5 == 0 for value in returns)
    # Without masks, illegal actions change nothing and are paid nothing.
    short = make_vec_env("Canfield-v0", 2, max_episode_steps=20)
    assert evaluate_unmasked(model, short, n_eval_episodes=2)[0] <= 255
