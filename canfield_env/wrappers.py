"""Other forms of the observation: one-hot, planes of cards, and the dict with the mask.

env = OneHotObservation(gym.make("Canfield-v0"))
env = MaskedDictObservation(CardPlanes(gym.make("Canfield-v0")))
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from .kernel.observe import COUNT_FIELDS, OBSERVATION_NVEC
from .kernel.state import (
    ACTIONS,
    PLACE_COLUMN,
    PLACE_FOUNDATION,
    PLACE_HIDDEN,
    PLACE_RESERVE_BELOW,
    PLACE_RESERVE_TOP,
    PLACE_TALON,
)

_OFFSETS = np.cumsum(OBSERVATION_NVEC) - OBSERVATION_NVEC
ONE_HOT_SIZE = int(OBSERVATION_NVEC.sum())


def _first_entries() -> dict[str, int]:
    first, entry = {}, 52
    for name, entries, _, _ in COUNT_FIELDS:
        first[name] = entry
        entry += entries
    return first


_FIRST = _first_entries()

# Name, largest value, meaning. A plane of largest value 1 says of each card whether it is so.
PLANES = (
    ("hidden", 1, "the player has not seen it (screen tier: does not see it now)"),
    ("foundation", 1, "it is on a foundation"),
    ("foundation_next", 1, "it is the next that its foundation takes"),
    ("reserve_top", 1, "it is the reserve's top card"),
    ("reserve_below", 1, "it lies in the reserve below (thoughtful tier only)"),
    ("column_1", 1, "it is in the first column"),
    ("column_2", 1, "it is in the second column"),
    ("column_3", 1, "it is in the third column"),
    ("column_4", 1, "it is in the fourth column"),
    ("column_first", 1, "it is a column's first card"),
    ("column_top", 1, "it is a column's last card"),
    ("waste", 1, "it is known to be in the waste"),
    ("waste_top", 1, "it is the waste's top card"),
    ("stock", 1, "it is known to be in the stock"),
    (
        "talon_place",
        34,
        "its place in waste and stock, if known: 1 the waste's bottom; the stock goes on where the waste ends",
    ),
    ("reserve_depth", 12, "how many reserve cards lie on it, if known"),
    ("base_rank", 1, "it is of the base rank"),
    ("reserve_count", 13, "on every card: cards in the reserve"),
    ("stock_count", 34, "on every card: cards in the stock"),
    ("waste_count", 34, "on every card: cards in the waste"),
    ("redeals", 15, "on every card: redeals made, 15 for 15 or more"),
    ("redeals_left", 15, "on every card: redeals left, 15 for 15 or more or no limit"),
)
_PLANE = {name: k for k, (name, _, _) in enumerate(PLANES)}


def one_hot(observation: np.ndarray, dtype: Any = np.uint8) -> np.ndarray:
    """Codes, shape (82,) or (N, 82), as one-hot rows one after the other: ``dtype``, shape (4695,) or (N, 4695)."""
    rows = np.zeros((*observation.shape[:-1], ONE_HOT_SIZE), dtype)
    np.put_along_axis(rows, observation.astype(np.int64) + _OFFSETS, 1, axis=-1)
    return rows


def card_planes(observation: np.ndarray) -> np.ndarray:
    """Codes, shape (82,), as planes: uint8, shape (22, 4, 13), by ``PLANES``, suit (C D H S) and rank (ace first)."""
    places = observation[:52].astype(np.int64)
    planes = np.zeros((len(PLANES), 52), np.uint8)

    def count(name: str) -> int:
        return int(observation[_FIRST[name]])

    def mark_cards(plane: str, field: str, entries: int) -> None:
        cards = observation[_FIRST[field] : _FIRST[field] + entries].astype(np.int64)
        planes[_PLANE[plane], cards[cards > 0] - 1] = 1

    planes[_PLANE["hidden"]] = places == PLACE_HIDDEN
    planes[_PLANE["foundation"]] = places == PLACE_FOUNDATION
    for suit in range(4):
        cards = int(observation[_FIRST["foundation"] + suit])
        if cards < 13:
            planes[_PLANE["foundation_next"], 13 * suit + (count("base_rank") + cards) % 13] = 1
    planes[_PLANE["reserve_top"]] = places == PLACE_RESERVE_TOP
    below = places >= PLACE_RESERVE_BELOW + 1
    planes[_PLANE["reserve_below"]] = below
    planes[_PLANE["reserve_depth"], below] = places[below] - PLACE_RESERVE_BELOW
    in_column = (places >= PLACE_COLUMN) & (places < PLACE_TALON)
    for column in range(4):
        planes[_PLANE["column_1"] + column] = in_column & ((places - PLACE_COLUMN) // 4 == column)
    mark_cards("column_first", "column_first", 4)
    mark_cards("column_top", "column_top", 4)
    in_talon = (places >= PLACE_TALON) & (places < PLACE_TALON + 34)
    in_waste = in_talon & (places < PLACE_TALON + count("waste_count"))
    planes[_PLANE["waste"]] = in_waste
    planes[_PLANE["stock"]] = in_talon & ~in_waste
    mark_cards("waste_top", "waste_top", 1)
    planes[_PLANE["talon_place"], in_talon] = places[in_talon] - PLACE_TALON + 1
    planes[_PLANE["base_rank"], count("base_rank") :: 13] = 1
    for name in ("reserve_count", "stock_count", "waste_count", "redeals", "redeals_left"):
        planes[_PLANE[name]] = count(name)
    return planes.reshape(len(PLANES), 4, 13)


def _check_codes(env: gym.Env[Any, Any], wrapper: str) -> None:
    space = env.observation_space
    if not isinstance(space, gym.spaces.MultiDiscrete) or not np.array_equal(space.nvec, OBSERVATION_NVEC):
        raise ValueError(f"{wrapper} takes Canfield's own observation, but the environment's is {space}")


class OneHotObservation(gym.ObservationWrapper[np.ndarray, Any, np.ndarray], RecordConstructorArgs):
    """One-hot rows, one after the other: shape (4695,), ``"uint8"`` or ``"float32"``.

    Code ``c`` of entry ``k`` is a 1 at ``nvec[0] + … + nvec[k-1] + c``.
    """

    def __init__(self, env: gym.Env[np.ndarray, Any], dtype: str = "uint8") -> None:
        RecordConstructorArgs.__init__(self, dtype=dtype)
        gym.ObservationWrapper.__init__(self, env)
        _check_codes(env, "OneHotObservation")
        if dtype not in ("uint8", "float32"):
            raise ValueError(f"dtype is {dtype!r}, but must be 'uint8' or 'float32'")
        self._dtype = np.dtype(dtype).type
        self.observation_space = gym.spaces.Box(0, 1, (ONE_HOT_SIZE,), self._dtype)

    def observation(self, observation: np.ndarray) -> np.ndarray:
        return one_hot(observation, self._dtype)


class CardPlanes(gym.ObservationWrapper[np.ndarray, Any, np.ndarray], RecordConstructorArgs):
    """Planes of cards: uint8, shape (22, 4, 13), suits C D H S and ranks from the ace; ``PLANES`` names them."""

    def __init__(self, env: gym.Env[np.ndarray, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        _check_codes(env, "CardPlanes")
        high = np.array([largest for _, largest, _ in PLANES], np.uint8)
        high = np.broadcast_to(high[:, None, None], (len(PLANES), 4, 13)).copy()
        self.observation_space = gym.spaces.Box(np.zeros_like(high), high, dtype=np.uint8)

    def observation(self, observation: np.ndarray) -> np.ndarray:
        return card_planes(observation)


class MaskedDictObservation(gym.ObservationWrapper[dict[str, Any], Any, Any], RecordConstructorArgs):
    """``{"observations": …, "action_mask": int8 (95,)}``, as users of RLlib and PettingZoo expect."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        mask = gym.spaces.Box(0, 1, (ACTIONS,), np.int8)
        self.observation_space = gym.spaces.Dict({"observations": env.observation_space, "action_mask": mask})

    def observation(self, observation: Any) -> dict[str, Any]:
        mask = self.env.get_wrapper_attr("action_masks")()
        return {"observations": observation, "action_mask": mask.astype(np.int8)}
