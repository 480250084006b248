"""How many deals can be won: solving many numbered deals, in processes, resumable, as JSON rows."""

from __future__ import annotations

import json
import math
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .deals import Deal
from .rules import Rules
from .solver import DEFAULT_TABLE_MEGABYTES, VERDICTS, solve

_Z = 1.959963984540054  # 95 %


@dataclass(frozen=True)
class Row:
    """What was found out about one deal.

    Attributes:
        code: The deal's code.
        rules: The rules, as ``str(Rules)``.
        verdict: ``"won"``, ``"unwinnable"`` or ``"unknown"``.
        reason: For ``"unknown"`` the limit that came first, else "".
        nodes: Positions met.
        seconds: Wall-clock time taken.
        moves: Number of moves of the line found, draws included; 0 where there is none.
    """

    code: str
    rules: str
    verdict: str
    reason: str
    nodes: int
    seconds: float
    moves: int


@dataclass(frozen=True)
class Share:
    """A share of winnable deals.

    Attributes:
        won, unwinnable, unknown: Number of deals of each verdict.
        low, high: 95 % interval of the share of winnable deals among all deals. Its ends are the lower end of the
            Wilson interval with every unknown counted as unwinnable, and the upper end of that with every unknown
            counted as winnable, so it holds whatever the unknown ones are.
    """

    won: int
    unwinnable: int
    unknown: int
    low: float
    high: float

    @classmethod
    def of(cls, verdicts: Iterable[str]) -> Share:
        """The share among deals with these verdicts, one or more."""
        found = list(verdicts)
        won, unknown = found.count("won"), found.count("unknown")
        return cls(
            won,
            len(found) - won - unknown,
            unknown,
            wilson(won, len(found))[0],
            wilson(won + unknown, len(found))[1],
        )

    def __str__(self) -> str:
        total = self.won + self.unwinnable + self.unknown
        return (
            f"{self.won} of {total} won ({self.won / total:.2%}), {self.unwinnable} unwinnable, "
            f"{self.unknown} unknown; winnable: {self.low:.2%} to {self.high:.2%} (95 %, unknowns counted both ways)"
        )


def wilson(successes: int, total: int) -> tuple[float, float]:
    """The 95 % Wilson interval of a share."""
    share = successes / total
    middle = share + _Z * _Z / (2 * total)
    half = _Z * math.sqrt(share * (1 - share) / total + _Z * _Z / (4 * total * total))
    scale = 1 + _Z * _Z / total
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def survey(
    codes: Sequence[str],
    rules: Rules,
    output: Path | None,
    *,
    jobs: int = 1,
    max_nodes: int | None = None,
    max_seconds: float | None = None,
    table_megabytes: int = DEFAULT_TABLE_MEGABYTES,
    retry_unknown: bool = False,
    progress: Callable[[Row], None] = lambda row: None,
) -> list[Row]:
    """Solve the deals of ``codes`` under ``rules``: a row for each, in their order.

    Args:
        output: Rows are appended to this file as they come, one JSON object a line; deals that it has already,
            under the same rules, are not solved again. None keeps nothing.
        jobs: Processes; 1 solves in this one.
        max_nodes, max_seconds, table_megabytes: As for ``solve``, each deal.
        retry_unknown: Whether to solve those again whose verdict in the file is "unknown". Of two rows of a deal
            the later one counts.
        progress: Called with each row, those from the file too.

    Raises:
        ValueError: if the file holds something else than rows.
    """
    done = {row.code: row for row in _read(output) if row.rules == str(rules)}
    todo = [code for code in codes if code not in done or (retry_unknown and done[code].verdict == "unknown")]
    for code in set(codes) - set(todo):
        progress(done[code])
    limits = {"max_nodes": max_nodes, "max_seconds": max_seconds, "table_megabytes": table_megabytes}
    for row in _solve_all(todo, rules, limits, jobs):
        if output is not None:
            with output.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(row)) + "\n")
        done[row.code] = row
        progress(row)
    return [done[code] for code in codes]


def _solve_all(codes: Sequence[str], rules: Rules, limits: dict[str, Any], jobs: int) -> Iterator[Row]:
    """The rows of all deals, as they come."""
    if jobs == 1 or len(codes) <= 1:
        for code in codes:
            yield solve_row(code, rules, limits)
        return
    pool = ProcessPoolExecutor(min(jobs, len(codes)), mp_context=multiprocessing.get_context("spawn"))
    try:
        rest = iter(codes)
        running: set[Future[Row]] = set()
        while True:
            for code in rest:
                running.add(pool.submit(solve_row, code, rules, limits))
                if len(running) >= 4 * jobs:
                    break
            if not running:
                return
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def solve_row(code: str, rules: Rules, limits: dict[str, Any]) -> Row:
    """Solve one deal."""
    found = solve(Deal.from_code(code), rules, **limits)
    return Row(code, str(rules), found.verdict, found.reason, found.nodes, round(found.seconds, 6), len(found.moves))


def _read(path: Path | None) -> list[Row]:
    if path is None or not path.exists():
        return []
    rows = []
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            row = Row(**json.loads(line))
            if row.verdict not in VERDICTS:
                raise ValueError
        except (ValueError, TypeError) as error:
            if number == len(lines):  # no line break after it: the run that wrote it was broken off
                path.write_text("".join(line + "\n" for line in lines[:-1]), encoding="utf-8")
                break
            raise ValueError(f"{path}, line {number}, is not a row that winnability wrote") from error
        rows.append(row)
    return rows
