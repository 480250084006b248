"""How fast the environment steps, beside CartPole made the same way in the same process.

The clock runs over ``env.step`` alone. Both environments first play episodes of random legal actions, seeded; then the
same episodes are played again against the clock, so choosing actions, and ``reset``, cost nothing in it. Repeats of
the two take turns, so that whatever else the machine does meets both.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np

CANFIELD, PEER = "Canfield-v0", "CartPole-v1"

Episode: TypeAlias = tuple[int, list[int]]
"""The seed of an episode's reset, and its actions."""


@dataclass(frozen=True)
class Speed:
    """Steps a second of one environment, one number a repeat."""

    name: str
    steps_per_second: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median over the repeats."""
        return statistics.median(self.steps_per_second)


def measure(
    steps: int = 50_000, repeats: int = 5, seed: int = 0, progress: Callable[[int], object] | None = None
) -> tuple[Speed, Speed]:
    """The speeds of Canfield and of CartPole: ``repeats`` times about ``steps`` steps of each, taking turns.

    Raises:
        ValueError: if ``steps`` or ``repeats`` is less than 1.
    """
    for name, value in (("steps", steps), ("repeats", repeats)):
        if value < 1:
            raise ValueError(f"{name} is {value}, but must be 1 or more")
    envs = [gym.make(name, disable_env_checker=True) for name in (CANFIELD, PEER)]
    games = [record(env, steps, seed) for env in envs]
    speeds: tuple[list[float], ...] = ([], [])
    for _ in range(repeats):
        for env, episodes, found in zip(envs, games, speeds):
            found.append(replay_speed(env, episodes))
        if progress:
            progress(1)
    for env in envs:
        env.close()
    return Speed(CANFIELD, tuple(speeds[0])), Speed(PEER, tuple(speeds[1]))


def record(env: gym.Env[Any, Any], steps: int, seed: int) -> list[Episode]:
    """Episodes of random legal actions, ``steps`` steps in all."""
    rng = np.random.default_rng(seed)
    every = np.ones(env.action_space.n, np.int8)  # type: ignore[attr-defined]
    episodes: list[Episode] = []
    done = 0
    while done < steps:
        actions: list[int] = []
        _, info = env.reset(seed=seed + len(episodes))
        ended = False
        while not ended and done < steps:
            legal = np.flatnonzero(info.get("action_mask", every))
            action = int(legal[int(rng.random() * len(legal))])
            _, _, terminated, truncated, info = env.step(action)
            actions.append(action)
            done += 1
            ended = terminated or truncated
        episodes.append((seed + len(episodes), actions))
    return episodes


def replay_speed(env: gym.Env[Any, Any], episodes: list[Episode]) -> float:
    """Steps a second of ``env.step`` over recorded episodes."""
    seconds, steps = 0.0, 0
    for seed, actions in episodes:
        env.reset(seed=seed)
        step = env.step
        started = perf_counter()
        for action in actions:
            step(action)
        seconds += perf_counter() - started
        steps += len(actions)
    return steps / seconds
