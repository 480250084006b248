"""Evaluation: games, result files, statistics, pairing and replay."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

from canfield_env import IllegalMoveError, Rules
from canfield_env import results as results_module
from canfield_env.deals import number_code
from canfield_env.evaluation import PlayerError, ReplayError, check_result, evaluate, game_seed, replay
from canfield_env.players import GreedyPlayer, RandomPlayer
from canfield_env.results import (
    Row,
    casino_dollars,
    compare,
    mcnemar_p,
    mean_interval,
    paired_rate_interval,
    read_result,
    summarize,
    wilson_interval,
    write_result,
)

CODES = [number_code(1_000 + k, 3) for k in range(6)]


def without_seconds(result):
    data = result.model_dump(by_alias=True)
    for part in (data["summary"], *data["rows"]):
        del part["seconds"]
    return data


def made_row(code, won=False, cards=10, **changes):
    cards = 52 if won else cards
    row = {"code": code, "won": won, "foundation_cards": cards, "return": 5.0 * (cards - 1), "score": 5 * (cards - 1)}
    return Row.model_validate(row | {"steps": 1, "seconds": 0.5, "actions": (0,)} | changes)


@pytest.fixture(scope="module")
def result():
    return evaluate("random", CODES, suite="mine", seed=7)


# --- Playing -------------------------------------------------------------------------------------------------


def test_rows_and_summary(result):
    assert result.codes == tuple(CODES)
    assert (result.player, result.rules, result.suite, result.seed) == ("random", "app", "mine", 7)
    assert set(result.versions) == {"python", "canfield-env", "gymnasium", "numba", "numpy"}
    for row in result.rows:
        assert row.steps == len(row.actions) > 0
        assert row.return_ == 5 * (row.foundation_cards - 1)
        assert row.seconds > 0
    assert result.summary == summarize(result.rows, Rules())
    assert result.summary.foundation_cards == pytest.approx(np.mean([row.foundation_cards for row in result.rows]))
    assert result.summary.dollars == pytest.approx(5 * result.summary.foundation_cards - 50)  # no game was won


def test_jobs_change_nothing(result):
    games = []
    again = evaluate("random", CODES, suite="mine", seed=7, jobs=2, progress=games.append)
    assert without_seconds(again) == without_seconds(result)
    assert sum(games) == len(CODES)


def test_seed_and_place_decide_the_chance(result):
    other = evaluate("random", CODES[:2], seed=8)
    assert other.rows[0].actions != result.rows[0].actions
    twice = evaluate("random", [CODES[0], CODES[0]], seed=7)
    assert twice.rows[0].actions == result.rows[0].actions != twice.rows[1].actions
    assert len({game_seed(seed, index) for seed in range(10) for index in range(10)}) == 100


@pytest.mark.parametrize("rules", ["app", "hoyle", "andr", "app,draw_count=1,max_redeals=2"])
@pytest.mark.parametrize("reward", ["cards", "casino", "win"])
def test_every_rule_set_replays(rules, reward):
    read = Rules.read(rules)
    found = evaluate("greedy", [number_code(5, read.draw_count)], rules, reward=reward)
    assert Rules.read(found.rules) == read
    check_result(found)


def test_code_decides_the_draw():
    code = number_code(5, 1)
    assert Rules.read(evaluate("greedy", [code], "hoyle").rules) == Rules.preset("hoyle", draw_count=1)
    with pytest.raises(ValueError, match="CF1-D1-AAAAAAF draws 1, but the rules say draw_count=3"):
        evaluate("greedy", [code], "app,draw_count=3")


class Together(GreedyPlayer):
    """The greedy player, in the form for networks."""

    def begin(self, rules, seed):
        self.sizes = []

    def act_batch(self, observations, masks):
        assert masks.dtype == bool and masks.shape == (len(observations), 95)
        self.sizes.append(len(observations))
        return np.array([GreedyPlayer.act(self, *both) for both in zip(observations, masks)])

    def act(self, observation, mask):
        raise AssertionError("never asked")


def test_a_batch_plays_the_same_games():
    player, games = Together(), []
    batch = evaluate(player, CODES, "hoyle", jobs=2, progress=games.append)
    single = evaluate("greedy", CODES, "hoyle")
    assert batch.player == "test_evaluation:Together"
    assert without_seconds(batch)["rows"] == without_seconds(single)["rows"]
    assert player.sizes[0] == len(CODES) and player.sizes[-1] < len(CODES)
    assert len(player.sizes) == max(row.steps for row in single.rows)
    assert sum(games) == len(CODES)


def test_a_player_is_given_the_tier_it_asks_for():
    seen = {}

    class Looker(RandomPlayer):
        def act(self, observation, mask):
            seen.setdefault(self.observation, observation)
            return super().act(observation, mask)

    for tier in ("screen", "recall", "thoughtful"):
        Looker.observation = tier
        evaluate(Looker(), CODES[:1], "hoyle")
    assert np.count_nonzero(seen["thoughtful"][:52]) == 52
    assert np.count_nonzero(seen["recall"][:52]) == 6


class Stubborn(RandomPlayer):
    def __init__(self, action):
        self.action = action

    def act(self, observation, mask):
        return self.action


@pytest.mark.parametrize("action", [94, 95, -1, 0.0, None])
def test_an_illegal_action_is_an_error(action):
    with pytest.raises(IllegalMoveError, match=rf"Stubborn' chose {action!r}, .* after 0 steps of {CODES[0]}"):
        evaluate(Stubborn(action), CODES[:1])


def test_what_fails_in_a_player_is_named():
    class Broken(RandomPlayer):
        def act(self, observation, mask):
            raise ValueError("oops")

    with pytest.raises(PlayerError, match=rf"Broken' failed in {CODES[0]}: ValueError\('oops'\)"):
        evaluate(Broken(), CODES[:1])

    class Refusing(RandomPlayer):
        def begin(self, rules, seed):
            raise ValueError("made for hoyle")

    with pytest.raises(ValueError, match="made for hoyle"):
        evaluate(Refusing(), CODES[:1])


def test_a_batch_of_the_wrong_shape_is_an_error():
    class Short(Together):
        def act_batch(self, observations, masks):
            return np.zeros(1, int)

    with pytest.raises(ValueError, match=r"act_batch gave int64 of shape \(1,\), but must give 2 integers"):
        evaluate(Short(), CODES[:2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"codes": []}, "a list of one deal code or more"),
        ({"codes": CODES[0]}, "a list of one deal code or more"),
        ({"codes": [CODES[0], number_code(1, 1)]}, "all of one draw"),
        ({"codes": ["CF1-D3-"]}, "has 0 letters"),
        ({"rules": "apps"}, "'apps' is not a rule set"),
        ({"player": "nobody"}, "no player 'nobody'"),
        ({"reward": "money"}, "reward is 'money'"),
        ({"seed": -1}, "seed is -1"),
        ({"jobs": 0}, "jobs is 0"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        evaluate(**{"player": "greedy", "codes": CODES, "jobs": 2} | arguments)


# --- Files ---------------------------------------------------------------------------------------------------


def test_file_round_trip(result, tmp_path):
    path = tmp_path / "result.json"
    write_result(result, path)
    assert read_result(path) == result
    data = json.loads(path.read_text())
    assert list(data) == ["player", "rules", "reward", "suite", "versions", "seed", "summary", "rows"]
    assert list(data["rows"][0]) == [
        "code", "won", "foundation_cards", "return", "score", "steps", "seconds", "actions",
    ]  # fmt: skip
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.json"]


def test_a_broken_off_write_leaves_the_old_file(result, tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    path.write_text("old")

    def interrupt(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(results_module.Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_result(result, path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.json"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.update(extra=1), "extra: there is no such key"),
        (lambda data: data.pop("seed"), "seed: it is missing"),
        (lambda data: data.update(rows=[]), "rows: Tuple should have at least 1 item"),
        (lambda data: data.update(rules="apps"), "'apps' is not a rule set"),
        (lambda data: data["rows"][2].update(won="no"), r"rows\[2\].won: .*valid boolean \(it is 'no'\)"),
        (lambda data: data["rows"][1]["actions"].__setitem__(3, 95), r"rows\[1\].actions\[3\]: .* \(it is 95\)"),
        (lambda data: data["rows"][1].update(steps=3), r"rows\[1\]: .* steps is 3, but there are \d+ actions"),
        (lambda data: data["rows"][0].update(won=True), r"rows\[0\]: .* won is True, but foundation_cards is \d+"),
        (lambda data: data["rows"][0].update(code="CF1-D1-AAAAACL"), "CF1-D1-AAAAACL was not played under rules that"),
        (lambda data: data["rows"][0].update(code="CF1"), "code 'CF1' has"),
        (lambda data: data["rows"][0].update(score=math.nan), r"rows\[0\].score"),
    ],
)
def test_a_bad_file_is_named(result, tmp_path, change, message):
    path = tmp_path / "result.json"
    write_result(result, path)
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=rf"result file .*result\.json: {message}"):
        read_result(path)


def test_no_json(tmp_path):
    (tmp_path / "x.json").write_text("rows:")
    with pytest.raises(ValueError, match="Invalid JSON"):
        read_result(tmp_path / "x.json")


# --- Statistics ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("wins", "deals"), [(0, 10), (1, 1), (3, 10), (10, 10), (35, 1_000)])
def test_wilson(wins, deals):
    expected = stats.binomtest(wins, deals).proportion_ci(0.95, method="wilson")
    assert wilson_interval(wins, deals) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("only_a", "only_b"), [(0, 0), (1, 0), (0, 5), (7, 7), (12, 30), (600, 500)])
def test_mcnemar(only_a, only_b):
    expected = stats.binomtest(only_a, only_a + only_b, 0.5).pvalue if only_a + only_b else 1
    assert mcnemar_p(only_a, only_b) == pytest.approx(expected, abs=1e-12)


def test_mean_interval():
    values = [1.0, 2.0, 4.0, 8.0]
    mean, interval = mean_interval(values)
    assert mean == 3.75
    assert interval == pytest.approx(stats.norm.interval(0.95, 3.75, stats.sem(values)))


def test_paired_rate_interval():
    # Wald's interval of the values +1, -1 and 0 once half a deal is added to each of the four cells.
    cells = {1: 12.5, -1: 5.5, 0: 84}
    mean = sum(value * count for value, count in cells.items()) / 102
    spread = math.sqrt(sum(count * (value - mean) ** 2 for value, count in cells.items()) / 102 / 102)
    assert paired_rate_interval(12, 5, 100) == pytest.approx(stats.norm.interval(0.95, mean, spread))
    low, high = paired_rate_interval(5, 12, 100)
    assert paired_rate_interval(12, 5, 100) == pytest.approx((-high, -low))
    assert paired_rate_interval(0, 0, 2)[0] < 0 < paired_rate_interval(0, 0, 2)[1]
    assert paired_rate_interval(2, 0, 2)[1] <= 1


def test_the_paired_interval_covers():
    """Of the intervals of many small samples, about 95 % hold the true difference."""
    rng = np.random.default_rng(1)
    splits = rng.multinomial(60, [0.10, 0.04, 0.86], size=2_000).tolist()
    held = [low <= 0.06 <= high for low, high in (paired_rate_interval(b, c, 60) for b, c, _ in splits)]
    assert 0.93 < np.mean(held) < 0.99


@pytest.mark.parametrize(("cards", "dollars"), [(1, -45), (10, 0), (51, 205), (52, 450)])
def test_casino_dollars(cards, dollars):
    assert casino_dollars(Rules(), cards) == dollars
    assert casino_dollars(Rules(deck_price=52), cards) == dollars - 2


# --- Comparing -----------------------------------------------------------------------------------------------


def made_result(result, rows, **changes):
    return result.model_copy(update={"rows": tuple(rows), **changes})


def test_compare(result):
    a = made_result(result, [made_row(code, won=k < 3) for k, code in enumerate(CODES)])
    b = made_result(result, [made_row(code, won=k in (2, 3), cards=8) for k, code in enumerate(CODES)])
    found = compare(a, b)
    assert (found.deals, found.both, found.only_a, found.only_b, found.neither) == (6, 1, 2, 1, 2)
    assert found.win_rate == pytest.approx(1 / 6)
    assert found.p_value == 1.0
    differences = [52 - 8, 52 - 8, 0, 10 - 52, 2, 2]
    assert found.foundation_cards == mean_interval(differences)
    assert found.returns == mean_interval([5.0 * difference for difference in differences])


def test_what_cannot_be_paired(result):
    rows = list(result.rows)
    for other, message in (
        (made_result(result, rows[1:]), "the number of deals is 6 in one and 5"),
        (made_result(result, rows[::-1]), f"deal 1 is {CODES[0]} in one and {CODES[5]}"),
        (made_result(result, rows, rules="hoyle"), r"the rules is app \(draw 3\) in one and hoyle \(draw 3\)"),
        (made_result(result, rows, reward="win"), "the reward is cards in one and win"),
    ):
        with pytest.raises(ValueError, match=f"cannot be paired: {message}"):
            compare(result, other)
    one = made_result(result, rows[:1])
    with pytest.raises(ValueError, match="takes two deals or more"):
        compare(one, one)


# --- Replaying -----------------------------------------------------------------------------------------------


def changed(row, **changes):
    return Row.model_validate(row.model_dump(by_alias=True) | changes)


def test_replay(result):
    check_result(result)
    boards = []
    row = result.rows[0]
    replay(row, "app", show=boards.append)
    assert len(boards) == row.steps + 1
    assert boards[0].startswith(f"Canfield · {CODES[0]}")
    assert boards[1].startswith("\n1. ")


def test_replay_names_what_differs(result):
    row = result.rows[0]
    for other, message in (
        (changed(row, score=row.score + 5), rf"score is {row.score + 5} in the row, but {row.score} in the replay"),
        (changed(row, **{"return": row.return_ + 5}), "return is"),
        (changed(row, foundation_cards=row.foundation_cards + 1), "foundation_cards is"),
        (changed(row, won=True, foundation_cards=52), "won is True in the row, but False in the replay"),
        (changed(row, actions=row.actions[:-1], steps=row.steps - 1), "the game is not over"),
        (changed(row, actions=(*row.actions, 0), steps=row.steps + 1), f"ends after {row.steps} steps"),
        (changed(row, actions=(94, *row.actions[1:])), "action 94, step 1, is not legal there"),
    ):
        with pytest.raises(ReplayError, match=rf"{row.code}: .*{message}"):
            replay(other, result.rules, result.reward)


def test_a_wrong_summary_is_found(result):
    wrong = result.model_copy(update={"summary": result.summary.model_copy(update={"score": 1.0})})
    with pytest.raises(ReplayError, match=r"summary: score is 1\.0, but its rows give"):
        check_result(wrong)
