"""The players that learned, by name; what evaluation here knows beside the package's own."""

from __future__ import annotations

from canfield_env import players

PLAYERS = {
    "ppo": "agents.ppo_player:PPOPlayer",
    "planner": "agents.planner:PlannerPlayer",
}
"""Each player as ``module:Class``. The module is imported when such a player is asked for, and not before."""


def register_players() -> None:
    """Add these players to those that ``canfield_env`` finds by name."""
    players.PLAYERS.update(PLAYERS)
