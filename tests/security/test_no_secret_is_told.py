"""After a run with secrets, none of them is in what heddle said, wrote, started or failed with."""

from __future__ import annotations

import base64
import sys
import traceback
import types
from collections.abc import Iterator, Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from heddle.cli.main import run
from heddle.yarn.live.bridge.endpoint import BridgeEndpoint
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.connection import HttpConnection
from heddle.yarn.live.steering.session import Session
from heddle.yarn.live.wire import YarnError
from heddle.yarn.live.world import OwnProcesses
from yarn_live.fake_rm import FakeRm

TICKET = b"ticket-nobody-may-see"
COOKIE = "signed-cookie-nobody-may-see"
SECRET = "bridge-secret-nobody-may-see-0123456789"
SECRETS = (base64.b64encode(TICKET).decode(), TICKET.decode(), COOKIE, SECRET)


class Quoting(FakeRm):
    """Wants Kerberos, gives a cookie, and quotes all that it was sent whenever it fails, as Hadoop's filters do."""

    def __init__(self) -> None:
        super().__init__()
        self.fails_every = 7
        self._asked = 0
        rm = self
        plain: Any = self._server.RequestHandlerClass

        class Handler(plain):  # type: ignore[misc]
            def parse_request(self) -> bool:
                if not super().parse_request():
                    return False
                rm._asked += 1
                sent = self.headers.get("Authorization"), self.headers.get("Cookie")
                if sent == (None, None):
                    self._refuse(401, "who are you?")
                elif rm._asked % rm.fails_every == 0:
                    self._refuse(500, f"Invalid signed text: {COOKIE} in {self.headers}")
                else:
                    return True
                return False

            def _refuse(self, status: int, text: str) -> None:
                self.close_connection = True
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                rm.challenge = "Negotiate"
                self._answer(status, text)

            def end_headers(self) -> None:
                self.send_header("Set-Cookie", f'hadoop.auth="{COOKIE}"; Path=/; HttpOnly')
                super().end_headers()

        self._server.RequestHandlerClass = Handler


@pytest.fixture
def rm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Quoting]:
    library = types.SimpleNamespace(
        Name=lambda *_: None,
        NameType=types.SimpleNamespace(hostbased_service=None),
        OID=types.SimpleNamespace(from_int_seq=lambda _: None),
        SecurityContext=lambda **_: types.SimpleNamespace(step=lambda: TICKET),
        exceptions=types.SimpleNamespace(GSSError=KeyError),
    )
    monkeypatch.setitem(sys.modules, "gssapi", library)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    with Quoting() as rm:
        app = rm.add_app()
        rm.add_node("a:1", 8192, 8)
        rm.allocate(app, "a:1", 4096, 1)
        app.state = "RUNNING"
        yield rm


def written(folder: Path) -> str:
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in folder.rglob("*") if path.is_file())


def test_nothing_that_is_told_has_a_secret_in_it(
    rm: Quoting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "keys").mkdir()
    secret = tmp_path / "keys" / "secret"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    started: list[str] = []

    def start(self: OwnProcesses, command: Sequence[str], log: Path) -> None:
        started.extend(command)
        original(self, command, log)

    original = OwnProcesses.start
    monkeypatch.setattr(OwnProcesses, "start", start)
    steering = ["yarn", "steer", "--rm", rm.address, "--bridge-secret", str(secret), "--policy", "usage-feedback"]
    live = [*steering, "--mode", "live", "--accept-sizes", "--for", "3", "--every", "0.2", "--metrics-port", "0"]
    rm.fails_every = 1000  # until it has begun
    stepped = Session.step

    def step(self: Session) -> Any:
        rm.fails_every = 7
        return stepped(self)

    monkeypatch.setattr(Session, "step", step)
    run([*live, "--record", "decisions.jsonl"])
    rm.fails_every = 5
    run(["yarn", "observe", "seen", "--rm", rm.address, "--for", "1"])
    run(["check", rm.address, "--report", "check.html", "--json"])
    rm.fails_every = 1000

    def dies(self: Session) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(Session, "step", dies)
    with pytest.raises(RuntimeError) as defect:
        run(steering)
    told = capfd.readouterr()
    secret.unlink()
    everything = told.out + told.err + written(tmp_path) + " ".join(started)
    everything += "".join(traceback.format_exception(defect.value))
    assert "HTTP 500: Invalid signed text: ***" in everything  # it was quoted, and so had to be taken out
    assert "watchdog" in everything
    for one in SECRETS:
        assert one not in everything


def test_errors_of_the_bridge_do_not_quote_its_secret_or_signatures(rm: Quoting) -> None:
    with RmClient(rm.address) as client:
        client.nodes()
        rm.fails_every = 1
        endpoint = BridgeEndpoint(client, SECRET)
        with pytest.raises(YarnError) as refused:
            client.send("PUT", "/ws/v1/heddle/bridge", "table", endpoint.signed("PUT", "", 1, "table"))
    assert "***" in str(refused.value)
    for one in SECRETS:
        assert one not in str(refused.value) + repr(endpoint)


def test_an_address_with_a_password_is_refused_without_saying_it() -> None:
    with pytest.raises(YarnError, match="http://rm:8088: an address must not contain a user or password") as refused:
        RmClient("http://me:hunter2@rm:8088")
    assert "hunter2" not in str(refused.value)


def test_an_answer_without_end_is_not_read_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heddle.yarn.live.connection.MOST_BYTES", 1000)
    with FakeRm() as rm:
        rm.instead["/nodes"] = (200, "x" * 2000)
        with RmClient(rm.address) as client, pytest.raises(YarnError, match="an answer of more than"):
            client.nodes()


def test_no_library_can_turn_off_the_check_of_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    import ssl

    monkeypatch.setattr(ssl, "_create_default_https_context", ssl._create_unverified_context)
    connection = HttpConnection("https://rm:8090", 1.0)
    assert isinstance(connection._http, HTTPConnection)
    context: ssl.SSLContext = connection._http._context  # type: ignore[attr-defined]
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname
