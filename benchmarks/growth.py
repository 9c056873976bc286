"""What makes a run with everything on larger, one thing at a time, and how much its time may grow with it.

All rows have AMs, heartbeats, reports and contention, and the policy that uses most of the engine; the engine alone is
timed. Load is 80%, so that a larger cluster has more to do in the same time; the rows of what waits have 150%. DRESS,
which looks at jobs once a second, has a row of its own: plain tasks, since nothing else makes as many jobs wait.
"""

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.heddle_run import Wanted, measure

POLICY = "capacity+usage-feedback+admission-control"


@dataclass(frozen=True)
class Spans:
    """The sizes at which each is measured."""

    base: int  # tasks, where something else grows
    repeat: int
    tasks: tuple[int, ...]
    nodes: tuple[int, ...]
    queues: tuple[int, ...]
    users: tuple[int, ...]
    waiting: tuple[int, ...]
    applications: tuple[int, ...]


FULL = Spans(
    base=1_000_000,
    repeat=3,
    tasks=(10_000, 100_000, 1_000_000, 10_000_000),
    nodes=(100, 1_000, 10_000),
    queues=(1, 10, 100, 1_000),
    users=(1, 100, 10_000),
    waiting=(1_000, 10_000, 100_000),
    applications=(1_000, 10_000, 100_000),
)
QUICK = Spans(
    base=50_000,
    repeat=1,
    tasks=(10_000, 50_000),
    nodes=(100, 1_000),
    queues=(1, 100),
    users=(1, 1_000),
    waiting=(1_000, 10_000),
    applications=(500, 5_000),
)


@dataclass(frozen=True)
class Growing:
    """One thing that grows, and the exponent that is allowed: of the time a task, or of all of it."""

    what: str
    sizes: tuple[int, ...]
    most: float
    wanted: Callable[[int], Wanted]
    per_task: bool = True

    @property
    def name(self) -> str:
        on = ", everything on" if self.wanted(self.sizes[0]).everything else ""
        return f"growth of time with {self.what}, {self.sizes[0]:,} to {self.sizes[-1]:,}{on}"

    def exponent(self) -> float:
        times = []
        for size in self.sizes:
            wanted = self.wanted(size)
            took = measure(wanted).cpu_s
            times.append(took / wanted.tasks if self.per_task else took)
        return exponent(self.sizes, times)


def exponent(sizes: tuple[int, ...], times: list[float]) -> float:
    """The slope of a straight line through the logarithms."""
    return statistics.linear_regression([math.log(size) for size in sizes], [math.log(took) for took in times]).slope


def all_growing(spans: Spans) -> list[Growing]:
    def wanted(tasks: int = spans.base, **other: object) -> Wanted:
        repeat = 1 if tasks > spans.base else spans.repeat
        run = {"policy": POLICY, "everything": True, "record": False, "repeat": repeat, **other}
        return Wanted(tasks, **run)  # type: ignore[arg-type]

    return [
        Growing("tasks", spans.tasks, 1.1, wanted, per_task=False),
        Growing("nodes", spans.nodes, 0.4, lambda size: wanted(nodes=size)),
        Growing("queues", spans.queues, 0.4, lambda size: wanted(queues=size)),
        Growing("users", spans.users, 0.4, lambda size: wanted(users=size)),
        # A third of what arrives at 150% waits when the last has arrived; each task is a request of its own.
        Growing("waiting requests", spans.waiting, 0.4, lambda size: wanted(3 * size, load=1.5, job_tasks=1)),
        Growing(
            "jobs waiting under DRESS",
            spans.waiting,
            0.4,
            lambda size: wanted(3 * size, load=1.5, policy="dress", everything=False),
        ),
        Growing("applications", spans.applications, 0.4, lambda size: wanted(job_tasks=spans.base // size)),
    ]
