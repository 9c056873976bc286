"""Whoever can connect to a page of ours cannot keep this process from opening files, nor fill its stderr."""

import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from heddle.dashboard import few_connections as of_dashboard
from heddle.dashboard import serving
from heddle.dashboard.board import Board
from heddle.yarn.live.steering import few_connections, few_served, metrics_page
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.metrics_page import SteeringMetrics

PAGES = "metrics", "dashboard"
MOST = 3
DRIPS = 400  # until a connection counts as one that is never ended


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_connections, "AT_ONCE", MOST)


@pytest.fixture(params=PAGES)
def link(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "metrics":
        with metrics_page.served(SteeringMetrics("p", "live"), "127.0.0.1", 0) as address:
            yield address
    else:
        with serving.served(Board("http://rm:8088", Desk(tmp_path), 15), "127.0.0.1", 0) as address:
            yield address


@pytest.fixture
def connect(link: str) -> Iterator[Callable[[], socket.socket]]:
    with ExitStack() as opened:
        at = "127.0.0.1", urlsplit(link).port
        yield lambda: opened.enter_context(socket.create_connection(at, timeout=30))


def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """For requests."""
    for page in (few_served, of_dashboard):
        monkeypatch.setattr(page, "REQUEST_S", 0.3)


def asks(connection: socket.socket, path: str = "/", more: str = "") -> bytes:
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode())
    return heard(connection)


def heard(connection: socket.socket) -> bytes:
    """b"": it was ended."""
    try:
        return connection.recv(1000)
    except ConnectionResetError:
        return b""


def test_only_so_many_are_taken(connect: Callable[[], socket.socket]) -> None:
    there = [connect() for _ in range(MOST)]
    assert [heard(connect()) for _ in range(20)] == [b""] * 20
    assert asks(there[0]).startswith(b"HTTP/1.")
    for one in there:
        one.close()
    for _ in range(DRIPS):  # it hears of that a moment later
        if asks(connect()):
            return
    raise AssertionError("those that have ended still count")


def test_one_that_says_nothing_is_ended(connect: Callable[[], socket.socket], monkeypatch: pytest.MonkeyPatch) -> None:
    no_time(monkeypatch)
    assert heard(connect()) == b""


@pytest.mark.parametrize("asked_before", [False, True])
def test_a_request_that_drips_is_ended(
    connect: Callable[[], socket.socket], asked_before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_time(monkeypatch)
    dripping = connect()
    if asked_before:
        assert asks(dripping).startswith(b"HTTP/1.")
    dripping.settimeout(0.02)
    for _ in range(DRIPS):
        try:
            dripping.send(b"G")
            if not dripping.recv(100_000):
                return
        except TimeoutError:
            continue
        except OSError:
            return
    raise AssertionError("it drips on")


def test_the_dashboards_stream_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no_time(monkeypatch)
    monkeypatch.setattr("heddle.dashboard.app.TELL_EVERY_S", 0.1)
    with serving.served(Board("http://rm:8088", Desk(tmp_path), 15), "127.0.0.1", 0) as link:
        parts = urlsplit(link)
        token = parts.fragment.removeprefix("token=")
        with socket.create_connection(("127.0.0.1", parts.port), timeout=60) as viewer:
            assert b"200 OK" in asks(viewer, "/stream", f"Authorization: Bearer {token}\r\n")
            for _ in range(10):
                assert heard(viewer)


def test_fewer_where_the_process_may_open_few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_connections, "AT_ONCE", 32)
    for files, most in ((1024, 32), (64, 8), (4, 1), (resource.RLIM_INFINITY, 32)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert few_connections.most_connections() == most


WITHOUT_A_FILE_LEFT = """
import os, resource, sys, time
from heddle.dashboard import serving
from heddle.dashboard.board import Board
from heddle.yarn.live.steering import metrics_page
from heddle.yarn.live.steering.desk import Desk
from pathlib import Path
page = (
    metrics_page.served(metrics_page.SteeringMetrics("p", "live"), "127.0.0.1", 0)
    if sys.argv[1] == "metrics"
    else serving.served(Board("http://rm:8088", Desk(Path(sys.argv[2])), 15), "127.0.0.1", 0)
)
with page as link:
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    try:
        while True:
            os.open(os.devnull, os.O_RDONLY)
    except OSError:
        pass
    print(link, flush=True)
    sys.stdin.readline()
    began_s = time.process_time()
    time.sleep(2)
    print(time.process_time() - began_s, flush=True)
"""


@pytest.mark.parametrize("page", PAGES)
def test_connections_that_cannot_be_taken_are_neither_told_nor_chased(page: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_A_FILE_LEFT, page, str(tmp_path)]
    pipe = subprocess.PIPE
    with ExitStack() as opened:
        server = opened.enter_context(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True))
        assert server.stdout is not None
        port = urlsplit(server.stdout.readline()).port
        for _ in range(10):
            opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
        said, complained = server.communicate("go\n")
    assert complained.count("\n") == 0, complained[:2000]
    assert float(said) < 0.1, "CPU seconds, of two"


def test_what_is_no_request_is_not_told(
    link: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    for sent in (
        b"\x00\x01\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", urlsplit(link).port), timeout=60) as strange:
            strange.sendall(sent)
            assert heard(strange)
            strange.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")  # ends with a reset
    time.sleep(0.2)
    assert (capfd.readouterr().err, caplog.records) == ("", [])
