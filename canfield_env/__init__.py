"""Canfield solitaire for reinforcement learning.

Importing the package registers ``Canfield-v0``, ``CanfieldDraw1-v0``, ``CanfieldHoyle-v0`` and
``CanfieldAndr-v0`` with Gymnasium.
"""

import importlib
from typing import TYPE_CHECKING, Any

from gymnasium.envs.registration import register

from .deals import Deal, DealCodeError
from .env import CanfieldEnv
from .game import Game
from .moves import IllegalMoveError, Move
from .positions import Position, PositionError
from .rules import Rules

if TYPE_CHECKING:
    from .sampling import sample_legal
    from .solver import Solution, solve
    from .vector_env import CanfieldVectorEnv

__version__ = "0.1.0"

__all__ = [
    "CanfieldEnv",
    "CanfieldVectorEnv",
    "Deal",
    "DealCodeError",
    "Game",
    "IllegalMoveError",
    "Move",
    "Position",
    "PositionError",
    "Rules",
    "Solution",
    "sample_legal",
    "solve",
]

MAX_EPISODE_STEPS = 1_000

_IDS: dict[str, dict[str, Any]] = {
    "Canfield-v0": {},
    "CanfieldDraw1-v0": {"draw_count": 1},
    "CanfieldHoyle-v0": {"rules": "hoyle"},
    "CanfieldAndr-v0": {"rules": "andr"},
}
for _id, _kwargs in _IDS.items():
    register(
        id=_id,
        entry_point="canfield_env.env:CanfieldEnv",
        vector_entry_point="canfield_env.vector_env:CanfieldVectorEnv",
        max_episode_steps=MAX_EPISODE_STEPS,
        kwargs=_kwargs,
    )


_LATER = {"CanfieldVectorEnv": "vector_env", "Solution": "solver", "sample_legal": "sampling", "solve": "solver"}
"""Names loaded when they are first asked for, and their modules: who plays one game does not wait for them."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
