"""Random legal actions."""

from __future__ import annotations

import numpy as np

from .kernel.sample import sample_rows
from .kernel.state import ACTIONS


def sample_legal(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray | int:
    """A legal action for each row of ``mask``, every one with the same chance (to one part in 2**25).

    Args:
        mask: int8 or bool, shape (N, 95) or (95,), as in ``info["action_mask"]`` or ``action_masks()``.
        rng: One raw 64-bit output of it is used, whatever N.

    Returns:
        int64, shape (N,), or an int for a single mask.

    Raises:
        ValueError: if ``mask`` has another shape or dtype, or a row in which nothing is legal.
    """
    rows = np.atleast_2d(mask)
    if rows.ndim != 2 or rows.shape[1] != ACTIONS or rows.dtype not in (np.int8, np.bool_):
        raise ValueError(f"mask is {mask.dtype} of shape {mask.shape}, but must be int8 or bool, (N, 95) or (95,)")
    actions = np.empty(len(rows), np.int64)
    empty = sample_rows(rows.view(np.int8), np.uint64(rng.bit_generator.random_raw()), actions)
    if empty >= 0:
        raise ValueError(f"no action is legal in row {empty} of mask")
    return actions if mask.ndim == 2 else int(actions[0])
