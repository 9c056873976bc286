"""What containers receive and send, by real connections between two addresses of this machine."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from heddle.yarn.observe import connections
from heddle.yarn.observe.connections import Connections
from heddle.yarn.observe.traffic import LOOKS_FOR_AN_OWNER, LOOKS_FOR_ITS_END, Traffic

HERE, THERE = "127.0.0.1", "127.0.0.2"
FETCH = f"""
import socket, sys
with socket.create_connection(({THERE!r}, int(sys.argv[1])), source_address=({HERE!r}, 0)) as link:
    link.sendall(b"q" * 1000)
    while sys.stdin.readline():
        got = 0
        while got < 300_000:
            got += len(link.recv(1 << 16))
        print(got, flush=True)
"""


@pytest.fixture(autouse=True)
def two_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the two addresses were not of one machine."""
    monkeypatch.setattr(connections, "_is_loopback", lambda family, address: False)


@pytest.fixture
def traffic() -> Iterator[Traffic]:
    with closing(Traffic()) as made:
        yield made


@contextmanager
def fetching() -> Iterator[tuple[subprocess.Popen[str], socket.socket]]:
    with (
        socket.create_server((THERE, 0)) as server,
        subprocess.Popen(
            [sys.executable, "-c", FETCH, str(server.getsockname()[1])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        ) as process,
    ):  # fmt: skip
        link, _ = server.accept()
        link.recv(1000, socket.MSG_WAITALL)
        with link:
            yield process, link
            process.kill()


def about(received: int, sent: int) -> Any:
    """The kernel counts the beginning and the end of a connection as a byte each."""
    return pytest.approx((received, sent), abs=2)


def fetch(process: subprocess.Popen[str], link: socket.socket) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    print(file=process.stdin, flush=True)
    link.sendall(b"a" * 300_000)
    assert process.stdout.readline() == "300000\n"


def test_what_a_container_fetches_is_its_own_and_nobodys_on_the_other_side(traffic: Traffic) -> None:
    with fetching() as (process, link):
        members = {process.pid: "fetches", os.getppid(): "has no connection"}
        assert traffic.look(members) == {"fetches": about(0, 1000), "has no connection": (0, 0)}
        fetch(process, link)
        assert traffic.look(members)["fetches"] == about(300_000, 0)
        assert traffic.look(members)["fetches"] == (0, 0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root hears of connections that end")
def test_what_comes_just_before_the_end_is_counted(traffic: Traffic) -> None:
    with fetching() as (process, link):
        traffic.look({process.pid: "fetches"})
        fetch(process, link)
    for _ in range(LOOKS_FOR_ITS_END):
        if "fetches" in (carried := traffic.look({os.getpid(): "another"})):
            break
        time.sleep(1)
    assert carried["fetches"] == about(300_000, 0)


def test_a_connection_of_somebody_else_is_not_looked_for_for_ever(
    traffic: Traffic, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fetching() as (process, link):
        scanned = list[int]()

        def look_through(pid: int) -> set[int]:
            scanned.append(pid)
            return set()

        monkeypatch.setattr("heddle.yarn.observe.traffic._sockets_of", look_through)
        for _ in range(2 * LOOKS_FOR_AN_OWNER):
            assert traffic.look({process.pid: "fetches"}) == {"fetches": (0, 0)}
        assert len(scanned) < 2 * LOOKS_FOR_AN_OWNER
        fetch(process, link)


def test_connections_within_the_machine_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with fetching() as (process, link), closing(Connections()) as found:
        fetch(process, link)
        mine = os.fstat(link.fileno()).st_ino
        assert mine not in {one.inode for one in found.look()}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may look into another network namespace")
def test_another_network_namespace_is_looked_into(traffic: Traffic) -> None:
    code = (
        "import socket, subprocess; subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=True);"
        f"server = socket.create_server(({THERE!r}, 0));"
        f"link = socket.create_connection(server.getsockname(), source_address=({HERE!r}, 0));"
        "other, _ = server.accept(); link.sendall(bytes(5000)); other.recv(5000, socket.MSG_WAITALL);"
        "print(flush=True); input()"
    )
    with subprocess.Popen(
        ["unshare", "--net", sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert traffic.look({process.pid: "apart"}) == {"apart": about(5000, 5000)}
        process.kill()
