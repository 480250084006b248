"""A saved policy as a player."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from canfield_env.rules import Rules

from .checkpoints import check_fits, read_about, read_policy
from .loop_guard import LoopGuard, act_guarded


class PPOPlayer:
    """Plays a checkpoint of ``agents.train``.

    Args:
        path: The zip, such as ``runs/quick/best_model.zip``.
        deterministic: Whether it takes the likeliest action, or samples.
        loop_guard: Whether it remembers what it did at which table, and does something else when it comes there
            again. Without, a policy of little training goes round in circles.

    Attributes:
        observation: The tier that the policy was trained on.

    Raises:
        CheckpointError: if the file is no checkpoint, or was made for another observation or action table.
    """

    def __init__(self, path: str | Path, deterministic: bool = True, loop_guard: bool = True) -> None:
        self._path = Path(path)
        self._about = read_about(self._path)
        self._policy = read_policy(self._path, self._about)
        self._deterministic = deterministic
        self._generator = torch.Generator()
        self._guard = LoopGuard() if loop_guard else None
        self.observation: str = self._about["observation"]

    def begin(self, rules: Any, seed: int) -> None:
        """Be told the rules, and the seed of the sampling, before a game or a batch of games; forget earlier ones.

        Raises:
            CheckpointError: if the policy was made for other rules.
        """
        check_fits(self._path, self._about, {"rules": Rules.read(rules).to_plain()})
        self._generator.manual_seed(seed)
        if self._guard is not None:
            self._guard.clear()

    def act(self, observation: np.ndarray, mask: np.ndarray) -> int:
        """An action for one observation, uint8, shape (82,), and its mask, bool or int8, shape (95,)."""
        return int(self.act_batch(observation[None], mask[None])[0])

    def act_batch(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Actions, int64, shape (N,), for observations, shape (N, 82), and masks, shape (N, 95)."""
        return act_guarded(self._choose, self._guard, observations, np.array(masks, bool))

    def _choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            policy = self._policy
            features = policy.features_extractor(torch.as_tensor(np.ascontiguousarray(observations)))
            logits = policy.action_net(policy.mlp_extractor.forward_actor(features))
            logits = logits.masked_fill(~torch.as_tensor(masks), -torch.inf)
            if self._deterministic:
                return logits.argmax(1).numpy()
            probabilities = logits.softmax(1)
            return torch.multinomial(probabilities, 1, generator=self._generator)[:, 0].numpy()
