"""Canfield for Stable-Baselines3: a ``VecEnv`` that hands out masks without asking each environment."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from canfield_env.env import CanfieldEnv
from canfield_env.kernel.state import ACTIONS

from .loop_guard import LoopGuard, tables

INFO_KEYS = ("score", "foundation_cards", "is_success", "stuck")
"""What the info of an episode's last step says of it, beside what Stable-Baselines3 asks for."""


class LoopVectorEnv(SyncVectorEnv):
    """N single environments in a loop, with the batch's ``get_state`` and ``set_state``."""

    def __init__(self, env_id: str, num_envs: int, **kwargs: Any) -> None:
        def make() -> gym.Env[Any, Any]:
            return gym.make(env_id, disable_env_checker=True, **kwargs)

        super().__init__([make] * num_envs, autoreset_mode=AutoresetMode.SAME_STEP)

    def _timers(self) -> Iterable[tuple[gym.wrappers.TimeLimit, CanfieldEnv]]:
        for env in self.envs:
            while not isinstance(env, gym.wrappers.TimeLimit):
                env = env.env  # type: ignore[attr-defined]
            yield env, env.unwrapped  # type: ignore[misc]

    def get_state(self) -> dict[str, np.ndarray]:
        states = [env.get_state() for _, env in self._timers()]
        return {
            "records": np.concatenate([records for records, _ in states]),
            "codes": np.array([code or "" for _, code in states]),
            "elapsed": np.array([timer._elapsed_steps for timer, _ in self._timers()]),
        }

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        for i, (timer, env) in enumerate(self._timers()):
            timer._elapsed_steps = int(state["elapsed"][i])  # type: ignore[assignment]
            env.set_state((state["records"][i : i + 1], str(state["codes"][i]) or None))


def make_vector_env(env_id: str, num_envs: int, **kwargs: Any) -> VectorEnv[Any, Any, Any]:
    """The vector environment under the bridge: SAME_STEP autoreset, masks in ``info["action_mask"]``."""
    return LoopVectorEnv(env_id, num_envs, **kwargs)


def make_vec_env(
    env_id: str, num_envs: int, reward_scale: float = 1.0, loop_guard: bool = False, **kwargs: Any
) -> CanfieldVecEnv:
    """A Stable-Baselines3 environment of ``num_envs`` games; ``kwargs`` as in ``gym.make``."""
    return CanfieldVecEnv(make_vector_env(env_id, num_envs, **kwargs), reward_scale, loop_guard)


class CanfieldVecEnv(VecEnv):
    """A Gymnasium vector environment of Canfield as a Stable-Baselines3 one.

    The observation space is a ``Box``, uint8: of the true ``MultiDiscrete`` Stable-Baselines3 would make one-hot
    rows before any network sees it. ``nvec`` here is what the ``Box`` cannot say.

    The info of an episode's last step holds ``terminal_observation``, ``TimeLimit.truncated``, ``episode`` (``r``
    the return, not scaled, ``l`` the length, ``t`` the seconds since this object was made), and ``INFO_KEYS``.

    Args:
        venv: Autoresets in the SAME_STEP mode.
        reward_scale: Factor of the rewards that the learner sees.
        loop_guard: Whether masks leave out what was already done at the same table (``loop_guard.py``).
    """

    def __init__(self, venv: VectorEnv[Any, Any, Any], reward_scale: float = 1.0, loop_guard: bool = False) -> None:
        mode = venv.metadata.get("autoreset_mode")
        if mode != AutoresetMode.SAME_STEP:
            raise ValueError(f"the vector environment's autoreset mode is {mode}, but must be AutoresetMode.SAME_STEP")
        space = venv.single_observation_space
        if not isinstance(space, gym.spaces.MultiDiscrete):
            raise ValueError(f"the observation space is {space}, but must be Canfield's own MultiDiscrete")
        self.venv = venv
        self.nvec = tuple(int(n) for n in space.nvec)
        self._scale = reward_scale
        box = gym.spaces.Box(0, np.array(self.nvec, np.uint8) - 1, dtype=np.uint8)
        self._masks: np.ndarray = np.ones((venv.num_envs, ACTIONS), np.bool_)
        self._actions = np.zeros(venv.num_envs, np.int64)
        self._returns = np.zeros(venv.num_envs)
        self._lengths = np.zeros(venv.num_envs, np.int64)
        self._started = time.perf_counter()
        self._guards = [LoopGuard() for _ in range(venv.num_envs)] if loop_guard else []
        self._tables: list[int] = []
        super().__init__(venv.num_envs, box, venv.single_action_space)

    def action_masks(self) -> np.ndarray:
        """The legal actions that the last step computed: bool, shape (N, 95)."""
        return self._masks

    def reset(self) -> np.ndarray:
        options = self._options[0]
        if any(other != options for other in self._options):
            raise ValueError("set_options: give all environments the same options")
        seeds: Any = None if all(seed is None for seed in self._seeds) else list(self._seeds)
        observations, info = self.venv.reset(seed=seeds, options=options or None)
        self._reset_seeds()
        self._reset_options()
        self._masks = info["action_mask"].astype(bool)
        for guard in self._guards:
            guard.clear()
        self._guard(observations)
        self._returns[:] = 0
        self._lengths[:] = 0
        self.reset_infos = [{"code": code} for code in info["code"]]
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        for guard, table, action in zip(self._guards, self._tables, self._actions):
            guard.note(table, int(action))
        observations, rewards, terminated, truncated, info = self.venv.step(self._actions)
        self._masks = info["action_mask"].astype(bool)
        self._returns += rewards
        self._lengths += 1
        dones = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(dones):
            final = info["final_info"]
            infos[i] = {
                "terminal_observation": info["final_obs"][i],
                "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
                "episode": {
                    "r": float(self._returns[i]),
                    "l": int(self._lengths[i]),
                    "t": round(time.perf_counter() - self._started, 6),
                },
                **{key: final[key][i].item() for key in INFO_KEYS},
            }
            if self._guards:
                self._guards[i].clear()
        self._guard(observations)
        self._returns[dones] = 0
        self._lengths[dones] = 0
        return observations, (rewards * self._scale).astype(np.float32), dones, infos

    def _guard(self, observations: np.ndarray) -> None:
        if self._guards:
            self._tables = tables(observations)
            for guard, table, mask in zip(self._guards, self._tables, self._masks):
                guard.narrow(table, mask)

    def close(self) -> None:
        self.venv.close()

    def get_state(self) -> dict[str, np.ndarray]:
        """All of it as plain arrays, the streams that deal included, for ``set_state``."""
        state: dict[str, np.ndarray] = dict(self.venv.get_state())  # type: ignore[attr-defined]
        state.update(masks=self._masks, returns=self._returns.copy(), lengths=self._lengths.copy())
        if self._guards:
            memories = [guard.get_state() for guard in self._guards]
            state["guards"] = np.concatenate(memories)
            state["guard_sizes"] = np.array([len(memory) for memory in memories])
            state["tables"] = np.array(self._tables, np.uint64)
        return state

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Go on from where ``get_state`` was called, on an environment made the same way."""
        self.venv.set_state(state)  # type: ignore[attr-defined]
        self._masks = state["masks"]
        self._returns = state["returns"].copy()
        self._lengths = state["lengths"].copy()
        if self._guards:
            self._tables = state["tables"].tolist()
            ends = np.cumsum(state["guard_sizes"])[:-1]
            for guard, memory in zip(self._guards, np.split(state["guards"], ends)):
                guard.set_state(memory)

    def _chosen(self, values: Any, indices: Any) -> list[Any]:
        return [values[i] for i in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        values = {"action_masks": self.action_masks, "render_mode": self.venv.render_mode, "spec": self.venv.spec}
        if attr_name not in values:
            raise AttributeError(f"the environments have no attribute {attr_name!r}: they have {', '.join(values)}")
        return self._chosen([values[attr_name]] * self.num_envs, indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise AttributeError(f"{attr_name!r} cannot be set: an environment's settings are those it was made with")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        if method_name != "action_masks":
            raise AttributeError(f"the environments have no method {method_name!r}: they have action_masks")
        return self._chosen(self._masks, indices)

    def env_is_wrapped(self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: Any = None) -> list[bool]:
        # SB3 asks for Monitor to know whether infos hold episode statistics: they do.
        return self._chosen([wrapper_class is Monitor] * self.num_envs, indices)
