"""The command line: what it shows, and what it says of bad input."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from canfield_env import Game, Position, players
from canfield_env.bench import measure, on_one_core, record, vector_run
from canfield_env.cli import app
from canfield_env.deals import number_code
from canfield_env.evaluation import evaluate
from canfield_env.suites import load_suite

CODE = "CF1-D3-AAAAACL"
ROOT = Path(__file__).parent.parent


def canfield(*arguments, exit_code=0, stdin=None):
    """What the command writes (standard output and error together), its exit code checked."""
    outcome = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert outcome.exit_code == exit_code, outcome.output
    return outcome.output


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "few.yaml"
    codes = "".join(f"- {number_code(number, 3)}\n" for number in range(4))
    path.write_text(f"name: few\ncodes:\n{codes}")
    return path


def test_help():
    text = canfield("--help")
    for command in ("deal", "play", "evaluate", "compare", "replay", "serve", "bench"):
        assert command in text
        assert "Usage" in canfield(command, "--help")


# --- Deals and play ------------------------------------------------------------------------------------------


def test_deal():
    text = canfield("deal", CODE.lower())
    assert "Reserve      Q♣ (13)" in text
    assert "6♣   K♥   Q♥   A♠" in text
    assert "8♥" not in text  # it lies under the reserve's top card


def test_deal_as_json():
    data = json.loads(canfield("deal", CODE, "--rules", "andr", "--json"))
    assert Position.from_dict(data) == Game.from_code(CODE, "andr").position()


def test_play_the_published_moves():
    text = canfield("play", CODE, stdin="R>T2\n8h\nT2 > T4\nscore\nmoves\ncode\ndescribe\nquit\nR>F\n")
    assert "Reserve      J♠ (10)" in text
    assert "6♣   Q♠   Q♥   A♠" in text
    assert "app score 5, 2 of 52 cards on the foundations" in text
    assert "Column 4: ace of spades, king of hearts, queen of clubs." in text
    assert text.endswith(f"Goodbye. This deal: {CODE}\n")


def test_play_refuses_and_changes_nothing():
    text = canfield("play", CODE, stdin="undo\nR>F\nbogus\nTC\n7H\nnew CF1\n\ncode\n")
    said = [
        "there is nothing left to undo",
        "R>F is not a legal move here",
        "'bogus' is not a move",
        "TC does not lie face up",
        "nothing happens on a tap on 7H",
        "code 'CF1' has 1 parts",
    ]
    assert [line for line in text.splitlines() if any(line.startswith(start) for start in said)] != []
    assert all(start in text for start in said)
    assert text.count("Canfield ·") == 1


def test_play_undo_again_and_new():
    text = canfield("play", CODE, "--rules", "andr", stdin="stock\nundo\nscore\nagain\nnew CF1-D1-AAAAACL\nnew\ncode\n")
    assert "andr score -25" in text
    assert "draw 1" in text
    assert CODE not in text.splitlines()[-2]
    assert text.splitlines()[-1].endswith(text.splitlines()[-2])


def test_play_without_double_tap():
    assert "nothing happens on a tap on QC" in canfield("play", CODE, "--no-double-tap", stdin="QC\n")
    assert "nothing happens" not in canfield("play", CODE, stdin="QC\n")


def test_play_a_random_deal_of_the_rules_draw():
    first = canfield("play", "--rules", "app,draw_count=1", stdin="code\n")
    second = canfield("play", "--rules", "app,draw_count=1", stdin="code\n")
    assert "CF1-D1-" in first and "CF1-D1-" in second and first != second


def test_play_a_won_game():
    row = next(row for row in evaluate("greedy", load_suite("draw1-dev").codes[:20]).rows if row.won)
    game = Game.from_code(row.code)
    lines = [str(game.play(game.move_of(action))) for action in row.actions]
    text = canfield("play", row.code, stdin="\n".join([*lines, "moves", "D"]))
    assert f"Won, in {row.steps} moves. app score 255, 52 of 52 cards on the foundations" in text
    assert "no move is left" in text
    assert "D is not a legal move here" in text


# --- Evaluation ----------------------------------------------------------------------------------------------


def test_evaluate_compare_replay(suite, tmp_path):
    a, b = tmp_path / "new" / "greedy.json", tmp_path / "new" / "random.json"
    text = canfield(
        "evaluate", "-p", "greedy", "-p", "random", "-s", suite, "--rules", "hoyle", "-j", 1, "-o", a, "-o", b
    )
    assert "4 deals of few, rules hoyle (draw 3), reward cards, seed 0" in text
    assert "greedy less random, paired" in text
    assert json.loads(a.read_text())["player"] == "greedy"
    assert "McNemar" in canfield("compare", a, b)
    assert "all 4 games come out" in canfield("replay", a)
    code = number_code(2, 3)
    shown = canfield("replay", b, "--code", code.lower(), "--show")
    assert f"{code}: comes out as" in shown
    assert shown.count("Canfield ·") == json.loads(b.read_text())["rows"][2]["steps"] + 1


def test_evaluate_a_shipped_suite_with_a_reward(tmp_path):
    path = tmp_path / "x.json"
    text = canfield(
        "evaluate", "--player", "random", "--suite", "draw1-dev", "--deals", 2, "--reward", "casino", "--jobs", 1,
        "--seed", 3, "--output", path,
    )  # fmt: skip
    assert "2 deals of draw1-dev, rules app,draw_count=1 (draw 1), reward casino, seed 3" in text
    assert json.loads(path.read_text())["rules"] == {"preset": "app", "draw_count": 1}
    assert "all 2 games" in canfield("replay", path)


def test_one_deal_is_not_compared():
    assert "paired" not in canfield(
        "evaluate", "-p", "greedy", "-p", "random", "-s", "draw3-dev", "-r", "hoyle", "--deals", 1
    )


GREEDY = ("evaluate", "-p", "greedy", "-s", "draw3-dev", "--deals", 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("deal", "CF1-D3-AAAA"), "its last part has 4 letters, but CF1 takes 7"),
        (("deal", CODE, "--rules", "app,draw_count=1"), "draws 3, but the rules say draw_count=1"),
        (("deal", CODE, "--rules", "apps"), "'apps' is not a rule set"),
        (("play", "CF9-D3-AAAAACL"), "this version knows the forms CF1 and CFX"),
        (("play", "--rules", "app,undo=3"), "'undo' is not a field"),
        (("evaluate", "-p", "greedy"), "Missing option"),
        (("evaluate", "-p", "greedy", "-s", "none"), "there is no suite 'none': the suites are draw1-dev"),
        (("evaluate", "-p", "greedy", "-s", "none.yaml"), "there is no suite file"),
        ((*GREEDY, "-p", "nobody"), "there is no player 'nobody': the players are random, greedy"),
        ((*GREEDY, "--reward", "money"), "reward is 'money'"),
        ((*GREEDY, "--rules", "app,draw_count=1"), "draws 3, but the rules say draw_count=1"),
        ((*GREEDY, "--deals", 1_001), "--deals is 1001, but the suite draw3-dev has 1000 deals"),
        ((*GREEDY, "-o", "a.json", "-o", "b.json"), "there are 1 players and 2 output files"),
        ((*GREEDY, "-p", "random", "-o", "a.json", "-o", "./a.json"), "two --output are the same file"),
        ((*GREEDY, "-o", "/"), "output / is a folder"),
        (("compare", "none.json", "none.json"), "none.json: No such file"),
        (("compare", __file__, __file__), "Invalid JSON"),
        (("replay", "none.json"), "none.json: No such file"),
        (("bench", "--steps", 0), "Invalid value for '--steps'"),
        (("dael",), "No such command"),
    ],
)
def test_bad_input(arguments, message):
    text = canfield(*arguments, exit_code=2)
    assert message in " ".join(text.replace("│", " ").split())
    assert "Traceback" not in text


def test_replay_says_what_differs(suite, tmp_path):
    path = tmp_path / "x.json"
    canfield("evaluate", "-p", "random", "-s", suite, "-j", 1, "-o", path)
    data = json.loads(path.read_text())
    data["rows"][1]["score"] += 5
    path.write_text(json.dumps(data))
    assert f"{number_code(1, 3)}: score is" in canfield("replay", path, exit_code=2)
    assert "comes out as" in canfield("replay", path, "--code", number_code(0, 3))
    assert "holds no game of the deal" in canfield("replay", path, "--code", CODE, exit_code=2)


# --- Speed ---------------------------------------------------------------------------------------------------


def test_bench():
    text = canfield("bench", "--steps", 300, "--repeats", 2)
    assert "CartPole-v1" in text
    assert "times the steps of" in text
    with pytest.raises(ValueError, match="repeats is 0"):
        measure({}, repeats=0)


def test_bench_of_the_vector_environment():
    steps, seconds = vector_run(8, seconds=0.01)()
    given, fewer_seconds = vector_run(8, draw=False, seconds=0.01)()
    assert steps % 8 == given % 8 == 0 and min(steps, given, seconds, fewer_seconds) > 0
    assert on_one_core(lambda: [speed.name for speed in measure({"a": lambda: (2, 0.5)}, 2)]) == ["a"]


def test_bench_plays_the_episodes_it_recorded():
    import gymnasium as gym

    env = gym.make("Canfield-v0", disable_env_checker=True)
    episodes = record(env, 2_500, 1)
    assert sum(len(actions) for _, actions in episodes) == 2_500
    assert [seed for seed, _ in episodes] == list(range(1, 1 + len(episodes)))
    for seed, actions in episodes:
        env.reset(seed=seed)
        assert not any(env.step(action)[-1]["illegal_action"] for action in actions)


# --- The table in the browser ------------------------------------------------------------------------------


def test_serve_says_what_is_wrong(monkeypatch):
    monkeypatch.setattr(players, "PLAYERS", dict(players.PLAYERS))  # serve adds those of agents
    pytest.importorskip("fastapi", reason="the extra web is not installed")
    assert "there is no player 'nobody'" in canfield("serve", "--player", "nobody", exit_code=2)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        text = canfield("serve", "--port", taken.getsockname()[1], exit_code=2)
    assert "Address already in use" in text or os.name != "posix"


def test_serve_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert 'serve needs uvicorn: pip install "canfield-env[web]"' in canfield("serve", exit_code=2)


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_serve_until_ctrl_c():
    pytest.importorskip("fastapi", reason="the extra web is not installed")
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "canfield_env.cli", "serve", "--port", "0"], cwd=ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        line = running.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/", line)[0]
        with urllib.request.urlopen(f"{address}api/options", timeout=30) as answer:
            assert json.load(answer)["players"] == ["greedy", "random"]
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=30)
    assert "Traceback" not in errors


# --- Real processes ------------------------------------------------------------------------------------------

COMMAND = [sys.executable, "-m", "canfield_env.cli"]


def test_the_command_itself(tmp_path):
    shown = subprocess.run([*COMMAND, "deal", CODE], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Q♣ (13)" in shown.stdout
    piped = subprocess.run([*COMMAND, "play", CODE], input="D\n", capture_output=True, text=True, cwd=ROOT, check=False)
    assert (piped.returncode, piped.stderr) == (0, "")
    wrong = subprocess.run([*COMMAND, "deal", "X"], capture_output=True, text=True, cwd=ROOT, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("Error: code 'X' has 1 parts")


@pytest.mark.skipif(os.name != "posix", reason="process groups and their signals are POSIX's")
def test_ctrl_c_leaves_no_file_and_no_traceback(tmp_path):
    (tmp_path / "sleepy.py").write_text(
        "import time\n"
        "from canfield_env.players import RandomPlayer\n"
        "class Sleepy(RandomPlayer):\n"
        "    def begin(self, rules, seed):\n"
        "        super().begin(rules, seed)\n"
        "        open(f'began-{seed}', 'w').close()\n"
        "        time.sleep(0.5)\n"
    )
    arguments = ["evaluate", "-p", "sleepy:Sleepy", "-s", "draw3-dev", "--deals", "8", "-j", "2", "-o", "out.json"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    running = subprocess.Popen(
        [*COMMAND, *arguments], cwd=tmp_path, env=environment, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("began-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to every process
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert errors == "Interrupted.\n"
    assert not list(tmp_path.glob("*out.json*"))
