"""The solver: its contract, its verdicts against a search over the reference engine, its lines, limits and players."""

import json
import random
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from canfield_env import Deal, DealCodeError, Game, Position, Rules, solve
from canfield_env.solve_cli import solve_command, winnability_command
from canfield_env.solver_bench import measure
from canfield_env.solver_player import SolverPlayer, position_of
from canfield_env.verdicts import _write, add_verdicts
from canfield_env.winnability import Share, survey, wilson
from solver_tools import brute_force, endgames

LITERATURE = "app,build_past_base=false,take_back=false"


def play(position, moves):
    game = Game.from_position(position)
    for move in moves:
        game.play(move)
    return game


# --- Verdicts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_verdicts_are_those_of_visiting_everything_with_the_reference_engine(seed):
    found = {"won": 0, "unwinnable": 0, None: 0}
    for data, rules, position in endgames(seed, 200, 16):
        expected = brute_force(data, rules, 300)
        found[expected] += 1
        if expected is not None:
            assert solve(position, max_nodes=300_000).verdict == expected, str(position)
    assert found["won"] > 100
    assert found["unwinnable"] >= 5


@pytest.mark.parametrize(
    "rules", ["app", "hoyle", "andr", "app,draw_count=1", LITERATURE, "app,draw_count=1,max_redeals=20"]
)
def test_lines_are_played_to_a_win_by_a_game(rules):
    won = 0
    for number in range(5, 15):
        deal = Deal.from_number(number)
        found = solve(deal, rules, max_nodes=20_000)
        assert found.verdict in ("won", "unwinnable", "unknown")
        assert bool(found.moves) == (found.verdict == "won")
        if found.verdict == "won":
            won += 1
            game = Game(deal, rules)
            for move in found.moves:
                game.play(move)
            assert game.won
    assert won > 0


def test_the_published_deal_is_won_from_the_deal_and_after_its_three_moves():
    assert solve("CF1-D3-AAAAACL", "app").verdict == "won"
    game = Game.from_code("CF1-D3-AAAAACL")
    for move in ("R>T2", "R>F", "T2>T4"):
        game.play(move)
    found = solve(game.position())
    assert found.verdict == "won"
    assert play(game.position(), found.moves).won


def test_what_a_deal_is_given_as_makes_no_difference():
    deal = Deal.from_code("CF1-D1-AAAAAFZ")
    position = Game(deal).position()
    found = [solve(what) for what in (deal, "CF1-D1-AAAAAFZ", position, position.to_dict())]
    assert {(each.verdict, each.moves, each.nodes) for each in found} == {
        (found[0].verdict, found[0].moves, found[0].nodes)
    }


def test_a_won_position_needs_no_moves():
    position = Position(Rules(), 3, (13, 13, 13, 13), (), ((), (), (), ()), (), ())
    found = solve(position)
    assert (found.verdict, found.moves) == ("won", ())


def test_what_is_lifted_at_once_can_be_the_whole_line():
    position = Position(Rules(), 0, (13, 13, 13, 12), (), ((51,), (), (), ()), (), ())
    assert [str(move) for move in solve(position).moves] == ["T1>F"]


def test_all_cards_may_be_in_the_columns():
    """With take-backs no foundation, reserve or talon card is left here: the key of such a position is a key too."""
    run = [suit * 13 + 12 - k % 13 for k in range(26) for suit in [3 * (k // 13) if k % 2 == 0 else 1 + k // 13]]
    rest = [card for card in range(52) if card not in run]
    other = [card for k in range(26) for card in rest if card % 13 == 12 - k % 13 and (13 <= card < 39) == (k % 2 == 1)]
    position = Position(Rules(), 0, (0, 0, 0, 0), (), (tuple(run), tuple(dict.fromkeys(other)), (), ()), (), ())
    found = solve(position, max_nodes=500_000)
    assert found.verdict == "won"


# --- Errors and limits --------------------------------------------------------------------------------------


def test_errors_name_what_is_wrong():
    with pytest.raises(DealCodeError):
        solve("CF1-D3-AAAAAC")
    with pytest.raises(ValueError, match="draws 3"):
        solve("CF1-D3-AAAAACL", "app,draw_count=1")
    with pytest.raises(ValueError, match="the position's rules are app, not hoyle"):
        solve(Game.from_code("CF1-D3-AAAAACL").position(), "hoyle")


@pytest.mark.parametrize(
    ("limits", "reason"),
    [({"max_nodes": 5_000}, "nodes"), ({"max_seconds": 0.0}, "seconds"), ({"table_megabytes": 1}, "memory")],
)
def test_a_limit_gives_unknown_and_says_which(limits, reason):
    found = solve(Deal.from_number(1047), LITERATURE, **limits)
    assert (found.verdict, found.reason, found.moves) == ("unknown", reason, ())
    if reason == "nodes":
        assert found.nodes <= 5_000 + 256


def test_a_small_table_never_gives_another_verdict():
    for number in range(40, 60):
        small = solve(Deal.from_number(number), LITERATURE, table_megabytes=1, max_nodes=300_000)
        large = solve(Deal.from_number(number), LITERATURE, max_nodes=300_000)
        assert small.verdict in ("unknown", large.verdict)


def test_the_same_call_finds_the_same():
    first, second = (solve(Deal.from_number(8), "app", max_nodes=50_000) for _ in range(2))
    assert (first.verdict, first.moves, first.nodes) == (second.verdict, second.moves, second.nodes)


# --- Commands -----------------------------------------------------------------------------------------------

app = typer.Typer()
app.command("solve")(solve_command)
app.command("winnability")(winnability_command)


def run(*arguments, **settings):
    return CliRunner().invoke(app, arguments, **settings)


def test_solve_command_on_code_file_and_input(tmp_path):
    result = run("solve", "CF1-D3-AAAAACL", "--json")
    data = json.loads(result.output)
    assert result.exit_code == 0
    assert data["verdict"] == "won"
    position = Game.from_code("CF1-D3-AAAAACL").position()
    assert play(position, data["moves"]).won
    (tmp_path / "position.json").write_text(json.dumps(position.to_dict()))
    assert json.loads(run("solve", str(tmp_path / "position.json"), "--json").output)["moves"] == data["moves"]
    assert run("solve", "-", input=str(position)).output.startswith("won: rules app, ")


def test_solve_command_ends_with_1_where_it_stays_unknown():
    result = run("solve", Deal.from_number(1047).code(), "-r", LITERATURE, "--max-nodes", "5000")
    assert result.exit_code == 1
    assert result.output.startswith("unknown (the limit on nodes came first)")


def test_winnability_goes_on_where_it_was_broken_off(tmp_path):
    file = tmp_path / "rows.jsonl"
    options = ("winnability", "-r", "app", "-o", str(file), "--max-nodes", "20000", "--max-seconds", "0")
    assert run(*options, "--deals", "6").exit_code == 0
    lines = file.read_text().splitlines()
    assert len(lines) == 6
    file.write_text("\n".join(lines[:4]) + "\n" + lines[4][:30])  # killed while it wrote the fifth
    result = run(*options, "--deals", "7")
    assert "7 won" in result.output or " of 7 won" in result.output
    again = file.read_text().splitlines()
    assert again[:4] == lines[:4]
    assert sorted(json.loads(line)["code"] for line in again) == [Deal.from_number(k).code() for k in range(7)]
    file.write_text("nonsense\n" + "\n".join(lines) + "\n")
    with pytest.raises(ValueError, match="line 1"):
        survey([json.loads(lines[0])["code"]], Rules(), file)


def test_share_counts_unknowns_both_ways():
    share = Share.of(["won"] * 70 + ["unknown"] * 10 + ["unwinnable"] * 20)
    assert (share.won, share.unwinnable, share.unknown) == (70, 20, 10)
    assert share.low == wilson(70, 100)[0]
    assert share.high == wilson(80, 100)[1]
    assert wilson(50, 100) == pytest.approx((0.4038, 0.5962), abs=1e-4)


def test_verdicts_are_written_into_a_suite(tmp_path):
    yaml = pytest.importorskip("yaml")
    path = tmp_path / "few.yaml"
    path.write_text("# Written by hand.\nname: few\ncodes:\n- CF1-D3-AAAAACL\n- CF1-D3-AAAAACM\n")
    data = yaml.safe_load(path.read_text())
    add_verdicts(data, "app", max_nodes=100_000)
    add_verdicts(data, "app,take_back=false", max_nodes=1)
    _write(path, data)
    assert path.read_text().startswith("# Written by hand.\nname: few\n")
    read = yaml.safe_load(path.read_text())
    assert read["codes"] == data["codes"]
    assert read["verdicts"]["app"][0] == "won"
    assert read["verdicts"]["app,take_back=false"] == ["unknown", "unknown"]


# --- The player ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["app", "hoyle", "andr,draw_count=1"])
def test_the_player_reads_positions_from_observations(rules):
    env = gym.make("Canfield-v0", rules=rules, observation="thoughtful", draw_count=Rules.read(rules).draw_count)
    dice = random.Random(1)
    observation, info = env.reset(seed=3)
    for _ in range(150):
        position = env.unwrapped.position()
        assert position_of(observation, position.rules) == position
        observation, _, terminated, truncated, info = env.step(
            dice.choice(np.flatnonzero(info["action_mask"]).tolist())
        )
        if terminated or truncated:
            break


def test_the_player_wins_what_the_solver_wins():
    env = gym.make("Canfield-v0", observation="thoughtful")
    player = SolverPlayer(20_000)
    for number in (3, 75):
        deal = Deal.from_number(number)
        observation, info = env.reset(options={"deal": deal})
        player.begin(Rules(), 0)
        done = False
        while not done:
            action = player.act(observation, info["action_mask"].astype(bool))
            assert info["action_mask"][action]
            observation, _, terminated, truncated, info = env.step(action)
            done = terminated or truncated
        assert info["is_success"] == (solve(deal, "app", max_nodes=20_000).verdict == "won")


def test_the_search_is_compiled_only_where_it_is_used():
    code = (
        "import sys, canfield_env; canfield_env.Game.from_code('CF1-D3-AAAAACL'); name = 'canfield_env.kernel.solve'; "
        "print(name in sys.modules); canfield_env.solve; print(name in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "False\nTrue\n"


def test_speed_is_measured_on_fixed_deals():
    speed = measure("app,draw_count=1", deals=2)
    assert speed.deals == 2
    assert speed.nodes_per_second > 0
    assert speed.decided[10.0] == 1
    with pytest.raises(ValueError, match="deals is 0"):
        measure(deals=0)
