"""``python -m agents.compare``: the command ``canfield compare``."""

from __future__ import annotations

import typer

from canfield_env import cli

app = typer.Typer(add_completion=False, pretty_exceptions_show_locals=False)
app.command()(cli.compare)

if __name__ == "__main__":
    app()
