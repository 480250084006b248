"""The generator: from a deal's number to the order of the 52 cards.

Written out so that it can be done again in any language; all numbers are unsigned 64-bit unless said
otherwise, and arithmetic is modulo 2**64.

1. *Generator* (SplitMix64, Steele, Lea and Flood 2014). The state starts as the deal's number. One output:
   ``state += 0x9E3779B97F4A7C15``; ``z = state``; ``z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9``;
   ``z = (z ^ (z >> 27)) * 0x94D049BB133111EB``; the output is ``z ^ (z >> 31)``.
2. *Bounded draw* below n (Lemire 2019, on 32 bits, without bias): ``m = (output >> 32) * n``; while
   ``m & 0xFFFFFFFF`` is less than ``2**32 mod n``, take another output and compute m anew; the result is
   ``m >> 32``.
3. *Shuffle* (Fisher-Yates): begin with the cards in the order ``PACK``; for k = 51 down to 1, draw j below
   k + 1 and swap the cards at positions k and j. Position 0 is then the first card dealt.
"""

from __future__ import annotations

import numpy as np

from .jit import inner, wrapping
from .state import State

# The order of the pack before the shuffle. It is a free choice, made once: with it, deal number 75 has the
# nine published cards of CF1-D3-AAAAACL in their places and can be won after the three published moves.
# Changing it would change the deal of every code.
PACK = np.array(
    [
        19, 27, 42, 26, 25, 11, 30, 32, 44, 28, 5, 31, 36, 49, 14, 2, 10, 29,
        7, 43, 24, 41, 20, 17, 39, 0, 12, 23, 47, 45, 50, 33, 35, 38, 1, 4,
        3, 34, 15, 46, 9, 37, 8, 6, 21, 48, 51, 18, 13, 40, 22, 16,
    ],
    dtype=np.int8,
)  # fmt: skip

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S29, _S30, _S31, _S32 = (np.uint64(shift) for shift in (27, 29, 30, 31, 32))
_LOW_32 = np.uint64(0xFFFFFFFF)


@inner
@wrapping
def next_state(state: np.uint64) -> np.uint64:
    """The generator's state after one more output."""
    return state + _GAMMA


@inner
@wrapping
def output(state: np.uint64) -> np.uint64:
    """The output that belongs to a state."""
    z = (state ^ (state >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@inner
def bounded(state: np.uint64, n: int) -> tuple[np.uint64, np.int64]:
    """The state after an unbiased draw below ``n`` (1 to 2**31), and the number drawn."""
    bound = np.uint64(n)
    threshold = np.uint64(2**32 % n)
    while True:
        state = next_state(state)
        product = (output(state) >> _S32) * bound
        if (product & _LOW_32) >= threshold:
            return state, np.int64(product >> _S32)


@inner
def shuffle(number: np.int64, cards: np.ndarray) -> None:
    """Write deal ``number`` (0 to 2**35 - 1) to ``cards``, shape (52,): card ids in deal order."""
    for k in range(52):
        cards[k] = PACK[k]
    state = np.uint64(number)
    for k in range(51, 0, -1):
        state, j = bounded(state, k + 1)
        card = cards[k]
        cards[k] = cards[j]
        cards[j] = card


@inner
def draw_number(s: State) -> np.int64:
    """A deal number from the record's stream: the top 35 bits of its next output."""
    state = next_state(np.uint64(s["stream"]))
    s["stream"] = state
    return np.int64(output(state) >> _S29)


@inner
def draw_below(s: State, n: int) -> np.int64:
    """An unbiased number below ``n`` from the record's stream."""
    state, drawn = bounded(np.uint64(s["stream"]), n)
    s["stream"] = state
    return drawn
