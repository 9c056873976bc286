"""What containers used, added up between lines of a samples file, whoever measured it."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from heddle.yarn.observe.journal import Journal, read_lines
from heddle.yarn.observe.kept_rows import each_line, row_of

WRITE_EVERY_S: Final = 10.0


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
    received_bytes: int | None = None  # by connections with other machines
    sent_bytes: int | None = None

    def line(self, container: str) -> dict[str, Any]:
        return {
            "container": container, "since_ms": self.since_ms, "until_ms": self.until_ms, "samples": self.samples,
            "memory_mb_ms": round(self.memory_mb_ms), "memory_max_mb": round(self.memory_max_mb),
            "pss_mb": None if self.pss_mb is None else round(self.pss_mb), "cpu_ms": self.cpu_ms,
            "read_bytes": self.read_bytes, "written_bytes": self.written_bytes,
            "received_bytes": self.received_bytes, "sent_bytes": self.sent_bytes,
        }  # fmt: skip

    def hold(self, mb: float, passed_ms: float, now_ms: int) -> None:
        """It held so much memory since the last sample."""
        self.memory_mb_ms += mb * passed_ms
        self.memory_max_mb = max(self.memory_max_mb, mb)
        self.until_ms = now_ms
        self.samples += 1

    def carry(self, carried: tuple[int, int] | None) -> None:
        """Its connections received and sent so much since the last sample; None: nobody can tell."""
        if carried is not None:
            self.received_bytes = (self.received_bytes or 0) + carried[0]
            self.sent_bytes = (self.sent_bytes or 0) + carried[1]


class Tallies:
    """Of all containers that are there; lines go to the journal every ten seconds and when a container has ended."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._of: dict[str, Tally] = {}
        self._written_s = time.monotonic()

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, container: str) -> bool:
        return container in self._of

    def of(self, container: str, since_ms: int) -> Tally:
        """Its tally, which begins then if it is new."""
        if container not in self._of:
            self._of[container] = Tally(since_ms, since_ms)
        return self._of[container]

    def keep(self, there: Collection[str]) -> None:
        """Writes about those that are no longer there, and from time to time about all."""
        for container in self._of.keys() - set(there):
            self._write(container)
            del self._of[container]
        if time.monotonic() - self._written_s >= WRITE_EVERY_S:
            self._written_s = time.monotonic()
            self.write_all()
        self._journal.flush()

    def write_all(self) -> None:
        for container, tally in self._of.items():
            self._write(container)
            self._of[container] = Tally(tally.until_ms, tally.until_ms)
        self._journal.flush()

    def _write(self, container: str) -> None:
        if self._of[container].samples:
            self._journal.add(self._of[container].line(container))


class Used(NamedTuple):
    """By a container in all. `received_bytes`: from other machines; None: some tracker could not tell."""

    memory_mb_ms: int
    millicores_ms: int
    received_bytes: int | None

    @property
    def amounts(self) -> tuple[int, int]:
        """By resource, memory first."""
        return self.memory_mb_ms, self.millicores_ms


@dataclass(frozen=True)
class _Sampled:
    """What counts of a line: see Tally.line()."""

    container: str
    memory_mb_ms: int
    cpu_ms: int
    received_bytes: int | None = None  # lines of earlier versions have none


def use_of(*files: Path) -> dict[str, Used]:
    """What each container used, from lines of trackers."""
    use: dict[str, Used] = {}

    def take(line: Mapping[str, Any]) -> None:
        more = row_of(_Sampled, line)
        memory, cpu, received = use.get(more.container, Used(0, 0, 0))
        received = None if received is None or more.received_bytes is None else received + more.received_bytes
        use[more.container] = Used(memory + more.memory_mb_ms, cpu + 1000 * more.cpu_ms, received)

    for file in files:
        each_line(read_lines(file), str(file), take)
    return use
