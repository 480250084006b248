"""``python -m agents.evaluate``: the command ``canfield evaluate``, with the players that learned."""

from __future__ import annotations

import typer

from agents.players import register_players
from canfield_env import cli

app = typer.Typer(add_completion=False, pretty_exceptions_show_locals=False)
app.command(help="Let players play fixed deals, ppo:FILE (a saved policy) among them, and show how they did.")(
    cli.evaluate
)


def main() -> None:
    """Run the command."""
    register_players()
    app()


if __name__ == "__main__":
    main()
