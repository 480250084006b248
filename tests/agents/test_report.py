"""The report: one file that holds everything, and shows it from disk."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("fastapi", reason="the extra web is not installed")

from agents.report import app, frames, report
from canfield_env.evaluation import evaluate
from canfield_env.results import Result, write_result
from canfield_env.rules import Rules
from canfield_env.suites import load_suite

CODES = load_suite("draw1-dev").codes[:12]


@pytest.fixture(scope="module")
def results() -> list[Result]:
    return [evaluate(player, CODES) for player in ("greedy", "random")]


def test_it_holds_what_the_results_say(results: list[Result]) -> None:
    text = report(results, replays=1)
    wins = results[0].summary.wins
    assert f"<td>{wins} of 12</td>" in text
    assert "greedy less random" in text
    assert text.count('class="chart"') == 2
    data = json.loads(re.search(r"const data = (.*);\n", text)[1])  # type: ignore[index]
    assert data["players"] == ["greedy", "random"]
    assert [deal["code"] for deal in data["deals"]] == list(CODES)
    row = results[0].rows[3]
    assert data["deals"][3]["rows"][0] == [int(row.won), row.foundation_cards, row.score, row.steps]
    assert [len(deal["replays"]) for deal in data["deals"]] == [2, *[0] * 11]


def test_nothing_is_loaded_from_elsewhere_and_nothing_slips_into_the_page(results: list[Result]) -> None:
    evil = results[0].model_copy(update={"player": '</script><script>alert("x")</script>'})
    text = report([evil, results[1]], replays=0)
    assert "<script>alert" not in text
    assert text.count("<script") == 1
    assert not re.search(r'(src|href)="(?!#)', text)
    assert not re.search(r"(?m)^(import|export) ", text)


def test_frames_give_the_game_step_by_step(results: list[Result]) -> None:
    row = results[0].rows[0]
    shown = frames(row, Rules.read(results[0].rules), "cards")
    assert len(shown) == row.steps + 1
    table = {}
    for changes in shown:
        table |= changes
    assert (table["foundation_cards"], table["score"]) == (row.foundation_cards, row.score)


def test_results_of_other_deals_are_refused(results: list[Result]) -> None:
    with pytest.raises(ValueError, match="did not play the same deals"):
        report([results[0], evaluate("greedy", CODES[:5])])
    assert "are needed for a comparison" in report(results[:1])


def test_command(results: list[Result], tmp_path: Path) -> None:
    files = [str(tmp_path / f"{result.player}.json") for result in results]
    for result, file in zip(results, files, strict=True):
        write_result(result, file)
    out = tmp_path / "report.html"
    done = CliRunner().invoke(app, [*files, "--output", str(out), "--replays", "0"])
    assert done.exit_code == 0, done.output
    assert "2 players, 12 deals" in done.output
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert CliRunner().invoke(app, [str(tmp_path / "none.json")]).exit_code == 2


@pytest.mark.filterwarnings("default")
def test_replays_play_from_disk(results: list[Result], tmp_path: Path) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    browser = os.environ.get("CANFIELD_CHROMIUM") or shutil.which("chromium")
    if browser is None:
        pytest.skip("no Chromium is installed")
    path = tmp_path / "report.html"
    path.write_text(report(results, replays=2), encoding="utf-8")
    errors: list[str] = []
    with sync_api.sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        chromium = playwright.chromium.launch(executable_path=browser, args=flags)
        page = chromium.new_page(viewport={"width": 1100, "height": 900})
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(path.as_uri())
        assert page.locator("#deals tbody tr").count() == 12
        page.select_option("#filter", "lost")
        lost = sum(not (a.won or b.won) for a, b in zip(results[0].rows, results[1].rows, strict=True))
        assert page.locator("#deals tbody tr").count() == lost
        page.select_option("#filter", "all")
        page.locator("#deals button").first.click()
        page.click("#next")
        row = results[0].rows[0]
        assert page.get_attribute("#table", "data-revision") == "step 1"
        page.fill("#step", str(row.steps))
        assert f"{row.foundation_cards} of 52 cards" in (page.text_content("#said") or "")
        assert page.locator("#table .card").first.bounding_box()["width"] >= 90
        chromium.close()
    assert errors == []
