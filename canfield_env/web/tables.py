"""The games and shows that the server keeps for its visitors: bounded in number, and gone when long unused."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ..deals import Deal
from ..evaluation import ReplayError, make_env
from ..game import Game
from ..kernel import episode
from ..moves import Move
from ..players import Player, player_observation, plays_batches
from ..positions import Position, current_score
from ..results import Row
from ..rules import Rules, rules_for_draw
from ..terminal import random_deal
from .views import game_view, move_view, moved_card, rules_view, table_view

MOST_MOVES = 5_000
"""Moves that one game may have: far more than anyone needs, and a bound for its memory."""
STEPS_AT_ONCE = 100
"""Steps that a show goes on by in one request."""
_PREFERENCES_SHOWN = 5


class NotFoundError(LookupError):
    """There is no such game or show, or no longer."""


class StaleError(RuntimeError):
    """The page asked for something on a table that has changed since."""


class FullError(RuntimeError):
    """No further game can be kept at the moment."""


class Kept(Protocol):
    """What a store keeps: something with a lock of its own."""

    lock: threading.Lock


T = TypeVar("T", bound=Kept)


class Store(Generic[T]):
    """Things by an id that cannot be guessed. One unused for ``idle_seconds`` is dropped; where ``size`` are there, the
    longest unused gives way, unless all were used within the last ``busy_seconds``.
    """

    def __init__(
        self,
        size: int,
        idle_seconds: float,
        busy_seconds: float = 60.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._size, self._idle, self._busy, self._now = size, idle_seconds, busy_seconds, now
        self._items: dict[str, tuple[float, T]] = {}  # in the order of their last use
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._items)

    def add(self, item: T) -> str:
        """Keep ``item``, and return its id; raises FullError where there is no place."""
        with self._lock:
            self._drop_unused()
            if len(self._items) >= self._size:
                oldest, (used, _) = next(iter(self._items.items()))
                if self._now() - used < self._busy:
                    raise FullError("too many games are being played here at the moment: try again in a minute")
                del self._items[oldest]
            key = secrets.token_urlsafe(16)
            self._items[key] = (self._now(), item)
            return key

    def get(self, key: str) -> T:
        """What is kept under ``key``, which counts as a use; raises NotFoundError."""
        with self._lock:
            self._drop_unused()
            if key not in self._items:
                raise NotFoundError(
                    "this game is not here any more: it was unused for long, or the server was restarted"
                )
            _, item = self._items.pop(key)
            self._items[key] = (self._now(), item)
            return item

    def _drop_unused(self) -> None:
        limit = self._now() - self._idle
        for key in [key for key, (used, _) in self._items.items() if used < limit]:
            del self._items[key]


class GameTable:
    """A person's game. ``revision`` grows with each change, so that two pages on one game notice each other."""

    def __init__(self, game: Game, started: float, now: Callable[[], float], attempt: int = 1) -> None:
        self.lock = threading.Lock()
        self.game = game
        self.revision = 0
        self.attempt = attempt
        self._started, self._now = started, now
        self._seconds: int | None = None

    @classmethod
    def start(
        cls,
        rules: str | Mapping[str, Any],
        draw_count: int | None,
        code: str | None,
        double_tap: bool,
        now: Callable[[], float] = time.monotonic,
    ) -> GameTable:
        """A new game: of ``code``, or of a deal by chance.

        Raises:
            ValueError: for bad rules, a bad code, or draw counts that differ.
        """
        wished: Rules | str | Mapping[str, Any] = rules
        if code is None or draw_count is not None:
            wished = rules_for_draw(rules, draw_count, "the new game")
        deal = random_deal(Rules.read(wished)) if code is None else Deal.from_code(code)
        started = now()
        game = Game(deal, wished, double_tap, clock=lambda: now() - started)
        return cls(game, started, now)

    def again(self) -> GameTable:
        """A new game of the same deal under the same rules, as the next attempt."""
        game = self.game
        assert game.deal is not None
        started, now = self._now(), self._now
        next_game = Game(
            game.deal, game.rules, game.double_tap, clock=lambda: now() - started, attempt=self.attempt + 1
        )
        return GameTable(next_game, started, now, self.attempt + 1)

    def change(self, revision: int, act: Callable[[Game], object]) -> Any:
        """Do something to the game, if the page's ``revision`` is the game's; what ``act`` raises changes nothing."""
        self.check(revision)
        if len(self.game.moves) >= MOST_MOVES:
            raise ValueError(f"this game has {MOST_MOVES} moves: no more are kept")
        before = len(self.game.moves), self.game.undos_left
        outcome = act(self.game)
        self.revision += (len(self.game.moves), self.game.undos_left) != before
        if self.game.won and self._seconds is None:
            self._seconds = int(self._now() - self._started)
        elif not self.game.won:
            self._seconds = None
        return outcome

    def check(self, revision: int) -> None:
        """Raise StaleError if the game is not the one that the page shows."""
        if revision != self.revision:
            raise StaleError("this game went on in another tab: the table now shows it as it is")

    def view(self) -> dict[str, Any]:
        """What the page shows."""
        seconds = int(self._now() - self._started) if self._seconds is None else self._seconds
        return {**game_view(self.game), "revision": self.revision, "attempt": self.attempt, "seconds": seconds}


class Show:
    """A game that a player plays, or that a row of a result recorded, to look at step by step, back and forth.

    It is played on only as far as it is looked at. Each step's record is kept, for going back.
    """

    def __init__(self, title: str, code: str, rules: Rules, reward: str, player: Player | Row) -> None:
        self.lock = threading.Lock()
        self._title, self._code, self._rules, self._player = title, code, rules, player
        tier = "recall" if isinstance(player, Row) else player_observation(player)
        self._env: Any = make_env(rules, tier, reward)
        self._observation, self._info = self._env.reset(options={"code": code})
        self._states = [self._state()]
        self._moves: list[Move] = []
        self._preferences: list[list[dict[str, Any]]] = []
        self._ended = isinstance(player, Row) and not player.actions
        if not isinstance(player, Row):
            player.begin(rules, secrets.randbits(64))
        self._preferences.append(self._preferred())

    @property
    def _last(self) -> int:
        return len(self._states) - 1

    def frame(self, number: int) -> dict[str, Any]:
        """The table after ``number`` steps, or after the last if there are fewer.

        Raises:
            ReplayError: if a row's action is not legal there.
        """
        number = min(number, self._last + STEPS_AT_ONCE)
        while self._last < number and not self._ended:
            self._step()
        number = min(number, self._last)
        states = self._states[number]
        position = Position.read(states, 0, self._rules)
        return {
            **table_view(position),
            **rules_view(self._rules),
            "title": self._title,
            "code": self._code,
            "score": current_score(states, 0),
            "won": sum(position.foundations) == 52,
            "last_move": move_view(self._moves[number - 1] if number else None),
            "step": number,
            "steps_played": self._last,
            "ended": self._ended and number == self._last,
            "preferences": self._preferences[number],
        }

    def _step(self) -> None:
        action = self._choose()
        self._moves.append(self._env.unwrapped.move_of(action))
        self._observation, _, terminated, truncated, self._info = self._env.step(action)
        self._states.append(self._state())
        self._ended = terminated or truncated or (isinstance(self._player, Row) and self._last == self._player.steps)
        self._preferences.append([] if self._ended else self._preferred())

    def _choose(self) -> int:
        mask = self._info["action_mask"].view(bool)
        if isinstance(self._player, Row):
            action = self._player.actions[self._last]
            if not mask[action]:
                self._ended = True
                raise ReplayError(f"{self._code}: action {action}, step {self._last + 1}, is not legal there")
            return action
        player: Any = self._player
        if plays_batches(player):
            action = int(player.act_batch(self._observation[None], mask[None].copy())[0])
        else:
            action = int(player.act(self._observation, mask.copy()))
        if not 0 <= action < len(mask) or not mask[action]:
            self._ended = True
            raise ReplayError(f"the player chose {action}, no legal action, at step {self._last + 1}")
        return action

    def _preferred(self) -> list[dict[str, Any]]:
        """The moves that the player likes best here, of a player that can say so (``preferences(observation, mask)``,
        a share for each action)."""
        preferences = getattr(self._player, "preferences", None)
        if not callable(preferences):
            return []
        mask = self._info["action_mask"].view(bool)
        shares = np.where(mask, np.asarray(preferences(self._observation, mask.copy()), float), 0.0)
        best = np.argsort(-shares, kind="stable")[:_PREFERENCES_SHOWN].tolist()
        env, position = self._env.unwrapped, self._env.unwrapped.position()
        return [
            {
                "move": move_view(env.move_of(action)),
                "card": moved_card(position, *episode.decode_action(self._states[-1], 0, action)),
                "share": round(float(shares[action]), 3),
            }
            for action in best
            if mask[action]
        ]

    def _state(self) -> np.ndarray:
        states: np.ndarray = self._env.unwrapped.get_state()[0]
        return states
