"""The dashboard's web server, in a thread beside whatever feeds it."""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

from heddle.dashboard.board import Board
from heddle.model.errors import RunRefused
from heddle.model.extras import how_to_install
from heddle.yarn.live.steering.few_connections import WAITING
from heddle.yarn.live.steering.other_sites import own_names

LOOPBACK: Final = "127.0.0.1"
STARTS_WITHIN_S: Final = 20.0
_LAST_ANSWERS_S: Final = 2


@contextmanager
def served(board: Board, host: str, port: int, names: frozenset[str] = frozenset()) -> Iterator[str]:
    """The dashboard until the end of the block; gives the link, token and all.

    The token is in the link's fragment: browsers do not send that to anybody, so it is in no log on the way.
    """
    try:
        import uvicorn

        from heddle.dashboard.access import Access
        from heddle.dashboard.app import dashboard_app
        from heddle.dashboard.few_connections import OneOfFew, QuietServer
    except ModuleNotFoundError as error:
        missing = f"the dashboard needs {error.name}: {how_to_install('dashboard')}"
        raise RunRefused(missing) from None
    access, ending = Access(own_names(host) | names), Event()
    listening = _listening(host, port)
    server = QuietServer(
        uvicorn.Config(
            dashboard_app(board, access, ending), loop="asyncio", http=OneOfFew, ws="none", lifespan="off",
            log_config=None, log_level="error", access_log=False, server_header=False, backlog=WAITING,
            timeout_graceful_shutdown=_LAST_ANSWERS_S,
        )
    )  # fmt: skip
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True, name="dashboard")
    thread.start()
    try:
        _await_start(server, thread)
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{listening.getsockname()[1]}/#token={access.token}"
    finally:
        ending.set()
        server.should_exit = True
        thread.join(timeout=STARTS_WITHIN_S)
        listening.close()


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=WAITING)
    except OSError as error:
        raise RunRefused(f"the dashboard cannot be offered at {host}:{port}: {error.strerror or error}") from None


def _await_start(server: object, thread: Thread) -> None:
    deadline_s = time.monotonic() + STARTS_WITHIN_S
    while not getattr(server, "started", False):
        if not thread.is_alive() or time.monotonic() > deadline_s:
            raise RunRefused("the dashboard's web server did not start")
        time.sleep(0.02)
