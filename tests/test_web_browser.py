"""The table in a real browser, used as a person uses it. Skipped, with the reason, where there is no Chromium."""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
import time

import pytest

from canfield_env import Game
from canfield_env.evaluation import evaluate
from canfield_env.results import write_result
from helpers import PUBLISHED_CODE, published_winning_line

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
uvicorn = pytest.importorskip("uvicorn", reason="the extra web is not installed")
pytest.importorskip("fastapi", reason="the extra web is not installed")

from canfield_env.web.server import Settings, create_app, warm_up  # noqa: E402

BROWSER = os.environ.get("CANFIELD_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed (Debian: apt-get install chromium)"),
    pytest.mark.filterwarnings("default"),  # what Playwright and uvicorn warn of is not ours
]

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
WIDE, PHONE = {"width": 1200, "height": 800}, {"width": 360, "height": 720}
NARROW_AND_SHORT = {"width": 320, "height": 480}


class Server:
    """The server on a free port, in a thread."""

    def __init__(self, **settings):
        self.app = create_app(Settings(**settings))
        config = uvicorn.Config(self.app, port=0, log_level="warning", ws="none", lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        deadline = time.monotonic() + 30
        while not self._server.started:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        self.url = f"http://127.0.0.1:{self._server.servers[0].sockets[0].getsockname()[1]}/"

    def stop(self):
        self._server.should_exit = True
        self._thread.join(10)


@pytest.fixture(scope="module")
def site():
    warm_up()  # compiling the rules takes longer than a page waits
    server = Server()
    yield server.url
    server.stop()


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, site):
    """Opens pages; every error that a page reports fails the test."""
    contexts, errors = [], []

    def open_one(address="", context=None, viewport=WIDE, **settings):
        if context is None:
            context = browser.new_context(viewport=viewport, reduced_motion="reduce", **settings)
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(site + address)
        page.wait_for_selector("#table[data-revision]")
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert errors == []


def revision(page):
    return int(page.get_attribute("#table", "data-revision"))


def after(page, act):
    """Do something that changes the game, and wait until the table shows it."""
    following = revision(page) + 1
    act()
    page.wait_for_selector(f'#table[data-revision="{following}"]')


def handle(page, card):
    """Where to take hold of a card: its upper left corner, which other cards leave free."""
    box = page.locator(f"#card-{card}").bounding_box()
    return box["x"] + 9, box["y"] + 5


def tap(page, card):
    if card == "stock":
        page.click("#stock")
    else:
        page.mouse.click(*handle(page, card))


def drag(page, card, target):
    """Drag a card to a pile: the places of the piles are those of their empty slots, in the order of the page."""
    x, y = handle(page, card)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 8, y + 8)
    halo = page.locator(f'.halo[data-target="{target}"]')
    lit = halo.bounding_box()
    page.mouse.move(lit["x"] + 9, lit["y"] + 5, steps=2)
    assert "near" in halo.get_attribute("class")
    page.mouse.up()


def reads(page, element, *, exact=None, part="", start="", end="", timeout=10_000):
    """Wait until an element has this text, this part, or this start or end. (``wait_for_function`` would need the
    page to allow ``eval``, which its content security policy does not.)"""
    form = re.escape(exact) if exact is not None else f"{re.escape(start)}.*{re.escape(part)}.*{re.escape(end)}"
    sync_api.expect(page.locator(f"#{element}")).to_have_text(re.compile(f"^{form}$", re.DOTALL), timeout=timeout)


def said(page):
    return page.text_content("#message")


def columns(page):
    """The table in words, as a screen reader finds it."""
    return page.text_content("#speech")


# --- Playing -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_whole_game_by_tapping_and_dragging(open_page):
    page = open_page(f"?code={PUBLISHED_CODE}")
    game = Game.from_code(PUBLISHED_CODE)
    taps = drags = 0
    for text in published_winning_line():
        before = Game.from_position(game.position())
        drags_now = before.drags()
        move = game.play(text)
        if text == "D":
            after(page, lambda: tap(page, "stock"))
            continue
        card = next(card for card, moves in drags_now.items() if str(move) in map(str, moves.values()))
        if taps <= 2 * drags and str(before.tap(card)) == str(move):
            after(page, lambda card=card: tap(page, card))
            taps += 1
        else:
            after(page, lambda card=card, move=move: drag(page, card, move.target))
            drags += 1
    assert taps > 20
    assert drags > 10
    assert page.text_content("#foundation-cards") == "52 of 52"
    assert page.text_content("#score") == str(game.score)
    assert page.is_visible("#win-dialog")
    assert f"All 52 cards in {len(game.moves)} moves" in page.text_content("#win-text")
    page.click("#win-again")
    page.wait_for_selector("#card-QC")
    assert (revision(page), page.text_content("#foundation-cards")) == (0, "1 of 52")
    assert not page.is_visible("#win-dialog")


def test_targets_are_lit_and_a_drag_elsewhere_goes_back(open_page):
    page = open_page(f"?code={PUBLISHED_CODE}")
    x, y = handle(page, "QC")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 200, steps=3)
    assert [halo.get_attribute("data-target") for halo in page.locator(".halo").all()] == ["T2"]
    page.mouse.up()
    assert page.locator(".halo").count() == 0
    assert handle(page, "QC") == (x, y)
    assert revision(page) == 0
    page.mouse.move(*handle(page, "AS"))  # it can go nowhere: nothing is lifted
    page.mouse.down()
    page.mouse.move(500, 600, steps=3)
    assert page.locator(".halo, .lifted").count() == 0
    page.mouse.up()
    assert revision(page) == 0


def test_take_back_from_a_foundation_by_dragging_and_undo(open_page):
    page = open_page(f"?code={PUBLISHED_CODE}")
    start = columns(page)
    game = Game.from_code(PUBLISHED_CODE)
    for text in published_winning_line():  # until a card on a foundation fits on a column
        backs = {card: moves for card, moves in game.drags().items() for m in moves.values() if m.source[0] == "F"}
        if backs:
            break
        card = next((c for c, moves in game.drags().items() if text in map(str, moves.values())), None)
        move = game.play(text)
        after(page, lambda card=card, move=move: drag(page, card, move.target) if card else tap(page, "stock"))
    card, moves = next(iter(backs.items()))
    target, move = next(iter(moves.items()))
    cards_before = page.text_content("#foundation-cards")
    revision_before = revision(page)
    tap(page, card)
    reads(page, "message", exact="Nothing happens")
    assert revision(page) == revision_before
    after(page, lambda: drag(page, card, target))
    game.play(move)
    assert page.text_content("#foundation-cards") == f"{game.foundation_cards} of 52" != cards_before
    assert columns(page) == game.position().describe()
    while page.is_enabled("#undo"):
        after(page, lambda: page.click("#undo"))
    assert said(page).startswith("Undone")
    assert columns(page) == start
    assert page.text_content("#score") == "0"


def test_double_tap_can_be_switched_off(open_page):
    page = open_page(f"?code={PUBLISHED_CODE}")
    page.click("#settings")
    page.uncheck("#double-tap")
    page.select_option("#colours", "two")
    page.select_option("#theme", "dark")
    page.click("#settings-dialog button.main")
    tap(page, "QC")
    reads(page, "message", exact="Nothing happens")
    assert revision(page) == 0
    page.reload()
    page.wait_for_selector("#card-QC")
    attributes = page.evaluate("({...document.documentElement.dataset})")
    assert attributes == {"colours": "two", "theme": "dark"}
    page.click("#new")
    page.click("#new-start")
    reads(page, "message", start="New game")
    page.click("#settings")
    assert not page.is_checked("#double-tap")


def test_rule_sets_and_draw_one(open_page):
    page = open_page(f"?code={PUBLISHED_CODE}")
    page.click("#new")
    page.check("input[name=draw][value='1']")
    page.select_option("#new-rules", "hoyle")
    page.click("#new-start")
    reads(page, "rules", exact="hoyle, draw 1")
    assert re.fullmatch("CF1-D1-[A-Z2-7]{7}", page.text_content("#code"))
    assert page.text_content("#score") == "−45 $"
    assert not page.is_visible("#undo")
    assert "rules=hoyle" in page.url


# --- Codes ---------------------------------------------------------------------------------------------------


def test_a_code_is_shared_by_its_address(open_page):
    page = open_page()
    code = page.text_content("#code")
    assert f"code={code}" in page.url
    friend = open_page(page.url.rpartition("/")[2])
    assert friend.text_content("#code") == code
    assert columns(friend) == columns(page)
    page.click("#share")
    reads(page, "message", part=f"code={code}")


def test_a_code_is_typed(open_page):
    page = open_page()
    page.click("#new")
    page.fill("#new-code", PUBLISHED_CODE.lower())
    page.press("#new-code", "Enter")
    page.wait_for_selector("#card-QC")
    reads(page, "code", exact=f"{PUBLISHED_CODE}")
    assert not page.is_visible("#new-dialog")


def test_a_bad_code_is_refused_with_what_is_wrong(open_page):
    page = open_page("?code=CF1-D3-AAAA0AA")
    assert page.is_visible("#new-dialog")
    assert "'0', letter 5 of its last part, is not one of A-Z and 2-7" in page.text_content("#new-error")
    page.fill("#new-code", "nonsense")
    page.click("#new-start")
    reads(page, "new-error", part="has 1 parts")
    page.click("#new-dialog .cancel")
    assert re.fullmatch("CF1-D3-[A-Z2-7]{7}", page.text_content("#code"))  # a game is there all the same


# --- Reloads and tabs ----------------------------------------------------------------------------------------


def test_reload_in_mid_game(open_page):
    page = open_page(f"?code={PUBLISHED_CODE}")
    for card in ("QC", "8H", "stock"):
        after(page, lambda card=card: tap(page, card))
    before = columns(page)
    page.reload()
    page.wait_for_selector("#table[data-revision='3']")
    assert columns(page) == before
    after(page, lambda: page.click("#undo"))
    assert "Stock: 34 cards" in columns(page)


def test_two_tabs_on_one_game_follow_each_other(open_page):
    first = open_page(f"?code={PUBLISHED_CODE}")
    second = open_page("", context=first.context)
    assert second.text_content("#code") == PUBLISHED_CODE
    after(first, lambda: tap(first, "QC"))
    second.wait_for_selector("#table[data-revision='1']")
    after(second, lambda: tap(second, "8H"))
    first.wait_for_selector("#table[data-revision='2']")
    assert columns(first) == columns(second)


def test_a_new_game_in_one_tab_leaves_the_other_its_own(open_page):
    first = open_page(f"?code={PUBLISHED_CODE}")
    second = open_page("", context=first.context)
    second.click("#new")
    second.fill("#new-code", "CF1-D3-AAAAAAA")
    second.click("#new-start")
    reads(second, "code", exact="CF1-D3-AAAAAAA")
    after(first, lambda: tap(first, "QC"))
    second.reload()
    second.wait_for_selector("#table[data-revision='0']")
    assert second.text_content("#code") == "CF1-D3-AAAAAAA"
    first.reload()
    first.wait_for_selector("#table[data-revision='1']")
    assert first.text_content("#code") == PUBLISHED_CODE


def test_a_tab_that_missed_a_move_is_told(open_page):
    page = open_page(f"?code={PUBLISHED_CODE}")
    game_id = page.evaluate("sessionStorage.getItem('canfield-game')")
    page.evaluate(
        "id => fetch(`/api/games/${id}/move`, {method: 'POST', headers: {'content-type': 'application/json'},"
        " body: JSON.stringify({move: 'R>T2', revision: 0})})",
        game_id,
    )
    tap(page, "stock")
    page.wait_for_selector("#table[data-revision='1']")
    assert "went on in another tab" in said(page)


def test_a_game_the_server_forgot_starts_again(open_page, browser, site):
    page = open_page(f"?code={PUBLISHED_CODE}")
    after(page, lambda: tap(page, "QC"))
    page.route("**/api/games/*/tap", lambda route: route.fulfill(status=404, json={"error": "gone"}))
    tap(page, "8H")
    reads(page, "message", exact="gone")
    assert (revision(page), page.text_content("#code")) == (0, PUBLISHED_CODE)


def test_a_server_that_is_gone_is_told(open_page):
    page = open_page(f"?code={PUBLISHED_CODE}")
    page.route("**/api/**", lambda route: route.abort())
    tap(page, "QC")
    reads(page, "message", part="does not answer")
    page.unroute("**/api/**")
    after(page, lambda: tap(page, "QC"))


# --- Without a mouse, and on a phone -------------------------------------------------------------------------


def test_keyboard_alone(open_page):
    page = open_page(f"?code={PUBLISHED_CODE}")
    page.focus("#stock")
    page.keyboard.press("ArrowDown")
    focused = "document.activeElement.dataset.card"
    assert page.evaluate(focused) == "QC"
    assert page.evaluate("document.activeElement.ariaLabel") == "queen of clubs"
    assert page.evaluate("document.activeElement.ariaDescription") == "can go to column 2"
    page.keyboard.press("1")
    reads(page, "message", part="cannot go to column 1")
    after(page, lambda: page.keyboard.press("2"))
    assert page.evaluate(focused) == "QC"
    assert said(page) == "Reserve to column 2"
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focused) == "KH"
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == "QH"
    after(page, lambda: page.keyboard.press("d"))
    assert said(page) == "Draw: eight of clubs"
    after(page, lambda: page.keyboard.press("u"))
    page.keyboard.press("r")
    assert said(page) == columns(page)
    page.focus("#card-8H")
    after(page, lambda: page.keyboard.press("Enter"))
    assert page.text_content("#score") == "5"
    page.keyboard.press("?")
    assert page.is_visible("#help-dialog")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    assert page.is_visible("#new-dialog")


def test_a_screen_reader_finds_piles_cards_and_the_table_in_words(open_page):
    page = open_page(f"?code={PUBLISHED_CODE}")
    assert columns(page) == Game.from_code(PUBLISHED_CODE).position().describe()
    tree = page.locator("#table").aria_snapshot()
    for line in (
        'group "Reserve, 13 cards"', 'group "Foundation of hearts, 1 card"', 'group "Column 2, 1 card"',
        'button "Stock, 34 cards: draw 3"', 'button "king of hearts"', 'group "Waste, empty"',
    ):  # fmt: skip
        assert line in tree, tree
    assert page.get_attribute("#message", "aria-live") == "polite"
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, input, select, textarea')].filter((one) =>"
        " !(one.ariaLabel || one.textContent.trim() || one.labels?.length)).map((one) => one.id)"
    )
    assert unnamed == []


@pytest.mark.parametrize("viewport", [PHONE, NARROW_AND_SHORT, {"width": 768, "height": 1024}])
def test_everything_fits_the_width(open_page, viewport):
    page = open_page(f"?code={PUBLISHED_CODE}", viewport=viewport, has_touch=True)
    after(page, lambda: page.touchscreen.tap(*handle(page, "QC")))
    after(page, lambda: page.tap("#stock"))
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    boxes = [card.bounding_box() for card in page.locator(".card").all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= viewport["width"] for box in boxes)
    assert min(box["width"] for box in boxes) >= 48
    page.click("#new")
    dialog = page.locator("#new-dialog").bounding_box()
    assert dialog["x"] >= 0 and dialog["x"] + dialog["width"] <= viewport["width"]


# --- Watching and replaying ----------------------------------------------------------------------------------


def test_watch_a_player_with_pause_step_and_speed(open_page):
    page = open_page(f"?code={PUBLISHED_CODE}")
    after(page, lambda: tap(page, "QC"))
    page.click("#watch")
    page.select_option("#watch-player", "greedy")
    assert page.input_value("#watch-code") == PUBLISHED_CODE
    page.click("#watch-start")
    page.wait_for_selector("#table[data-revision='step 0']")
    assert page.text_content("#show-title") == "greedy: The deal"
    page.click("#show-next")
    page.wait_for_selector("#table[data-revision='step 1']")
    assert page.text_content("#show-title") == "greedy: Reserve to column 2"
    page.click("#show-back")
    page.wait_for_selector("#table[data-revision='step 0']")
    page.fill("#show-speed", "6")
    page.click("#show-play")
    sync_api.expect(page.locator("#show-step")).to_have_text(re.compile(r"Step ([6-9]|\d\d)"))
    page.click("#show-play")
    paused = page.text_content("#show-step")
    page.wait_for_timeout(300)
    assert page.text_content("#show-step") == paused
    tap_at = page.locator(".card").first.bounding_box()
    page.mouse.click(tap_at["x"] + 5, tap_at["y"] + 5)  # a show is only looked at
    assert page.text_content("#show-step") == paused
    page.click("#show-close")
    page.wait_for_selector("#table[data-revision='1']")
    assert page.text_content("#code") == PUBLISHED_CODE


def test_watch_with_a_bad_code(open_page):
    page = open_page()
    page.click("#watch")
    page.fill("#watch-code", "CF1")
    page.click("#watch-start")
    reads(page, "watch-error", part="has 1 parts")


def test_replay_a_row_of_a_result_file(open_page, tmp_path):
    result = evaluate("greedy", ["CF1-D3-AAAAAAA", PUBLISHED_CODE])
    write_result(result, tmp_path / "greedy.json")
    page = open_page()
    page.click("#watch")
    page.set_input_files("#replay-file", tmp_path / "greedy.json")
    page.wait_for_selector("#replay-start:enabled")
    page.select_option("#replay-row", "1")
    page.click("#replay-start")
    page.wait_for_selector("#table[data-revision='step 0']")
    assert page.text_content("#code") == PUBLISHED_CODE
    page.click("#show-last")
    reads(page, "show-title", end="– the end")
    row = result.rows[1]
    assert page.text_content("#show-step") == f"Step {row.steps}"
    assert page.text_content("#foundation-cards") == f"{row.foundation_cards} of 52"
    page.click("#show-first")
    page.wait_for_selector("#table[data-revision='step 0']")


def test_replay_of_pasted_text(open_page):
    page = open_page()
    page.click("#watch")
    page.fill("#replay-text", "{}")
    assert "no result file" in page.text_content("#watch-error")
    page.fill("#replay-text", "not JSON")
    assert "not JSON" in page.text_content("#watch-error")
    rows = [{"code": PUBLISHED_CODE, "won": False, "foundation_cards": 1, "steps": 1, "actions": [94]}]
    page.fill("#replay-text", json.dumps({"rules": "app", "rows": rows}))
    page.click("#replay-start")
    reads(page, "watch-error", part="it is missing")


def test_hint(browser):
    pytest.importorskip("canfield_env.solver", reason="the solver is not there yet")
    server = Server()
    page = browser.new_page(viewport=WIDE)
    page.goto(f"{server.url}?code={PUBLISHED_CODE}")
    page.wait_for_selector("#card-QC")
    page.click("#hint")
    sync_api.expect(page.locator("#message")).not_to_have_text("Thinking …", timeout=60_000)
    assert re.match("Hint: |The solver could not|Yes|No", said(page))
    page.close()
    server.stop()
