"""Keeping a policy without memory from going round in circles.

Many moves of Canfield can be taken back, and a policy that sees only the table does so for ever: where its likeliest
action leads back to the same table, the same action follows. The guard takes from the mask what was already done at
this very table in this game (the passes through the stock not counted); when all has been done, it starts afresh.
It uses what a player has seen and done himself, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from canfield_env.kernel.observe import COUNT_FIELDS

_NAMES = [name for name, entries, _, _ in COUNT_FIELDS for _ in range(entries)]
TABLE_ENTRIES = 52 + _NAMES.index("redeals")
"""An observation's entries before this one are the table; after it come passes, scores and time."""


# Odd random weights: a table's key is their sum, each times its code, modulo 2**64. Two tables of one game with one
# key are as good as impossible, and unlike Python's own hashes the keys are the same in every process.
_WEIGHTS = np.random.PCG64(20_480).random_raw(TABLE_ENTRIES) | np.uint64(1)


def tables(observations: np.ndarray) -> list[int]:
    """Keys of the tables that observations, uint8, shape (N, 82), show."""
    keys: list[int] = (observations[:, :TABLE_ENTRIES].astype(np.uint64) @ _WEIGHTS).tolist()
    return keys


class LoopGuard:
    """What was done at which table. One guard may serve many games at once: two games hardly share a table."""

    def __init__(self) -> None:
        self._done: dict[int, bytes] = {}

    def clear(self) -> None:
        """Forget it all, for a new game."""
        self._done.clear()

    def narrow(self, table: int, mask: np.ndarray) -> None:
        """Take from ``mask``, bool, shape (95,), what was done at this table; leave it if nothing else is there."""
        done = self._done.get(table)
        if done is None:
            return
        before = mask.copy()
        mask[list(done)] = False
        if not mask.any():
            mask[:] = before
            del self._done[table]

    def note(self, table: int, action: int) -> None:
        """Remember that ``action`` is done at this table."""
        self._done[table] = self._done.get(table, b"") + bytes((action,))

    def get_state(self) -> np.ndarray:
        """What it remembers: uint64, shape (K, 2), of a table and an action done there."""
        return np.array([(table, action) for table, done in self._done.items() for action in done], np.uint64).reshape(
            -1, 2
        )

    def set_state(self, state: Any) -> None:
        """Remember what ``get_state`` gave, and nothing else."""
        self.clear()
        for table, action in np.asarray(state, np.uint64).tolist():
            self.note(table, action)


def act_guarded(
    choose: Callable[[np.ndarray, np.ndarray], np.ndarray],
    guard: LoopGuard | None,
    observations: np.ndarray,
    masks: np.ndarray,
) -> np.ndarray:
    """The actions that ``choose`` takes for observations, shape (N, 82), under masks, bool, shape (N, 95), that the
    guard has narrowed (in place); they are noted.
    """
    if guard is None:
        return choose(observations, masks)
    keys = tables(observations)
    for key, mask in zip(keys, masks):
        guard.narrow(key, mask)
    actions = choose(observations, masks)
    for key, action in zip(keys, actions):
        guard.note(key, int(action))
    return actions
