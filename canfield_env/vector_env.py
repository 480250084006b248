"""The vector environment: N games in one array, stepped together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .board import board_text
from .deals import number_code
from .env import (
    Start,
    check_flag,
    check_option_names,
    check_render_mode,
    lay_out,
    load_picture,
    new_environment_record,
    observation_space,
    read_attempt,
    read_deals,
    read_start,
    read_start_option,
)
from .kernel import batch
from .kernel.jit import announce_compilation
from .kernel.observe import OBSERVATION_SIZE
from .kernel.state import ACTIONS
from .moves import IllegalMoveError, Move, action_of_move, move_of_action
from .positions import Position, current_score
from .rules import Rules, rules_for_draw

_NO_LIMIT = 2**31 - 1


class Outputs(NamedTuple):
    """What the kernel writes: one row a sub-environment."""

    observations: np.ndarray
    masks: np.ndarray
    rewards: np.ndarray
    terminations: np.ndarray
    truncations: np.ndarray
    illegal_action: np.ndarray
    scores: np.ndarray
    foundation_cards: np.ndarray
    is_success: np.ndarray
    stuck: np.ndarray

    @classmethod
    def empty(cls, n: int) -> Outputs:
        """Arrays for ``n`` sub-environments, not filled in."""
        return cls(
            np.empty((n, OBSERVATION_SIZE), np.uint8),
            np.empty((n, ACTIONS), np.int8),
            np.empty(n),
            np.empty(n, bool),
            np.empty(n, bool),
            np.empty(n, bool),
            np.empty(n, np.int64),
            np.empty(n, np.int64),
            np.empty(n, bool),
            np.empty(n, bool),
        )


class BatchState(NamedTuple):
    """Sub-environments as ``get_state`` saves them: arrays of one row each."""

    records: np.ndarray
    elapsed: np.ndarray
    returns: np.ndarray
    todo: np.ndarray
    codes: np.ndarray
    queue_index: np.ndarray


class CanfieldVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """N games of Canfield over one array: step for step, bit by bit, N single ``CanfieldEnv``.

    ``gym.make_vec("Canfield-v0", num_envs=N, ...)`` makes one. All arguments of ``CanfieldEnv`` mean here what
    they mean there.

    Args:
        num_envs: How many sub-environments.
        max_episode_steps: Steps after which an episode is truncated; None or -1 for no limit.
        autoreset_mode: Gymnasium's ``AutoresetMode``, or its name or value as text (``"NEXT_STEP"``,
            ``"SameStep"``; text can be written in a spec's JSON).
        num_threads: Threads that share a step's work; they pay from some thousands of sub-environments.
        copy: Whether ``reset`` and ``step`` return fresh arrays, the caller's to keep (``info["code"]`` is
            read-only). False hands out the environment's own, which the next call overwrites.

    **Observations, actions, rewards** have one row a sub-environment: uint8 (N, 82), integers (N,), float64 (N,).

    **Information**: the keys of ``CanfieldEnv`` as arrays, each with its ``_key`` mask, as ``SyncVectorEnv`` lays
    them out; ``action_mask`` is int8 (N, 95). Under SAME_STEP a finished episode's last observation and info
    are in ``final_obs`` and ``final_info``, and mask, code and the rest belong to the new episode.

    **Reset options**: ``code``, ``deal``, ``position`` and ``attempt`` as in ``CanfieldEnv``, for every
    sub-environment; ``codes``, a list with a start for each; ``reset_mask``, bool (N,): only these are reset;
    ``queue``, a list of codes to be played exactly once: each sub-environment that is free takes the next one
    (lower index first), and one that finds the queue empty stands still, its mask all true and its entry of
    ``info["queue_done"]`` set. ``queue_index`` says which of the queue's codes each one plays.

    **Seeding**: ``seed`` gives sub-environment i the seed + i; a list gives each its own (None: not seeded anew).

    **Episode statistics**: ``episode_returns`` and ``episode_lengths`` hold, for every sub-environment, those of
    the running episode, or of the finished one until the step that follows it. Under SAME_STEP, where a new
    episode has begun by then, ``final_returns`` and ``final_lengths`` hold those of each one's last finished
    episode. They are right in every autoreset mode. Gymnasium's vector ``RecordEpisodeStatistics`` works too, but
    some versions of it count one step too many under SAME_STEP; 1.4 does not.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4, "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        rules: Rules | str | Mapping[str, Any] = "app",
        draw_count: int | None = None,
        observation: str = "recall",
        reward: str = "cards",
        end_when_stuck: bool = True,
        strict: bool = False,
        deals: str | Sequence[Any] = "random",
        seconds_per_action: int = 5,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        num_threads: int = 1,
        copy: bool = True,
    ) -> None:
        super().__init__()
        for name, value in (("num_envs", num_envs), ("num_threads", num_threads)):
            if type(value) is not int or value < 1:
                raise ValueError(f"{name} is {value!r}, but must be a whole number from 1")
        if max_episode_steps is None or max_episode_steps == -1:
            max_episode_steps = _NO_LIMIT
        if type(max_episode_steps) is not int or max_episode_steps < 1:
            raise ValueError(f"max_episode_steps is {max_episode_steps!r}, but must be 1 or more, None or -1")
        check_render_mode(render_mode, self.metadata["render_modes"])
        check_flag("strict", strict)
        check_flag("copy", copy)
        announce_compilation("step_range")
        self.rules = rules_for_draw(rules, draw_count, "the environment's draw_count")
        self.num_envs = num_envs
        self.render_mode = render_mode
        self._draw: Any = load_picture().draw if render_mode == "rgb_array" else board_text
        self.autoreset_mode = _read_autoreset_mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = observation_space()
        self.single_action_space = gym.spaces.Discrete(ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._strict = strict
        self._copy = copy
        self._max_steps = max_episode_steps
        record = new_environment_record(self.rules, observation, reward, end_when_stuck, seconds_per_action)
        self._starts, self._start_codes = lay_out(record, read_deals(deals, self.rules))
        self._states = np.repeat(record, num_envs)
        self._stream_seeded = np.zeros(num_envs, bool)
        self._outputs = Outputs.empty(num_envs)
        self._todo = np.full(num_envs, batch.RESET, np.int8)
        self._was_reset = False
        self._codes = _read_only(np.full(num_envs, None, object))
        self._every = _read_only(np.ones(num_envs, bool))
        self._elapsed = np.zeros(num_envs, np.int32)
        self._returns = np.zeros(num_envs, np.int64)
        self._queue: tuple[np.ndarray, list[str | None]] | None = None
        self._queue_next = 0
        self._resets_due = False
        self.queue_index = np.full(num_envs, -1, np.int64)
        self.final_returns = np.zeros(num_envs, np.int64)
        self.final_lengths = np.zeros(num_envs, np.int32)
        bounds = np.linspace(0, num_envs, num_threads + 1).astype(int).tolist()
        self._ranges = list(pairwise(bounds))
        self._pool: ThreadPoolExecutor | None = None

    # --- Gymnasium's interface -----------------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        options = options or {}
        check_option_names(options, ("code", "deal", "position", "codes", "queue", "reset_mask", "attempt"))
        mask = self._read_reset_mask(options)
        seeds = self._read_seeds(seed)
        attempt = read_attempt(options)
        starts = self._read_starts(options)
        self._was_reset |= bool(mask.all())
        if not self._was_reset:
            raise gym.error.ResetNeeded("reset every sub-environment once before resetting only some")
        self._seed_streams(seeds, mask)
        indices = np.flatnonzero(mask)
        if options.get("queue") is not None:
            self._queue, self._queue_next = lay_out(self._states[:1], starts), 0
            starts = ()
        elif options.get("reset_mask") is None:
            self._queue = None
        self._outputs = outputs = self._new_outputs()
        if starts:
            records, codes = lay_out(self._states[:1], starts)
            sources = indices % len(starts)
            self._deal(indices, records, codes, sources, outputs, attempt)
        else:
            self._deal_next(indices, outputs, attempt)
        self._resets_due = bool((self._todo == batch.RESET).any())
        observations, info = self.observe()
        if not mask.all():
            info = _only(info, mask)
        return observations, info

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        actions = self._read_actions(actions)
        self._outputs = outputs = self._new_outputs()
        ends = self._run(actions, outputs)
        if self._queue is not None:
            self._see(np.flatnonzero(self._todo == batch.IDLE), outputs)
        if self._resets_due:  # only under NEXT_STEP: under DISABLED such a step is refused
            self._deal_next(np.flatnonzero(self._todo == batch.RESET), outputs, 1)
            self._resets_due = False
        final: dict[str, Any] = {}
        if ends:
            done = outputs.terminations | outputs.truncations
            if self.autoreset_mode == AutoresetMode.SAME_STEP:
                indices = np.flatnonzero(done)
                final = self._final(indices, done, outputs)
                self._deal_next(indices, outputs, 1)
            else:
                self._todo[done] = batch.RESET
                self._resets_due = True
        return (
            outputs.observations,
            outputs.rewards,
            outputs.terminations,
            outputs.truncations,
            final | self._info(outputs),
        )

    def render(self) -> tuple[Any, ...] | None:
        if self.render_mode is None:
            gym.logger.warn("render() does nothing without a render_mode: gym.make_vec(..., render_mode='ansi')")
            return None
        return tuple(
            self._draw(self.position(i), self._codes[i], current_score(self._states, i)) for i in range(self.num_envs)
        )

    def close_extras(self, **kwargs: Any) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None}  # threads cannot be pickled or copied; the next step starts new ones

    # --- Beyond it -----------------------------------------------------------------------------------------

    def action_masks(self) -> np.ndarray:
        """The legal actions, bool, shape (N, 95)."""
        return self._outputs.masks.astype(bool)

    @property
    def episode_returns(self) -> np.ndarray:
        """Sum of the rewards of each sub-environment's episode so far, int64, shape (N,)."""
        return self._returns.copy()

    @property
    def episode_lengths(self) -> np.ndarray:
        """Steps of each sub-environment's episode so far, int32, shape (N,)."""
        return self._elapsed.copy()

    def position(self, i: int) -> Position:
        """The position of sub-environment ``i`` now, hidden cards included."""
        return Position.read(self._states, i, self.rules)

    def move_of(self, i: int, action: int) -> Move:
        """The move that a legal action makes now in sub-environment ``i``."""
        return move_of_action(self._states, i, action)

    def action_of(self, i: int, move: Move | str) -> int:
        """The action that makes a legal move (or its text) now in sub-environment ``i``, or -1."""
        return action_of_move(self._states, i, Move.parse(move) if isinstance(move, str) else move)

    def observe(self) -> tuple[np.ndarray, dict[str, Any]]:
        """Observations and info of all sub-environments as they stand now."""
        outputs = self._outputs
        self._see(np.arange(self.num_envs), outputs)
        return outputs.observations, self._info(outputs)

    def get_state(self, i: int | None = None) -> BatchState:
        """Everything about sub-environment ``i``, or all of them, hidden cards and streams included."""
        chosen = slice(None) if i is None else slice(i, i + 1)
        rows = (self._states, self._elapsed, self._returns, self._todo, self._codes, self.queue_index)
        return BatchState(*(array[chosen].copy() for array in rows))

    def set_state(
        self, state: BatchState, indices: Sequence[int] | np.ndarray | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Go on exactly from where ``get_state`` was called; observations and info as ``reset`` gives them.

        ``indices`` names the sub-environments to go back (None: all). A state of one sub-environment is copied
        over each of them, which forks a search.

        Raises:
            ValueError: for a state of another number of sub-environments.
        """
        chosen = np.arange(self.num_envs) if indices is None else np.asarray(indices)
        if len(state.records) not in (1, self.num_envs):
            raise ValueError(f"the state is of {len(state.records)} sub-environments, but there are {self.num_envs}")
        codes = self._codes.copy()
        rows: list[np.ndarray] = [
            self._states, self._elapsed, self._returns, self._todo, codes, self.queue_index
        ]  # fmt: skip
        for array, saved in zip(rows, tuple(state), strict=True):
            array[chosen] = saved if len(saved) == 1 else saved[chosen]
        self._codes = _read_only(codes)
        self._stream_seeded[chosen] = True
        self._was_reset = True
        self._resets_due = bool((self._todo == batch.RESET).any())
        self._outputs = self._new_outputs()
        return self.observe()

    # --- Inside --------------------------------------------------------------------------------------------

    def _new_outputs(self) -> Outputs:
        return Outputs.empty(self.num_envs) if self._copy else self._outputs

    def _see(self, indices: np.ndarray, outputs: Outputs) -> None:
        """Write what is seen of the sub-environments ``indices``, which did not step."""
        batch.observe_some(
            self._states,
            indices,
            self._todo,
            outputs.observations,
            outputs.masks,
            outputs.scores,
            outputs.foundation_cards,
            outputs.is_success,
            outputs.stuck,
        )
        outputs.illegal_action[indices] = False

    def _run(self, actions: np.ndarray, outputs: Outputs) -> int:
        """Step all sub-environments, in threads where there are several; how many episodes ended."""

        def run(start: int, stop: int) -> int:
            return batch.step_range(
                self._states, start, stop, self._todo, actions, self._max_steps, self._elapsed, self._returns, *outputs
            )

        if len(self._ranges) == 1:
            return run(0, self.num_envs)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(len(self._ranges))
        return sum(future.result() for future in [self._pool.submit(run, *bounds) for bounds in self._ranges])

    def _deal_next(self, indices: np.ndarray, outputs: Outputs, attempt: int) -> None:
        """Deal anew in ``indices``: the queue's next codes, or what ``deals`` says. Those for which the queue has
        none left stand still."""
        if self._queue is None:
            source = batch.FROM_STARTS if self._start_codes else batch.FROM_NUMBERS
            sources = np.full(len(indices), source, np.int64)
            self._deal(indices, self._starts, self._start_codes, sources, outputs, attempt)
            return
        records, codes = self._queue
        taken = min(len(indices), len(codes) - self._queue_next)
        sources = np.arange(self._queue_next, self._queue_next + taken)
        self._queue_next += taken
        self._deal(indices[:taken], records, codes, sources, outputs, attempt)
        self.queue_index[indices[:taken]] = sources
        self._todo[indices[taken:]] = batch.IDLE
        self.queue_index[indices[taken:]] = -1
        no_code = self._codes.copy()
        no_code[indices[taken:]] = None
        self._codes = _read_only(no_code)
        self._see(indices[taken:], outputs)

    def _deal(
        self,
        indices: np.ndarray,
        records: np.ndarray,
        record_codes: Sequence[str | None],
        sources: np.ndarray,
        outputs: Outputs,
        attempt: int,
    ) -> None:
        self._todo[indices] = batch.STEP
        self.queue_index[indices] = -1
        self._states["attempt"][indices] = attempt
        dealt = np.empty(len(indices), np.int64)
        batch.deal_some(self._states, indices, records, sources, dealt, self._elapsed, self._returns)
        self._see(indices, outputs)
        codes = self._codes.copy()
        for i, k in zip(indices.tolist(), dealt.tolist(), strict=True):
            codes[i] = record_codes[k] if k >= 0 else number_code(-1 - k, self.rules.draw_count)
        self._codes = _read_only(codes)

    def _info(self, outputs: Outputs) -> dict[str, Any]:
        every = self._every
        info = {
            "action_mask": outputs.masks,
            "_action_mask": every,
            "code": self._codes,
            "_code": every,
            "score": outputs.scores,
            "_score": every,
            "foundation_cards": outputs.foundation_cards,
            "_foundation_cards": every,
            "illegal_action": outputs.illegal_action,
            "_illegal_action": every,
            "is_success": outputs.is_success,
            "_is_success": every,
            "stuck": outputs.stuck,
            "_stuck": every,
        }
        if self._queue is not None:
            info |= {"queue_done": self._todo == batch.IDLE, "_queue_done": every}
        return info

    def _final(self, indices: np.ndarray, done: np.ndarray, outputs: Outputs) -> dict[str, Any]:
        """What SAME_STEP tells of the episodes that just ended, before their sub-environments are dealt anew."""
        self.final_returns[indices] = self._returns[indices]
        self.final_lengths[indices] = self._elapsed[indices]
        final_obs = np.full(self.num_envs, None, object)
        for i in indices.tolist():
            final_obs[i] = outputs.observations[i].copy()
        return {
            "final_obs": final_obs,
            "_final_obs": done,
            "final_info": _only(self._info(outputs), done),
            "_final_info": done,
        }

    # --- Reading arguments ---------------------------------------------------------------------------------

    def _read_actions(self, actions: Any) -> np.ndarray:
        if not self._was_reset:
            raise gym.error.ResetNeeded("call reset() before step()")
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise ValueError(
                f"actions have shape {actions.shape} and dtype {actions.dtype}, but must be {self.num_envs} integers"
            )
        actions = actions.astype(np.int64, copy=False)
        if self.autoreset_mode == AutoresetMode.DISABLED and self._resets_due:
            due = np.flatnonzero(self._todo == batch.RESET)
            raise gym.error.ResetNeeded(f"the episodes of sub-environments {due.tolist()} have ended: reset them")
        i = batch.refused_action(self._states, self._todo, actions, self._strict)
        if i >= 0 and not 0 <= actions[i] < ACTIONS:
            raise ValueError(
                f"action {actions[i]} of sub-environment {i} is not one of the {ACTIONS} actions, 0 to {ACTIONS - 1}"
            )
        if i >= 0:
            raise IllegalMoveError(f"action {actions[i]} is not legal in sub-environment {i}")
        return actions

    def _read_reset_mask(self, options: Mapping[str, Any]) -> np.ndarray:
        mask = options.get("reset_mask")
        if mask is None:
            return self._every
        if not (isinstance(mask, np.ndarray) and mask.dtype == bool and mask.shape == (self.num_envs,) and mask.any()):
            raise ValueError(
                f"reset option reset_mask must be a bool array of shape ({self.num_envs},) with a True, not {mask!r}"
            )
        return mask

    def _read_seeds(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            return [int(seed) + i for i in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(f"seed is a list of {len(seed)}, but there are {self.num_envs} sub-environments")
        return list(seed)

    def _seed_streams(self, seeds: Sequence[int | None], mask: np.ndarray) -> None:
        for i in np.flatnonzero(mask).tolist():
            if seeds[i] is not None:
                generator, _ = seeding.np_random(seeds[i])
                self._states["stream"][i] = generator.bit_generator.random_raw()
                self._stream_seeded[i] = True
        unseeded = np.flatnonzero(mask & ~self._stream_seeded)
        if len(unseeded):
            self._states["stream"][unseeded] = self.np_random.bit_generator.random_raw(len(unseeded))
            self._stream_seeded[unseeded] = True

    def _read_starts(self, options: Mapping[str, Any]) -> tuple[Start, ...]:
        """The starts that reset's options name: none, one for all, one for each, or the queue's."""
        named = [name for name in ("code", "deal", "position", "codes", "queue") if options.get(name) is not None]
        if len(named) > 1:
            raise ValueError(f"reset options {' and '.join(named)} name different starts: give one")
        if not named or named[0] not in ("codes", "queue"):
            start = read_start_option(options, self.rules)
            return () if start is None else (start,)
        name = named[0]
        if not isinstance(options[name], Sequence) or isinstance(options[name], str):
            raise ValueError(f"reset option {name} is {options[name]!r}, but must be a list of codes")
        starts = tuple(read_start(value, self.rules, f"{name}[{k}]") for k, value in enumerate(options[name]))
        if name == "codes" and len(starts) != self.num_envs:
            raise ValueError(f"reset option codes has {len(starts)}, but there are {self.num_envs} sub-environments")
        if not starts:
            raise ValueError("reset option queue is empty")
        return starts


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _read_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    for known in AutoresetMode:
        if mode is known or mode in (known.name, known.value):
            return known
    raise ValueError(f"autoreset_mode is {mode!r}, but must be one of {', '.join(mode.name for mode in AutoresetMode)}")


def _only(info: Mapping[str, Any], mask: np.ndarray) -> dict[str, Any]:
    """An info of which only the sub-environments of ``mask`` have a part: zeros, or None, for the others."""
    kept: dict[str, Any] = {}
    for key, array in info.items():
        if key.startswith("_"):
            kept[key] = mask
            continue
        kept[key] = np.full(array.shape, None, object) if array.dtype == object else np.zeros_like(array)
        kept[key][mask] = array[mask]
    return kept
