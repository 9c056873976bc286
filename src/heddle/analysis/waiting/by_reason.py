"""What the jobs of a run waited for, all of them together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from heddle.analysis.waiting.explain import NOT_REACHED, explain
from heddle.model.reasons import Reason
from heddle.record.run import Run

_WAITING = ("waits for its AM", "waits", "partly waits")


@dataclass(frozen=True)
class Waits:
    """Time of jobs in which requests of theirs waited, by the reason that the scheduler gave."""

    jobs: int
    ms: dict[str, int]  # by reason, in words

    @property
    def shares(self) -> dict[str, float]:
        """Parts of 1, the largest first; empty where nobody waited."""
        total = sum(self.ms.values())
        return {why: ms / total for why, ms in sorted(self.ms.items(), key=lambda one: -one[1])} if total else {}

    @property
    def mean_s(self) -> float:
        """How long a job waited on average."""
        return sum(self.ms.values()) / 1000 / self.jobs if self.jobs else 0.0

    def seconds_for(self, why: str) -> float:
        """Of a job's waiting, on average."""
        return self.ms.get(why, 0) / 1000 / self.jobs if self.jobs else 0.0


def waits_by_reason(run: Run) -> Waits:
    """Over all jobs, the spans in which something of them waited (`explain`); the run must have been recorded."""
    total: Counter[str] = Counter()
    for job in range(run.jobs.height):
        for span in explain(run, job).spans:
            if span.state in _WAITING:
                total[span.reason.phrase if span.reason is not Reason.NONE else NOT_REACHED] += span.length_ms
    return Waits(run.jobs.height, dict(total))


def together(several: Iterable[Waits]) -> Waits:
    """The waits of several runs."""
    jobs, total = 0, Counter[str]()
    for one in several:
        jobs += one.jobs
        total.update(one.ms)
    return Waits(jobs, dict(total))
