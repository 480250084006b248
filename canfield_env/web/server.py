"""The server of the table in the browser.

Whoever can reach it can play, and can do nothing else: a request reads no file but the page's own, starts no process,
and is bounded in size; games are bounded in number; hidden cards are in no answer. All answers to ``/api/…`` are JSON;
what went wrong is ``{"error": text}``.
"""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..deals import code_draw_count
from ..evaluation import PlayerError
from ..moves import IllegalMoveError
from ..players import load_player
from ..results import Row, explain
from ..rules import PRESETS, Rules, rules_for_draw
from .tables import FullError, GameTable, NotFoundError, Show, StaleError, Store
from .views import move_view

STATIC = Path(__file__).parent / "static"
LARGEST_BODY = 64 * 1024
"""Bytes of the largest request body taken."""

_HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


@dataclass(frozen=True)
class Settings:
    """How a server is set up.

    Attributes:
        players: Names of the players that can be watched, as ``load_player`` takes them. A visitor chooses one of
            these and no other, since a name can stand for a file or for code.
        most_games: Games kept at most.
        most_shows: Watched and replayed games kept at most.
        idle_seconds: How long one that nobody looks at is kept.
        solver_seconds: Time for one question to the solver.
        solver_megabytes: Memory for it.
        hosts: Names under which the server may be asked for; ``("*",)`` for any.
    """

    players: Sequence[str] = ("greedy", "random")
    most_games: int = 200
    most_shows: int = 40
    idle_seconds: float = 24 * 3600.0
    solver_seconds: float = 5.0
    solver_megabytes: int = 256
    hosts: Sequence[str] = ("127.0.0.1", "localhost")


# --- What a request may say --------------------------------------------------------------------------------


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


CodeText: TypeAlias = Annotated[str, Field(max_length=64)]
RulesText: TypeAlias = Annotated[str, Field(max_length=200)]
Revision: TypeAlias = Annotated[int, Field(ge=0)]


class NewGame(_Body):
    """A new game: of a code, or of a deal by chance."""

    rules: RulesText = "app"
    draw_count: Literal[1, 3] | None = None
    code: CodeText | None = None
    double_tap: bool = True


class Tap(_Body):
    """A tap on a card, or on the stock."""

    what: Annotated[str, Field(max_length=8)]
    revision: Revision


class Drag(_Body):
    """A move."""

    move: Annotated[str, Field(max_length=12)]
    revision: Revision


class Step(_Body):
    """Something done to the game as the page shows it."""

    revision: Revision


class GameSettings(_Body):
    """A game's settings."""

    double_tap: bool


class Watch(_Body):
    """A player to watch."""

    player: Annotated[str, Field(max_length=200)]
    code: CodeText
    rules: RulesText = "app"


def _read_row(row: Any) -> Row:
    """A row, checked as in a file: as JSON, where a tuple is a list."""
    try:
        return Row.model_validate_json(json.dumps(row))
    except ValidationError as error:
        raise ValueError(explain(error)) from error


class Replay(_Body):
    """A row of an evaluation's result to replay."""

    row: Annotated[Row, BeforeValidator(_read_row)]
    rules: str | dict[str, Any]
    player: Annotated[str, Field(max_length=200)] = "a player"


# --- The server --------------------------------------------------------------------------------------------


def create_app(settings: Settings = Settings()) -> FastAPI:
    """The server as an ASGI application."""
    app = FastAPI(title="canfield", docs_url=None, redoc_url=None, openapi_url=None)
    games: Store[GameTable] = Store(settings.most_games, settings.idle_seconds)
    shows: Store[Show] = Store(settings.most_shows, settings.idle_seconds)
    solver = _Solver(settings.solver_seconds, settings.solver_megabytes)
    app.state.games, app.state.shows, app.state.solver = games, shows, solver
    _add_error_answers(app)
    app.add_middleware(_Guard)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(settings.hosts))

    @app.get("/")
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    @app.get("/api/options")
    def options() -> dict[str, Any]:
        return {"rules": list(PRESETS), "players": list(settings.players), "solver": solver.is_there}

    @app.post("/api/games")
    def new_game(body: NewGame) -> dict[str, Any]:
        return _add_game(GameTable.start(body.rules, body.draw_count, body.code, body.double_tap))

    def _add_game(table: GameTable) -> dict[str, Any]:
        return {"id": games.add(table), **table.view()}

    @app.get("/api/games/{key}")
    def game(key: str) -> dict[str, Any]:
        return _on_table(key, lambda table: {})

    @app.post("/api/games/{key}/tap")
    def tap(key: str, body: Tap) -> dict[str, Any]:
        return _on_table(key, lambda t: {"moved": t.change(body.revision, lambda g: g.tap(body.what)) is not None})

    @app.post("/api/games/{key}/move")
    def move(key: str, body: Drag) -> dict[str, Any]:
        return _on_table(key, lambda t: {"moved": t.change(body.revision, lambda g: g.play(body.move)) is not None})

    @app.post("/api/games/{key}/undo")
    def undo(key: str, body: Step) -> dict[str, Any]:
        return _on_table(key, lambda t: {"undone": t.change(body.revision, lambda g: g.undo()) is None})

    @app.post("/api/games/{key}/settings")
    def change_settings(key: str, body: GameSettings) -> dict[str, Any]:
        def change(table: GameTable) -> dict[str, Any]:
            table.game.double_tap = body.double_tap
            return {}

        return _on_table(key, change)

    @app.post("/api/games/{key}/again")
    def again(key: str) -> dict[str, Any]:
        table = games.get(key)
        with table.lock:
            following = table.again()
        return _add_game(following)

    @app.post("/api/games/{key}/hint")
    def hint(key: str, body: Step) -> dict[str, Any]:
        table = games.get(key)
        with table.lock:
            table.check(body.revision)
            position = table.game.position()
        return {"revision": body.revision, **solver.ask(position)}

    def _on_table(key: str, act: Callable[[GameTable], Mapping[str, Any]]) -> dict[str, Any]:
        table = games.get(key)
        with table.lock:
            return {"id": key, **act(table), **table.view()}

    @app.post("/api/watch")
    def watch(body: Watch) -> dict[str, Any]:
        if body.player not in settings.players:
            raise ValueError(f"there is no player {body.player!r} here: the players are {', '.join(settings.players)}")
        code = body.code.upper()
        rules = _rules_of(code, body.rules)
        return _add_show(Show(body.player, code, rules, "cards", load_player(body.player)))

    @app.post("/api/replay")
    def replay(body: Replay) -> dict[str, Any]:
        rules = _rules_of(body.row.code, body.rules)
        return _add_show(Show(f"Replay of {body.player}", body.row.code, rules, "cards", body.row))

    def _add_show(show: Show) -> dict[str, Any]:
        return {"id": shows.add(show), **show.frame(0)}

    @app.get("/api/shows/{key}/{number}")
    def frame(key: str, number: Annotated[int, Field(ge=0, le=100_000)]) -> dict[str, Any]:
        show = shows.get(key)
        with show.lock:
            try:
                return {"id": key, **show.frame(number)}
            except (ValueError, NotFoundError):
                raise
            except Exception as error:
                raise PlayerError(f"the player failed: {error!r}") from error

    return app


def warm_up() -> None:
    """Load the compiled rules (the first time ever they are compiled, which takes a while), before anyone waits."""
    table = GameTable.start("app", 3, None, True)
    table.change(0, lambda game: game.tap("stock"))
    table.view()
    Show("greedy", table.game.code or "", table.game.rules, "cards", load_player("greedy")).frame(1)


def _rules_of(code: str, rules: str | Mapping[str, Any]) -> Rules:
    return rules_for_draw(rules, code_draw_count(code), f"the code {code}")


class _Solver:
    """The solver, where it is installed: one question at a time, each with a time limit."""

    def __init__(self, seconds: float, megabytes: int) -> None:
        self._seconds, self._megabytes = seconds, megabytes
        self._free = threading.Semaphore(1)
        self._solve: Any = None
        if importlib.util.find_spec("canfield_env.solver") is not None:
            self._solve = importlib.import_module("canfield_env.solver").solve

    @property
    def is_there(self) -> bool:
        return self._solve is not None

    def warm_up(self) -> None:
        """Ask a first question, so that no visitor waits while the solver is compiled (once; about a minute)."""
        if self._solve is not None:
            with self._free:
                self._solve("CF1-D3-AAAAAAA", max_seconds=0.1, table_megabytes=self._megabytes)

    def ask(self, position: Any) -> dict[str, Any]:
        """Whether ``position`` can be won, and the next move of a line that wins."""
        if self._solve is None:
            raise NotFoundError("the solver is not installed here")
        if not self._free.acquire(blocking=False):
            raise FullError("the solver is busy with another question: try again in a moment")
        try:
            found = self._solve(position, max_seconds=self._seconds, table_megabytes=self._megabytes)
        finally:
            self._free.release()
        return {
            "verdict": found.verdict,
            "move": move_view(found.moves[0]) if found.moves else None,
            "seconds": round(float(found.seconds), 2),
        }


# --- Errors and bounds -------------------------------------------------------------------------------------


def _add_error_answers(app: FastAPI) -> None:
    for kind, status in (
        (IllegalMoveError, 409),
        (StaleError, 412),
        (NotFoundError, 404),
        (FullError, 503),
        (PlayerError, 500),
        (ValueError, 422),
    ):
        app.add_exception_handler(kind, _answer(status))

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        message = str(first["msg"]).removeprefix("Value error, ")
        return JSONResponse({"error": f"{place}: {message}" if place else message}, 422)


def _answer(status: int) -> Callable[[Request, Exception], JSONResponse]:
    return lambda request, error: JSONResponse({"error": str(error)}, status)


class _Guard:
    """Refuses a body that is too large, whatever its headers say, and adds the headers that keep a page to itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = await _read_body(receive)
        answer = _with_headers(send)
        if body is None:
            refusal = JSONResponse({"error": f"the request is larger than {LARGEST_BODY} bytes"}, 413)
            await refusal(scope, receive, answer)
            return
        waiting = [body]

        async def receive_body() -> Message:
            if waiting:
                return {"type": "http.request", "body": waiting.pop(), "more_body": False}
            return await receive()

        await self._app(scope, receive_body, answer)


async def _read_body(receive: Receive) -> bytes | None:
    """The whole body; None as soon as it is too large."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return body
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            return None
        more = message.get("more_body", False)
    return body


def _with_headers(send: Send) -> Send:
    added = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]

    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *added]
        await send(message)

    return answer
