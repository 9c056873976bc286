"""Samples the containers of this machine: memory, CPU time, disk and network I/O of their processes, over their life.

YARN gives every process of a container the variable CONTAINER_ID, so that /proc alone tells what belongs where; it
takes the right to read the environment of YARN's users (root, or the same user). What cannot be measured is null: disk
I/O without the right to read /proc/PID/io, network traffic without the right to read /proc/PID/fd.

Runs on workers for weeks: the standard library only, and as little of it as possible.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.tallies import Tallies, Tally
from heddle.yarn.observe.traffic import Traffic

CONTAINER: Final = b"CONTAINER_ID="
PSS_EVERY_S: Final = 60.0  # reading it costs about 10 ms per GB
SETTLED_AFTER_S: Final = 10.0  # YARN's launcher becomes a container's process by exec, so young ones are checked again
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


class Tracker:
    """Call sample() once a second; lines go to the journal every ten seconds and when a container has ended."""

    def __init__(self, journal: Journal) -> None:
        self._tallies = Tallies(journal)
        self._processes: dict[int, Process] = {}
        self._traffic = Traffic()
        self._pss_s = self._sampled_s = time.monotonic()

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
        members: dict[int, str] = {}
        for pid, process in self._members(now_s):
            container = members[pid] = process.container or ""
            _measure(pid, process, self._tallies.of(container, now_ms - round(passed_ms)))
            resident[container] = resident.get(container, 0.0) + process.resident_mb
            if with_pss and (mb := _pss_mb(pid)) is not None:
                pss[container] = pss.get(container, 0.0) + mb
        for container, mb in resident.items():
            tally = self._tallies.of(container, now_ms)
            tally.hold(mb, passed_ms, now_ms)
            tally.pss_mb = max(tally.pss_mb or 0.0, pss[container]) if container in pss else tally.pss_mb
        for container, carried in self._traffic.look(members).items():
            if container in self._tallies:
                self._tallies.of(container, now_ms).carry(carried)
        self._tallies.keep(resident.keys())

    def write_all(self) -> None:
        self._tallies.write_all()

    def close(self) -> None:
        self._traffic.close()

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
