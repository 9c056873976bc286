"""One HTTP connection to one daemon, kept between requests."""

from __future__ import annotations

import ssl
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final, NamedTuple, Protocol
from urllib.parse import urlsplit

_PLAIN: Final = 8088  # YARN's own ports
_TLS: Final = 8090
MOST_BYTES: Final = 1 << 28  # of one answer: ten thousand applications are a tenth of it


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
        self._http.request(method, target, body, headers)
        response = self._http.getresponse()
        data = response.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise HTTPException(f"an answer of more than {MOST_BYTES >> 20} MB")
        text = data.decode("utf-8", "replace")
        cookies = tuple(response.headers.get_all("Set-Cookie") or ())
        return Answer(response.status, text, response.getheader("WWW-Authenticate") or "", cookies)

    def close(self) -> None:
        self._http.close()
