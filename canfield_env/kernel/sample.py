"""Uniform random legal actions, drawn straight from masks."""

from __future__ import annotations

import numpy as np

from .jit import entry, inner, wrapping
from .shuffle import next_state, output
from .state import ACTIONS

_BYTES = np.uint64(0x0101010101010101)  # one in each of eight bytes
_SIGNS = np.uint64(0x8080808080808080)
_S7, _S32, _S56 = (np.uint64(shift) for shift in (7, 32, 56))


@inner
def eight_entries(mask: np.ndarray, start: int, stop: int) -> np.uint64:
    """Entries ``start`` to ``stop`` (at most eight, each 0 or 1) as the bytes of one word."""
    word = np.uint64(0)
    for k in range(start, stop):
        word |= np.uint64(np.uint8(mask[k])) << np.uint64(8 * (k - start))
    return word


@inner
@wrapping
def sample_row(mask: np.ndarray, random: np.uint64) -> np.int64:
    """The legal action that ``random`` chooses, each with the same chance (to one part in 2**25).

    Byte sums by multiplication: the product of a word of 0/1 bytes with 0x0101... has in its byte b the number
    of ones up to b. No branch depends on the mask, since one that does is mispredicted half the time.
    """
    words = (
        eight_entries(mask, 0, 8), eight_entries(mask, 8, 16), eight_entries(mask, 16, 24),
        eight_entries(mask, 24, 32), eight_entries(mask, 32, 40), eight_entries(mask, 40, 48),
        eight_entries(mask, 48, 56), eight_entries(mask, 56, 64), eight_entries(mask, 64, 72),
        eight_entries(mask, 72, 80), eight_entries(mask, 80, 88), eight_entries(mask, 88, 95),
    )  # fmt: skip
    total = np.uint64(0)
    for word in words:
        total += (word * _BYTES) >> _S56
    k = ((random >> _S32) * total) >> _S32  # which of the legal actions
    before, group, chosen, seen = np.uint64(0), 0, words[0], np.uint64(0)
    for g in range(12):
        word = words[g]
        if before <= k:
            group, chosen, seen = g, word, before
        before += (word * _BYTES) >> _S56
    prefix = chosen * _BYTES
    not_beyond = (((k - seen) * _BYTES | _SIGNS) - prefix) & _SIGNS
    return 8 * group + np.int64(((not_beyond >> _S7) * _BYTES) >> _S56)


@entry
def sample_rows(masks: np.ndarray, seed: np.uint64, actions: np.ndarray) -> int:
    """Write a legal action for each row of ``masks``, int8, shape (N, 95), to ``actions``, int64, shape (N,).

    Returns the first row in which nothing is legal, or -1.
    """
    state = seed
    for i in range(len(masks)):
        state = next_state(state)
        action = sample_row(masks[i], output(state))
        if action >= ACTIONS or masks[i, action] == 0:
            return i
        actions[i] = action
    return -1
