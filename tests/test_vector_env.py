"""The vector environment against N single ones, step for step and bit by bit."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

import canfield_env
from canfield_env import Deal, IllegalMoveError
from canfield_env.vector_env import CanfieldVectorEnv

MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP]
CODE = "CF1-D3-AAAAACL"


def assert_same(a: Any, b: Any, where: str = "") -> None:
    """Equal to the last bit, types, shapes and keys included."""
    assert type(a) is type(b), where
    if isinstance(a, dict):
        assert sorted(a) == sorted(b), where
        for key in a:
            assert_same(a[key], b[key], f"{where}/{key}")
    elif isinstance(a, tuple) or (isinstance(a, np.ndarray) and a.dtype == object):
        assert len(a) == len(b), where
        for x, y in zip(a, b):
            assert_same(x, y, where)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape, (where, a.dtype, b.dtype)
        np.testing.assert_array_equal(a, b, err_msg=where)
    else:
        assert a == b, where


def pair(
    mode: AutoresetMode, num_envs: int, steps: int | None, **kwargs: Any
) -> tuple[CanfieldVectorEnv, SyncVectorEnv]:
    ours = gym.make_vec("Canfield-v0", num_envs=num_envs, autoreset_mode=mode, max_episode_steps=steps, **kwargs)
    single = lambda: gym.make("Canfield-v0", max_episode_steps=steps, disable_env_checker=True, **kwargs)  # noqa: E731
    return ours, SyncVectorEnv([single] * num_envs, autoreset_mode=mode)


def some_actions(mask: np.ndarray, rng: np.random.Generator, illegal: float) -> np.ndarray:
    """Legal actions, but for a share of any kind. Cards go up where they can, so that episodes end."""
    actions = canfield_env.sample_legal(mask, rng)
    for i, row in enumerate(mask):
        up = [a for a in (1, 6, 11, 12, 13, 14, 7, 8, 9, 10) if row[a]]
        if up and rng.random() < 0.9:
            actions[i] = up[0]
        elif row[0] and rng.random() < 0.8:
            actions[i] = 0
        if rng.random() < illegal:
            actions[i] = rng.integers(95)
    return actions


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"rules": "hoyle", "reward": "casino", "observation": "screen"},
        {"rules": "andr", "draw_count": 1, "reward": "andr", "observation": "thoughtful"},
        {"rules": "app,max_redeals=1,take_back=false", "reward": "win", "end_when_stuck": False},
        {"rules": "app,take_back=false", "deals": [CODE, "CF1-D3-AAAAAAA", "CF1-D3-AAAAAAB"]},
    ],
    ids=lambda kwargs: str(kwargs.get("rules", "app")),
)
def test_equal_to_single_environments(mode: AutoresetMode, kwargs: dict[str, Any]) -> None:
    ours, theirs = pair(mode, 5, 80, **kwargs)
    rng = np.random.default_rng(1)
    assert_same(ours.reset(seed=11), theirs.reset(seed=11))
    ends = 0
    mask = ours.reset(seed=11)[1]["action_mask"]
    theirs.reset(seed=11)
    for step in range(600):
        actions = some_actions(mask, rng, illegal=0.05)
        result, expected = ours.step(actions), theirs.step(actions)
        assert_same(result, expected, f"step {step}")
        mask = result[4]["action_mask"]
        assert_same(ours.action_masks(), mask.astype(bool))
        ends += int((result[2] | result[3]).sum())
    assert ends > 20


def test_disabled_mode_equals_single_environments() -> None:
    ours, theirs = pair(AutoresetMode.DISABLED, 4, 60)
    rng = np.random.default_rng(2)
    _, info = ours.reset(seed=3)
    theirs.reset(seed=3)
    mask, resets = info["action_mask"], 0
    for step in range(500):
        actions = some_actions(mask, rng, illegal=0.05)
        result, expected = ours.step(actions), theirs.step(actions)
        assert_same(result, expected, f"step {step}")
        mask = result[4]["action_mask"].copy()
        done = result[2] | result[3]
        if done.any():
            with pytest.raises(gym.error.ResetNeeded, match=str(np.flatnonzero(done)[0])):
                ours.step(actions)
            reset = ours.reset(options={"reset_mask": done})
            assert_same(reset, theirs.reset(options={"reset_mask": done}), f"reset after {step}")
            mask[done] = reset[1]["action_mask"][done]
            resets += 1
    assert resets > 10


@pytest.mark.parametrize("options", [{"code": CODE, "attempt": 3}, {"deal": Deal.from_number(9)}, {}])
def test_reset_options_and_seeds_equal_single_environments(options: dict[str, Any]) -> None:
    ours, theirs = pair(AutoresetMode.NEXT_STEP, 3, 50, reward="andr")
    assert_same(ours.reset(seed=[5, 6, 7], options=options), theirs.reset(seed=[5, 6, 7], options=options))
    assert_same(ours.reset(options=options), theirs.reset(options=options))
    mask = np.array([False, True, False])
    again = {**options, "reset_mask": mask}
    assert_same(
        ours.reset(seed=[None, 2, None], options=again), theirs.reset(seed=[None, 2, None], options=dict(again))
    )


@pytest.mark.parametrize("mode", [*MODES, AutoresetMode.DISABLED])
@pytest.mark.parametrize("num_envs", [1, 3, 8, 20])
def test_a_queue_visits_each_code_exactly_once(mode: AutoresetMode, num_envs: int) -> None:
    codes = [Deal.from_number(number).code() for number in range(13)]
    envs = gym.make_vec("Canfield-v0", num_envs=num_envs, autoreset_mode=mode, max_episode_steps=30)
    rng = np.random.default_rng(3)
    _, info = envs.reset(seed=0, options={"queue": codes})
    seen = [code for code in info["code"] if code is not None]
    finished = 0
    for _ in range(30 * 14):
        before, mask = envs.queue_index.copy(), info["action_mask"]
        assert (mask[info["queue_done"]] == 1).all()
        obs, rewards, terminations, truncations, info = envs.step(canfield_env.sample_legal(mask, rng))
        done = terminations | truncations
        finished += int(done.sum())
        assert not (done & (before < 0)).any() and (rewards[before < 0] == 0).all()
        assert envs.observation_space.contains(obs)
        if mode == AutoresetMode.DISABLED and done.any():
            _, info = envs.reset(options={"reset_mask": done})
            info["action_mask"] = envs.action_masks().astype(np.int8)
            info["queue_done"] = envs.queue_index < 0
        seen += [codes[k] for k in envs.queue_index[(envs.queue_index != before) & (envs.queue_index >= 0)]]
        if info["queue_done"].all():
            break
    assert info["queue_done"].all()
    assert sorted(seen) == sorted(codes) and finished == len(codes)
    # A reset without a queue ends it.
    _, info = envs.reset(seed=0)
    assert "queue_done" not in info


def test_the_number_of_threads_changes_nothing() -> None:
    one, three = (
        gym.make_vec("Canfield-v0", num_envs=50, num_threads=threads, autoreset_mode="SAME_STEP", max_episode_steps=40)
        for threads in (1, 3)
    )
    assert_same(one.reset(seed=4), three.reset(seed=4))
    rng, mask = np.random.default_rng(5), one.reset(seed=4)[1]["action_mask"]
    three.reset(seed=4)
    for _ in range(200):
        actions = some_actions(mask, rng, illegal=0)
        result = one.step(actions)
        assert_same(result, three.step(actions))
        mask = result[4]["action_mask"]
    three.close()


def test_what_a_step_returns_is_the_callers_unless_copy_is_false() -> None:
    for copy in (True, False):
        envs = gym.make_vec("Canfield-v0", num_envs=6, copy=copy, max_episode_steps=20)
        obs, info = envs.reset(seed=1)
        kept, mask = obs.copy(), info["action_mask"].copy()
        codes = info["code"].copy()
        first_codes = info["code"]
        rng = np.random.default_rng(0)
        for _ in range(50):
            obs2, *_, info = envs.step(canfield_env.sample_legal(info["action_mask"], rng))
        assert (obs is obs2) is not copy
        assert np.array_equal(first_codes, codes) and not np.array_equal(info["code"], codes)
        if copy:
            assert np.array_equal(obs, kept) and not np.array_equal(info["action_mask"], mask)


def test_states_are_saved_restored_and_forked() -> None:
    envs = gym.make_vec("Canfield-v0", num_envs=4, max_episode_steps=60)
    rng = np.random.default_rng(6)
    _, info = envs.reset(seed=8)
    for _ in range(20):
        _, *_, info = envs.step(some_actions(info["action_mask"], rng, 0))
    saved, mask = envs.get_state(), info["action_mask"].copy()

    def play_on() -> list[Any]:
        rng, now, results = np.random.default_rng(7), mask, []
        for _ in range(150):
            results.append(envs.step(some_actions(now, rng, 0)))
            now = results[-1][4]["action_mask"]
        return results

    first = play_on()
    envs.set_state(saved)
    for a, b in zip(first, play_on()):
        assert_same(a, b)
    obs, info = envs.set_state(envs.get_state(2))
    assert (obs == obs[2]).all() and len(set(info["code"])) == 1
    before = envs.get_state()
    envs.set_state(saved, indices=[1])
    assert np.array_equal(envs.get_state(0).records, before.records[:1])


def test_statistics_are_right_in_every_mode() -> None:
    for mode in MODES:
        envs = gym.make_vec("Canfield-v0", num_envs=5, autoreset_mode=mode, max_episode_steps=25)
        wrapped = RecordEpisodeStatistics(envs)
        rng = np.random.default_rng(9)
        _, info = wrapped.reset(seed=1)
        returns, lengths = np.zeros(5), np.zeros(5, int)
        ended, fresh = 0, np.zeros(5, bool)
        for _ in range(200):
            _, rewards, terminations, truncations, info = wrapped.step(some_actions(info["action_mask"], rng, 0))
            if mode == AutoresetMode.NEXT_STEP:
                returns[fresh], lengths[fresh] = 0, -1
            returns += rewards
            lengths += 1
            fresh = done = terminations | truncations
            ours = (envs.episode_returns, envs.episode_lengths)
            if mode == AutoresetMode.SAME_STEP:
                ours = (envs.final_returns, envs.final_lengths)
            assert np.array_equal(ours[0][done], returns[done]) and np.array_equal(ours[1][done], lengths[done])
            if done.any():
                assert np.array_equal(info["episode"]["r"][done], returns[done])
                assert np.array_equal(info["episode"]["l"][done], lengths[done])
            ended += int(done.sum())
            if mode == AutoresetMode.SAME_STEP:
                returns[done], lengths[done] = 0, 0
        assert ended > 30


def test_strict_refuses_and_changes_nothing() -> None:
    envs = gym.make_vec("Canfield-v0", num_envs=3, strict=True)
    _, info = envs.reset(seed=0)
    before = envs.get_state()
    actions = np.array([0, int(np.flatnonzero(info["action_mask"][1] == 0)[0]), 0])
    with pytest.raises(IllegalMoveError, match="sub-environment 1"):
        envs.step(actions)
    assert all(np.array_equal(a, b) for a, b in zip(before, envs.get_state()))


@pytest.mark.parametrize(
    ("action", "message"),
    [([0, 95], "action 95 of sub-environment 1"), ([-1, 0], "action -1"), ([0.0, 0.0], "dtype"), ([0], "shape")],
)
def test_bad_actions(action: list[Any], message: str) -> None:
    envs = gym.make_vec("Canfield-v0", num_envs=2)
    with pytest.raises(gym.error.ResetNeeded):
        envs.step(np.array([0, 0]))
    envs.reset(seed=0)
    with pytest.raises(ValueError, match=message):
        envs.step(np.array(action))


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"num_envs": 0}, "num_envs"),
        ({"num_threads": 0}, "num_threads"),
        ({"max_episode_steps": 0}, "max_episode_steps"),
        ({"autoreset_mode": "SOMETIMES"}, "autoreset_mode"),
        ({"render_mode": "rgb"}, "render_mode"),
        ({"observation": "x-ray"}, "observation"),
        ({"deals": []}, "deals"),
        ({"deals": 5}, "deals"),
        ({"strict": "no"}, "strict"),
        ({"copy": 1}, "copy"),
        ({"end_when_stuck": 0}, "end_when_stuck"),
    ],
)
def test_bad_arguments(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CanfieldVectorEnv(**kwargs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cod": CODE}, "cod"),
        ({"codes": [CODE]}, "codes"),
        ({"codes": 5}, "codes"),
        ({"code": 5}, "code is 5"),
        ({"queue": []}, "queue"),
        ({"queue": [CODE], "code": CODE}, "queue"),
        ({"code": "CF1-D1-AAAAACL"}, "draws 1"),
        ({"reset_mask": [True, False]}, "reset_mask"),
        ({"reset_mask": np.array([False, False])}, "reset_mask"),
    ],
)
def test_bad_reset_options_change_nothing(options: dict[str, Any], message: str) -> None:
    envs = gym.make_vec("Canfield-v0", num_envs=2)
    envs.reset(seed=0)
    before = envs.get_state()
    with pytest.raises(ValueError, match=message):
        envs.reset(seed=5, options=options)
    assert all(np.array_equal(a, b) for a, b in zip(before, envs.get_state()))


@pytest.mark.parametrize("steps", [None, -1, 7])
def test_max_episode_steps_as_in_the_spec(steps: int | None) -> None:
    envs = gym.make_vec("Canfield-v0", num_envs=2, max_episode_steps=steps)
    envs.reset(seed=0)
    truncated = [envs.step(np.array([0, 0]))[3].any() for _ in range(8)]
    assert truncated == [steps == 7 and k == 6 for k in range(8)]


def test_spec_and_metadata() -> None:
    envs = gym.make_vec("CanfieldHoyle-v0", num_envs=3, autoreset_mode="SAME_STEP", observation="screen")
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert CanfieldVectorEnv.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    again = gym.make_vec(gym.envs.registration.EnvSpec.from_json(envs.spec.to_json()))
    assert_same(envs.reset(seed=1), again.reset(seed=1))
    assert envs.rules.column_moves == "whole"
    assert envs.reset(seed=1)[0] in envs.observation_space and envs.action_space.sample() in envs.action_space


def test_render_and_moves() -> None:
    envs = gym.make_vec("Canfield-v0", num_envs=2, render_mode="ansi")
    envs.reset(options={"codes": [CODE, "CF1-D3-AAAAAAA"]})
    boards = envs.render()
    assert CODE in boards[0] and "Q♣ (13)" in boards[0] and CODE not in boards[1]
    assert str(envs.move_of(0, envs.action_of(0, "R>T2"))) == "R>T2"


def test_sample_legal_is_legal_uniform_and_repeatable() -> None:
    mask = np.zeros((4000, 95), np.int8)
    legal = [0, 7, 8, 47, 48, 88, 94]
    mask[:, legal] = 1
    actions = canfield_env.sample_legal(mask, np.random.default_rng(1))
    assert actions.dtype == np.int64 and set(actions) == set(legal)
    counts = np.bincount(actions, minlength=95)[legal]
    assert abs(counts - 4000 / 7).max() < 5 * np.sqrt(4000 / 7)
    assert np.array_equal(actions, canfield_env.sample_legal(mask, np.random.default_rng(1)))
    for action in range(95):
        row = np.zeros(95, np.int8)
        row[action] = 1
        assert canfield_env.sample_legal(row, np.random.default_rng(0)) == action
        assert canfield_env.sample_legal(row.astype(bool), np.random.default_rng(0)) == action


@pytest.mark.parametrize("mask", [np.zeros(94, np.int8), np.zeros(95), np.zeros(95, np.int8)])
def test_sample_legal_refuses_what_is_no_mask(mask: np.ndarray) -> None:
    with pytest.raises(ValueError, match="mask"):
        canfield_env.sample_legal(mask, np.random.default_rng(0))


@pytest.mark.parametrize("threads", [1, 2])
def test_pickle(threads: int) -> None:
    envs = gym.make_vec("Canfield-v0", num_envs=3, num_threads=threads)
    envs.reset(seed=1)
    envs.step(np.zeros(3, int))
    again = pickle.loads(pickle.dumps(envs))
    actions = np.zeros(3, int)
    assert_same(envs.step(actions), again.step(actions))
