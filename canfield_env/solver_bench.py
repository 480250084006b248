"""How fast the solver is, on fixed deals: a row of ``canfield bench``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean, median

from .deals import Deal
from .rules import Rules
from .solver import solve

FIRST_DEAL = 1_000
LIMITS = (0.01, 0.1, 1.0, 10.0)


@dataclass(frozen=True)
class SolverSpeed:
    """The solver's speed on some deals, compilation not counted.

    Attributes:
        rules: The rules, as text.
        deals: Number of deals, from deal number ``FIRST_DEAL`` on.
        nodes_per_second: New positions a second, over all deals.
        median_seconds, mean_seconds: Of the time a deal, those that stayed unknown at ``LIMITS[-1]`` included.
        decided: For each of ``LIMITS``, the share of deals decided within so many seconds.
    """

    rules: str
    deals: int
    nodes_per_second: float
    median_seconds: float
    mean_seconds: float
    decided: dict[float, float]


def measure(rules: str = "app", deals: int = 100, progress: Callable[[], None] = lambda: None) -> SolverSpeed:
    """Solve fixed deals one after the other, in this process, for at most ``LIMITS[-1]`` seconds each.

    Raises:
        ValueError: for bad rules, or no deals.
    """
    if deals < 1:
        raise ValueError(f"deals is {deals}, but must be 1 or more")
    read = Rules.read(rules)
    solve(Deal.from_number(FIRST_DEAL), read, max_nodes=1_000)
    found = []
    for number in range(FIRST_DEAL, FIRST_DEAL + deals):
        found.append(solve(Deal.from_number(number), read, max_seconds=LIMITS[-1]))
        progress()
    seconds = [each.seconds for each in found]
    decided = {
        limit: sum(each.verdict != "unknown" and each.seconds <= limit for each in found) / deals for limit in LIMITS
    }
    speed = sum(each.nodes for each in found) / sum(seconds)
    return SolverSpeed(str(read), deals, speed, median(seconds), mean(seconds), decided)
