"""Results of evaluations: the rows, their statistics, the JSON file that people exchange, and the comparison of two.

Intervals are of 95 % confidence.
"""

from __future__ import annotations

import json
import math
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from .deals import code_draw_count
from .kernel import episode
from .kernel.state import ACTIONS
from .positions import new_record
from .rules import Rules

Interval: TypeAlias = tuple[float, float]

_Z = statistics.NormalDist().inv_cdf(0.975)


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Row(_Model):
    """One game.

    Attributes:
        code: The deal's code.
        won: Whether all 52 cards came to the foundations.
        foundation_cards: Cards on the foundations at the end, the base card included.
        return_: The sum of the rewards; in the file ``return``.
        score: The score of the rules' own kind, at the end.
        steps: Actions taken.
        seconds: Time the game took, player and environment together.
        actions: The actions, as numbers 0-94.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    code: str
    won: bool
    foundation_cards: Annotated[int, Field(ge=0, le=52)]
    return_: Annotated[float, Field(alias="return")]
    score: int
    steps: Annotated[int, Field(ge=0)]
    seconds: Annotated[float, Field(ge=0)]
    actions: tuple[Annotated[int, Field(ge=0, lt=ACTIONS)], ...]

    @model_validator(mode="after")
    def _check(self) -> Row:
        if self.won != (self.foundation_cards == 52):
            raise ValueError(f"{self.code}: won is {self.won}, but foundation_cards is {self.foundation_cards}")
        if self.steps != len(self.actions):
            raise ValueError(f"{self.code}: steps is {self.steps}, but there are {len(self.actions)} actions")
        return self


class Summary(_Model):
    """What the rows amount to: means over the games, but for ``deals``, ``wins`` and ``seconds``, which are sums.

    ``dollars`` is the casino score, net of the price of the pack, whatever score the rules have.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    deals: int
    wins: int
    win_rate: float
    win_rate_interval: Interval
    foundation_cards: float
    return_: Annotated[float, Field(alias="return")]
    dollars: float
    score: float
    steps: float
    seconds: float


class Result(_Model):
    """One player's games on one list of deals: what a result file holds.

    Attributes:
        player: The player's name.
        rules: The rules, as ``Rules.to_plain`` writes them.
        reward: The environment's reward, which the rows' ``return`` adds up.
        suite: The name of the suite; None for a list of codes without a name.
        versions: Versions of the packages that decide what happens.
        seed: What all chance came from.
        summary: What the rows amount to.
        rows: One a deal, in the suite's order.
    """

    player: str
    rules: str | dict[str, Any]
    reward: str
    suite: str | None
    versions: dict[str, str]
    seed: int
    summary: Summary
    rows: Annotated[tuple[Row, ...], Field(min_length=1)]

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the deals played."""
        return tuple(row.code for row in self.rows)

    @property
    def rules_text(self) -> str:
        """The rules as shown to people."""
        rules = Rules.read(self.rules)
        return f"{rules} (draw {rules.draw_count})"

    @model_validator(mode="after")
    def _check(self) -> Result:
        rules = Rules.read(self.rules)
        for row in self.rows:
            if code_draw_count(row.code) != rules.draw_count:
                raise ValueError(f"{row.code} was not played under rules that draw {rules.draw_count}")
        return self


# --- Statistics --------------------------------------------------------------------------------------------


def wilson_interval(wins: int, deals: int) -> Interval:
    """Wilson's score interval for a win rate (E. B. Wilson 1927, JASA 22, p. 209)."""
    rate, z2 = wins / deals, _Z**2
    centre = (rate + z2 / (2 * deals)) / (1 + z2 / deals)
    half = _Z / (1 + z2 / deals) * math.sqrt(rate * (1 - rate) / deals + z2 / (4 * deals**2))
    # At no win and at all wins an end is exactly 0 or 1, which rounding must not miss.
    return (0.0 if wins == 0 else centre - half, 1.0 if wins == deals else centre + half)


def mcnemar_p(only_a: int, only_b: int) -> float:
    """McNemar's exact test of two paired win rates, both sides (Q. McNemar 1947; exact: a binomial test with 1/2).

    ``only_a`` and ``only_b`` are the deals that only one of the two won; the result is the chance of a split at
    least as uneven if both were equally good.
    """
    n = only_a + only_b
    tail = sum(math.comb(n, k) for k in range(min(only_a, only_b) + 1))
    return min(1.0, 2 * tail / 2**n)


def paired_rate_interval(only_a: int, only_b: int, deals: int) -> Interval:
    """The interval for the difference of two paired win rates: Wald's, with half a deal added to each cell of the
    table (A. Agresti and Y. Min 2005, Statistics in Medicine 24, p. 729), which holds where few deals differ, too."""
    b, c, n = only_a + 0.5, only_b + 0.5, deals + 2
    centre = (b - c) / n
    half = _Z * math.sqrt(b + c - (b - c) ** 2 / n) / n
    return max(-1.0, centre - half), min(1.0, centre + half)


def mean_interval(values: Sequence[float]) -> tuple[float, Interval]:
    """The mean of two or more values, and its interval by the normal distribution."""
    mean = statistics.fmean(values)
    half = _Z * statistics.stdev(values) / math.sqrt(len(values))
    return mean, (mean - half, mean + half)


def casino_dollars(rules: Rules, foundation_cards: int) -> int:
    """What a game that ends with so many cards on the foundations brings, in dollars, the pack paid for."""
    states = new_record(rules)
    states["foundation_cards"] = foundation_cards
    return int(episode.scores(states, 0)[1])


def summarize(rows: Sequence[Row], rules: Rules) -> Summary:
    """The summary of ``rows``, at least one, played under ``rules``."""
    wins = sum(row.won for row in rows)
    return Summary(
        deals=len(rows),
        wins=wins,
        win_rate=wins / len(rows),
        win_rate_interval=wilson_interval(wins, len(rows)),
        foundation_cards=statistics.fmean(row.foundation_cards for row in rows),
        return_=statistics.fmean(row.return_ for row in rows),
        dollars=statistics.fmean(casino_dollars(rules, row.foundation_cards) for row in rows),
        score=statistics.fmean(row.score for row in rows),
        steps=statistics.fmean(row.steps for row in rows),
        seconds=round(math.fsum(row.seconds for row in rows), 6),
    )


@dataclass(frozen=True)
class Comparison:
    """Two players on the same deals. Differences are the first less the second, each with its interval.

    Attributes:
        deals: Deals played by both.
        both: Deals that both won.
        only_a: Deals that only the first won.
        only_b: Deals that only the second won.
        win_rate: The difference of the win rates.
        win_rate_interval: Its interval (``paired_rate_interval``).
        p_value: McNemar's exact test.
        foundation_cards: The mean difference in foundation cards, and its interval.
        returns: The mean difference in return, and its interval.
    """

    deals: int
    both: int
    only_a: int
    only_b: int
    win_rate: float
    win_rate_interval: Interval
    p_value: float
    foundation_cards: tuple[float, Interval]
    returns: tuple[float, Interval]

    @property
    def neither(self) -> int:
        """Deals that neither won."""
        return self.deals - self.both - self.only_a - self.only_b


def compare(a: Result, b: Result) -> Comparison:
    """Compare two players deal by deal.

    Raises:
        ValueError: if they did not play the same two or more codes, in the same order, under the same rules and
            for the same reward.
    """
    for what, value_a, value_b in (
        ("rules", a.rules_text, b.rules_text),
        ("reward", a.reward, b.reward),
        ("number of deals", len(a.rows), len(b.rows)),
    ):
        if value_a != value_b:
            raise ValueError(f"the results cannot be paired: the {what} is {value_a} in one and {value_b} in the other")
    for number, (code_a, code_b) in enumerate(zip(a.codes, b.codes), 1):
        if code_a != code_b:
            raise ValueError(
                f"the results cannot be paired: deal {number} is {code_a} in one and {code_b} in the other"
            )
    if len(a.rows) < 2:
        raise ValueError("to compare two players takes two deals or more, but these results hold one")
    pairs = list(zip(a.rows, b.rows))
    only_a = sum(row_a.won and not row_b.won for row_a, row_b in pairs)
    only_b = sum(row_b.won and not row_a.won for row_a, row_b in pairs)
    return Comparison(
        deals=len(pairs),
        both=sum(row_a.won and row_b.won for row_a, row_b in pairs),
        only_a=only_a,
        only_b=only_b,
        win_rate=(only_a - only_b) / len(pairs),
        win_rate_interval=paired_rate_interval(only_a, only_b, len(pairs)),
        p_value=mcnemar_p(only_a, only_b),
        foundation_cards=mean_interval([row_a.foundation_cards - row_b.foundation_cards for row_a, row_b in pairs]),
        returns=mean_interval([row_a.return_ - row_b.return_ for row_a, row_b in pairs]),
    )


# --- Files -------------------------------------------------------------------------------------------------


def write_result(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a result file, one row a line. It is there whole or not at all: written beside, then renamed.

    Raises:
        OSError: if it cannot be written.
        ValueError: if ``path`` is there and is no file, such as a device, which a renamed file would take the place of.
    """
    path = Path(os.path.realpath(path))  # a link stays one
    if path.exists() and not path.is_file():
        raise ValueError(f"{os.fspath(path)} is not a file: name one that does not exist, or one to be overwritten")
    head = result.model_dump(exclude={"rows"}, by_alias=True)
    lines = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}")
    rows = ",\n  ".join(json.dumps(row.model_dump(by_alias=True), ensure_ascii=False) for row in result.rows)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(f'{lines},\n "rows": [\n  {rows}\n ]\n}}\n', encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_result(path: str | os.PathLike[str]) -> Result:
    """Read a result file, and check it.

    Raises:
        OSError: if it cannot be read.
        ValueError: if it is not a result file; the message names what is wrong.
    """
    try:
        return Result.model_validate_json(Path(path).read_bytes())
    except ValidationError as error:
        raise ValueError(f"result file {os.fspath(path)}: {explain(error)}") from error


def explain(error: ValidationError) -> str:
    """The first thing that pydantic found wrong, as a sentence that names where it is and the value."""
    first = error.errors(include_url=False)[0]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    message = first["msg"].removeprefix("Value error, ")
    message = {"extra_forbidden": "there is no such key", "missing": "it is missing"}.get(first["type"], message)
    value = repr(first["input"])
    shown = f" (it is {value})" if first["type"] not in ("missing", "extra_forbidden") and len(value) <= 60 else ""
    return f"{place}: {message}{shown}" if place else message
