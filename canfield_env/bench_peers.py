"""Other environments for the benchmark, each where its package is installed (extra ``bench``).

Each function gives a closure that makes some steps, with an observation at every step, and returns how many;
or raises ImportError. Random legal actions where there are masks; episodes start anew where they end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

Run = Callable[[], int]


def gymnasium_single(env_id: str, steps: int = 5_000) -> Run:
    """Gymnasium's ``env_id``, one environment, actions drawn beforehand."""
    env: Any = gym.make(env_id, disable_env_checker=True)
    actions = np.random.default_rng(0).integers(env.action_space.n, size=steps).tolist()
    env.reset(seed=0)

    def run() -> int:
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        return steps

    return run


def gymnasium_vector(env_id: str, num_envs: int = 1_024, steps: int = 4) -> Run:
    """Gymnasium's ``env_id``, its own vector environment."""
    envs: Any = gym.make_vec(env_id, num_envs=num_envs)
    actions = np.random.default_rng(0).integers(envs.single_action_space.n, size=(steps, num_envs))
    envs.reset(seed=0)

    def run() -> int:
        for row in actions:
            envs.step(row)
        return steps * num_envs

    return run


def envpool_blackjack(num_envs: int = 1_024, steps: int = 300) -> Run:
    """EnvPool's Blackjack-v1, one thread."""
    import envpool

    envs = envpool.make_gymnasium("Blackjack-v1", num_envs=num_envs, num_threads=1)
    actions = np.random.default_rng(0).integers(2, size=(steps, num_envs)).astype(np.int32)
    envs.reset()

    def run() -> int:
        for row in actions:
            envs.step(row)
        return steps * num_envs

    return run


def openspiel_solitaire(steps: int = 3_000) -> Run:
    """OpenSpiel's ``solitaire`` (Klondike), its observation tensor at every decision."""
    import pyspiel

    game = pyspiel.load_game("solitaire")
    rng = np.random.default_rng(0)
    state = None

    def run() -> int:
        nonlocal state
        made = 0
        while made < steps:
            if state is None or state.is_terminal():
                state = game.new_initial_state()
            if state.is_chance_node():
                outcomes, chances = zip(*state.chance_outcomes())
                state.apply_action(outcomes[int(np.searchsorted(np.cumsum(chances), rng.random()))])
                continue
            legal = state.legal_actions()
            state.observation_tensor(0)
            state.apply_action(legal[int(rng.random() * len(legal))])
            made += 1
        return made

    return run


def pgx_2048(num_envs: int = 1_024, steps: int = 20) -> Run:
    """pgx's ``2048``, jitted, with its auto-reset and random legal actions."""
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("2048")
    step = auto_reset(env.step, env.init)

    def one(state: Any, key: Any) -> Any:
        act, next_key = jax.random.split(key)
        action = jax.random.categorical(act, jax.numpy.where(state.legal_action_mask, 0.0, -jax.numpy.inf))
        return step(state, action, next_key)

    batch = jax.jit(jax.vmap(one))
    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), num_envs))
    keys = [jax.random.split(jax.random.PRNGKey(k), num_envs) for k in range(1, steps + 1)]

    def run() -> int:
        nonlocal state
        for key in keys:
            state = batch(state, key)
        state.observation.block_until_ready()
        return steps * num_envs

    run()  # compiles
    return run


def jumanji_2048(num_envs: int = 1_024, steps: int = 20) -> Run:
    """Jumanji's Game2048-v1, jitted, with its auto-reset and random legal actions."""
    import jax
    import jumanji
    from jumanji.wrappers import AutoResetWrapper

    env = AutoResetWrapper(jumanji.make("Game2048-v1"))

    def one(state: Any, mask: Any, key: Any) -> Any:
        action = jax.random.categorical(key, jax.numpy.where(mask, 0.0, -jax.numpy.inf))
        state, timestep = env.step(state, action)
        return state, timestep.observation

    batch = jax.jit(jax.vmap(one))
    state, timestep = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.PRNGKey(0), num_envs))
    observation = timestep.observation
    keys = [jax.random.split(jax.random.PRNGKey(k), num_envs) for k in range(1, steps + 1)]

    def run() -> int:
        nonlocal state, observation
        for key in keys:
            state, observation = batch(state, observation.action_mask, key)
        observation.board.block_until_ready()
        return steps * num_envs

    run()  # compiles
    return run


PEERS: dict[str, Callable[[], Run]] = {
    "Gymnasium CartPole-v1": lambda: gymnasium_single("CartPole-v1"),
    "Gymnasium Blackjack-v1": lambda: gymnasium_single("Blackjack-v1"),
    "Gymnasium CartPole-v1, vector, 1,024": lambda: gymnasium_vector("CartPole-v1"),
    "Gymnasium Blackjack-v1, vector, 1,024": lambda: gymnasium_vector("Blackjack-v1"),
    "EnvPool Blackjack-v1, 1,024, one thread": envpool_blackjack,
    "OpenSpiel solitaire, observation": openspiel_solitaire,
    "Jumanji Game2048-v1, jitted, 1,024": jumanji_2048,
    "pgx 2048, jitted, 1,024": pgx_2048,
}
