"""What workers of these tests are given to do: importable in other processes, and quick."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput
from heddle.model.whereabouts import NamesFiles, lies_at


@dataclass(frozen=True)
class Small:
    number: int
    takes_s: float = 0.0
    at_first: str = ""  # a file: who finds none makes it, and ends its worker


def small_run(one: Small) -> int:
    if one.number < 0:
        raise BadInput.of("number", "is negative")
    if one.at_first and not Path(one.at_first).exists():
        Path(one.at_first).touch()
        os._exit(9)
    time.sleep(one.takes_s)
    return one.number**2


def ends_its_worker(one: Small) -> int:
    if one.number < 0:
        os._exit(9)
    return one.number


def process_of(_: object) -> int:
    return os.getpid()


@dataclass(frozen=True)
class Meeting:
    """Where processes leave their numbers, and how many are waited for."""

    folder: str
    processes: int


def process_that_met(meeting: Meeting) -> int:
    """However slowly the others start: nobody goes before they are there."""
    folder = Path(meeting.folder)
    (folder / str(os.getpid())).touch()
    until = time.monotonic() + 120
    while len(list(folder.iterdir())) < meeting.processes and time.monotonic() < until:
        time.sleep(0.02)
    return os.getpid()


@dataclass(frozen=True)
class Reads(NamesFiles):
    """A run that reads a file of the driver's, and knows a cluster."""

    file: str
    cluster: Cluster

    @property
    def files(self) -> tuple[str, ...]:
        return (self.file,)


def read_there(one: Reads) -> tuple[str, str, str, int]:
    """What it says, where it lies, its name, and how large the cluster is."""
    place = lies_at(one.file)
    return place.read_text(), str(place.parent), place.name, one.cluster.n_nodes


class Counted(Sequence[Small]):
    """Many configurations, of which it is known how many were taken out to be sent."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.taken = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Small]:
        return map(Small, range(self._count))

    def __getitem__(self, place: Any) -> Any:
        self.taken += 1
        return Small(place)
