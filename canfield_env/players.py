"""Players: what picks an action from an observation and a mask, and how a player is named.

A player sees what the environment shows for the tier he asks for, and the mask of legal actions; never the
environment itself, so he can know no more than that.
"""

from __future__ import annotations

import importlib
import inspect
import os
import random
import sys
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Protocol

import numpy as np

from .cards import is_red
from .env import OBSERVATIONS
from .kernel.actions import (
    COLUMN_TO_COLUMN,
    COLUMN_TO_FOUNDATION,
    FOUNDATION_TO_COLUMN,
    RESERVE_TO_COLUMN,
    RESERVE_TO_FOUNDATION,
    WASTE_TO_COLUMN,
    WASTE_TO_FOUNDATION,
)
from .kernel.observe import COUNT_FIELDS
from .rules import Rules

_STARTS = accumulate((entries for _, entries, _, _ in COUNT_FIELDS), initial=52)
_AT = {name: start for (name, *_), start in zip(COUNT_FIELDS, _STARTS)}
"""Where each field after the 52 card places begins in an observation."""


class Player(Protocol):
    """What evaluation asks of a player. Any class with these members is one; it need not inherit from this.

    A player that has ``act_batch(observations, masks) -> actions`` too, on arrays of shape (N, 82) and (N, 95),
    plays many games at once, in one process: the form for networks. ``begin`` is then called once, before the
    first of them, and ``act`` never.

    Attributes:
        observation: The tier it is given: ``"screen"``, ``"recall"`` or ``"thoughtful"``. A class without this
            attribute is given ``"recall"``.
    """

    observation: str

    def begin(self, rules: Rules, seed: int) -> None:
        """Get ready for a game under ``rules``. What chance decides must follow from ``seed`` (64 bits), and
        nothing may be kept from the games before: else results depend on which process played what. A player
        made for other rules raises a ValueError that says so."""

    def act(self, observation: np.ndarray, mask: np.ndarray) -> int:
        """The action (0-94) to take, given the observation, uint8, shape (82,), and the legal actions, bool,
        shape (95,). An illegal one ends the evaluation with an error."""


class RandomPlayer:
    """Each legal action with equal chance."""

    observation = "recall"

    def begin(self, rules: Rules, seed: int) -> None:
        # The standard library promises that random() gives the same numbers for ever; NumPy does not.
        self._random = random.Random(seed)

    def act(self, observation: np.ndarray, mask: np.ndarray) -> int:
        legal = np.flatnonzero(mask)
        return int(legal[int(self._random.random() * len(legal))])


class GreedyPlayer:
    """A beginner who plays by a fixed order, and looks no move ahead.

    First what goes to a foundation (from the reserve, then the columns, then the waste), then the reserve's top
    card to a column, then the waste's, then a whole column onto another one, which frees a place; else he draws.
    He never takes a card back from a foundation and never moves a part of a column, so nothing goes to and fro.
    """

    observation = "recall"

    def begin(self, rules: Rules, seed: int) -> None:
        pass

    def act(self, observation: np.ndarray, mask: np.ndarray) -> int:
        legal = mask.tolist()
        for action in _CARDS_TO_PLAY:
            if legal[action]:
                return action
        firsts = observation[_COLUMN_FIRST : _COLUMN_FIRST + 4].tolist()
        tops = observation[_COLUMN_TOP : _COLUMN_TOP + 4].tolist()
        for action, source, target in _COLUMNS_TO_MOVE:
            if legal[action] and _fits(firsts[source] - 1, tops[target] - 1):
                return action
        # Without a draw what is left is what he does not like: the first such move, or any action at the end.
        return 0 if legal[0] else legal.index(True)


_COLUMN_FIRST, _COLUMN_TOP = _AT["column_first"], _AT["column_top"]
_CARDS_TO_PLAY = (
    RESERVE_TO_FOUNDATION,
    *range(COLUMN_TO_FOUNDATION, FOUNDATION_TO_COLUMN),
    WASTE_TO_FOUNDATION,
    *range(RESERVE_TO_COLUMN, COLUMN_TO_FOUNDATION),
    *range(WASTE_TO_COLUMN, RESERVE_TO_FOUNDATION),
)
_COLUMNS_TO_MOVE = tuple(
    (COLUMN_TO_COLUMN + k, source, target)
    for k, (source, target) in enumerate((i, j) for i in range(4) for j in range(4) if i != j)
)


def _fits(card: int, top: int) -> bool:
    """Whether a column that begins with ``card`` goes onto one that ends with ``top``. (The mask says that some
    tail goes there; this tells a whole column from a part.)"""
    return (card % 13 + 1) % 13 == top % 13 and is_red(card) != is_red(top)


# --- Players by name ---------------------------------------------------------------------------------------

PLAYERS = {
    "random": "canfield_env.players:RandomPlayer",
    "greedy": "canfield_env.players:GreedyPlayer",
}
"""The players known by name, each as ``module:Class``; ``agents.players`` adds to them."""


@dataclass(frozen=True)
class PlayerName:
    """A player's name, read: plain data that a worker process can make the player from.

    Attributes:
        text: The name as given, such as ``"ppo:runs/quick/best_model.zip"``.
        module: The module that holds the class.
        cls: The class.
        argument: What the class is made with, such as a path; None for nothing.
    """

    text: str
    module: str
    cls: str
    argument: str | None = None

    @classmethod
    def read(cls, text: str) -> PlayerName:
        """Read ``"greedy"``, ``"ppo:path"`` (a known player with an argument), ``"module:Class"`` or
        ``"module:Class:argument"``.

        Raises:
            ValueError: if it is none of these; the message lists the known players.
        """
        head, colon, rest = text.partition(":")
        if head in PLAYERS:
            module, _, name = PLAYERS[head].partition(":")
            return cls(text, module, name, rest if colon else None)
        name, colon, argument = rest.partition(":")
        if not (all(part.isidentifier() for part in head.split(".")) and name.isidentifier()):
            raise ValueError(
                f"there is no player {text!r}: the players are {', '.join(PLAYERS)}, "
                "or give your own as module:Class, such as my_players:MyPlayer"
            )
        return cls(text, head, name, argument if colon else None)

    def load(self) -> Player:
        """Make the player.

        Raises:
            ValueError: if there is no such module or class, it takes no such argument, or it is not a player.
        """
        player_class = self._load_class()
        arguments = () if self.argument is None else (self.argument,)
        if not _takes(player_class, arguments):
            wish = "takes no argument" if arguments else "needs an argument: write a colon behind it and, say, a path"
            raise ValueError(f"player {self.text!r} {wish}")
        return check_player(player_class(*arguments), self.text)

    def _load_class(self) -> Any:
        # The command `canfield`, unlike `python -m`, does not look for modules where the user is.
        if os.getcwd() not in sys.path and "" not in sys.path:
            sys.path.append(os.getcwd())
        try:
            module = importlib.import_module(self.module)
        except ModuleNotFoundError as error:
            raise ValueError(f"player {self.text!r}: there is no module {error.name!r}") from error
        player_class = getattr(module, self.cls, None)
        if not isinstance(player_class, type):
            raise ValueError(f"player {self.text!r}: the module {self.module!r} has no class {self.cls!r}")
        return player_class


def _takes(player_class: Any, arguments: tuple[str, ...]) -> bool:
    try:
        inspect.signature(player_class).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # a class that is not written in Python does not say what it takes
        pass
    return True


def load_player(name: str) -> Player:
    """The player of this name: ``"random"``, ``"greedy"``, another of ``PLAYERS``, or ``"module:Class"``.

    Raises:
        ValueError: if there is none; the message lists the known players.
    """
    return PlayerName.read(name).load()


def player_observation(player: Player) -> str:
    """The tier that ``player`` is given."""
    return getattr(player, "observation", "recall")


def plays_batches(player: Player) -> bool:
    """Whether ``player`` plays many games at once, through ``act_batch``."""
    return callable(getattr(player, "act_batch", None))


def check_player(player: Any, name: str) -> Player:
    """``player``, if it is one; else a ValueError that says what it lacks."""
    if not callable(getattr(player, "begin", None)):
        raise ValueError(f"player {name!r} has no method begin(rules, seed)")
    if not callable(getattr(player, "act", None)) and not plays_batches(player):
        raise ValueError(f"player {name!r} has no method act(observation, mask)")
    if player_observation(player) not in OBSERVATIONS:
        raise ValueError(
            f"player {name!r}: its observation is {player.observation!r}, but must be one of {', '.join(OBSERVATIONS)}"
        )
    return player
