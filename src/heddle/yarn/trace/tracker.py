"""Samples the containers of this machine: memory, CPU time and disk I/O of their processes, over their life.

YARN gives every process of a container the variable CONTAINER_ID, so that /proc alone tells what belongs where; it
takes the right to read the environment of YARN's users (root, or the same user). What cannot be measured is null:
network traffic cannot be told apart without network namespaces, disk I/O not without the right to read /proc/PID/io.

Runs on workers for weeks: the standard library only, and as little of it as possible.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from heddle.yarn.trace.journal import Journal, read_lines

CONTAINER: Final = b"CONTAINER_ID="
WRITE_EVERY_S: Final = 10.0
PSS_EVERY_S: Final = 60.0  # reading it costs about 10 ms per GB
SETTLED_AFTER_S: Final = (
    10.0  # YARN's launcher becomes a container's process by exec, so young ones are looked at again
)
PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")
MB: Final = 1 << 20


@dataclass
class Process:
    """A process of this machine."""

    container: str | None  # None: none, as far as can be seen
    first_seen_s: float
    resident_mb: float = 0.0
    cpu_ms: int = 0
    read_bytes: int | None = None
    written_bytes: int | None = None


@dataclass
class Tally:
    """What a container used since the last line that was written about it, and where its counters stand."""

    since_ms: int
    until_ms: int
    samples: int = 0
    memory_mb_ms: float = 0.0
    memory_max_mb: float = 0.0
    pss_mb: float | None = None
    cpu_ms: int = 0
    read_bytes: int | None = None
    written_bytes: int | None = None

    def line(self, container: str) -> dict[str, Any]:
        return {
            "container": container, "since_ms": self.since_ms, "until_ms": self.until_ms, "samples": self.samples,
            "memory_mb_ms": round(self.memory_mb_ms), "memory_max_mb": round(self.memory_max_mb),
            "pss_mb": None if self.pss_mb is None else round(self.pss_mb), "cpu_ms": self.cpu_ms,
            "read_bytes": self.read_bytes, "written_bytes": self.written_bytes, "network_bytes": None,
        }  # fmt: skip


class Tracker:
    """Call sample() once a second; lines go to the journal every ten seconds and when a container has ended."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._processes: dict[int, Process] = {}
        self._tallies: dict[str, Tally] = {}
        self._written_s = self._pss_s = self._sampled_s = time.monotonic()

    @property
    def containers(self) -> int:
        return len(self._tallies)

    def sample(self) -> None:
        now_s, now_ms = time.monotonic(), int(time.time() * 1000)
        passed_ms = 1000 * (now_s - self._sampled_s)
        self._sampled_s = now_s
        with_pss = now_s - self._pss_s >= PSS_EVERY_S
        if with_pss:
            self._pss_s = now_s
        resident: dict[str, float] = {}
        pss: dict[str, float] = {}
        for pid, process in self._members(now_s):
            container = process.container or ""
            tally = self._tallies.setdefault(container, Tally(now_ms - round(passed_ms), now_ms))
            _measure(pid, process, tally)
            resident[container] = resident.get(container, 0.0) + process.resident_mb
            if with_pss and (mb := _pss_mb(pid)) is not None:
                pss[container] = pss.get(container, 0.0) + mb
        for container, mb in resident.items():
            tally = self._tallies[container]
            tally.memory_mb_ms += mb * passed_ms
            tally.memory_max_mb = max(tally.memory_max_mb, mb)
            tally.pss_mb = max(tally.pss_mb or 0.0, pss[container]) if container in pss else tally.pss_mb
            tally.until_ms = now_ms
            tally.samples += 1
        for container in self._tallies.keys() - resident.keys():
            self._write(container)
            del self._tallies[container]
        if now_s - self._written_s >= WRITE_EVERY_S:
            self._written_s = now_s
            self.write_all()
        self._journal.flush()

    def write_all(self) -> None:
        for container, tally in self._tallies.items():
            self._write(container)
            self._tallies[container] = Tally(tally.until_ms, tally.until_ms)
        self._journal.flush()

    def _write(self, container: str) -> None:
        if self._tallies[container].samples:
            self._journal.add(self._tallies[container].line(container))

    def _members(self, now_s: float) -> Iterator[tuple[int, Process]]:
        """Live processes of containers."""
        live = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        for gone in self._processes.keys() - live:
            del self._processes[gone]
        for pid in live:
            process = self._processes.get(pid)
            if process is None:
                process = self._processes[pid] = Process(_container_of(pid), now_s)
            elif process.container is None and now_s - process.first_seen_s < SETTLED_AFTER_S:
                process.container = _container_of(pid)
            if process.container is not None:
                yield pid, process


def use_of(*files: Any) -> dict[str, tuple[int, int]]:
    """What each container used in all, from lines of trackers: MB x ms, millicores x ms."""
    use: dict[str, tuple[int, int]] = {}
    for file in files:
        for line in read_lines(file):
            memory, cpu = use.get(line["container"], (0, 0))
            use[line["container"]] = memory + line["memory_mb_ms"], cpu + 1000 * line["cpu_ms"]
    return use


def _container_of(pid: int) -> str | None:
    for variable in _read(f"/proc/{pid}/environ").split(b"\0"):
        if variable.startswith(CONTAINER):
            return variable[len(CONTAINER) :].decode("ascii", "replace")
    return None


def _measure(pid: int, process: Process, tally: Tally) -> None:
    """Brings a process's figures up to date, and adds to its container what its counters grew by."""
    stat = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if len(stat) < 22:  # it has just ended
        process.resident_mb = 0.0
        return
    process.resident_mb = int(stat[21]) * PAGE_BYTES / MB
    cpu_ms = (int(stat[11]) + int(stat[12])) * 1000 // TICKS_PER_S
    tally.cpu_ms += cpu_ms - process.cpu_ms
    process.cpu_ms = cpu_ms
    counters = dict(line.split(b": ") for line in _read(f"/proc/{pid}/io").splitlines())
    if counters:
        read, written = int(counters[b"read_bytes"]), int(counters[b"write_bytes"])
        tally.read_bytes = (tally.read_bytes or 0) + read - (process.read_bytes or 0)
        tally.written_bytes = (tally.written_bytes or 0) + written - (process.written_bytes or 0)
        process.read_bytes, process.written_bytes = read, written


def _pss_mb(pid: int) -> float | None:
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) / 1024
    return None


def _read(path: str) -> bytes:
    """Empty where the process has ended meanwhile, or is none of our business."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
