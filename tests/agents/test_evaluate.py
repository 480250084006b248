"""``python -m agents.evaluate``, ``agents.compare`` and ``agents.replay``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import agents.players
from canfield_env import players

ROOT = Path(__file__).parent.parent.parent


def run(module, *arguments):
    command = [sys.executable, "-m", f"agents.{module}", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_evaluate_compare_replay(tmp_path):
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    deals = ("--suite", "configs/suites/draw3-dev.yaml", "--deals", 3, "--rules", "hoyle")
    shown = run("evaluate", "--player", "greedy", "--player", "random", *deals, "--jobs", 2, "-o", a, "-o", b)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "3 deals of draw3-dev, rules hoyle (draw 3)" in shown.stdout
    compared = run("compare", a, b)
    assert (compared.returncode, compared.stderr) == (0, "")
    assert "McNemar" in compared.stdout
    replayed = run("replay", a)
    assert (replayed.returncode, replayed.stderr) == (0, "")
    assert "all 3 games" in replayed.stdout


def test_learned_players_are_known_here_by_name():
    wrong = run("evaluate", "--player", "nobody", "--suite", "draw3-dev")
    assert wrong.returncode == 2
    assert "the players are random, greedy, ppo" in wrong.stderr


def test_registering_adds_and_keeps(monkeypatch):
    own = {name: where for name, where in players.PLAYERS.items() if where.startswith("canfield_env.")}
    monkeypatch.setattr(players, "PLAYERS", own)
    with pytest.raises(ValueError, match=r"no player 'ppo:a/b\.zip'"):
        players.PlayerName.read("ppo:a/b.zip")
    agents.players.register_players()
    assert players.PlayerName.read("ppo:a/b.zip") == players.PlayerName(
        "ppo:a/b.zip", "agents.ppo_player", "PPOPlayer", "a/b.zip"
    )
    assert {"random", "greedy"} < set(players.PLAYERS)
