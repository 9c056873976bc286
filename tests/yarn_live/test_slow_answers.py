"""Who answers a byte at a time does not hold a call for ever; who has no address that can be one is not asked."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Thread

import pytest

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.nodemanagers import sizes_of_nodemanagers
from heddle.yarn.live.rm_answers import read_nodes
from heddle.yarn.live.wire import YarnError

from .fake_rm import FakeRm

TIMEOUT_S = 0.1
DRIPS = 400  # a byte each hundredth of a second
STATUS = b"HTTP/1.1 200 OK\r\n"
BODY = b"{}" + b" " * DRIPS
LENGTH = f"Content-Length: {len(BODY)}\r\n\r\n".encode()


@contextmanager
def dripping(at_once: bytes, byte_by_byte: bytes) -> Iterator[str]:
    """The address of a server that answers one request so. All of it is a proper answer."""

    def answer(listening: socket.socket) -> None:
        with listening, suppress(OSError):
            connection, _ = listening.accept()
            with connection:
                connection.recv(10_000)
                connection.sendall(at_once)
                for byte in byte_by_byte:
                    connection.sendall(bytes((byte,)))
                    time.sleep(0.01)

    listening = socket.create_server(("127.0.0.1", 0))
    thread = Thread(target=answer, args=(listening,))
    thread.start()
    yield f"127.0.0.1:{listening.getsockname()[1]}"
    thread.join()


@pytest.mark.parametrize(
    ("at_once", "byte_by_byte"),
    [
        (STATUS + LENGTH, BODY),
        (STATUS, b"X-Padding: " + b"x" * DRIPS + b"\r\n" + LENGTH + BODY),
        (STATUS + b"Transfer-Encoding: chunked\r\n\r\n", b"2;" + b"x" * DRIPS + b"\r\n{}\r\n0\r\n\r\n"),
    ],
    ids=["body", "headers", "chunk"],
)
def test_a_call_has_a_deadline(at_once: bytes, byte_by_byte: bytes) -> None:
    with (
        dripping(at_once, byte_by_byte) as address,
        RmClient(address, timeout_s=TIMEOUT_S) as client,
        pytest.raises(YarnError, match="timed out"),
    ):
        client.nodes()


def test_the_same_bytes_in_time_are_an_answer() -> None:
    with dripping(STATUS + LENGTH, BODY) as address, RmClient(address, timeout_s=60) as client:
        assert client.nodes() == {}


def test_nodemanagers_that_drip_or_have_no_address_are_left_out(rm: FakeRm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heddle.yarn.live.nodemanagers.TIMEOUT_S", TIMEOUT_S)
    rm.add_node("a:1", 8192, 8)
    said = json.dumps({"property": {"name": "it", "value": "4096"}}).encode()
    slow = said + b" " * DRIPS
    with (
        RmClient(rm.address) as client,
        dripping(STATUS + f"Content-Length: {len(slow)}\r\n\r\n".encode(), slow) as address,
    ):
        node = read_nodes(client.nodes(), "here")["a:1"]
        for http in (address, "bad host:8042", "a\tb:8042", "[::1:8042", "a..b:8042", "me:secret@a:8042"):
            assert sizes_of_nodemanagers(client, {"a:1": replace(node, http=http)}) == {}
