"""The server of the table in the browser: what it answers, what it hides, and what it cannot be made to do."""

from __future__ import annotations

import json
import random
import re
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canfield_env import Deal, Game, Position
from canfield_env.cards import card_name, parse_card
from canfield_env.evaluation import evaluate
from canfield_env.open_table import OpenTable
from canfield_env.players import RandomPlayer
from canfield_env.results import Row
from helpers import PUBLISHED_CODE, lay_out, long_column, published_winning_line

pytest.importorskip("fastapi", reason="the extra web is not installed")
testclient = pytest.importorskip("fastapi.testclient", reason="httpx2 is not installed", exc_type=RuntimeError)

from canfield_env.web import server, tables  # noqa: E402
from canfield_env.web.server import LARGEST_BODY, STATIC, Settings, create_app  # noqa: E402
from canfield_env.web.tables import FullError, GameTable, NotFoundError, Show, Store  # noqa: E402
from canfield_env.web.views import game_view, moved_card  # noqa: E402


def client(**changes):
    return testclient.TestClient(create_app(Settings(**{"hosts": ("testserver",), **changes})))


@pytest.fixture(scope="module")
def web():
    return client()


class Page:
    """What the page does: it asks for things, each on the table it was last sent."""

    def __init__(self, web, **wish):
        self.web = web
        self.view = web.post("/api/games", json=wish).json()

    def ask(self, action, /, status=200, **body):
        body.setdefault("revision", self.view["revision"])
        answer = self.web.post(f"/api/games/{self.view['id']}/{action}", json=body)
        assert answer.status_code == status, answer.text
        if status == 200:
            self.view = answer.json()
            return self.view
        return answer.json()["error"]


# --- Playing -------------------------------------------------------------------------------------------------


def test_new_games(web):
    assert re.fullmatch("CF1-D3-[A-Z2-7]{7}", Page(web).view["code"])
    assert re.fullmatch("CF1-D1-[A-Z2-7]{7}", Page(web, draw_count=1).view["code"])
    view = Page(web, code=PUBLISHED_CODE.lower(), rules="hoyle", double_tap=False).view
    assert (view["code"], view["rules"], view["score"], view["has_undo"]) == (PUBLISHED_CODE, "hoyle", -45, False)
    assert (view["reserve"], view["base_rank"]) == ({"count": 13, "top": "QC"}, "7")
    assert view["drags"] == {"QC": {"T2": "R>T2"}, "KH": {"T4": "T2>T4"}}
    mixed = Page(web, code="CF1-D1-AAAAACL", rules="app,take_back=false").view
    assert mixed["rules"] == "app,draw_count=1,take_back=false"


def test_the_published_game_to_its_end(web):
    page, game = Page(web, code=PUBLISHED_CODE), Game.from_code(PUBLISHED_CODE)
    for move in published_winning_line():
        page.ask("move", move=move)
        game.play(move)
        assert page.view["columns"] == [list(column) for column in game.position().to_dict()["columns"]]
        assert page.view["speech"] == game.position().describe()
    assert page.view["won"]
    assert page.view["score"] == game.score
    assert page.view["drags"] == {}
    assert page.view["can_draw"] is False
    seconds = page.view["seconds"]
    assert page.web.get(f"/api/games/{page.view['id']}").json()["seconds"] == seconds
    assert not page.ask("undo")["won"]


def test_taps_undo_and_settings(web):
    page = Page(web, code=PUBLISHED_CODE)
    assert page.ask("tap", what="QC")["columns"][1] == ["KH", "QC"]
    assert page.ask("tap", what="8H")["score"] == 5
    assert page.ask("tap", what="8H")["moved"] is False  # it lies on its foundation
    assert page.ask("tap", what="stock")["waste"]["count"] == 3
    assert page.view["last_move"] == {"text": "D", "words": "draw"}
    for _ in range(3):
        page.ask("undo")
    assert page.view["reserve"] == {"count": 13, "top": "QC"}
    assert page.ask("undo", status=409) == "there is nothing left to undo"
    answer = web.post(f"/api/games/{page.view['id']}/settings", json={"double_tap": False}).json()
    assert answer["double_tap"] is False
    assert page.ask("tap", what="QC")["moved"] is False
    assert page.view["reserve"]["count"] == 13


def test_again_is_the_next_attempt(web):
    page = Page(web, code=PUBLISHED_CODE, rules="andr")
    page.ask("move", move="R>T2")
    following = web.post(f"/api/games/{page.view['id']}/again").json()
    assert (following["code"], following["attempt"], following["moves"]) == (PUBLISHED_CODE, 2, 0)
    assert following["id"] != page.view["id"]
    assert web.get(f"/api/games/{page.view['id']}").json()["moves"] == 1


def test_two_pages_on_one_game_notice_each_other(web):
    page = Page(web, code=PUBLISHED_CODE)
    stale = page.view["revision"]
    page.ask("tap", what="QC")
    error = page.ask("tap", what="8H", revision=stale, status=412)
    assert "went on in another tab" in error
    assert web.get(f"/api/games/{page.view['id']}").json()["moves"] == 1


def test_a_refused_request_changes_nothing(web):
    page = Page(web, code=PUBLISHED_CODE)
    page.ask("move", move="R>T2")
    before = web.get(f"/api/games/{page.view['id']}").json()
    for what, body in (("move", {"move": "R>T1"}), ("move", {"move": "T2>T3*9"}), ("tap", {"what": "TC"})):
        page.ask(what, status=409, **body)
    page.ask("move", move="nonsense", status=409)
    after = web.get(f"/api/games/{page.view['id']}").json()
    assert {**after, "seconds": 0} == {**before, "seconds": 0}


def test_drags_are_what_play_takes():
    """Each drag is legal and does what it says, take-backs, other empty columns and longer tails included; and
    everything that can be played is among the drags."""
    random_ = random.Random(3)
    for number in range(6):
        game = Game(Deal.from_number(number))
        for _ in range(60):
            drags = game.drags()
            listed = {str(move) for moves in drags.values() for move in moves.values()}
            assert {str(move) for move in game.legal_moves()} - {"D"} <= listed
            before = game.position()
            for card, moves in drags.items():
                for target, move in moves.items():
                    again = Game.from_position(before)
                    made = again.play(move)
                    assert str(made) == str(move)
                    column = before.columns[int(move.source[1]) - 1] if move.source[0] == "T" else ()
                    moved = column[column.index(parse_card(card)) :] if column else (parse_card(card),)
                    if target != "F":
                        target_column = again.position().columns[int(target[1]) - 1]
                        assert target_column[-len(moved) :] == moved
            moves = game.legal_moves()
            if not moves:
                break
            game.play(random_.choice(moves))


def test_drags_name_every_empty_column_and_both_tails():
    game = Game.from_position(lay_out(["9C", "", "", "KD QC"], foundations="JS", base="7", rules="andr"))
    assert set(game.drags()["QC"]) >= {"T2", "T3"}
    long = Game.from_position(lay_out([" ".join(long_column(27)), "AS", "", ""], base="2", rest="waste"))
    column = long.position().to_dict()["columns"][0]
    kings = [card for card in column if card[0] == "K" and "T2" in long.drags().get(card, {})]
    assert all(str(long.drags()[card]["T2"]).startswith("T1>T2") for card in kings)


# --- What is hidden ------------------------------------------------------------------------------------------

_CARD = re.compile(r'"([A23456789TJQK][CDHS])"')


def cards_in(view):
    """Every card that an answer names, in letters or in words."""
    text = json.dumps(view)
    return set(_CARD.findall(text)) | {card for card in PACK if card_name(parse_card(card)) in text}


PACK = [rank + suit for suit in "CDHS" for rank in "A23456789TJQK"]


def visible(game):
    """The cards that lie open."""
    data = game.position().to_dict()
    tops = {
        "A23456789TJQK"[("A23456789TJQK".index(data["base_rank"]) + count - 1) % 13] + suit
        for suit, count in data["foundations"].items()
        if count
    }
    open_cards = {card for column in data["columns"] for card in column} | set(data["reserve"][-1:])
    return open_cards | set(data["waste"][-data["draw_count"] :]) | tops


@pytest.mark.parametrize("rules", ["app", "hoyle", "andr"])
def test_no_answer_names_a_hidden_card(web, rules):
    random_ = random.Random(rules)
    page = Page(web, rules=rules, draw_count=3)
    game = Game.from_code(page.view["code"], rules)
    for _ in range(60):
        assert cards_in(page.view) <= visible(game)
        move = str(random_.choice(game.legal_moves()))
        hidden = random_.choice(sorted(set(PACK) - visible(game)))
        if hidden not in game.position().to_dict()["waste"]:
            error = web.post(
                f"/api/games/{page.view['id']}/tap", json={"what": hidden, "revision": page.view["revision"]}
            )
            assert error.text in (f'{{"error":"{hidden} does not lie face up"}}',) or error.status_code == 200
        page.ask("move", move=move)
        game.play(move)


@settings(max_examples=30)
@given(st.integers(0, 2**35 - 1), st.sampled_from(["app", "hoyle", "andr"]), st.integers(0, 80), st.randoms())
def test_views_of_positions_that_differ_in_hidden_cards_are_equal(number, rules, steps, random_):
    game = Game(Deal.from_number(number), rules)
    for _ in range(steps):
        moves = game.legal_moves()
        if not moves:
            break
        game.play(random_.choice(moves))
    position = game.position()
    data, fan = position.to_dict(), position.rules.draw_count
    hidden = data["reserve"][:-1] + data["waste"][:-fan] + data["stock"]
    random_.shuffle(hidden)
    reserve, waste = max(0, len(data["reserve"]) - 1), max(0, len(data["waste"]) - fan)
    data["reserve"] = hidden[:reserve] + data["reserve"][-1:]
    data["waste"] = hidden[reserve : reserve + waste] + data["waste"][-fan:]
    data["stock"] = hidden[reserve + waste :]
    twin = Position.from_dict(data)
    assert OpenTable.of(twin) == OpenTable.of(position)
    original = Game.from_position(Position.from_dict(position.to_dict()))
    assert game_view(Game.from_position(twin)) == game_view(original)


def test_shows_name_no_hidden_card(web):
    show = web.post("/api/watch", json={"player": "random", "code": PUBLISHED_CODE}).json()
    game = Game.from_code(PUBLISHED_CODE)
    assert cards_in(show) <= visible(game)
    for step in range(1, 60):
        frame = web.get(f"/api/shows/{show['id']}/{step}").json()
        game.play(frame["last_move"]["text"])
        assert cards_in(frame) <= visible(game)
        assert frame["score"] == game.score


# --- Watching and replaying ----------------------------------------------------------------------------------


def test_watch_goes_on_only_as_far_as_is_looked_at(web, monkeypatch):
    monkeypatch.setattr(tables, "STEPS_AT_ONCE", 20)
    show = web.post("/api/watch", json={"player": "greedy", "code": PUBLISHED_CODE.lower(), "rules": "hoyle"}).json()
    assert (show["step"], show["steps_played"], show["title"], show["rules"]) == (0, 0, "greedy", "hoyle")
    third = web.get(f"/api/shows/{show['id']}/3").json()
    assert (third["step"], third["steps_played"], third["ended"]) == (3, 3, False)
    first = web.get(f"/api/shows/{show['id']}/1").json()
    assert (first["step"], first["steps_played"]) == (1, 3)
    assert web.get(f"/api/shows/{show['id']}/99999").json()["step"] == 23


def test_replay_a_row_to_its_end(web):
    row = evaluate("greedy", [PUBLISHED_CODE]).rows[0]
    body = {"row": row.model_dump(by_alias=True, mode="json"), "rules": "app", "player": "greedy"}
    show = web.post("/api/replay", json=body).json()
    frame = {"ended": False, "step": 0}
    while not frame["ended"]:
        frame = web.get(f"/api/shows/{show['id']}/{frame['step'] + 50}").json()
    assert (frame["step"], frame["score"], frame["foundation_cards"]) == (row.steps, row.score, row.foundation_cards)
    assert web.get(f"/api/shows/{show['id']}/{row.steps + 1}").json()["step"] == row.steps


def test_a_row_that_is_wrong(web):
    row = evaluate("greedy", [PUBLISHED_CODE]).rows[0].model_dump(by_alias=True, mode="json")
    bad_action = {**row, "actions": [94, *row["actions"][1:]]}
    show = web.post("/api/replay", json={"row": bad_action, "rules": "app"}).json()
    answer = web.get(f"/api/shows/{show['id']}/1")
    assert (answer.status_code, answer.json()["error"]) == (
        422,
        f"{PUBLISHED_CODE}: action 94, step 1, is not legal there",
    )
    assert web.get(f"/api/shows/{show['id']}/0").json()["ended"] is True
    for changes, message in (
        ({"steps": 3}, "steps is 3, but there are"),
        ({"actions": [95]}, "less than 95"),
        ({"code": "CF1"}, "has 1 parts"),
    ):
        answer = web.post("/api/replay", json={"row": {**row, **changes}, "rules": "app"})
        assert answer.status_code == 422
        assert message in answer.json()["error"]
    answer = web.post("/api/replay", json={"row": row, "rules": "app,draw_count=1"})
    assert "draws 3, but the rules say draw_count=1" in answer.json()["error"]


class Sure(RandomPlayer):
    """Says how much it likes each action."""

    def preferences(self, observation, mask):
        return np.where(np.arange(95) == 0, 0.75, 0.25)


class Broken(RandomPlayer):
    def act(self, observation, mask):
        raise RuntimeError("out of ideas")


class Cheat(RandomPlayer):
    def act(self, observation, mask):
        return int(np.flatnonzero(~mask)[0])


def test_preferences_of_a_player_that_has_some():
    web = client(players=[f"{__name__}:Sure"])
    show = web.post("/api/watch", json={"player": f"{__name__}:Sure", "code": PUBLISHED_CODE}).json()
    assert show["preferences"][0] == {"move": {"text": "D", "words": "draw"}, "card": None, "share": 0.75}
    assert {preference["card"] for preference in show["preferences"]} == {None, "QC", "KH"}


class Batched:
    """Plays batches, and nothing else."""

    observation = "screen"

    def begin(self, rules, seed):
        pass

    def act_batch(self, observations, masks):
        return masks.argmax(1)


def test_a_player_of_batches_can_be_watched():
    web = client(players=[f"{__name__}:Batched"])
    show = web.post("/api/watch", json={"player": f"{__name__}:Batched", "code": PUBLISHED_CODE}).json()
    assert web.get(f"/api/shows/{show['id']}/3").json()["waste"]["count"] == 9


@pytest.mark.parametrize(
    ("player", "status", "message"), [("Broken", 500, "out of ideas"), ("Cheat", 422, "no legal action")]
)
def test_a_player_that_fails_is_told(player, status, message):
    web = client(players=[f"{__name__}:{player}"])
    show = web.post("/api/watch", json={"player": f"{__name__}:{player}", "code": PUBLISHED_CODE}).json()
    answer = web.get(f"/api/shows/{show['id']}/1")
    assert answer.status_code == status
    assert message in answer.json()["error"]


def test_moved_card():
    game = Game.from_position(
        lay_out(["9C", "", "", "KD QC"], foundations="7H JS", waste="2C 9D", base="7", rules="andr")
    )
    position = game.position()
    assert [moved_card(position, *source) for source in ((10, 10, 1), (0, 6, 1), (9, 7, 2), (4, 6, 1))] == [
        None, "9D", "KD", "7H",
    ]  # fmt: skip


# --- The solver ----------------------------------------------------------------------------------------------


def fake_solver(monkeypatch, solve):
    module = SimpleNamespace(solve=solve)
    monkeypatch.setitem(sys.modules, "canfield_env.solver", module)
    monkeypatch.setattr(server.importlib.util, "find_spec", lambda name: module)


def test_hint(monkeypatch):
    asked = []

    def solve(position, **limits):
        asked.append((position, limits))
        game = Game.from_code(position) if isinstance(position, str) else Game.from_position(position)
        move = game.legal_moves()[-1]
        return SimpleNamespace(verdict="won", moves=(move, move), seconds=0.2)

    fake_solver(monkeypatch, solve)
    web = client(solver_seconds=2.0)
    assert web.get("/api/options").json()["solver"] is True
    page = Page(web, code=PUBLISHED_CODE)
    answer = web.post(f"/api/games/{page.view['id']}/hint", json={"revision": 0}).json()
    assert answer == {
        "revision": 0, "verdict": "won", "move": {"text": "T2>T4", "words": "column 2 to column 4"}, "seconds": 0.2
    }  # fmt: skip
    assert asked[0][0] == Game.from_code(PUBLISHED_CODE).position()
    assert asked[0][1]["max_seconds"] == 2.0
    web.app.state.solver.warm_up()
    assert asked[1][0] == "CF1-D3-AAAAAAA"
    assert web.post(f"/api/games/{page.view['id']}/hint", json={"revision": 5}).status_code == 412


def test_one_question_to_the_solver_at_a_time(monkeypatch):
    started, go_on = threading.Event(), threading.Event()

    def solve(position, **limits):
        started.set()
        go_on.wait(10)
        return SimpleNamespace(verdict="unknown", moves=(), seconds=1.0)

    fake_solver(monkeypatch, solve)
    web = client()
    page = Page(web)
    answers = []
    path = f"/api/games/{page.view['id']}/hint"
    asking = threading.Thread(target=lambda: answers.append(web.post(path, json={"revision": 0})))
    asking.start()
    assert started.wait(10)
    assert page.ask("tap", what="stock")["moved"]  # the game is not held up
    refused = web.post(path, json={"revision": 1})
    go_on.set()
    asking.join()
    assert refused.status_code == 503
    assert "busy" in refused.json()["error"]
    assert answers[0].json()["verdict"] == "unknown"


def test_without_the_solver(monkeypatch):
    monkeypatch.setattr(server.importlib.util, "find_spec", lambda name: None)
    web = client()
    web.app.state.solver.warm_up()
    assert web.get("/api/options").json() == {
        "rules": ["app", "hoyle", "andr"], "players": ["greedy", "random"], "solver": False
    }  # fmt: skip
    assert Page(web).ask("hint", status=404) == "the solver is not installed here"


# --- What a stranger cannot do -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("games", {"code": "CF1-D3-AAAA"}, "its last part has 4 letters, but CF1 takes 7"),
        ("games", {"code": PUBLISHED_CODE, "draw_count": 1}, "draws 3, but the rules say draw_count=1"),
        ("games", {"draw_count": 2}, "draw_count: Input should be 1 or 3"),
        ("games", {"rules": "none"}, "'none' is not a rule set"),
        ("games", {"rules": 3}, "rules: Input should be a valid string"),
        ("games", {"code": "x" * 65}, "at most 64 characters"),
        ("games", {"rules": "app,undo_limit=" + "9" * 300}, "at most 200 characters"),
        ("games", {"deal": 3}, "deal: Extra inputs are not permitted"),
        ("games", [], "valid dictionary"),
        ("watch", {"player": "ppo:/etc/passwd", "code": PUBLISHED_CODE}, "there is no player 'ppo:/etc/passwd' here"),
        ("watch", {"player": "os:system", "code": PUBLISHED_CODE}, "there is no player 'os:system' here"),
        ("watch", {"player": "greedy", "code": "/etc/passwd"}, "has 1 parts"),
        ("replay", {"row": "/etc/passwd", "rules": "app"}, "row"),
        ("replay", {"row": {}, "rules": "app"}, "code: it is missing"),
    ],
)
def test_bad_input(web, path, body, message):
    answer = web.post(f"/api/{path}", json=body)
    assert answer.status_code == 422
    assert message in answer.json()["error"]
    assert len(answer.text) < 500


def test_a_refused_player_is_not_even_loaded(web, monkeypatch):
    monkeypatch.setattr(server, "load_player", lambda name: pytest.fail(f"{name} was loaded"))
    web.post("/api/watch", json={"player": "os:system", "code": PUBLISHED_CODE})


def test_bodies_are_bounded(web):
    assert web.post("/api/games", content=b" " * (LARGEST_BODY + 1)).status_code == 413
    chunks = (b" " * 1_000 for _ in range(LARGEST_BODY))  # no length in the headers, and never read to its end
    answer = web.post("/api/games", content=chunks, headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert (
        web.post("/api/games", content=b"{" * 10_000, headers={"content-type": "application/json"}).status_code == 422
    )


def test_only_json_is_taken(web):
    """A form on another site can send no JSON without asking first, and it is refused."""
    answer = web.post("/api/games", content=b'{"rules": "app"}', headers={"content-type": "text/plain"})
    assert answer.status_code == 422


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py", "/static//etc/passwd",
        "/static/....//server.py", "/etc/passwd", "/server.py", "/docs", "/openapi.json", "/static/",
        "/static/%00", "/api/games/../../server.py",
    ],
)  # fmt: skip
def test_no_other_file_is_served(web, path):
    answer = web.get(path)
    assert answer.status_code in (404, 405)
    assert "import" not in answer.text


def test_the_page_and_its_files(web):
    page = web.get("/")
    assert page.headers["content-security-policy"].startswith("default-src 'self'")
    assert page.headers["x-content-type-options"] == "nosniff"
    named = re.findall(r'(?:href|src)="(/[^"]+)"', page.text)
    assert len(named) == 3
    for path in named:
        assert web.get(path).status_code == 200
    for script in STATIC.glob("*.js"):
        for module in re.findall(r'from "\./([^"]+)"', script.read_text(encoding="utf-8")):
            assert (STATIC / module).is_file()
    assert "http://" not in page.text.replace("http://www.w3.org", "")


def test_other_hosts_are_refused():
    """A page of another site whose name was made to point here gets nothing."""
    web = testclient.TestClient(create_app(), base_url="http://evil.example")
    assert web.get("/").status_code == 400
    assert testclient.TestClient(create_app(), base_url="http://127.0.0.1:8052").get("/").status_code == 200


def test_games_are_bounded_in_number_and_moves(monkeypatch):
    web = client(most_games=2, most_shows=1)
    pages = [Page(web) for _ in range(2)]
    assert web.post("/api/games", json={}).status_code == 503
    assert pages[0].ask("tap", what="stock")["moved"]
    watch = {"player": "greedy", "code": PUBLISHED_CODE}
    assert [web.post("/api/watch", json=watch).status_code for _ in range(2)] == [200, 503]
    monkeypatch.setattr(tables, "MOST_MOVES", 2)
    pages[0].ask("tap", what="stock")
    assert pages[0].ask("tap", what="stock", status=422) == "this game has 2 moves: no more are kept"


def test_unknown_games(web):
    for answer in (web.get("/api/games/x"), web.get("/api/shows/x/1"), web.post("/api/games/x/again")):
        assert answer.status_code == 404
        assert "not here any more" in answer.json()["error"]
    assert web.get("/api/shows/x/-1").status_code == 422
    assert web.get("/api/shows/x/1000000").status_code == 422


def test_store_forgets_the_unused_and_keeps_the_used():
    now = [0.0]
    kept = [SimpleNamespace(lock=threading.Lock()) for _ in range(4)]
    store = Store(2, idle_seconds=100, busy_seconds=10, now=lambda: now[0])
    first, second = store.add(kept[0]), store.add(kept[1])
    assert len(first) >= 20 and first != second
    with pytest.raises(FullError):
        store.add(kept[2])
    now[0] = 11
    assert store.get(first) is kept[0]
    third = store.add(kept[2])  # the second is the longest unused
    with pytest.raises(NotFoundError):
        store.get(second)
    now[0] = 105
    assert store.get(first) is kept[0]
    now[0] = 150
    with pytest.raises(NotFoundError):
        store.get(third)
    assert len(store) == 1


def test_seconds_stand_still_after_the_win():
    now = [10.0]
    table = GameTable.start("app", None, PUBLISHED_CODE, True, now=lambda: now[0])
    for move in published_winning_line():
        now[0] += 1
        table.change(table.revision, lambda game, move=move: game.play(move))
    seconds = len(published_winning_line())
    now[0] += 1_000
    assert table.view()["seconds"] == seconds
    table.change(table.revision, lambda game: game.undo())
    assert table.view()["seconds"] == seconds + 1_000


def test_a_show_of_an_empty_row_ends_at_once():
    empty = Row(
        code=PUBLISHED_CODE, won=False, foundation_cards=1, return_=0.0, score=0, steps=0, seconds=0.0, actions=()
    )
    show = Show("Replay", PUBLISHED_CODE, Game.from_code(PUBLISHED_CODE).rules, "cards", empty)
    assert show.frame(0)["ended"] is True
    assert show.frame(5)["step"] == 0


def test_many_visitors_at_once(web):
    """Threads on one game: each move is made once, and every stale one is refused."""
    page = Page(web, code=PUBLISHED_CODE)
    path = f"/api/games/{page.view['id']}/tap"
    answers = []
    threads = [
        threading.Thread(
            target=lambda: answers.append(web.post(path, json={"what": "stock", "revision": 0}).status_code)
        )
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200, 412, 412, 412, 412, 412]
    assert web.get(f"/api/games/{page.view['id']}").json()["moves"] == 1
