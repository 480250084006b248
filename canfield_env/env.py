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
    check_flag("end_when_stuck", end_when_stuck)
    states = new_record(rules)
    states["tier"] = OBSERVATIONS.index(observation)
    states["reward_kind"] = REWARDS.index(reward)
    states["end_when_stuck"] = end_when_stuck
    states["seconds_per_action"] = seconds_per_action
    return states


def check_flag(name: str, value: Any) -> None:
    """Raise ValueError for what is neither True nor False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}, but must be True or False")


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
    elif isinstance(value, Sequence | np.ndarray):
        value = Deal(tuple(value))
    elif not isinstance(value, Deal):
        raise ValueError(f"{what} is {value!r}, but must be a code, a deal, 52 cards or a position")
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
    if not isinstance(deals, Sequence) or not deals:
        raise ValueError(f"deals is {deals!r}, but must be a list of codes or positions, a suite's name, or 'random'")
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


def load_picture() -> Any:
    """The module ``picture``, for those who want pictures; raises DependencyNotInstalled without pygame."""
    from . import picture

    return picture


def check_option_names(options: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise ValueError for a reset option that does not exist."""
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not a reset option: these are {', '.join(known)}")


class CanfieldEnv(gym.Env[np.ndarray, Any]):
    """Canfield solitaire for one player who sees what a player sees.

    ## Description

    One pack of 52 cards. Thirteen lie in the *reserve*, of which only the top card is seen and played; one *base
    card* starts its suit's *foundation* and so gives the base rank; one card lies in each of four *columns*; the
    other 34 are the *stock*, turned up three (or one) at a time onto the *waste*. Foundations go up in suit from
    the base rank, an ace after a king; columns go down in alternating colours, a king on an ace. The game is won
    with all 52 cards on the foundations. ``canfield_env.Rules`` has the three published rule sets and every mix of
    their fields; ``canfield_env.deals`` the codes that name deals.

    ## Action Space

    ``Discrete(95)``, by place. Piles have the names of the moves' text (``move_of``, ``action_of``).

    | Num | Action |
    |---|---|
    | 0 | draw; with the stock empty, the redeal |
    | 1 | waste's top card to its foundation, ``W>F`` |
    | 2-5 | waste's top card to column 1-4, ``W>T1`` ... |
    | 6 | reserve's top card to its foundation, ``R>F`` |
    | 7-10 | reserve's top card to column 1-4, ``R>T1`` ... |
    | 11-14 | last card of column 1-4 to its foundation, ``T1>F`` ... |
    | 15-30 | foundation's top card to a column, ``FC>T1`` ...: 15 + 4 * suit (C D H S) + column (from 0) |
    | 31-42 | tail of column i to a column j that is not empty, ``T1>T2`` ...: 31 + 3 * i + j, less 1 where j > i |
    | 43-94 | the tail headed by card c to the first empty column, ``T1>T3*2`` ...: 43 + c |

    Of two tails that fit on a card, 31-42 move the shorter. Empty columns are alike: only the first is a legal target,
    and a whole column is not moved to one. **Masks** say what is legal: ``info["action_mask"]`` (int8, what
    ``action_space.sample`` takes) after every reset and step, and ``action_masks()`` (bool, what sb3-contrib calls). A
    mask is never all false: it is all true once the episode has *terminated*, and where, with
    ``end_when_stuck=False``, nothing can be done.

    An illegal action, and any action after the end, changes nothing, is paid 0 and sets ``info["illegal_action"]``;
    with ``strict=True`` it raises ``IllegalMoveError``. A number outside 0-94 raises ``ValueError``.

    ## Observation Space

    ``MultiDiscrete``, uint8, shape (82,): small codes.

    | Index | Field | Values | Meaning |
    |---|---|---|---|
    | 0-51 | card | 0-64 | where card id 0-51 is (suit * 13 + rank, suits C D H S): see below |
    | 52 | base_rank | 0-12 | rank of the base card, 0 an ace |
    | 53-56 | foundation | 0-13 | cards on the foundations, C D H S |
    | 57 | reserve_count | 0-13 | cards in the reserve |
    | 58 | reserve_top | 0-52 | the reserve's top card + 1, 0 for none |
    | 59 | stock_count | 0-34 | cards in the stock |
    | 60 | waste_count | 0-34 | cards in the waste |
    | 61 | waste_top | 0-52 | the waste's top card + 1, 0 for none |
    | 62-65 | column_first | 0-52 | the columns' first cards + 1, 0 for none |
    | 66-69 | column_top | 0-52 | the columns' last cards + 1, 0 for none |
    | 70-73 | column_length | 0-52 | cards in the columns |
    | 74 | redeals | 0-15 | redeals made, 15 for 15 or more |
    | 75 | redeals_left | 0-15 | redeals left, 15 for 15 or more or no limit |
    | 76 | bonuses | 0-31 | andr only: bit 0-3 a suit's completion paid, bit 4 the reserve's |
    | 77-78 | score | 0-69 | andr only: (score + 16,000) / 5 as 70 * first + second, saturating |
    | 79-80 | clock | 0-99 | andr only: seconds as 100 * first + second, 9,999 for that or more |
    | 81 | attempt | 0-15 | andr only: number of the attempt, 15 for 15 or more |

    A card's code is 0 while the player has not seen it, 1 on its foundation, 2 on top of the reserve, 3 + 4 * j + lap
    in column j (from 0), 19 + k in waste or stock, and 52 + d in the reserve under d cards. ``lap`` is the number of
    cards above it in its column divided by 13, rounded down; with the column's first card that is its exact place.
    ``k`` counts from the waste's bottom to its top and on from the next card drawn to the last, so the card lies in
    the waste where k is less than the waste's count.

    What is known depends on ``observation``:

    * ``"screen"``: what the table shows now: of the waste only the fan, its top ``min(draw_count, waste)`` cards.
    * ``"recall"`` (default): also every stock card seen so far, in its place, since a player can remember it: the
      whole waste, and after a redeal the whole stock.
    * ``"thoughtful"``: all cards.

    Nothing that a player may know is missing: ``recall`` is Markov. Nothing hidden is in it: two games that differ only
    in cards not seen yet give equal observations, masks, infos (but for ``code``, which names the deal and is no input
    of a player) and renders. What a player has seen and the ``screen`` tier no longer shows may show in when a game
    ends.

    ## Starting State

    ``reset`` deals a number from the seeded stream (``deals="random"``), or draws from a suite (by name) or a list of
    codes, deals or positions. ``options`` of ``reset`` name one start: ``{"code": "CF1-D3-AAAAACL"}``,
    ``{"deal": Deal or 52 cards}`` or ``{"position": Position or dict}``, and ``{"attempt": n}``, the number of the
    attempt at this deal for the andr score. A code's draw count and a position's rules must be the environment's. A
    position that is won is refused; one that is dead ends at its first step, whatever the action.

    ## Rewards

    * ``reward="cards"`` (default): +5 for each card put on a foundation, -5 for one taken back: the return is 5 times
      the change in foundation cards, 255 for a win from a deal.
    * ``"app"``, ``"casino"``, ``"andr"``: the change of that score, whatever score the rules name. ``"app"`` can be
      farmed where the rules allow take-backs: putting the card up again pays again. Under ``"andr"`` time counts as
      ``seconds_per_action`` for each legal action.
    * ``"win"``: 1 on a win.

    ## Episode End

    Termination: the game is won; or, unless ``end_when_stuck=False``, the player can know that it is *dead*: he saw
    the whole stock (a redeal was made, or the stock is empty), and no play is possible now, at any waste top still to
    come in this pass, or in one full pass after a redeal (none where the redeals are used up). A take-back is a play.

    Truncation: 1,000 steps, by the registered ids' ``TimeLimit`` (a won draw-3 game takes some 150-300).

    ## Information

    | Key | Value |
    |---|---|
    | ``action_mask`` | int8, shape (95,) |
    | ``code`` | the deal's code, None for a position |
    | ``score`` | int: the score of the rules' own kind, whatever the reward |
    | ``foundation_cards`` | int: cards on the foundations, the base card included |
    | ``illegal_action`` | bool: the action was illegal, and nothing happened |
    | ``is_success`` | bool: the game is won |
    | ``stuck`` | bool: the position is dead, with ``end_when_stuck=False`` too |

    ## Arguments

    ```python
    gym.make("Canfield-v0", rules="hoyle", draw_count=1, observation="recall", reward="cards", render_mode="ansi")
    ```

    * ``rules``: ``"app"``, ``"hoyle"``, ``"andr"``, a mapping or text with changes, or ``Rules``.
    * ``draw_count``: 1 or 3; an error where ``rules`` say otherwise.
    * ``observation``, ``reward``, ``end_when_stuck``, ``strict``, ``deals``, ``seconds_per_action``: see above.
    * ``render_mode``: ``"ansi"`` (text), ``"rgb_array"`` (a picture: uint8, shape (720, 960, 3)), ``"human"`` (a
      window) or None. Pictures and the window need pygame-ce: ``pip install "canfield-env[render]"``.

    Ids: ``Canfield-v0`` (app, draw 3), ``CanfieldDraw1-v0`` (app, draw 1), ``CanfieldHoyle-v0``, ``CanfieldAndr-v0``.

    ## Version History

    * v0: first version. An id moves to v1 with any change of what an action, observation, reward or deal is.
    """

    metadata = {"render_modes": ["ansi", "rgb_array", "human"], "render_fps": 4}  # noqa: RUF012  (Gymnasium's own form)

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
        check_flag("strict", strict)
        announce_compilation("step_single")
        self.rules = rules_for_draw(rules, draw_count, "the environment's draw_count")
        self.render_mode = render_mode
        self._picture: Any = load_picture() if render_mode in ("rgb_array", "human") else None
        self._window: Any = None
        self._last_move: Move | None = None  # kept only where a picture shows it
        self.observation_space = observation_space()
        self.action_space = gym.spaces.Discrete(ACTIONS)
        self._strict = strict
        self._states = new_environment_record(self.rules, observation, reward, end_when_stuck, seconds_per_action)
        self._starts, self._start_codes = lay_out(self._states, read_deals(deals, self.rules))
        self._stream_seeded = False
        self._code: str | None = None
        self._states["ended"] = True  # until the first reset
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
        self._last_move = None
        if self.render_mode == "human":
            self.render()
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
        if self._picture is not None and self._mask[action] and not self._ended:
            self._last_move = self.move_of(action)
        reward, terminated, illegal, stuck, score, cards = episode.step_single(self._states, action, observation, mask)
        if illegal:
            self._check_was_reset()
            if self._strict and terminated == self._ended:
                raise IllegalMoveError(f"action {action} is not legal here")
        self._ended = terminated
        self._mask = mask
        if self.render_mode == "human":
            self.render()
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

    def render(self) -> str | np.ndarray | None:
        if self.render_mode is None:
            gym.logger.warn("render() does nothing without a render_mode: gym.make(..., render_mode='ansi')")
            return None
        shown = (self.position(), self._code, current_score(self._states, 0))
        if self.render_mode == "ansi":
            return board_text(*shown)
        if self.render_mode == "rgb_array":
            picture: np.ndarray = self._picture.draw(*shown, self._last_move)
            return picture
        if self._window is None:
            self._window = self._picture.Window("Canfield", self.metadata["render_fps"])
        self._window.show(self._picture.paint(*shown, self._last_move))
        return None

    def close(self) -> None:
        if self._window is not None:
            self._window.close()

    def _check_was_reset(self) -> None:
        if not self._stream_seeded:
            raise gym.error.ResetNeeded("call reset() first")

    def position(self) -> Position:
        """The position now, hidden cards included."""
        self._check_was_reset()
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
        self._last_move = None
        return self._observe()
