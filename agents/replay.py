"""``python -m agents.replay``: the command ``canfield replay``."""

from __future__ import annotations

import typer

from canfield_env import cli

app = typer.Typer(add_completion=False, pretty_exceptions_show_locals=False)
app.command()(cli.replay)

if __name__ == "__main__":
    app()
