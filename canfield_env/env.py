"""The Gymnasium environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np

from .board import board_text
from .deals import Deal, number_code
from .kernel import batch, episode
from .kernel.jit import announce_compilation
from .kernel.observe import OBSERVATION_NVEC, OBSERVATION_SIZE
from .kernel.state import ACTIONS
from .moves import IllegalMoveError, Move, action_of_move, move_of_action
from .positions import Position, current_score, new_record
from .rules import Rules, rules_for_draw

OBSERVATIONS = ("screen", "recall", "thoughtful")
REWARDS = ("cards", "app", "casino", "andr", "win")

Start: TypeAlias = "Deal | Position"


def observation_space() -> gym.spaces.MultiDiscrete[Any]:
    """The observation space of every tier: uint8 codes, shape (82,)."""
    space: gym.spaces.MultiDiscrete[Any] = gym.spaces.MultiDiscrete(OBSERVATION_NVEC, dtype=np.uint8)
    # Stable-Baselines3 adds nvec up, which in the space's own uint8 overflows without a sign.
    space.nvec = OBSERVATION_NVEC.copy()
    return space


def new_environment_record(
    rules: Rules, observation: str, reward: str, end_when_stuck: bool, seconds_per_action: int
) -> np.ndarray:
    """One record, shape (1,), with the rules and an environment's settings; raises ValueError for a bad one."""
    if observation not in OBSERVATIONS:
        raise ValueError(f"observation is {observation!r}, but must be one of {', '.join(OBSERVATIONS)}")
    if reward not in REWARDS:
        raise ValueError(f"reward is {reward!r}, but must be one of {', '.join(REWARDS)}")
    if type(seconds_per_action) is not int or not 0 <= seconds_per_action <= 1_000:
        raise ValueError(f"seconds_per_action is {seconds_per_action!r}, but must be a whole number from 0 to 1000")
    states = new_record(rules)
    states["tier"] = OBSERVATIONS.index(observation)
    states["reward_kind"] = REWARDS.index(reward)
    states["end_when_stuck"] = bool(end_when_stuck)
    states["seconds_per_action"] = seconds_per_action
    return states


def read_start(value: Any, rules: Rules, what: str) -> Start:
    """A deal or position to start from, checked against the environment's rules.

    ``value``: a ``Deal``, a code, 52 cards, a ``Position`` or its dict; ``what`` names it in an error.
    """
    if isinstance(value, Mapping):
        value = Position.from_dict(value)
    if isinstance(value, Position):
        if value.rules != rules:
            raise ValueError(
                f"{what}: it is played under {_rules_text(value.rules)}, the environment under {_rules_text(rules)}"
            )
        if sum(value.foundations) == 52:
            raise ValueError(f"{what}: the position is already won")
        return value
    if isinstance(value, str):
        value = Deal.from_code(value)
    elif not isinstance(value, Deal):
        value = Deal(tuple(value))
    if value.draw_count not in (None, rules.draw_count):
        raise ValueError(
            f"{what}: {value.code()} draws {value.draw_count}, but the environment draws {rules.draw_count}"
        )
    return value


def _rules_text(rules: Rules) -> str:
    return f"{rules} (draw {rules.draw_count})"


def read_deals(deals: str | Sequence[Any], rules: Rules) -> tuple[Start, ...]:
    """What ``deals=`` names: empty for ``"random"``, else the starts of a suite or list."""
    if isinstance(deals, str):
        if deals == "random":
            return ()
        from .suites import load_suite

        deals = load_suite(deals).codes
    if len(deals) == 0:
        raise ValueError("deals is an empty list: give codes or positions, a suite's name, or 'random'")
    return tuple(read_start(value, rules, f"deals[{k}]") for k, value in enumerate(deals))


def lay_out(record: np.ndarray, starts: Sequence[Start]) -> tuple[np.ndarray, list[str | None]]:
    """The starts as records with the rules and settings of ``record``, shape (1,), and their codes (None for a
    position)."""
    states = np.repeat(record, len(starts))
    codes: list[str | None] = []
    for k, start in enumerate(starts):
        if isinstance(start, Position):
            start.write(states, k)
            codes.append(None)
        else:
            number = -1 if start.number is None else start.number
            episode.reset_cards(states, k, np.array(start.cards, np.int8), number)
            codes.append(start.code(int(states["draw_count"][k])))
    return states, codes


def read_attempt(options: Mapping[str, Any]) -> int:
    """The number of the attempt that reset's options name, 1 where they do not."""
    attempt = options.get("attempt", 1)
    if type(attempt) is not int or not 1 <= attempt <= 1_000_000:
        raise ValueError(f"reset option attempt is {attempt!r}, but must be a whole number from 1 to 1000000")
    return attempt


def read_start_option(options: Mapping[str, Any], rules: Rules) -> Start | None:
    """The start that one of reset's options ``code``, ``deal`` and ``position`` names; None where none is there."""
    named = [name for name in ("code", "deal", "position") if options.get(name) is not None]
    if len(named) > 1:
        raise ValueError(f"reset options {' and '.join(named)} name two starts: give one")
    return read_start(options[named[0]], rules, named[0]) if named else None


def check_render_mode(render_mode: str | None, modes: Sequence[str]) -> None:
    """Raise ValueError for a render mode that does not exist."""
    if render_mode not in (None, *modes):
        raise ValueError(f"render_mode is {render_mode!r}, but must be one of {', '.join(modes)} or None")


def check_option_names(options: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise ValueError for a reset option that does not exist."""
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not a reset option: these are {', '.join(known)}")


class CanfieldEnv(gym.Env[np.ndarray, Any]):
    metadata = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012  (Gymnasium's own form)

    def __init__(
        self,
        rules: Rules | str | Mapping[str, Any] = "app",
        draw_count: int | None = None,
        observation: str = "recall",
        reward: str = "cards",
        end_when_stuck: bool = True,
        strict: bool = False,
        deals: str | Sequence[Any] = "random",
        seconds_per_action: int = 5,
        render_mode: str | None = None,
    ) -> None:
        check_render_mode(render_mode, self.metadata["render_modes"])
        announce_compilation()
        self.rules = rules_for_draw(rules, draw_count, "the environment's draw_count")
        self.render_mode = render_mode
        self.observation_space = observation_space()
        self.action_space = gym.spaces.Discrete(ACTIONS)
        self._strict = strict
        self._states = new_environment_record(self.rules, observation, reward, end_when_stuck, seconds_per_action)
        self._starts, self._start_codes = lay_out(self._states, read_deals(deals, self.rules))
        self._stream_seeded = False
        self._code: str | None = None
        self._ended = True
        self._mask = np.ones(ACTIONS, np.int8)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        options = options or {}
        check_option_names(options, ("code", "deal", "position", "attempt"))
        attempt, start = read_attempt(options), read_start_option(options, self.rules)
        super().reset(seed=seed)
        if seed is not None or not self._stream_seeded:
            self._states["stream"] = self.np_random.bit_generator.random_raw()
            self._stream_seeded = True
        self._states["attempt"] = attempt
        if start is not None:
            starts, codes = lay_out(self._states, (start,))
            source = np.int64(0)
        else:
            starts, codes = self._starts, self._start_codes
            source = np.int64(batch.FROM_STARTS if codes else batch.FROM_NUMBERS)
        dealt = int(batch.reset_single(self._states, starts, source))
        self._code = codes[dealt] if dealt >= 0 else number_code(-1 - dealt, self.rules.draw_count)
        return self._observe()

    def _observe(self) -> tuple[np.ndarray, dict[str, Any]]:
        observation, mask = np.empty(OBSERVATION_SIZE, np.uint8), np.empty(ACTIONS, np.int8)
        ended, stuck, score, cards = episode.observe(self._states, 0, observation, mask)
        self._ended = ended
        self._mask = mask
        return observation, self._info(mask, score, cards, False, stuck)

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        action = index(action)
        if not 0 <= action < ACTIONS:
            raise ValueError(f"action {action} is not one of the {ACTIONS} actions, 0 to {ACTIONS - 1}")
        observation, mask = np.empty(OBSERVATION_SIZE, np.uint8), np.empty(ACTIONS, np.int8)
        reward, terminated, illegal, stuck, score, cards = episode.step_single(self._states, action, observation, mask)
        if illegal and self._strict and terminated == self._ended:
            raise IllegalMoveError(f"action {action} is not legal here")
        self._ended = terminated
        self._mask = mask
        return observation, float(reward), terminated, False, self._info(mask, score, cards, illegal, stuck)

    def _info(self, mask: np.ndarray, score: int, cards: int, illegal: bool, stuck: bool) -> dict[str, Any]:
        return {
            "action_mask": mask,
            "code": self._code,
            "score": score,
            "foundation_cards": cards,
            "illegal_action": illegal,
            "is_success": cards == 52,
            "stuck": stuck,
        }

    def action_masks(self) -> np.ndarray:
        """The legal actions, bool, shape (95,): the name and form that sb3-contrib looks for."""
        return self._mask.astype(bool)

    def render(self) -> str | None:
        if self.render_mode is None:
            gym.logger.warn("render() does nothing without a render_mode: gym.make(..., render_mode='ansi')")
            return None
        return board_text(self.position(), self._code, current_score(self._states, 0))

    def position(self) -> Position:
        """The position now, hidden cards included."""
        return Position.read(self._states, 0, self.rules)

    def move_of(self, action: int) -> Move:
        """The move that a legal action makes now."""
        return move_of_action(self._states, 0, action)

    def action_of(self, move: Move | str) -> int:
        """The action that makes a legal move (or its text) now; -1 for a drag that no action makes."""
        return action_of_move(self._states, 0, Move.parse(move) if isinstance(move, str) else move)

    def get_state(self) -> tuple[np.ndarray, str | None]:
        """Everything about the episode and the stream that deals, hidden cards included, for ``set_state``."""
        return self._states.copy(), self._code

    def set_state(self, state: tuple[np.ndarray, str | None]) -> tuple[np.ndarray, dict[str, Any]]:
        """Go on exactly from where ``get_state`` was called, on this environment or another with its settings;
        observation and info as ``reset`` gives them."""
        states, self._code = state
        self._states[:] = states
        self._stream_seeded = True
        return self._observe()
