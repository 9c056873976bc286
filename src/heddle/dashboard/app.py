"""The dashboard as a web application: a page without a secret in it, a stream of what is new, and three actions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from importlib.resources import files
from threading import Event
from typing import Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from heddle.dashboard.access import Access
from heddle.dashboard.board import Board
from heddle.dashboard.controls import ACTIONS, ask
from heddle.dashboard.few_connections import answers_without_end
from heddle.model.errors import RunRefused
from heddle.model.nested_text import from_json
from heddle.report.style import chart_style
from heddle.yarn.live.steering.other_sites import KEPT_TO_OURSELVES, why_refused

TELL_EVERY_S: Final = 0.5  # also with nothing new: a page that hears nothing says so
LARGEST_BODY: Final = 1000
STYLE: Final = "board.css"
TYPES: Final = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
# Whatever names a cluster has: the page can load nothing but its own files, and stand in no other page.
HEADERS: Final = {
    **KEPT_TO_OURSELVES,
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}

Answering = Callable[[Request], Awaitable[Response]]


def dashboard_app(board: Board, access: Access, ending: Event | None = None) -> Starlette:
    """`ending`: set when the server is to end; streams would not end by themselves."""
    told_to_end = ending or Event()

    def guarded(answer: Answering, *, token: bool = True) -> Answering:
        async def check(request: Request) -> Response:
            response = await _answer(request)
            response.headers.update(HEADERS)
            return response

        async def _answer(request: Request) -> Response:
            if refused := why_refused(request.headers, access.names):
                return PlainTextResponse(f"{refused}\n", 403)
            if token and not access.right_token(request.headers):
                return PlainTextResponse("the token is missing or wrong: open the link that heddle has printed\n", 403)
            return await answer(request)

        return check

    async def page(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        text = _page_files().get(name)
        if text is None:
            return PlainTextResponse("there is no such file\n", 404)
        return Response(text, media_type=TYPES[name[name.rindex(".") :]])

    async def state(_: Request) -> Response:
        return JSONResponse(await run_in_threadpool(board.news, 0, -1))

    async def stream(request: Request) -> Response:
        answers_without_end(request.scope)
        return StreamingResponse(events(board, told_to_end), media_type="text/event-stream")

    async def act(request: Request) -> Response:
        if not access.own_page(request.headers):
            return PlainTextResponse("this was not sent by the dashboard's own page\n", 403)
        action = request.path_params["action"]
        if action not in ACTIONS:
            return PlainTextResponse("there is no such action\n", 404)
        session = await _session_in(request)
        if session is None:
            return PlainTextResponse('the body must be {"session": "...", "confirmed": true}\n', 400)
        by = request.client.host if request.client else "?"
        try:
            words = await run_in_threadpool(ask, board.desk, action, session, by)
        except RunRefused as refused:
            return JSONResponse({"refused": str(refused)}, 409)
        await run_in_threadpool(board.asked, words)
        return JSONResponse({"asked": words})

    return Starlette(
        routes=[
            Route("/", guarded(page, token=False), methods=["GET"]),
            Route("/page/{name}", guarded(page, token=False), methods=["GET"]),
            Route("/state", guarded(state), methods=["GET"]),
            Route("/stream", guarded(stream), methods=["GET"]),
            Route("/actions/{action}", guarded(act), methods=["POST"]),
        ]
    )


async def events(board: Board, ending: Event) -> AsyncIterator[bytes]:
    """Server-sent events: everything first, then what is new."""
    version, epoch = 0, -1
    while not ending.is_set():
        news = await run_in_threadpool(_news, board, version, epoch)
        version, epoch = news["version"], news["epoch"]
        yield b"data: " + json.dumps(news, separators=(",", ":")).encode() + b"\n\n"
        await asyncio.sleep(TELL_EVERY_S)


def _news(board: Board, version: int, epoch: int) -> dict[str, Any]:
    board.look_at_desk()
    return board.news(version, epoch)


async def _session_in(request: Request) -> str | None:
    """The session that the person saw when they confirmed; None: the body is not what our page sends."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            return None
    try:
        asked: Any = from_json(body)
    except ValueError:
        return None
    if not isinstance(asked, dict) or asked.get("confirmed") is not True or not isinstance(asked.get("session"), str):
        return None
    return str(asked["session"])


@cache
def _page_files() -> dict[str, str]:
    """Everything that the page is made of, by name; its colours are those of the reports."""
    folder = files("heddle.dashboard") / "page"
    found = {file.name: file.read_text() for file in folder.iterdir() if file.name[file.name.rfind(".") :] in TYPES}
    found[STYLE] = chart_style(0) + found[STYLE]
    return found
