"""Beliefs: what the cards may be that a player has not seen.

belief = Belief(observation, "app")
worlds = belief.sample(100, seed=1)  # 100 records, all of which look like the observation
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .kernel import belief
from .kernel.observe import OBSERVATION_SIZE
from .kernel.state import STATE_DTYPE
from .positions import new_record
from .rules import Rules


class Belief:
    """A position as far as an observation of the tier ``recall`` or ``thoughtful`` tells it.

    A ``screen`` observation is taken too: the belief is then that of a player who has just come to the table.

    Attributes:
        record: One record, shape (1,); places whose card is not known hold ``NO_CARD``.
        unseen: The cards not seen, int8, which lie in those places in an order that nobody knows.

    Raises:
        ValueError: if no position looks like the observation.
    """

    def __init__(self, observation: np.ndarray, rules: Rules | str | Mapping[str, Any] = "app") -> None:
        observation = np.ascontiguousarray(observation, np.uint8)
        if observation.shape != (OBSERVATION_SIZE,):
            raise ValueError(f"an observation has the shape ({OBSERVATION_SIZE},), not {observation.shape}")
        self.record = new_record(Rules.read(rules))
        cards = np.zeros(52, np.int8)
        count = belief.rebuild_record(self.record, 0, observation, cards)
        if count < 0:
            raise ValueError("the observation names other cards than lie in its piles")
        self.unseen = cards[:count]

    def sample(self, worlds: int, seed: int) -> np.ndarray:
        """Records, shape (worlds,), each with the unseen cards in an order of its own, all orders equally likely."""
        states = np.zeros(worlds, STATE_DTYPE)
        belief.sample_worlds(self.record, self.unseen, len(self.unseen), np.uint64(seed % 2**64), states)
        return states
