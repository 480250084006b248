"""Canfield for Stable-Baselines3: a ``VecEnv`` that hands out masks without asking each environment."""

from __future__ import annotations

import time
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from canfield_env.kernel.observe import OBSERVATION_NVEC
from canfield_env.kernel.state import ACTIONS
from canfield_env.vector_env import BatchState, CanfieldVectorEnv

from .loop_guard import LoopGuard, tables

INFO_KEYS = ("score", "foundation_cards", "is_success", "stuck")
"""What the info of an episode's last step says of it, beside what Stable-Baselines3 asks for."""


def make_vec_env(
    env_id: str, num_envs: int, reward_scale: float = 1.0, loop_guard: bool = False, **kwargs: Any
) -> CanfieldVecEnv:
    """A Stable-Baselines3 environment of ``num_envs`` games; ``kwargs`` as in ``gym.make_vec``."""
    venv = gym.make_vec(env_id, num_envs, autoreset_mode="SAME_STEP", **kwargs)
    if not isinstance(venv, CanfieldVectorEnv):
        raise ValueError(f"environment {env_id} is not a Canfield environment")
    return CanfieldVecEnv(venv, reward_scale, loop_guard)


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

    def __init__(self, venv: CanfieldVectorEnv, reward_scale: float = 1.0, loop_guard: bool = False) -> None:
        if venv.autoreset_mode != AutoresetMode.SAME_STEP:
            raise ValueError(f"autoreset_mode is {venv.autoreset_mode.name}, but must be SAME_STEP")
        self.venv = venv
        self.nvec = tuple(OBSERVATION_NVEC.tolist())
        self._scale = reward_scale
        box = gym.spaces.Box(0, np.array(self.nvec, np.uint8) - 1, dtype=np.uint8)
        self._masks: np.ndarray = np.ones((venv.num_envs, ACTIONS), np.bool_)
        self._actions = np.zeros(venv.num_envs, np.int64)
        self._started = time.perf_counter()
        self._guards = [LoopGuard() for _ in range(venv.num_envs)] if loop_guard else []
        self._tables: list[int] = []
        super().__init__(venv.num_envs, box, venv.single_action_space)

    def action_masks(self) -> np.ndarray:
        """The legal actions that the last step computed: bool, shape (N, 95)."""
        return self._masks

    def reset(self) -> np.ndarray:
        options = _joint_options(self._options)
        seeds = None if all(seed is None for seed in self._seeds) else list(self._seeds)
        observations, info = self.venv.reset(seed=seeds, options=options)
        self._reset_seeds()
        self._reset_options()
        self._masks = info["action_mask"].view(bool)
        for guard in self._guards:
            guard.clear()
        self._guard(observations)
        self.reset_infos = [{"code": code} for code in info["code"]]
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        for guard, table, action in zip(self._guards, self._tables, self._actions):
            guard.note(table, int(action))
        observations, rewards, terminated, truncated, info = self.venv.step(self._actions)
        self._masks = info["action_mask"].view(bool)
        dones = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(dones):
            final = info["final_info"]
            infos[i] = {
                "terminal_observation": info["final_obs"][i],
                "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
                "episode": {
                    "r": float(self.venv.final_returns[i]),
                    "l": int(self.venv.final_lengths[i]),
                    "t": round(time.perf_counter() - self._started, 6),
                },
                **{key: final[key][i].item() for key in INFO_KEYS},
            }
            if self._guards:
                self._guards[i].clear()
        self._guard(observations)
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
        state = dict(self.venv.get_state()._asdict())
        state["codes"] = np.array([code or "" for code in state["codes"]])
        if self._guards:
            memories = [guard.get_state() for guard in self._guards]
            state["guards"] = np.concatenate(memories)
            state["guard_sizes"] = np.array([len(memory) for memory in memories])
        return state

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Go on from where ``get_state`` was called, on an environment made the same way."""
        batch = {name: state[name] for name in BatchState._fields}
        batch["codes"] = np.array([code or None for code in state["codes"].tolist()], object)
        observations, info = self.venv.set_state(BatchState(**batch))
        self._masks = info["action_mask"].view(bool)
        if self._guards:
            ends = np.cumsum(state["guard_sizes"])[:-1]
            for guard, memory in zip(self._guards, np.split(state["guards"], ends)):
                guard.set_state(memory)
        self._guard(observations)

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


def _joint_options(options: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Stable-Baselines3's options, one dict an environment, as those of the vector environment's reset."""
    if all(option == options[0] for option in options):
        return options[0] or None
    if all(option.keys() == {"code"} for option in options):
        return {"codes": [option["code"] for option in options]}
    raise ValueError("set_options: give all environments the same options, or each a code and nothing else")
