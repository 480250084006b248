"""The command ``canfield``: look at a deal, play, evaluate players, compare and replay results, measure speed,
open the table in the browser."""

from __future__ import annotations

import functools
import importlib
import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from .board import board_text
from .game import Game
from .rules import PRESETS
from .solve_cli import solve_command, winnability_command

if TYPE_CHECKING:
    from .results import Interval, Result

P = ParamSpec("P")
T = TypeVar("T")

app = typer.Typer(
    name="canfield",
    help="Canfield solitaire: play it, and evaluate players on fixed deals.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

RULES_HELP = (
    f"Rules: {', '.join(PRESETS)}, or a mix such as 'app,take_back=false'. "
    "The code's D1 or D3 decides how many cards a draw turns up."
)
RulesOption = Annotated[str, typer.Option("--rules", "-r", help=RULES_HELP)]
ResultFile = Annotated[Path, typer.Argument(help="A result file that evaluate wrote.", metavar="FILE")]


def user_errors(command: Callable[P, T]) -> Callable[P, T]:
    """Let a command end with a message and exit code 2 where the user's input is at fault, and with 130 on Ctrl-C."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return command(*args, **kwargs)
        except BrokenPipeError:  # `canfield … | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except (ValueError, OSError) as error:
            text = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else error
            typer.echo(f"Error: {text}", err=True)
            raise typer.Exit(2) from error
        except RuntimeError as error:
            from .evaluation import PlayerError

            if not isinstance(error, PlayerError):
                raise
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            typer.echo("Interrupted.", err=True)
            raise typer.Exit(130) from None

    return run


# --- Deals and play ----------------------------------------------------------------------------------------


@app.command()
@user_errors
def deal(
    code: Annotated[str, typer.Argument(help="The deal's code, such as CF1-D3-AAAAACL.")],
    rules: RulesOption = "app",
    as_json: Annotated[bool, typer.Option("--json", help="The whole position, hidden cards too, as JSON.")] = False,
) -> None:
    """Show the table that a code deals."""
    game = Game.from_code(code, rules)
    if as_json:
        typer.echo(json.dumps(game.position().to_dict(), indent=1))
    else:
        typer.echo(board_text(game.position(), game.code, game.score))


@app.command()
@user_errors
def play(
    code: Annotated[str | None, typer.Argument(help="The deal's code; a deal by chance without it.")] = None,
    rules: RulesOption = "app",
    double_tap: Annotated[
        bool, typer.Option(help="Whether a tapped card that cannot go to its foundation goes to a column.")
    ] = True,
) -> None:
    """Play in the terminal: tap cards (8H), move (R>T2), draw (D), undo; help lists the rest."""
    from . import terminal

    terminal.play(terminal.Table(rules, code, double_tap, write=typer.echo))


# --- Evaluation --------------------------------------------------------------------------------------------


@app.command()
@user_errors
def evaluate(
    player: Annotated[
        list[str],
        typer.Option(
            "--player",
            "-p",
            help="random, greedy, or your own as module:Class (module:Class:argument). Several: give it again; "
            "all play the same deals.",
        ),
    ],
    suite: Annotated[str, typer.Option("--suite", "-s", help="A suite's name, such as draw3-dev, or a YAML file.")],
    deals: Annotated[int | None, typer.Option(min=1, help="Only the first so many deals of the suite.")] = None,
    rules: RulesOption = "app",
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Processes; by default one for each core.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="What all chance comes from.")] = 0,
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="Write the games to this JSON file; one for each --player, in order."),
    ] = None,
    reward: Annotated[
        str, typer.Option(help="The reward that return adds up: cards, app, casino, andr, win.")
    ] = "cards",
) -> None:
    """Let players play fixed deals, and show how they did."""
    from .evaluation import evaluate as play_all
    from .players import PlayerName
    from .results import write_result
    from .suites import load_suite

    outputs = _check_outputs(output or [], player)
    for name in player:
        PlayerName.read(name)  # a misspelt second player is not found out after the first has played
    chosen = load_suite(suite)
    codes = chosen.codes[:deals]
    if deals is not None and deals > len(codes):
        raise ValueError(f"--deals is {deals}, but the suite {chosen.name} has {len(codes)} deals")
    results = []
    with _progress() as bar:
        for number, name in enumerate(player):
            line = bar.add_task(name, total=len(codes))
            result = play_all(
                name,
                codes,
                rules,
                suite=chosen.name,
                jobs=jobs or os.cpu_count() or 1,
                seed=seed,
                reward=reward,
                progress=functools.partial(bar.advance, line),
            )
            if outputs:
                write_result(result, outputs[number])
            results.append(result)
    title = f"{len(codes)} deals of {chosen.name}, rules {results[0].rules_text}, reward {reward}, seed {seed}"
    _show(_result_table(title, results))
    for result in results[1:] if len(codes) > 1 else []:
        _show(_comparison_table(results[0], result))


@app.command()
@user_errors
def compare(
    first: ResultFile,
    second: ResultFile,
) -> None:
    """Compare two results deal by deal: differences are the first less the second, with 95 % intervals."""
    from .results import read_result

    a, b = read_result(first), read_result(second)
    table = _comparison_table(a, b)
    _show(_result_table(f"{len(a.rows)} deals, rules {a.rules_text}", [a, b]))
    _show(table)


@app.command()
@user_errors
def replay(
    file: ResultFile,
    code: Annotated[str | None, typer.Option(help="Only the game of this deal.")] = None,
    show: Annotated[bool, typer.Option("--show", help="Show each move and the board after it.")] = False,
) -> None:
    """Play the games of a result again, and check that all it says of them is so."""
    from .evaluation import check_result
    from .evaluation import replay as replay_row
    from .results import read_result

    result = read_result(file)
    if code is None and not show:
        with _progress() as bar:
            check_result(result, functools.partial(bar.advance, bar.add_task("replay", total=len(result.rows))))
        typer.echo(f"{file}: all {len(result.rows)} games come out as it says, and so does the summary")
        return
    rows = [row for row in result.rows if code is None or row.code == code.upper()]
    if not rows:
        raise ValueError(f"{file} holds no game of the deal {code}")
    for row in rows:
        replay_row(row, result.rules, result.reward, typer.echo if show else None)
        typer.echo(
            f"{row.code}: comes out as {file} says: {'won' if row.won else 'not won'}, "
            f"{row.foundation_cards} foundation cards, return {row.return_:g}, score {row.score}, {row.steps} steps"
        )


def _check_outputs(outputs: list[Path], players: list[str]) -> list[Path]:
    """The output files, their folders made: what is wrong with them shows before any game is played."""
    if outputs and len(outputs) != len(players):
        raise ValueError(
            f"there are {len(players)} players and {len(outputs)} output files: give one --output for each"
        )
    if len({path.absolute() for path in outputs}) < len(outputs):
        raise ValueError("two --output are the same file")
    for path in outputs:
        if path.is_dir():
            raise ValueError(f"output {path} is a folder: name a file")
        path.parent.mkdir(parents=True, exist_ok=True)
    return outputs


@contextmanager
def _progress() -> Iterator[Progress]:
    """A progress bar on standard error; nothing where that is no terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield bar


def _show(table: Table) -> None:
    """Write a table; a pipe or file gets all of it, however wide."""
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def _result_table(title: str, results: list[Result]) -> Table:
    table = Table(title=title, title_justify="left", caption="dollars: casino score, net", caption_justify="left")
    table.add_column("player", overflow="fold")
    for name in ("won", "win rate", "95 % interval", "cards", "return", "dollars", "score", "moves", "ms a game"):
        table.add_column(name, justify="right", no_wrap=True)
    for result in results:
        summary = result.summary
        low, high = summary.win_rate_interval
        table.add_row(
            result.player,
            f"{summary.wins}/{summary.deals}",
            f"{summary.win_rate:.1%}",
            f"{low:.1%} to {high:.1%}",
            f"{summary.foundation_cards:.2f}",
            f"{summary.return_:.2f}",
            f"{summary.dollars:+.2f}",
            f"{summary.score:.1f}",
            f"{summary.steps:.1f}",
            f"{1_000 * summary.seconds / summary.deals:.2f}",
        )
    return table


def _comparison_table(a: Result, b: Result) -> Table:
    """The paired differences of ``a`` less ``b``."""
    from .results import compare as compare_results

    found = compare_results(a, b)
    table = Table(title=f"{a.player} less {b.player}, paired", title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_row("win rate", f"{found.win_rate:+.1%}", _interval(found.win_rate_interval, "+.1%"))
    table.add_row("foundation cards", f"{found.foundation_cards[0]:+.2f}", _interval(found.foundation_cards[1], "+.2f"))
    table.add_row("return", f"{found.returns[0]:+.2f}", _interval(found.returns[1], "+.2f"))
    table.add_row("McNemar's exact test", f"p = {found.p_value:.3g}", "")
    won = f"both {found.both}, only the first {found.only_a}, only the second {found.only_b}, neither {found.neither}"
    table.add_row("won by", "", won)
    return table


def _interval(interval: Interval, form: str) -> str:
    return f"{interval[0]:{form}} to {interval[1]:{form}}"


# --- The table in the browser ------------------------------------------------------------------------------


@app.command()
@user_errors
def serve(
    host: Annotated[str, typer.Option(help="The address to listen on; the default lets in this machine only.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port; 0 for any free one.")] = 8052,
    player: Annotated[
        list[str] | None,
        typer.Option("--player", "-p", help="A player to watch beside greedy and random, named as for evaluate."),
    ] = None,
) -> None:
    """Open the table in the browser: play, watch players, replay results. Needs the extra `web`."""
    from .players import load_player

    try:
        import uvicorn

        from .web.server import Settings, create_app, warm_up
    except ImportError as error:
        raise ValueError(f'serve needs {error.name}: pip install "canfield-env[web]"') from error
    _register_agents()
    for name in player or []:
        load_player(name)  # what is wrong with it shows here, and not to a visitor
    names = list(dict.fromkeys([*(player or []), "greedy", "random"]))
    local = host in ("127.0.0.1", "localhost")
    settings = Settings(players=names, hosts=("127.0.0.1", "localhost") if local else ("*",))
    with socket.create_server((host, port)) as listening:
        warm_up()
        shown = f"http://{host}:{listening.getsockname()[1]}/"
        typer.echo(f"The table is at {shown} (Ctrl-C ends)")
        if not local:
            typer.echo("Whoever reaches this address can play here.")
        table = create_app(settings)
        threading.Thread(target=table.state.solver.warm_up, daemon=True).start()
        config = uvicorn.Config(table, log_level="warning", ws="none", limit_concurrency=64, timeout_keep_alive=30)
        uvicorn.Server(config).run(sockets=[listening])


def _register_agents() -> None:
    """Let the players of `agents` be named, where the package is there (in a checkout)."""
    try:
        agents = importlib.import_module("agents.players")
    except ImportError:
        return
    agents.register_players()


# --- Speed -------------------------------------------------------------------------------------------------


@app.command()
@user_errors
def bench(
    steps: Annotated[int, typer.Option(min=1, help="Steps of each environment in one repeat.")] = 50_000,
    repeats: Annotated[int, typer.Option(min=1, help="Repeats, of which the median counts.")] = 5,
    full: Annotated[bool, typer.Option("--full", help="The vector environment and other projects' too.")] = False,
) -> None:
    """Measure env.step through gym.make, beside CartPole-v1 made the same way."""
    from . import bench

    if not full:
        canfield, peer = _measure("env.step, random legal actions, one process", bench.single_runs(steps), repeats)
        typer.echo(f"{canfield.name} makes {canfield.median / peer.median:.2f} times the steps of {peer.name}")
        return

    def one_core() -> None:
        runs, missing = bench.one_core_runs()
        _measure("One core, random legal actions", runs, repeats, compare_with="Canfield, 1,024")
        for name in missing:
            typer.echo(f"not installed: {name}")

    bench.on_one_core(one_core)
    _measure("All cores", bench.all_core_runs(), repeats)


def _measure(title: str, runs: Mapping[str, Any], repeats: int, compare_with: str | None = None) -> list[Any]:
    """Measure and show speeds; ``compare_with`` names the row that the others are told as a share of."""
    from .bench import measure

    with _progress() as bar:
        task = bar.add_task("measure", total=repeats * len(runs))
        speeds = measure(runs, repeats, functools.partial(bar.advance, task))
    table = Table(title=f"{title}, {repeats} repeats", title_justify="left")
    columns = ["environment", "steps a second (median)", "lowest", "highest"]
    reference = {speed.name: speed.median for speed in speeds}.get(compare_with or "")
    for name in [*columns, f"{compare_with} is faster by"] if reference else columns:
        table.add_column(name, justify="left" if name == "environment" else "right", no_wrap=True)
    for speed in speeds:
        found = speed.steps_per_second
        row = [speed.name, f"{speed.median:,.0f}", f"{min(found):,.0f}", f"{max(found):,.0f}"]
        table.add_row(*row, *([f"{reference / speed.median:.2f}"] if reference else []))
    _show(table)
    return speeds


# --- The solver --------------------------------------------------------------------------------------------

app.command("solve")(user_errors(solve_command))
app.command("winnability")(user_errors(winnability_command))


def main() -> None:
    """The entry point of ``canfield``."""
    app()


if __name__ == "__main__":
    main()
