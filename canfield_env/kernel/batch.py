"""Many records at once: the vector environment's inner loops.

Arrays of outputs have one row a record: ``observations`` uint8 (N, 82), ``masks`` int8 (N, 95), the others (N,).
"""

from __future__ import annotations

import numpy as np

from .actions import is_legal, write_mask
from .episode import deal_number, step
from .jit import entry, inner
from .observe import write_observation
from .play import score
from .shuffle import draw_below, draw_number
from .state import ACTIONS, State

# What a step does with a record.
STEP, RESET, IDLE = 0, 1, 2

# Where a reset gets its deal from, if not from a start of this index.
FROM_NUMBERS, FROM_STARTS = -1, -2


@inner
def copy_start(states: np.ndarray, i: int, starts: np.ndarray, k: np.int64) -> None:
    """Lay out start ``k`` in record ``i``, whose stream and attempt stay."""
    stream, attempt = states[i]["stream"], states[i]["attempt"]
    states[i] = starts[k]
    states[i]["stream"] = stream
    states[i]["attempt"] = attempt


@inner
def write_info(
    s: State, i: int, scores: np.ndarray, foundation_cards: np.ndarray, is_success: np.ndarray, stuck: np.ndarray
) -> None:
    """Write what ``info`` says of a record besides its mask."""
    cards = int(s["foundation_cards"])
    scores[i] = score(s)
    foundation_cards[i] = cards
    is_success[i] = cards == 52
    stuck[i] = int(s["stuck"]) == 1


@entry
def reset_single(states: np.ndarray, starts: np.ndarray, source: np.int64) -> np.int64:
    """Deal record 0 anew, as ``deal_some`` does; the index of the start, or -1 - the deal's number."""
    return deal_from(states, 0, starts, source)


@inner
def deal_from(states: np.ndarray, i: int, starts: np.ndarray, source: np.int64) -> np.int64:
    """Deal record ``i`` from ``source``: a start's index, FROM_STARTS (the stream draws one) or FROM_NUMBERS (the
    stream draws a number). The index of the start, or -1 - the number."""
    if source == FROM_NUMBERS:
        number = draw_number(states[i])
        deal_number(states[i], number)
        return -1 - number
    k = draw_below(states[i], len(starts)) if source == FROM_STARTS else source
    copy_start(states, i, starts, k)
    return k


@entry
def deal_some(
    states: np.ndarray,
    indices: np.ndarray,
    starts: np.ndarray,
    sources: np.ndarray,
    dealt: np.ndarray,
    elapsed: np.ndarray,
    returns: np.ndarray,
) -> None:
    """Deal the records ``indices`` anew, each from its entry of ``sources``.

    ``dealt`` gets, in the order of ``indices``, the start's index, or -1 - the deal's number.
    """
    for m in range(len(indices)):
        i = indices[m]
        dealt[m] = deal_from(states, i, starts, sources[m])
        elapsed[i] = 0
        returns[i] = 0


@entry
def observe_some(
    states: np.ndarray,
    indices: np.ndarray,
    todo: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    scores: np.ndarray,
    foundation_cards: np.ndarray,
    is_success: np.ndarray,
    stuck: np.ndarray,
) -> None:
    """Write what is seen of the records ``indices``; the mask of one that stands still is all true."""
    for i in indices:
        write_mask(states[i], masks[i])
        if todo[i] == IDLE:
            masks[i, :] = 1
        write_observation(states[i], observations[i])
        write_info(states[i], i, scores, foundation_cards, is_success, stuck)


@entry
def refused_action(states: np.ndarray, todo: np.ndarray, actions: np.ndarray, strict: bool) -> int:
    """The first record to step whose action is out of range or, if ``strict``, illegal; -1 where there is none."""
    for i in range(len(states)):
        if not 0 <= actions[i] < ACTIONS:
            return i
        if strict and todo[i] == STEP and not is_legal(states[i], actions[i]):
            dead = int(states[i]["stuck"]) == 1 and int(states[i]["end_when_stuck"]) == 1
            if not dead or int(states[i]["ended"]) == 1:
                return i
    return -1


@entry
def step_range(
    states: np.ndarray,
    start: int,
    stop: int,
    todo: np.ndarray,
    actions: np.ndarray,
    max_steps: int,
    elapsed: np.ndarray,
    returns: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    rewards: np.ndarray,
    terminations: np.ndarray,
    truncations: np.ndarray,
    illegal_action: np.ndarray,
    scores: np.ndarray,
    foundation_cards: np.ndarray,
    is_success: np.ndarray,
    stuck: np.ndarray,
) -> int:
    """Step those of the records ``start`` to ``stop`` that are to STEP; what is seen of the others is left to
    ``observe_some``. ``elapsed`` and ``returns`` count the episode's steps and rewards.

    Returns how many episodes ended, by termination or truncation.
    """
    ends = 0
    for i in range(start, stop):
        s = states[i]
        rewards[i] = 0.0
        terminations[i] = False
        truncations[i] = False
        illegal_action[i] = False
        if todo[i] == STEP:
            reward, illegal = step(s, actions[i], observations[i], masks[i])
            elapsed[i] += 1
            returns[i] += reward
            rewards[i] = reward
            terminations[i] = int(s["ended"]) == 1
            truncations[i] = elapsed[i] >= max_steps
            ends += 1 if terminations[i] or truncations[i] else 0
            illegal_action[i] = illegal
            write_info(s, i, scores, foundation_cards, is_success, stuck)
    return ends
