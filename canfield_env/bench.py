"""How fast the environments step.

``canfield bench`` compares ``env.step`` with CartPole's, made the same way in the same process. ``canfield bench
--full`` (``make bench``) adds the vector environment and, where they are installed (extra ``bench``), other projects'
environments. Repeats of all contenders take turns, so that whatever else the machine does meets them all, and the
median over the repeats counts.

*Single environments*: the clock runs over ``env.step`` alone. Episodes of random legal actions are played once, and
then again against the clock, so choosing actions, and ``reset``, cost nothing in it.

*Vector environments*: ``envs.step(actions)`` with fresh arrays, mask and observation at every step, autoreset
included, and random legal actions by ``sample_legal``, whose time is counted (and, in a row of its own, left out).

Where a step's time goes at N = 1,024 (some 150 ns, drawing included, on the machine of the README): drawing from the
mask 25 ns; the mask 45 (of it writing its 95 bytes 13); the observation 16; the move itself and its reward 10-15 while
the branches are predicted; the check for a dead position 5-10; fresh arrays 5; info and flags 5. The rest, some 30 to
40 ns, is mispredicted branches: a random action is a random way through the code, and each wrong guess costs 7 ns.
The floor is in memory: a step reads and writes a record of 280 bytes, and writes 82 + 95 bytes of output, which at
10 GB/s is 50 ns; so twice this speed would take another design, not better code.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np

from .bench_peers import PEERS
from .sampling import sample_legal

CANFIELD, PEER = "Canfield-v0", "CartPole-v1"
BATCHES = (1, 64, 1_024, 16_384)

Episode: TypeAlias = tuple[int, list[int]]
"""The seed of an episode's reset, and its actions."""

Run: TypeAlias = Callable[[], tuple[int, float]]
"""Makes some steps; how many, and in how many seconds."""


@dataclass(frozen=True)
class Speed:
    """Steps a second of one contender, one number a repeat."""

    name: str
    steps_per_second: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median over the repeats."""
        return statistics.median(self.steps_per_second)


def measure(runs: Mapping[str, Run], repeats: int = 5, progress: Callable[[int], object] | None = None) -> list[Speed]:
    """The speeds of all contenders: ``repeats`` runs of each, taking turns.

    Raises:
        ValueError: if ``repeats`` is less than 1.
    """
    if repeats < 1:
        raise ValueError(f"repeats is {repeats}, but must be 1 or more")
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            steps, seconds = run()
            found[name].append(steps / seconds)
            if progress:
                progress(1)
    return [Speed(name, tuple(speeds)) for name, speeds in found.items()]


def single_runs(steps: int = 50_000, seed: int = 0) -> dict[str, Run]:
    """``env.step`` of Canfield and of CartPole, over about ``steps`` recorded steps.

    Raises:
        ValueError: if ``steps`` is less than 1.
    """
    if steps < 1:
        raise ValueError(f"steps is {steps}, but must be 1 or more")
    return {name: single_run(name, steps, seed) for name in (CANFIELD, PEER)}


def single_run(env_id: str, steps: int, seed: int) -> Run:
    """``env.step`` of one environment through ``gym.make``."""
    env = gym.make(env_id, disable_env_checker=True)
    episodes = record(env, steps, seed)
    return lambda: replay(env, episodes)


def vector_run(num_envs: int, draw: bool = True, seconds: float = 0.3, **settings: Any) -> Run:
    """``envs.step`` of Canfield's vector environment, for about ``seconds`` in a run; ``draw`` counts the drawing of
    the actions too."""
    envs = gym.make_vec(CANFIELD, num_envs=num_envs, **settings)
    rng = np.random.default_rng(0)
    _, info = envs.reset(seed=0)
    mask = info["action_mask"]
    for _ in range(400):  # into the middle of the games
        mask = envs.step(sample_legal(mask, rng))[4]["action_mask"]

    def run() -> tuple[int, float]:
        nonlocal mask
        steps, drawing, stepping = 0, 0.0, 0.0
        while drawing + stepping < seconds:
            started = perf_counter()
            actions = sample_legal(mask, rng)
            drawn = perf_counter()
            mask = envs.step(actions)[4]["action_mask"]
            stepping += perf_counter() - drawn
            drawing += drawn - started
            steps += num_envs
        return steps, stepping + (drawing if draw else 0.0)

    return run


def one_core_runs(peers: bool = True) -> tuple[dict[str, Run], list[str]]:
    """All contenders of the full benchmark on one core, and the peers that are not installed."""
    runs = {f"Canfield, {n:,}": vector_run(n) for n in BATCHES}
    runs["Canfield, 1,024, actions given"] = vector_run(1_024, draw=False)
    runs["Canfield, 1,024, copy=False"] = vector_run(1_024, copy=False)
    runs["Canfield-v0, single"] = single_run(CANFIELD, 50_000, 0)
    missing = []
    for name, make in PEERS.items() if peers else ():
        try:
            runs[name] = _timed(make())
        except ImportError as error:
            missing.append(f"{name} (no module {error.name})")
    return runs, missing


def all_core_runs() -> dict[str, Run]:
    """The vector environment with as many threads as cores."""
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return {f"Canfield, {n:,}, {threads} threads": vector_run(n, num_threads=threads) for n in BATCHES[2:]}


def on_one_core(function: Callable[[], Any]) -> Any:
    """Call ``function`` with this process, and the threads it starts, held to one core where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        return function()
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        return function()
    finally:
        os.sched_setaffinity(0, cores)


def _timed(run: Callable[[], int]) -> Run:
    def timed() -> tuple[int, float]:
        started = perf_counter()
        steps = run()
        return steps, perf_counter() - started

    return timed


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


def replay(env: gym.Env[Any, Any], episodes: list[Episode]) -> tuple[int, float]:
    """Steps of recorded episodes, and the seconds that ``env.step`` took."""
    seconds, steps = 0.0, 0
    for seed, actions in episodes:
        env.reset(seed=seed)
        step = env.step
        started = perf_counter()
        for action in actions:
            step(action)
        seconds += perf_counter() - started
        steps += len(actions)
    return steps, seconds
