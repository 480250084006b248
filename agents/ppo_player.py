"""A policy as a player: one that is in training, or a saved one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from canfield_env.rules import Rules

from .checkpoints import check_fits, read_about, read_policy
from .loop_guard import LoopGuard, act_guarded


class PolicyPlayer:
    """Plays a policy, as it is at the moment.

    Args:
        policy: The policy.
        observation: The tier that it was trained on.
        deterministic: Whether it takes the likeliest action, or samples.
        loop_guard: Whether it remembers what it did at which table, and does something else when it comes there
            again. Without, a policy of little training goes round in circles.
    """

    def __init__(
        self,
        policy: MaskableActorCriticPolicy,
        observation: str,
        deterministic: bool = True,
        loop_guard: bool = True,
    ) -> None:
        self.observation = observation
        self._policy = policy
        self._deterministic = deterministic
        self._generator = torch.Generator()
        self._guard = LoopGuard() if loop_guard else None

    def begin(self, rules: Any, seed: int) -> None:
        """Get ready for a game or a batch of games: sampling starts from ``seed``, earlier games are forgotten."""
        self._generator.manual_seed(seed)
        if self._guard is not None:
            self._guard.clear()

    def act(self, observation: np.ndarray, mask: np.ndarray) -> int:
        """An action for one observation, uint8, shape (82,), and its mask, bool or int8, shape (95,)."""
        return int(self.act_batch(observation[None], mask[None])[0])

    def act_batch(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Actions, int64, shape (N,), for observations, shape (N, 82), and masks, shape (N, 95)."""
        return act_guarded(self._choose, self._guard, observations, np.array(masks, bool))

    def preferences(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """How likely the policy holds each action, float, shape (95,), for those who watch it; the guard left out."""
        with torch.inference_mode():
            return self._logits(observation[None], np.array(mask, bool)[None]).softmax(1)[0].numpy()

    def _logits(self, observations: np.ndarray, masks: np.ndarray) -> torch.Tensor:
        policy = self._policy
        codes = torch.as_tensor(np.ascontiguousarray(observations), device=policy.device)
        latent = policy.mlp_extractor.forward_actor(policy.features_extractor(codes))
        return policy.action_net(latent).cpu().masked_fill(~torch.as_tensor(masks), -torch.inf)

    def _choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            logits = self._logits(observations, masks)
            if self._deterministic:
                return logits.argmax(1).numpy()
            return torch.multinomial(logits.softmax(1), 1, generator=self._generator)[:, 0].numpy()


class PPOPlayer(PolicyPlayer):
    """Plays a checkpoint of ``agents.train``.

    Args:
        path: The zip, such as ``runs/quick/best_model.zip``.
        deterministic: As in ``PolicyPlayer``; None for the way it was evaluated in training.
        loop_guard: As in ``PolicyPlayer``.

    Raises:
        CheckpointError: if the file is no checkpoint, or was made for another observation or action table.
    """

    def __init__(self, path: str | Path, deterministic: bool | None = None, loop_guard: bool = True) -> None:
        self._path = Path(path)
        self._about = read_about(self._path)
        policy = read_policy(self._path, self._about)
        if deterministic is None:
            deterministic = self._about["eval_deterministic"]
        super().__init__(policy, self._about["observation"], deterministic, loop_guard)

    def begin(self, rules: Any, seed: int) -> None:
        """As ``PolicyPlayer``; raises CheckpointError if the policy was made for other rules."""
        check_fits(self._path, self._about, {"rules": Rules.read(rules).to_plain()})
        super().begin(rules, seed)
