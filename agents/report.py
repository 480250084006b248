"""A report of evaluations as one HTML file that needs nothing else.

``python -m agents.report a.json b.json --output report.html``

Opened from disk it shows a table of the players, their paired comparison, how the foundation cards are spread, win rate
against thinking time, and the deals one by one; the first of them can be played through on the table.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from canfield_env.cli import user_errors
from canfield_env.evaluation import make_env
from canfield_env.positions import current_score
from canfield_env.results import Result, Row, compare, read_result
from canfield_env.rules import Rules
from canfield_env.web import views

STATIC = Path(views.__file__).parent / "static"
TEMPLATE = Path(__file__).with_name("report.html")
COLOURS = ("#1f6b53", "#c8641c", "#1650be", "#8a2b8f", "#b3142c", "#5b6470")
_BIN = 4

app = typer.Typer(add_completion=False, pretty_exceptions_show_locals=False)


@app.command()
@user_errors
def main(
    files: Annotated[list[Path], typer.Argument(help="Result files of evaluate, of the same deals.", metavar="FILE…")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")] = Path("report.html"),
    replays: Annotated[int, typer.Option(min=0, help="Of how many deals the games can be played through.")] = 10,
) -> None:
    """Write a report of evaluation results as one HTML file."""
    results = [read_result(file) for file in files]
    output.write_text(report(results, replays), encoding="utf-8")
    typer.echo(f"{output}: {len(results)} players, {len(results[0].rows)} deals")


def report(results: Sequence[Result], replays: int = 10) -> str:
    """The report as HTML.

    Args:
        results: One player each, all of the same deals under the same rules.
        replays: Of how many of the deals, the first ones, the games can be played through.

    Raises:
        ValueError: if the results are not of the same deals and rules.
    """
    for other in results[1:]:
        if other.codes != results[0].codes or other.rules_text != results[0].rules_text:
            raise ValueError(f"{other.player} and {results[0].player} did not play the same deals under the same rules")
    parts = {
        "TITLE": html.escape(f"{len(results[0].rows)} deals, rules {results[0].rules_text}"),
        "PLAYERS": _players(results),
        "COMPARISONS": _comparisons(results),
        "CARDS": _cards_chart(results),
        "TIMES": _times_chart(results),
        "STYLE": (STATIC / "style.css").read_text(encoding="utf-8"),
        "SUITS": _suits(),
        "SCRIPTS": scripts(),
        "DATA": _json(_data(results, replays)),
    }
    text = TEMPLATE.read_text(encoding="utf-8")
    return re.sub(r"\{\{([A-Z]+)\}\}", lambda found: parts[found[1]], text)


def scripts() -> str:
    """The page's modules that draw the table, as one script: a file opened from disk may not load others."""
    texts = [(STATIC / name).read_text(encoding="utf-8") for name in ("cards.js", "layout.js", "table.js")]
    code = "\n".join(re.sub(r"(?m)^import .*?;\n", "", text) for text in texts)
    return re.sub(r"(?m)^export ", "", code)


def _suits() -> str:
    found = re.search(r'<svg class="unseen".*?</svg>', (STATIC / "index.html").read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[0]


def _json(data: Any) -> str:
    """JSON that can stand in a script element."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


# --- Tables and charts -------------------------------------------------------------------------------------


def _players(results: Sequence[Result]) -> str:
    rows = []
    for k, result in enumerate(results):
        summary, (low, high) = result.summary, result.summary.win_rate_interval
        cells = [
            f"{summary.wins} of {summary.deals}",
            f"{summary.win_rate:.1%}",
            f"{low:.1%} to {high:.1%}",
            f"{summary.foundation_cards:.2f}",
            f"{summary.dollars:+.2f} $",
            f"{summary.steps:.1f}",
            f"{1_000 * summary.seconds / summary.deals:.2f}",
        ]
        name = f'<th scope="row"><i style="background:{COLOURS[k % 6]}"></i>{html.escape(result.player)}</th>'
        rows.append(f"<tr>{name}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    heads = ("player", "won", "win rate", "95 % interval", "foundation cards", "casino", "moves", "ms a game")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _comparisons(results: Sequence[Result]) -> str:
    if len(results) < 2 or len(results[0].rows) < 2:
        return "<p>Two players and two deals or more are needed for a comparison.</p>"
    rows = []
    for other in results[1:]:
        found = compare(results[0], other)
        low, high = found.win_rate_interval
        cells = [
            f"{found.win_rate:+.1%} ({low:+.1%} to {high:+.1%})",
            f"{found.foundation_cards[0]:+.2f} ({found.foundation_cards[1][0]:+.2f} to "
            f"{found.foundation_cards[1][1]:+.2f})",
            f"{found.both}",
            f"{found.only_a}",
            f"{found.only_b}",
            f"{found.neither}",
            f"{found.p_value:.3g}",
        ]
        name = html.escape(f"{results[0].player} less {other.player}")
        rows.append(f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>')
    heads = (
        "",
        "win rate",
        "foundation cards",
        "both won",
        "only the first",
        "only the second",
        "neither",
        "McNemar p",
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _cards_chart(results: Sequence[Result]) -> str:
    """Bars: the share of games that ended with so many cards on the foundations."""
    starts = range(0, 53, _BIN)
    shares = [
        [
            sum(start <= row.foundation_cards < start + _BIN for row in result.rows) / len(result.rows)
            for start in starts
        ]
        for result in results
    ]
    top = max(max(share) for share in shares)
    width = 40 / len(results)
    bars = []
    for k, share in enumerate(shares):
        for i, value in enumerate(share):
            height = 160 * value / top
            said = f"{html.escape(results[k].player)}, {_bin_text(starts[i])} cards: {value:.1%}"
            bars.append(
                f'<rect x="{45 + 48 * i + k * width:.1f}" y="{180 - height:.1f}" width="{width:.1f}" '
                f'height="{height:.1f}" fill="{COLOURS[k % 6]}"><title>{said}</title></rect>'
            )
    labels = "".join(
        f'<text x="{65 + 48 * i}" y="198" text-anchor="middle">{_bin_text(start)}</text>'
        for i, start in enumerate(starts)
    )
    axis = f'<text x="38" y="26" text-anchor="end">{top:.0%}</text><path d="M42 20V180H715" class="axis"/>'
    return _chart("Foundation cards", axis + "".join(bars) + labels)


def _bin_text(start: int) -> str:
    return str(start) if start == 52 else f"{start}–{start + _BIN - 1}"


def _times_chart(results: Sequence[Result]) -> str:
    """A point for each player: milliseconds a game (logarithmic) and win rate with its interval."""
    places = [math.log10(max(1e-3, 1_000 * result.summary.seconds / result.summary.deals)) for result in results]
    low, high = math.floor(min(places)), math.ceil(max(places) + 1e-9)
    high = max(high, low + 1)
    top = max(0.05, max(result.summary.win_rate_interval[1] for result in results))
    marks = []
    for k, (result, place) in enumerate(zip(results, places)):
        x = 50 + 640 * (place - low) / (high - low)
        y, y_low, y_high = (
            180 - 155 * rate / top for rate in (result.summary.win_rate, *result.summary.win_rate_interval)
        )
        colour, name = COLOURS[k % 6], html.escape(result.player)
        marks.append(
            f'<path d="M{x:.1f} {y_low:.1f}V{y_high:.1f}" stroke="{colour}" stroke-width="2"/>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"><title>{name}</title></circle>'
        )
    ticks = "".join(
        f'<text x="{50 + 640 * (k - low) / (high - low):.1f}" y="198" text-anchor="middle">{10.0**k:g} ms</text>'
        for k in range(low, high + 1)
    )
    axis = f'<text x="38" y="30" text-anchor="end">{top:.0%}</text><path d="M42 20V180H715" class="axis"/>'
    return _chart("Win rate against time", axis + "".join(marks) + ticks)


def _chart(label: str, drawn: str) -> str:
    return f'<svg class="chart" viewBox="0 0 720 206" role="img" aria-label="{label}">{drawn}</svg>'


# --- Deals -------------------------------------------------------------------------------------------------


def _data(results: Sequence[Result], replays: int) -> dict[str, Any]:
    rules = Rules.read(results[0].rules)
    return {
        "players": [result.player for result in results],
        "deals": [
            {
                "code": rows[0].code,
                "rows": [[int(row.won), row.foundation_cards, row.score, row.steps] for row in rows],
                "replays": [frames(row, rules, result.reward) for row, result in zip(rows, results)]
                if k < replays
                else [],
            }
            for k, rows in enumerate(zip(*(result.rows for result in results)))
        ],
    }


def frames(row: Row, rules: Rules, reward: str) -> list[dict[str, Any]]:
    """The open cards at the start of a row's game and after each step, with the move that led there; of what is the
    same as a step before, only the first is given."""
    env: Any = make_env(rules, "recall", reward)
    canfield = env.unwrapped
    env.reset(options={"code": row.code})
    last = _frame(canfield, rules, None)
    shown = [last]
    for action in row.actions:
        move = views.move_view(canfield.move_of(action))
        env.step(action)
        frame = _frame(canfield, rules, move)
        shown.append({key: value for key, value in frame.items() if value != last[key]})
        last = frame
    return shown


def _frame(canfield: Any, rules: Rules, move: dict[str, str] | None) -> dict[str, Any]:
    view = views.table_view(canfield.position())
    del view["speech"]
    score = current_score(canfield.get_state()[0], 0)
    return {**view, "draw_count": rules.draw_count, "score": score, "move": move["words"] if move else "the deal"}


if __name__ == "__main__":
    app()
