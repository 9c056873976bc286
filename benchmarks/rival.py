"""What every rival takes and gives back, and how its time is taken."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


class Nodes(NamedTuple):
    """A cluster of equal nodes."""

    number: int
    vcores: int
    memory_mb: int


@dataclass(frozen=True)
class Tasks:
    """Independent tasks in order of submission, one list per column; times in whole milliseconds."""

    submit_ms: list[int]
    duration_ms: list[int]
    vcores: list[int]
    memory_mb: list[int]

    def __len__(self) -> int:
        return len(self.submit_ms)


class Outcome(NamedTuple):
    """What a rival made of the tasks, and what its simulation phase alone cost."""

    makespan_ms: int
    wall_s: float
    cpu_s: float
    started_at_ms: list[int]


def check(tasks: Tasks, nodes: Nodes) -> None:
    """Refuse what would make a rival hang or answer another question; part of no rival's time."""
    columns = (tasks.submit_ms, tasks.duration_ms, tasks.vcores, tasks.memory_mb)
    if len({len(column) for column in columns}) != 1 or not tasks.submit_ms:
        raise ValueError("the columns must be equally long and not empty")
    if tasks.submit_ms != sorted(tasks.submit_ms) or tasks.submit_ms[0] < 0:
        raise ValueError("tasks must be in order of submission, from time 0 on")
    if min(tasks.duration_ms) < 1 or min(tasks.vcores) < 1 or min(tasks.memory_mb) < 1:
        raise ValueError("every task must last 1 ms and ask for 1 vcore and 1 MB or more")
    if max(tasks.vcores) > nodes.vcores or max(tasks.memory_mb) > nodes.memory_mb:
        raise ValueError("some task is larger than a node and would wait forever")


def measure(simulate: Callable[[], list[int]], tasks: Tasks) -> Outcome:
    """Run `simulate`, which gives the start of every task, and time just that."""
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    started_at_ms = simulate()
    cpu_s, wall_s = time.process_time() - cpu_s, time.perf_counter() - wall_s
    last_end_ms = max(map(int.__add__, started_at_ms, tasks.duration_ms))
    return Outcome(last_end_ms - tasks.submit_ms[0], wall_s, cpu_s, started_at_ms)
