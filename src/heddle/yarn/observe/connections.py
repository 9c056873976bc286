"""What TCP connections of this machine have carried, as the kernel counts it: what `ss` shows, asked for directly.

Connections within the machine are left out: nothing of theirs is on a wire. A connection is known by its cookie, which
stays the same while it is being closed, when nobody owns it any more; the kernel tells its last counts as it goes.
One that comes and goes between two looks is missed.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

_SOCK_DIAG: Final = 4  # NETLINK_SOCK_DIAG
_BY_FAMILY: Final = 20
_REQUEST_AND_DUMP: Final = 0x301
_DONE, _ERROR = 3, 2  # of netlink
_INFO: Final = 2  # INET_DIAG_INFO: struct tcp_info
_NOT_OPEN: Final = 1 << 10 | 1 << 6 | 1 << 3  # listening, or without counters
_DESTROYED: Final = 1 << 0 | 1 << 2  # the groups notified when TCP connections over IPv4 and IPv6 end
_CLONE_NEWNET: Final = 0x40000000
_HEADER: Final = struct.Struct("=IHHII")
_REQUEST: Final = struct.Struct("=BBBxI48x")
_ANSWER: Final = struct.Struct("=BBBBHH16s16sIQ16xI")
_ATTRIBUTE: Final = struct.Struct("=HH")
_BYTES: Final = struct.Struct("=QQ")
_BYTES_AT: Final = 120  # of tcpi_bytes_acked in struct tcp_info; tcpi_bytes_received follows
_MAPPED: Final = bytes(10) + b"\xff\xff"  # IPv4 in IPv6


@dataclass(frozen=True)
class Connection:
    """One end of a connection, and what it has carried so far. `inode`: what its owner's /proc/PID/fd shows; or 0."""

    cookie: int
    inode: int
    received: int
    sent: int


class Connections:
    """Of one network namespace: that of the process `pid`. OSError: the kernel does not let us."""

    def __init__(self, pid: int | str = "self") -> None:
        with ThreadPoolExecutor(1) as apart:  # a thread of its own goes there; what it opens stays there
            self._asks, self._ended = apart.submit(_open_in, f"/proc/{pid}/ns/net").result()

    def close(self) -> None:
        self._asks.close()
        if self._ended is not None:
            self._ended.close()

    def look(self) -> Iterator[Connection]:
        """Those that have ended since the last look, where that is told, then those that are open."""
        if self._ended is not None:
            while answer := _receive(self._ended):
                yield from (one for _, one in _messages(answer) if one is not None)
        for family in (socket.AF_INET, socket.AF_INET6):
            request = _REQUEST.pack(family, socket.IPPROTO_TCP, 1 << (_INFO - 1), 0xFFF & ~_NOT_OPEN)
            header = _HEADER.pack(_HEADER.size + len(request), _BY_FAMILY, _REQUEST_AND_DUMP, 0, 0)
            self._asks.sendall(header + request)
            over = False
            while not over:
                for kind, one in _messages(self._asks.recv(1 << 18)):
                    over = over or kind in (_DONE, _ERROR)
                    if one is not None:
                        yield one


def _open_in(namespace: str) -> tuple[socket.socket, socket.socket | None]:
    """One to ask by, and one that hears of connections that end (for root only)."""
    if not os.path.samefile(namespace, "/proc/self/ns/net"):
        there = os.open(namespace, os.O_RDONLY)
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.setns(there, _CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), namespace)
        finally:
            os.close(there)
    asks = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG)
    asks.settimeout(2.0)
    ended = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG)
    try:
        ended.bind((0, _DESTROYED))
        ended.setblocking(False)
    except OSError:
        ended.close()
        return asks, None
    return asks, ended


def _receive(ended: socket.socket) -> bytes:
    """The next message; nothing if there is none. Some are lost where too many end at once for the kernel's buffer."""
    try:
        return ended.recv(1 << 16)
    except OSError:
        return b""


def _messages(answer: bytes) -> Iterator[tuple[int, Connection | None]]:
    at = 0
    while at + _HEADER.size <= len(answer):
        length, kind, *_ = _HEADER.unpack_from(answer, at)
        yield kind, _connection(answer[at + _HEADER.size : at + length]) if kind == _BY_FAMILY else None
        at += max(length + 3 & ~3, _HEADER.size)


def _connection(message: bytes) -> Connection | None:
    """None: it stays within this machine, or the kernel does not count."""
    if len(message) < _ANSWER.size:
        return None
    family, _, _, _, _, _, own, peer, _, cookie, inode = _ANSWER.unpack_from(message)
    if own == peer or _is_loopback(family, peer):
        return None
    at = _ANSWER.size
    while at + _ATTRIBUTE.size <= len(message):
        length, kind = _ATTRIBUTE.unpack_from(message, at)
        if kind == _INFO and length >= _ATTRIBUTE.size + _BYTES_AT + _BYTES.size:
            sent, received = _BYTES.unpack_from(message, at + _ATTRIBUTE.size + _BYTES_AT)
            return Connection(cookie, inode, received, sent)
        at += max(length + 3 & ~3, _ATTRIBUTE.size)
    return None


def _is_loopback(family: int, address: bytes) -> bool:
    if family == socket.AF_INET:
        return address[0] == 127
    return address == bytes(15) + b"\x01" or (address[:12] == _MAPPED and address[12] == 127)
