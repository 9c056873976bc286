"""One HTTP connection to one daemon, kept between requests."""

from __future__ import annotations

import socket
import ssl
import time
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from io import BufferedReader, RawIOBase
from typing import Any, Final, NamedTuple, Protocol
from urllib.parse import urlsplit

_PLAIN: Final = 8088  # YARN's own ports
_TLS: Final = 8090
MOST_BYTES: Final = 1 << 28  # of one answer: ten thousand applications are a tenth of it
BYTES: Final = "application/octet-stream"  # asked for by Accept
WHOLE: Final = 3  # times the patience with silence: so long may a whole answer take


class Answer(NamedTuple):
    status: int
    text: str
    challenge: str = ""  # how it wants to be told who we are
    cookies: tuple[str, ...] = ()
    data: bytes = b""  # instead of text, where bytes were asked for and given


class Connection(Protocol):
    """How requests reach a daemon. What goes wrong on the way is an OSError or an HTTPException."""

    @property
    def kept(self) -> bool:
        """Whether the next request goes over what an earlier one has opened, and may have been dropped since."""

    def ask(self, method: str, target: str, body: str | None, headers: dict[str, str]) -> Answer: ...
    def close(self) -> None: ...


class HttpConnection:
    """`address`: http(s)://host[:port]. `timeout_s`: of silence; who answers byte by byte has three times as long."""

    def __init__(self, address: str, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        parts = urlsplit(address)
        tls, host = parts.scheme == "https", parts.hostname or ""
        port = parts.port or (_TLS if tls else _PLAIN)
        self._http = (
            # Said here, whatever else in this process may have changed: certificates and names are checked.
            HTTPSConnection(host, port, timeout=timeout_s, context=ssl.create_default_context())
            if tls
            else HTTPConnection(host, port, timeout=timeout_s)
        )

    @property
    def kept(self) -> bool:
        return self._http.sock is not None

    def ask(self, method: str, target: str, body: str | None, headers: dict[str, str]) -> Answer:
        until_s = time.monotonic() + WHOLE * self._timeout_s
        self._http.response_class = partial(_Response, self._timeout_s, until_s)  # type: ignore[assignment]
        if self._http.sock is not None:
            self._http.sock.settimeout(self._timeout_s)
        self._http.request(method, target, body, headers)
        response = self._http.getresponse()
        data = response.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise HTTPException(f"an answer of more than {MOST_BYTES >> 20} MB")
        cookies = tuple(response.headers.get_all("Set-Cookie") or ())
        if headers.get("Accept") == BYTES and 200 <= response.status < 300:
            return Answer(response.status, "", "", cookies, data)
        text = data.decode("utf-8", "replace")
        return Answer(response.status, text, response.getheader("WWW-Authenticate") or "", cookies)

    def close(self) -> None:
        self._http.close()


class _Response(HTTPResponse):
    def __init__(self, timeout_s: float, until_s: float, sock: socket.socket, **asked: Any) -> None:
        super().__init__(sock, **asked)
        self.fp: BufferedReader = BufferedReader(_Within(self.fp.detach(), sock, timeout_s, until_s))


class _Within(RawIOBase):
    """What comes over a socket until some instant: its own timeout begins anew with every byte."""

    def __init__(self, raw: RawIOBase, sock: socket.socket, timeout_s: float, until_s: float) -> None:
        self._raw, self._sock, self._timeout_s, self._until_s = raw, sock, timeout_s, until_s

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left_s = self._until_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError(f"the answer was not whole after {WHOLE * self._timeout_s:g} s")
        self._sock.settimeout(min(left_s, self._timeout_s))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
