"""HTTP to the ResourceManager: one kept connection and, where there are several of them, the one that is active.

Standbys answer with a redirect. It is not followed, since it may lead anywhere: the other addresses that were given are
tried instead.
"""

from __future__ import annotations

from collections.abc import Callable
from http.client import HTTPException
from socket import gaierror
from typing import Final
from urllib.parse import urlsplit

from heddle.model.errors import HeddleError, RunRefused
from heddle.model.visible_text import visible
from heddle.yarn.live.connection import Answer, Connection, HttpConnection
from heddle.yarn.live.spnego import cookie_in, proof_for, wants_kerberos

EXCERPT: Final = 200  # characters of an unexpected answer that go into the error
_STANDBY: Final = ("This is standby RM", "There is no active RM")

Connect = Callable[[str, float], Connection]  # to an address, with seconds to wait for an answer


class YarnError(HeddleError):
    """The RM did not answer, refused, or answered with something that cannot be read. Carries URL and status.

    `what` quotes answers, and goes into messages, records and logs: it is one line of harmless characters.
    """

    def __init__(self, url: str, what: str, status: int | None = None, text: str = "") -> None:
        self.url = url
        self.what = visible(what)
        self.status = status  # None: there was no HTTP answer
        self.text = text  # of an answer that cannot be read
        super().__init__(f"{url}: {self.what}" if status is None else f"{url}: HTTP {status}: {self.what}")


class Wire:
    """`addresses`: one http(s) address, or several, separated by commas, of which one is active at a time."""

    def __init__(self, addresses: str, timeout_s: float, connect: Connect = HttpConnection) -> None:
        each = [_Address(one.strip(), timeout_s, connect) for one in addresses.split(",")]
        # In one order whoever names them: the address is also the name under which a controller keeps its state.
        self._all = sorted(each, key=lambda one: one.name)
        self._active = 0
        self.address = ",".join(one.name for one in self._all)

    def close(self) -> None:
        for one in self._all:
            one.connection.close()

    def exchange(self, method: str, target: str, body: str | None, headers: dict[str, str]) -> tuple[str, Answer]:
        """The URL that answered and its answer. YarnError if none does, or if it refuses."""
        error: YarnError | None = None
        for number in range(len(self._all)):
            which = (self._active + number) % len(self._all)
            one = self._all[which]
            try:
                answer = one.exchange(method, target, body, headers)
            except _NotActive as elsewhere:
                error = error or elsewhere
                continue
            self._active = which
            return one.name + target, answer
        assert error is not None
        if len(self._all) > 1:
            raise YarnError(self.address + target, f"none of them answers as the active one; the first: {error}")
        raise error


class _NotActive(YarnError):
    """Not reached, or a standby: another address may do."""


class _Address:
    def __init__(self, text: str, timeout_s: float, connect: Connect) -> None:
        try:
            parts = urlsplit(text if "//" in text else f"http://{text}")
            _ = parts.port, (parts.hostname or "").encode("idna")
        except ValueError as error:
            why = "" if "@" in text else f": {error}"  # which may quote it
            raise YarnError(text.rpartition("@")[2], f"not the address of a ResourceManager{why}") from None
        if "@" in parts.netloc:  # it would be in arguments, logs and the names of files
            safe = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
            raise YarnError(safe, "an address must not contain a user or password; Kerberos identifies you")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise YarnError(text, "not the http(s) address of a ResourceManager")
        self.name = f"{parts.scheme}://{parts.netloc}"
        self._host = parts.hostname
        try:
            self.connection = connect(self.name, timeout_s)
        except HTTPException as error:
            raise YarnError(self.name, f"not the address of a ResourceManager: {error}") from None
        self._cookie: str | None = None  # of a server that has seen who we are

    def exchange(self, method: str, target: str, body: str | None, headers: dict[str, str]) -> Answer:
        known = {**headers, "Cookie": self._cookie} if self._cookie else headers
        answer = self._ask(method, target, body, known)
        if wants_kerberos(answer.status, answer.challenge):
            try:
                proof = proof_for(self._host)
            except RunRefused as refused:
                raise YarnError(self.name + target, str(refused), answer.status) from None
            known = {**headers, "Authorization": proof}
            answer = self._ask(method, target, body, known)
        if 200 <= answer.status < 300:
            return _accepted(self.name + target, answer)
        return _accepted(self.name + target, answer._replace(text=self._without_secrets(answer.text, known)))

    def _without_secrets(self, text: str, sent: dict[str, str]) -> str:
        """Servers quote what they refuse (Hadoop: `Invalid signed text: ...`), and what they say goes into logs."""
        secrets = [sent.get("Authorization", ""), sent.get("Cookie", ""), self._cookie or ""]
        for secret in secrets:
            for part in (secret, secret.partition("=")[2], secret.partition(" ")[2]):
                if part.strip('"'):
                    text = text.replace(part.strip('"'), "***")
        return text

    def _ask(self, method: str, target: str, body: str | None, headers: dict[str, str]) -> Answer:
        url = self.name + target
        reused = self.connection.kept
        while True:
            try:
                answer = self.connection.ask(method, target, body, headers)
            except TimeoutError as error:
                self.connection.close()
                raise _NotActive(url, f"timed out ({error})") from error
            except (OSError, HTTPException) as error:
                self.connection.close()
                # A kept connection may have been dropped while idle. Every call here can be made twice without harm.
                if not reused:
                    raise _NotActive(url, f"cannot be reached: {_in_words(error)}") from error
                reused = False
                continue
            self._cookie = cookie_in(answer.cookies) or self._cookie
            return answer


def _accepted(url: str, answer: Answer) -> Answer:
    status, text = answer.status, answer.text
    if 300 <= status < 400 or text.startswith(_STANDBY):
        raise _NotActive(url, f"a standby ({text.strip()[:EXCERPT] or 'it redirects'})", status)
    if not 200 <= status < 300:
        raise YarnError(url, text.strip()[:EXCERPT] or "no explanation", status)
    return answer


def _in_words(error: OSError | HTTPException) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens at that host and port"
    if isinstance(error, gaierror):
        return "unknown host"
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return f"{error}; SSL_CERT_FILE in the environment names the certificate of an authority of your own"
    return f"{type(error).__name__}: {error}"
