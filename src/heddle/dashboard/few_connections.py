"""Connections to the dashboard: only so many, and none for longer than a request may take, but for the page's stream.

Uvicorn by itself takes as many as come, and waits for as long as nothing comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from socket import socket
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from heddle.yarn.live.steering.few_connections import REQUEST_S, most_connections

_ENDLESS: Final = "heddle.endless"


def answers_without_end(scope: MutableMapping[str, Any]) -> None:
    """The answer to this request may take as long as it likes: whoever asks has shown the token."""
    scope[_ENDLESS] = True


class OneOfFew(H11Protocol):
    """One connection."""

    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        if len(self.connections) > most_connections():
            transport.abort()
        else:
            self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._stop_waiting()
        self._await_request()
        super().on_response_complete()

    def _await_request(self) -> None:
        self._due = self.loop.call_later(REQUEST_S, self._too_late)

    def _stop_waiting(self) -> None:
        if self._due is not None:
            self._due.cancel()

    def _too_late(self) -> None:
        if self.scope is None or _ENDLESS not in self.scope:
            self.transport.abort()


class QuietServer(uvicorn.Server):
    """Says nothing of connections that fail: whoever makes them would fill our stderr."""

    async def serve(self, sockets: list[socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(_without_connections)
        await super().serve(sockets)


def _without_connections(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    if not isinstance(context.get("exception"), OSError):
        loop.default_exception_handler(context)
