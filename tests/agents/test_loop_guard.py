"""The guard takes from the mask what was done at the same table, and never all of it."""

from __future__ import annotations

import gymnasium as gym
import numpy as np

import canfield_env  # noqa: F401  (registers the ids)
from agents.loop_guard import TABLE_ENTRIES, LoopGuard, act_guarded, tables
from canfield_env.kernel.observe import OBSERVATION_NVEC


def test_tables_differ_where_a_card_does_and_not_by_passes() -> None:
    observation, _ = gym.make("Canfield-v0").reset(seed=0)
    rows = np.stack([observation] * (len(observation) + 1))
    for entry in range(len(observation)):
        rows[entry, entry] = (rows[entry, entry] + 1) % OBSERVATION_NVEC[entry]
    keys = tables(rows)
    assert len(set(keys[:TABLE_ENTRIES])) == TABLE_ENTRIES
    assert keys[-1] not in keys[:TABLE_ENTRIES]
    assert set(keys[TABLE_ENTRIES:]) == {keys[-1]}


def test_what_was_done_is_left_out_until_all_was() -> None:
    guard = LoopGuard()
    legal = np.zeros(95, bool)
    legal[[0, 7, 43]] = True
    seen = []
    for _ in range(3):
        mask = legal.copy()
        guard.narrow(5, mask)
        seen.append(np.flatnonzero(mask).tolist())
        guard.note(5, seen[-1][0])
    assert seen == [[0, 7, 43], [7, 43], [43]]
    mask = legal.copy()
    guard.narrow(5, mask)
    assert np.array_equal(mask, legal)
    guard.note(5, 7)
    guard.narrow(5, mask)
    assert np.flatnonzero(mask).tolist() == [0, 43]
    other = legal.copy()
    guard.narrow(6, other)
    assert np.array_equal(other, legal)


def test_state_goes_over_to_another_guard() -> None:
    guard, other = LoopGuard(), LoopGuard()
    for table, action in ((2**64 - 1, 0), (3, 94), (3, 1)):
        guard.note(table, action)
    other.note(9, 9)
    other.set_state(guard.get_state())
    assert np.array_equal(other.get_state(), guard.get_state())
    assert guard.get_state().shape == (3, 2)
    other.set_state(LoopGuard().get_state())
    assert other.get_state().shape == (0, 2)


def test_first_legal_action_no_longer_goes_in_circles() -> None:
    """A player that always takes the last legal action loops at once; with the guard it sees many more tables."""

    def last_legal(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return np.array([np.flatnonzero(mask)[-1] for mask in masks])

    seen = {}
    for guard in (None, LoopGuard()):
        env = gym.make("Canfield-v0")
        observation, info = env.reset(seed=1)
        keys = set()
        for _ in range(300):
            keys.update(tables(observation[None]))
            mask = info["action_mask"][None].astype(bool)
            observation, _, terminated, _, info = env.step(act_guarded(last_legal, guard, observation[None], mask)[0])
            if terminated:
                break
        seen[guard is not None] = len(keys)
    assert seen[True] > 2 * seen[False]
