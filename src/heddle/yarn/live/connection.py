"""One HTTP connection to one daemon, kept between requests."""

from __future__ import annotations

from http.client import HTTPConnection, HTTPSConnection
from typing import Final, NamedTuple, Protocol
from urllib.parse import urlsplit

_PLAIN: Final = 8088  # YARN's own ports
_TLS: Final = 8090


class Answer(NamedTuple):
    status: int
    text: str
    challenge: str = ""  # how it wants to be told who we are
    cookies: tuple[str, ...] = ()


class Connection(Protocol):
    """How requests reach a daemon. What goes wrong on the way is an OSError or an HTTPException."""

    @property
    def kept(self) -> bool:
        """Whether the next request goes over what an earlier one has opened, and may have been dropped since."""

    def ask(self, method: str, target: str, body: str | None, headers: dict[str, str]) -> Answer: ...
    def close(self) -> None: ...


class HttpConnection:
    """`address`: http(s)://host[:port]."""

    def __init__(self, address: str, timeout_s: float) -> None:
        parts = urlsplit(address)
        tls, host = parts.scheme == "https", parts.hostname or ""
        kind = HTTPSConnection if tls else HTTPConnection
        self._http = kind(host, parts.port or (_TLS if tls else _PLAIN), timeout=timeout_s)

    @property
    def kept(self) -> bool:
        return self._http.sock is not None

    def ask(self, method: str, target: str, body: str | None, headers: dict[str, str]) -> Answer:
        self._http.request(method, target, body, headers)
        response = self._http.getresponse()
        text = response.read().decode("utf-8", "replace")
        cookies = tuple(response.headers.get_all("Set-Cookie") or ())
        return Answer(response.status, text, response.getheader("WWW-Authenticate") or "", cookies)

    def close(self) -> None:
        self._http.close()
