"""The machine that steering runs on: its clock, disk, network and processes, as each process on it meets them."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple

from heddle.model.errors import RunRefused
from heddle.storm.timeline import BEGAN_S, Process, Timeline
from heddle.yarn.live.connection import Answer
from heddle.yarn.live.world import World


class Asked(NamedTuple):
    """A request, as it is on its way."""

    address: str
    method: str
    target: str
    body: str | None
    headers: dict[str, str]


Ask = Callable[[Process, float, Asked], Answer]  # the float: seconds to wait for an answer
Start = Callable[[Sequence[str]], None]


@dataclass
class Machine:
    """`ask` is the network; `start` starts another process."""

    timeline: Timeline
    random: Random
    ask: Ask
    start: Start
    files: dict[Path, bytes] = field(default_factory=dict)
    locks: dict[Path, Process] = field(default_factory=dict)
    wall_s: float = 1_700_000_000.0 - BEGAN_S  # on the wall at time 0, as by the RM's clock; jumps
    full: bool = False
    read_only: bool = False
    kill_after: dict[str, int] = field(default_factory=dict)  # process -> so many effects from now

    def as_process(self, process: Process) -> World:
        return World(
            _Clock(self, process),
            lambda address, timeout_s: _Network(self, process, address, timeout_s),
            _Disk(self, process),
            _Processes(self, process),
        )

    def effect(self, process: Process, whole: Callable[[], None], torn: Callable[[], None] = lambda: None) -> None:
        """Something that a process does to its world. If it is killed just then, it does all of it, or a part."""
        process.must_live()
        left = self.kill_after.get(process.name)
        if left is None:
            whole()
            return
        self.kill_after[process.name] = left - 1
        if left > 0:
            whole()
            return
        del self.kill_after[process.name]
        self.random.choice((whole, torn))()
        self.timeline.kill(process)
        process.must_live()


class _Clock:
    def __init__(self, machine: Machine, process: Process) -> None:
        self._machine, self._process = machine, process

    def monotonic(self) -> float:
        self._process.must_live()
        return self._machine.timeline.now_s

    def time(self) -> float:
        return self._machine.wall_s + self._machine.timeline.now_s

    def sleep(self, seconds: float, /) -> None:
        self._process.sleep(seconds)


class _Network:
    kept = False

    def __init__(self, machine: Machine, process: Process, address: str, timeout_s: float) -> None:
        self._machine, self._process, self._address, self._timeout_s = machine, process, address, timeout_s

    def ask(self, method: str, target: str, body: str | None, headers: dict[str, str]) -> Answer:
        answers: list[Answer] = []

        def ask() -> None:
            asked = Asked(self._address, method, target, body, headers)
            answers.append(self._machine.ask(self._process, self._timeout_s, asked))

        self._machine.effect(self._process, ask)
        self._process.must_live()
        return answers[0]

    def close(self) -> None:
        pass


class _Disk:
    def __init__(self, machine: Machine, process: Process) -> None:
        self._machine, self._process = machine, process

    def read(self, path: Path) -> bytes:
        self._process.must_live()
        if path not in self._machine.files:
            raise FileNotFoundError(path)
        return self._machine.files[path]

    def lines(self, path: Path) -> Iterator[bytes]:
        yield from self.read(path).splitlines(keepends=True)

    def exists(self, path: Path) -> bool:
        self._process.must_live()
        return path in self._machine.files

    def remove(self, path: Path) -> None:
        self._may_change(0)
        self._machine.effect(self._process, lambda: self._put(path, None))

    def rename(self, path: Path, new: Path) -> None:
        self._may_change(0)

        def move() -> None:
            self._put(new, self._machine.files.pop(path))

        self._machine.effect(self._process, move)

    def write(self, path: Path, data: bytes) -> None:
        self._may_change(len(data))
        self._machine.effect(self._process, lambda: self._put(path, data))

    def overwrite(self, path: Path, data: bytes) -> None:
        before = self._machine.files.get(path, b"")
        self._may_change(max(0, len(data) - len(before)) if data else 0)
        self._machine.effect(self._process, lambda: self._put(path, data + before[len(data) :]))

    def extend(self, path: Path, at: int, data: bytes) -> None:
        self._may_change(len(data))
        kept = self.read(path)[:at]
        torn = data[: self._machine.random.randrange(len(data))]
        self._machine.effect(self._process, lambda: self._put(path, kept + data), lambda: self._put(path, kept + torn))

    @contextmanager
    def lock(self, path: Path, busy: str) -> Iterator[None]:
        self._process.must_live()
        machine = self._machine
        owner = machine.locks.get(path)
        if owner is not None and not owner.over and not owner.dead:
            raise RunRefused(busy)
        machine.locks[path] = self._process
        try:
            yield
        finally:
            if machine.locks.get(path) is self._process:
                del machine.locks[path]

    def _may_change(self, more_bytes: int) -> None:
        self._process.must_live()
        number = errno.EROFS if self._machine.read_only else errno.ENOSPC if self._machine.full and more_bytes else 0
        if number:
            raise OSError(number, os.strerror(number))

    def _put(self, path: Path, data: bytes | None) -> None:
        if data is None:
            self._machine.files.pop(path, None)
        else:
            self._machine.files[path] = data


class _Processes:
    def __init__(self, machine: Machine, process: Process) -> None:
        self._machine, self._process = machine, process

    def start(self, command: Sequence[str], log: Path) -> None:
        self._machine.effect(self._process, lambda: self._machine.start(command))
