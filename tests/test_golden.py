"""The golden games are played the same today (golden_games.py writes them)."""

import re

import pytest

from golden_games import FOLDER, GAMES, game_text


@pytest.mark.plain  # so that the digests are also those of the uncompiled engine
@pytest.mark.parametrize("name", GAMES)
def test_golden_game(name):
    """If a change of behaviour is meant: run ``python tests/golden_games.py`` and read the difference."""
    assert game_text(name).splitlines() == (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def test_no_game_is_left_over():
    assert {path.stem for path in FOLDER.iterdir()} == set(GAMES)


def test_the_games_show_what_matters():
    texts = {name: (FOLDER / f"{name}.txt").read_text(encoding="utf-8") for name in GAMES}
    assert "terminated, won" in texts["won"]
    everything = "\n".join(texts.values())
    for move in ("D", "W>F", "R>F", "W>T.", "R>T.", "T.>F", "F.>T.", "T.>T.", r"T.>T.\*1"):
        assert re.search(rf"^ *\d+ +\d+ {move} +reward", everything, re.MULTILINE), move
