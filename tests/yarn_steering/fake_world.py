"""A world of its own for a session and its watchdog: one clock, one disk, one network, in one process; nobody sleeps.

Each process of it has its own view of the world, `as_process(name)`: what it locks is its own, and freed when it dies.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from heddle.model.errors import RunRefused
from heddle.yarn.live.connection import Answer
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.watchdog import LOOK_EVERY_S, Watchdog
from heddle.yarn.live.world import World
from yarn_live.fake_cluster import FakeCluster

RM = "http://rm.example:8088"
BEGAN_S = 1_000_000.0


class Killed(BaseException):
    """What a process that was killed meets at the next thing it does."""


class FakeWorld:
    """Time goes on as somebody sleeps, or by pass_s()."""

    def __init__(self, cluster: FakeCluster) -> None:
        self.cluster = cluster
        self.now_s = BEGAN_S
        self.files: dict[Path, bytes] = {}
        self.locks: dict[Path, str] = {}  # whose they are
        self.watchdogs: dict[str, tuple[Watchdog, float]] = {}  # those that live, and when they look next
        self.started = 0
        self.dead: set[str] = set()
        self.full_disk = False
        self.reachable = True
        self.before_request: Callable[[str, str], None] = lambda method, target: None

    def as_process(self, name: str) -> World:
        def connect(address: str, timeout_s: float) -> _Network:
            return _Network(self, name, timeout_s)

        return World(_Clock(self), connect, _Disk(self, name), _Processes(self, name))

    def alive(self, process: str) -> None:
        if process in self.dead:
            raise Killed

    def kill(self, name: str) -> None:
        """Whatever it tries from now on has no effect."""
        self.dead.add(name)
        self.locks = {path: owner for path, owner in self.locks.items() if owner != name}
        self.watchdogs.pop(name, None)

    def pass_s(self, seconds: float) -> None:
        """Time goes on, and watchdogs look when they would."""
        until_s = self.now_s + seconds
        while due := [(at_s, name) for name, (_, at_s) in self.watchdogs.items() if at_s <= until_s]:
            self.now_s, name = max(self.now_s, min(due)[0]), min(due)[1]
            watchdog, _ = self.watchdogs[name]
            self.watchdogs[name] = watchdog, self.now_s + LOOK_EVERY_S
            if watchdog.look():
                self.kill(name)
        self.now_s = max(self.now_s, until_s)


class _Clock:
    def __init__(self, world: FakeWorld) -> None:
        self._world = world

    def monotonic(self) -> float:
        return self._world.now_s

    def time(self) -> float:
        return self._world.now_s

    def sleep(self, seconds: float, /) -> None:
        self._world.now_s += seconds


class _Network:
    """Leads to the fake cluster, whatever the address."""

    kept = False

    def __init__(self, world: FakeWorld, process: str, timeout_s: float) -> None:
        self._world, self._process, self._timeout_s = world, process, timeout_s

    def ask(self, method: str, target: str, body: str | None, headers: dict[str, str]) -> Answer:
        world, parts = self._world, urlsplit(target)
        world.before_request(method, parts.path)
        world.alive(self._process)
        if not world.reachable:
            world.now_s += self._timeout_s
            raise TimeoutError("timed out")
        path, cluster = unquote(parts.path), world.cluster
        if method == "GET":
            return Answer(*cluster.get(path, parse_qs(parts.query)))
        if method == "POST":
            return Answer(*cluster.post(path, json.loads(body or "")))
        return Answer(*cluster.put(path, body or ""))

    def close(self) -> None:
        pass


class _Disk:
    def __init__(self, world: FakeWorld, process: str) -> None:
        self._world, self._process = world, process

    def read(self, path: Path) -> bytes:
        if path not in self._world.files:
            raise FileNotFoundError(path)
        return self._world.files[path]

    def lines(self, path: Path) -> Iterator[bytes]:
        yield from self.read(path).splitlines(keepends=True)

    def exists(self, path: Path) -> bool:
        return path in self._world.files

    def remove(self, path: Path) -> None:
        self._world.alive(self._process)
        self._world.files.pop(path, None)

    def rename(self, path: Path, new: Path) -> None:
        self._world.alive(self._process)
        self._world.files[new] = self._world.files.pop(path)

    def write(self, path: Path, data: bytes) -> None:
        self._world.alive(self._process)
        if self._world.full_disk:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._world.files[path] = data

    def overwrite(self, path: Path, data: bytes) -> None:
        self._world.alive(self._process)
        self._world.files[path] = data + self._world.files.get(path, b"")[len(data) :]

    def extend(self, path: Path, at: int, data: bytes) -> None:
        self.write(path, self.read(path)[:at] + data)

    @contextmanager
    def lock(self, path: Path, busy: str) -> Iterator[None]:
        self._world.alive(self._process)
        if path in self._world.locks:
            raise RunRefused(busy)
        self._world.locks[path] = self._process
        try:
            yield
        finally:
            if self._world.locks.get(path) == self._process:
                del self._world.locks[path]


class _Processes:
    def __init__(self, world: FakeWorld, process: str) -> None:
        self._world, self._process = world, process

    def start(self, command: Sequence[str], log: Path) -> None:
        """The one program that steering starts: `python -m heddle.yarn.live.steering.watchdog FOLDER LEASE`."""
        world, (folder, lease_s) = self._world, command[-2:]
        world.alive(self._process)
        world.started += 1
        name = f"watchdog {world.started}"
        watchdog = Watchdog(Desk(Path(folder), world.as_process(name)), float(lease_s))
        world.locks[Path(folder) / "watchdog.lock"] = name
        world.watchdogs[name] = watchdog, world.now_s + LOOK_EVERY_S
