"""Write the solver's verdicts into suites: ``python -m canfield_env.verdicts configs/suites/draw3-dev.yaml -r app``.

For each rule set the suite gets the list ``verdicts[rules]``, one of "won", "unwinnable" and "unknown" a deal, in the
order of its codes. What is there already and decided is kept, so a run can be broken off and gone on with.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from .deals import code_draw_count
from .rules import rules_for_draw
from .solver import DEFAULT_TABLE_MEGABYTES
from .winnability import Share, survey


def main(
    suites: Annotated[list[Path], typer.Argument(help="Suite files, changed in place.", metavar="SUITE.yaml")],
    rules: Annotated[list[str], typer.Option("--rules", "-r", help="Rules; several: give it again.")],
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes.")] = 1,
    max_seconds: Annotated[float, typer.Option(min=0, help="Most seconds a deal.")] = 60,
    table_megabytes: Annotated[int, typer.Option(min=1, help="Most memory for each process's table.")] = (
        DEFAULT_TABLE_MEGABYTES
    ),
) -> None:
    """Solve the deals of suites and write the verdicts into them."""
    for path in suites:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        for text in rules:
            share = add_verdicts(data, text, jobs=jobs, max_seconds=max_seconds, table_megabytes=table_megabytes)
            _write(path, data)
            typer.echo(f"{path}, {text}: {share}")


def add_verdicts(data: dict[str, Any], rules: str, **limits: Any) -> Share:
    """Add the verdicts under ``rules`` to a suite's data, keyed by that text; ``limits`` as for ``survey``.

    Raises:
        ValueError: if rules and codes do not fit together.
    """
    codes = data["codes"]
    read = rules_for_draw(rules, code_draw_count(codes[0]), f"the suite {data['name']}")
    verdicts = (data.get("verdicts") or {}).get(rules) or ["unknown"] * len(codes)
    todo = [k for k, verdict in enumerate(verdicts) if verdict == "unknown"]
    for k, row in zip(todo, survey([codes[k] for k in todo], read, None, **limits)):
        verdicts[k] = row.verdict
    data["verdicts"] = {**(data.get("verdicts") or {}), rules: verdicts}
    return Share.of(verdicts)


def _write(path: Path, data: dict[str, Any]) -> None:
    """Write the suite under a temporary name and rename it, keeping the comments that its file begins with."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    head = ""
    for line in lines:
        if not line.startswith("#"):
            break
        head += line
    body = {key: value for key, value in data.items() if key != "verdicts"}
    text = head + yaml.safe_dump(body, sort_keys=False, width=120)
    text += "verdicts:\n"
    for rules, verdicts in data["verdicts"].items():
        flow = yaml.safe_dump(verdicts, default_flow_style=True, width=116).strip()
        indented = flow.replace("\n", "\n   ")
        text += f"  {rules}: {indented}\n" if rules.isidentifier() else f"  '{rules}': {indented}\n"
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(name, path)


if __name__ == "__main__":
    typer.run(main)
