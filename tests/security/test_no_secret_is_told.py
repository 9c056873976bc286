"""After a run with secrets, none of them is in what heddle said, wrote, started or failed with."""

from __future__ import annotations

import base64
import itertools
import json
import re
import secrets
import signal
import sys
import traceback
import types
import urllib.request
from collections.abc import Iterator, Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from heddle.cli.main import run
from heddle.yarn.live.bridge.endpoint import PATH, BridgeEndpoint
from heddle.yarn.live.bridge.leaves import ORDERING
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.connection import HttpConnection
from heddle.yarn.live.steering.session import Session
from heddle.yarn.live.wire import YarnError
from heddle.yarn.live.world import OwnProcesses
from heddle.yarn.observe.observer import Observer
from yarn_live.fake_rm import FakeRm

TICKET = b"ticket-nobody-may-see"
COOKIE = "signed-cookie-nobody-may-see"
SECRET = "bridge-secret-nobody-may-see-0123456789"
TOKEN = "dashboard-token-nobody-may-see"
SECRETS = (TICKET.decode(), COOKIE, SECRET, TOKEN)
QUOTED = "HTTP 500: Invalid signed text: ***"
LINK = re.compile(rf"dashboard at (http://127\.0\.0\.1:\d+)/#token={TOKEN}$", re.MULTILINE)
STEPS, NEVER = 12, 10**9
BRIDGE = {
    "bridge": 1, "build": "here", "instance": "x", "active": True, "needs_secret": True, "last_version": 4,
    "table": None, "off": "",
}  # fmt: skip


class Quoting(FakeRm):
    """Wants Kerberos, gives a cookie, and quotes all that it was sent whenever it fails, as Hadoop's filters do."""

    def __init__(self) -> None:
        super().__init__()
        self.fails_every = NEVER
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


class Told:
    """All that a command has said, written, served and started, to be searched for secrets."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.elsewhere = ""  # beside what is on the screen and in files
        self._folder, self._capture = folder, capture
        self._said = ""

    def said(self) -> str:
        out, err = self._capture.readouterr()
        self._said += out + err
        return self._said

    def written(self, *names: str) -> str:
        """The text of every file with its name; those of these names are there, and not empty."""
        files = [path for path in self._folder.rglob("*") if path.is_file()]
        found = {str(path.relative_to(self._folder)): _text_of(path) for path in files}
        for name in names:
            assert found.get(name), f"{name} is not among {sorted(found)}"
        return "".join(f"{name}\n{text}\n" for name, text in found.items())

    def has_no_secret(self, *names: str) -> None:
        """And `names` were written."""
        # The one place of the token: the link that its owner needs.
        said = LINK.sub("", self.said())
        everything = said + self.elsewhere + self.written(*names)
        assert QUOTED in everything  # it was sent and quoted, and so had to be taken out
        for secret in SECRETS:
            for form in (secret, base64.b64encode(secret.encode()).decode()):
                assert form not in everything


def _text_of(path: Path) -> str:
    """Parquet packs its values: a search through its bytes would find nothing."""
    if path.suffix == ".parquet":
        return pl.read_parquet(path).write_ndjson()
    return path.read_bytes().decode("utf-8", "replace")


@pytest.fixture
def told(rm: Quoting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Told:
    made = Told(tmp_path, capfd)
    original = OwnProcesses.start

    def start(self: OwnProcesses, command: Sequence[str], log: Path) -> None:
        made.elsewhere += " ".join(command)
        original(self, command, log)

    monkeypatch.setattr(OwnProcesses, "start", start)
    monkeypatch.setattr(secrets, "token_urlsafe", lambda *_: TOKEN)
    return made


@pytest.fixture
def steering(rm: Quoting, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command, with the bridge's secret in the one file that may hold it, away from all that is searched."""
    file = tmp_path_factory.mktemp("keys") / "secret"
    file.write_text(SECRET)
    file.chmod(0o600)
    return ["yarn", "steer", "--rm", rm.address, "--bridge-secret", str(file)]


def test_a_live_controller_with_its_pages(
    rm: Quoting, told: Told, steering: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stepped, steps = Session.step, itertools.count(1)

    def step(self: Session) -> Any:
        rm.fails_every = 7  # until here it has begun
        found = stepped(self)
        if next(steps) >= STEPS:
            told.elsewhere += told.written()  # of what is put back nothing will be left
            told.elsewhere += pages_of(told.said())
            rm.fails_every = NEVER
            signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(Session, "step", step)
    live = ["--policy", "usage-feedback", "--mode", "live", "--accept-sizes", "--every", "0.2", "--overcommit", "2"]
    assert run([*steering, *live, "--metrics-port", "0", "--dashboard", "--record", "decisions.jsonl"]) == 0
    assert "restored and verified" in told.said()
    assert "heddle.yarn.live.steering.watchdog" in told.elsewhere
    assert "live.json" in told.elsewhere
    told.has_no_secret("decisions.jsonl")


def pages_of(said: str) -> str:
    """What monitors and browsers get of a controller that has said where its pages are."""
    (metrics,), (link,) = re.findall(r"metrics at (\S+)", said), LINK.findall(said)
    found = ""
    for address in (metrics, f"{link}/", f"{link}/page/board.js", f"{link}/state"):
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            found += f"{answer.headers}{answer.read().decode()}"
    for part in ("# TYPE heddle_", "<html", "function", '"nodes"'):
        assert part in found
    return found


def test_a_controller_that_decides_for_the_bridge_and_dies_of_a_defect(
    rm: Quoting, told: Told, steering: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rm.instead[PATH] = 200, json.dumps(BRIDGE)
    rm.settings["yarn.scheduler.capacity.root.default.ordering-policy"] = ORDERING
    stepped, steps = Session.step, itertools.count(1)

    def step(self: Session) -> Any:
        rm.fails_every = 7
        if next(steps) >= STEPS:
            raise RuntimeError("a defect")
        return stepped(self)

    monkeypatch.setattr(Session, "step", step)
    with pytest.raises(RuntimeError) as defect:
        run([*steering, "--policy", "haste", "--best-effort", "--every", "0.2", "--json", "--record", "shadow.jsonl"])
    assert '"table"' in told.said()
    told.elsewhere += "".join(traceback.format_exception(defect.value))
    told.has_no_secret("shadow.jsonl")


def test_an_observation_and_its_record(rm: Quoting, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    polled, polls = Observer.poll, itertools.count(1)

    def poll(self: Observer) -> None:
        number = next(polls)
        rm.fails_every = 1 if number % 2 else NEVER
        if number == STEPS:
            for app in rm.apps.values():
                rm.end_app(app)
        polled(self)

    monkeypatch.setattr(Observer, "poll", poll)
    assert run(["yarn", "observe", "seen", "--rm", rm.address, "--every", "0.1", "--until-idle", "--for", "300s"]) == 0
    assert "SUCCEEDED" in Path("seen/journal.jsonl").read_text(encoding="utf-8")
    assert "1 jobs, 1 containers" in told.said()
    told.has_no_secret("seen/journal.jsonl", "seen/record/manifest.json", "seen/record/attempts-00000.parquet")


def test_a_check_and_its_report(rm: Quoting, told: Told) -> None:
    rm.fails_every = NEVER
    assert run(["check", rm.address, "--report", "check.html", "--json"]) == 0
    assert '"verdict"' in told.said()
    rm.fails_every = 3
    assert run(["check", rm.address, "--json"]) == 2
    told.has_no_secret("check.html")


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
