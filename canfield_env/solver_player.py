"""The player ``solver``: it sees all cards (the thoughtful tier), and plays the exact solver's line.

It is an upper bound to measure others by, not a player of the game as it is played.
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from .kernel.observe import COUNT_FIELDS
from .kernel.state import (
    PLACE_COLUMN,
    PLACE_FOUNDATION,
    PLACE_HIDDEN,
    PLACE_RESERVE_BELOW,
    PLACE_RESERVE_TOP,
    PLACE_TALON,
)
from .moves import Move, action_of_move
from .positions import Position, new_record
from .rules import Rules
from .solver import solve

_STARTS = accumulate((entries for _, entries, _, _ in COUNT_FIELDS), initial=52)
_AT = {name: start for (name, *_), start in zip(COUNT_FIELDS, _STARTS)}


class SolverPlayer:
    """Plays a winning line where the solver finds one. Where it finds none, it puts cards on foundations, draws, and
    makes some other move once a whole pass brought nothing.

    Args:
        max_nodes: Most positions to meet, as text or number: a limit that does not depend on the machine.

    Attributes:
        observation: ``"thoughtful"``: this player sees all cards.
    """

    observation = "thoughtful"

    def __init__(self, max_nodes: str | int = 5_000_000) -> None:
        self._max_nodes = int(max_nodes)
        if self._max_nodes < 1:
            raise ValueError(f"the solver's limit of positions is {max_nodes}, but must be 1 or more")

    def begin(self, rules: Rules, seed: int) -> None:
        """Get ready for a game. Nothing is left to chance: ``seed`` is not used."""
        self._rules = rules
        self._moves: list[Move] | None = None
        self._record = new_record(rules)
        self._draws = 0

    def act(self, observation: np.ndarray, mask: np.ndarray) -> int:
        """The next action of the line; ``observation``, uint8, shape (82,), is read as a position."""
        position = position_of(observation, self._rules)
        if self._moves is None:
            self._moves = list(reversed(solve(position, max_nodes=self._max_nodes).moves))
        position.write(self._record, 0)
        if self._moves:
            action = action_of_move(self._record, 0, self._moves.pop())
            if action >= 0:
                return action
            self._moves = []  # the longer of two tails, in a column of 27 or more: no action does that
        legal = np.flatnonzero(mask).tolist()
        to_foundation = [action for action in legal if action in (1, 6, 11, 12, 13, 14)]
        others = [action for action in legal if action != 0]
        if to_foundation or (self._draws > 40 and others) or 0 not in legal:
            self._draws = 0
            return (to_foundation or others or legal)[0]
        self._draws += 1
        return 0


def position_of(observation: np.ndarray, rules: Rules) -> Position:
    """The position that a thoughtful observation shows; as many redeals made as it shows (15 for more).

    Raises:
        ValueError: if a card is hidden: the observation is of another tier.
    """
    codes = observation.tolist()
    base_rank = codes[_AT["base_rank"]]
    firsts = codes[_AT["column_first"] : _AT["column_first"] + 4]
    lengths = codes[_AT["column_length"] : _AT["column_length"] + 4]
    columns = [[-1] * length for length in lengths]
    reserve = [-1] * codes[_AT["reserve_count"]]
    waste = codes[_AT["waste_count"]]
    talon = [-1] * (waste + codes[_AT["stock_count"]])
    for card, place in enumerate(codes[:52]):
        if place == PLACE_HIDDEN:
            raise ValueError("a card is hidden: the solver needs the thoughtful observation")
        if place == PLACE_FOUNDATION:
            continue
        if place == PLACE_RESERVE_TOP:
            reserve[-1] = card
        elif place > PLACE_RESERVE_BELOW:  # at least one card lies on it
            reserve[-1 - (place - PLACE_RESERVE_BELOW)] = card
        elif place >= PLACE_TALON:
            talon[place - PLACE_TALON] = card
        else:
            column, lap = divmod(place - PLACE_COLUMN, 4)
            columns[column][13 * lap + (firsts[column] - 1 - card) % 13] = card
    redeals = codes[_AT["redeals"]]
    if rules.max_redeals is not None:
        redeals = max(redeals, rules.max_redeals - codes[_AT["redeals_left"]])
        redeals = min(redeals, rules.max_redeals)
    return Position(
        rules=rules,
        base_rank=base_rank,
        foundations=tuple(codes[_AT["foundation"] : _AT["foundation"] + 4]),
        reserve=tuple(reserve),
        columns=tuple(tuple(column) for column in columns),
        stock=tuple(talon[waste:]),
        waste=tuple(talon[:waste]),
        redeals=redeals,
    )
