"""The commands ``canfield solve`` and ``canfield winnability``; cli.py mounts them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .deals import number_code
from .positions import Position
from .rules import Rules
from .solver import DEFAULT_TABLE_MEGABYTES, root_position, solve
from .winnability import Row, Share, survey

RulesText = Annotated[
    str | None, typer.Option("--rules", "-r", help="app (the default), hoyle, andr, or a mix: 'app,take_back=false'.")
]
Nodes = Annotated[int | None, typer.Option(min=1, help="Most positions to meet; by default no limit.")]
Megabytes = Annotated[int, typer.Option(min=1, help="Most memory for the table of positions, at 16 bytes each.")]


def read_position(what: str, rules: str | None) -> Position:
    """The position named by a deal code, a file (JSON or text, as ``Position`` writes it) or ``-`` for the input.

    Raises:
        ValueError: if it is none of these.
        OSError: if the file cannot be read.
    """
    if what.upper().startswith("CF") and "-" in what:
        return root_position(what, rules)
    text = sys.stdin.read() if what == "-" else Path(what).read_text(encoding="utf-8")
    stripped = text.strip()
    if stripped.upper().startswith("CF") and len(stripped.split()) == 1:
        return root_position(stripped, rules)
    if not stripped.startswith("{"):
        return root_position(Position.parse(text), rules)
    try:
        data = json.loads(stripped)
    except json.JSONDecodeError as error:
        raise ValueError(f"{what}: it is not JSON: {error}") from error
    return root_position(data, rules)


def solve_command(
    what: Annotated[
        str, typer.Argument(metavar="CODE|FILE|-", help="A deal code, or a file with one or a position; - reads it.")
    ],
    rules: RulesText = None,
    max_seconds: Annotated[float | None, typer.Option(min=0, help="Most seconds to take; by default no limit.")] = None,
    max_nodes: Nodes = None,
    table_megabytes: Megabytes = DEFAULT_TABLE_MEGABYTES,
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON object instead.")] = False,
) -> None:
    """Say whether a deal or position can be won with all cards known, and how. Ends with 1 if that stays unknown."""
    position = read_position(what, rules)
    found = solve(position, max_seconds=max_seconds, max_nodes=max_nodes, table_megabytes=table_megabytes)
    moves = [str(move) for move in found.moves]
    if as_json:
        data = {
            "verdict": found.verdict,
            "reason": found.reason,
            "rules": position.rules.to_plain(),
            "moves": moves,
            "nodes": found.nodes,
            "seconds": found.seconds,
        }
        typer.echo(json.dumps(data))
    else:
        limit = f" (the limit on {found.reason} came first)" if found.reason else ""
        typer.echo(f"{found.verdict}{limit}: rules {position.rules}, {found.nodes:,} positions, {found.seconds:.3f} s")
        if moves:
            typer.echo(" ".join(moves))
    if found.verdict == "unknown":
        raise typer.Exit(1)


def winnability_command(
    rules: RulesText = None,
    deals: Annotated[int, typer.Option(min=1, help="How many deals.")] = 1000,
    start: Annotated[int, typer.Option(min=0, help="The first deal's number; the others follow.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes; each has a table of its own.")] = 1,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Append a JSON row a deal here; deals in it are not redone.")
    ] = None,
    max_seconds: Annotated[float | None, typer.Option(min=0, help="Most seconds a deal; 0 for no limit.")] = 60,
    max_nodes: Nodes = None,
    table_megabytes: Megabytes = DEFAULT_TABLE_MEGABYTES,
    retry_unknown: Annotated[bool, typer.Option(help="Try deals again that stayed unknown in the file.")] = False,
) -> None:
    """Solve many deals: what share of them can be won under these rules."""
    read = Rules.read("app" if rules is None else rules)
    codes = [number_code(number, read.draw_count) for number in range(start, start + deals)]
    counts: dict[str, int] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        line = bar.add_task(str(read), total=deals)

        def progress(row: Row) -> None:
            counts[row.verdict] = counts.get(row.verdict, 0) + 1
            said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in sorted(counts))
            bar.update(line, advance=1, description=f"{read}: {said}")

        rows = survey(
            codes,
            read,
            output,
            jobs=jobs,
            max_nodes=max_nodes,
            max_seconds=max_seconds or None,
            table_megabytes=table_megabytes,
            retry_unknown=retry_unknown,
            progress=progress,
        )
    seconds = sorted(row.seconds for row in rows)
    within = ", ".join(
        f"{sum(row.seconds <= limit and row.verdict != 'unknown' for row in rows) / deals:.1%} in {limit} s"
        for limit in (0.01, 0.1, 1, 10)
    )
    typer.echo(f"rules {read}, deals {codes[0]} to {codes[-1]}: {Share.of(row.verdict for row in rows)}")
    typer.echo(f"time: median {seconds[deals // 2]:.4f} s, mean {sum(seconds) / deals:.4f} s; decided: {within}")
