"""The fair planner: it looks ahead in worlds that could be, never at the one that is.

    planner            200 simulations a decision
    planner:sims=1000  another number of them
    planner:ms=20      as many as fit in so many milliseconds a decision (results then depend on the machine)

More settings, by comma: ``planner:sims=400,exploration=0.3``. The search is ``canfield_env/kernel/search.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from time import perf_counter

import numpy as np

from canfield_env.belief import Belief
from canfield_env.kernel import rollout, search
from canfield_env.kernel.play import NO_CARD
from canfield_env.rules import Rules

CHUNK = 32
"""Simulations between two looks at the clock, or at whether one play is far ahead."""


@dataclass(frozen=True)
class PlannerSettings:
    """What a planner is made with.

    Attributes:
        sims: Simulations a decision; None: as ``ms`` says.
        ms: Milliseconds a decision.
        exploration: How much the search looks at what it has not seen much of.
        temperature: How much the weights' first opinion is spread over the plays.
        noise: How far a rollout strays from what the weights like best.
        cards: What a lost rollout is worth for each share of the cards on the foundations.
        reserve: The same for each share of the reserve that was played.
        even: The share of the prior that all plays have alike.
        first_play: How much less than the average a play never tried is taken to be worth.
        depth: Plays in the tree before a rollout begins; 1 is a one-ply search.
    """

    sims: int | None = None
    ms: float | None = None
    exploration: float = 0.5
    temperature: float = 4.0
    noise: float = 0.0
    cards: float = 0.1
    reserve: float = 0.3
    even: float = 0.1
    first_play: float = 0.1
    depth: int = 60

    @classmethod
    def read(cls, text: str) -> PlannerSettings:
        """Settings from text such as ``"sims=64"`` or ``"ms=2,noise=0.1"``.

        Raises:
            ValueError: if a name or a value is wrong.
        """
        known = {field.name: int if field.name in ("sims", "depth") else float for field in fields(cls)}
        values: dict[str, float] = {}
        for part in filter(None, text.split(",")):
            name, _, value = (piece.strip() for piece in part.partition("="))
            if name not in known:
                raise ValueError(f"planner: {name!r} is no setting: they are {', '.join(known)}")
            try:
                values[name] = known[name](value)
            except ValueError:
                raise ValueError(f"planner: {name} is {value!r}, which is not a number") from None
            if values[name] < 0 or (name in ("sims", "ms", "depth", "temperature") and values[name] == 0):
                raise ValueError(f"planner: {name} is {value}, which is too small")
        if "sims" in values and "ms" in values:
            raise ValueError("planner: give sims or ms, not both")
        if "sims" not in values and "ms" not in values:
            values["sims"] = 200
        return cls(**values)  # type: ignore[arg-type]

    def to_array(self) -> np.ndarray:
        """The settings that the compiled search reads."""
        array = np.zeros(search.SETTINGS)
        array[search.EXPLORATION], array[search.TEMPERATURE] = self.exploration, self.temperature
        array[search.NOISE], array[search.CARDS] = self.noise, self.cards
        array[search.RESERVE], array[search.EVEN] = self.reserve, self.even
        array[search.FIRST_PLAY], array[search.DEPTH] = self.first_play, self.depth
        return array


class Tree:
    """What the search has counted so far in a game, and where the game has been."""

    def __init__(self, edges: int) -> None:
        self.afters = np.zeros(edges, search.AFTER_DTYPE)
        self.nodes = np.zeros(edges, search.NODE_DTYPE)
        self.edges = np.zeros(edges, search.EDGE_DTYPE)
        self.counters = np.zeros(4, np.int64)

    def clear(self) -> None:
        """Forget it all."""
        for array in (self.afters, self.nodes, self.counters):
            array[:] = 0

    def has_room(self, plays: int) -> bool:
        """Whether so many more plays can be counted."""
        used = int(self.counters[search.EDGES])
        return used + plays + rollout.MAX_PLAYS < len(self.edges) and 2 * (used + plays) < len(self.afters)


class PlannerPlayer:
    """Plays by search over sampled worlds.

    Args:
        settings: As ``PlannerSettings.read`` takes them.
        observation: ``"recall"``; ``"thoughtful"`` makes the player that sees all cards, to compare with.
    """

    def __init__(self, settings: str = "", observation: str = "recall") -> None:
        self.observation = observation
        self.settings = PlannerSettings.read(settings)
        self.weights = rollout.FITTED_WEIGHTS
        self._tree = Tree(2 ** int(np.clip(np.ceil(np.log2((self.settings.sims or 4_000) * 512)), 16, 21)))
        self._plan = -1

    def begin(self, rules: Rules, seed: int) -> None:
        """Get ready for a game; all chance comes from ``seed``."""
        self._rules = rules
        self._stream = np.uint64(seed % 2**64)
        self._tree.clear()
        self._been: list[tuple[np.ndarray, bool, bool]] = []
        self._plan = -1
        self._lost = False

    def act(self, observation: np.ndarray, mask: np.ndarray) -> int:
        """The action for an observation, uint8, shape (82,), and the legal actions, bool, shape (95,)."""
        belief = Belief(observation, self._rules)
        if self._plan < 0 and not self._lost:
            self._plan = self._decide(belief, mask)
        if self._plan < 0:
            return 0 if mask[0] else int(np.argmax(mask))
        turned, action = divmod(self._plan, rollout.TURNED)
        if action == 0 or turned != int(belief.record["waste_count"][0]):
            if action == 0:
                self._plan = -1
            return 0
        self._plan = -1
        return action

    def _decide(self, belief: Belief, mask: np.ndarray) -> int:
        """The next play, or -1 where none is left that leads anywhere new."""
        record = belief.record
        seen = NO_CARD not in record["talon"][0, : record["talon_count"][0]]
        unlimited = self._rules.max_redeals is None
        if unlimited and not seen:
            return 0  # to look through the stock once costs nothing
        folded = bool(unlimited)
        plays = self.search(belief, seen, folded)
        if len(plays) == 0:
            self._lost = bool(seen and unlimited)
            return -1
        best = max(range(len(plays)), key=lambda k: (plays[k, 2], plays[k, 1]))
        return int(plays[best, 0])

    def search(self, belief: Belief, seen: bool, folded: bool) -> np.ndarray:
        """Look ahead; rows of play, prior, visits and sum of values, of the plays that lead anywhere new."""
        tree, settings = self._tree, self.settings
        if not tree.has_room(16 * (settings.sims or 4_000)):
            tree.clear()
            for place in self._been:
                search.mark(*place, tree.afters, tree.counters)
        self._been.append((belief.record, seen, folded))
        search.mark(*self._been[-1], tree.afters, tree.counters)
        table = np.zeros((rollout.MAX_PLAYS, 4))
        deadline = perf_counter() + (settings.ms or 0.0) / 1_000
        done, limit = 0, settings.sims or 2**31
        while done < limit:
            chunk = min(CHUNK, limit - done)
            self._stream = np.uint64(search.search(
                belief.record, belief.unseen, len(belief.unseen), seen, folded, self.weights, settings.to_array(),
                chunk, self._stream, tree.afters, tree.nodes, tree.edges, tree.counters,
            ))  # fmt: skip
            done += chunk
            if settings.ms is not None and perf_counter() > deadline:
                break
            n = search.choose(belief.record, seen, folded, tree.afters, tree.nodes, tree.edges, table)
            if n < 2:
                break
            visits = np.sort(table[:n, 2])
            if settings.sims is not None and visits[-1] - visits[-2] > limit - done:
                break  # none can catch up
        n = search.choose(belief.record, seen, folded, tree.afters, tree.nodes, tree.edges, table)
        return table[:n]
