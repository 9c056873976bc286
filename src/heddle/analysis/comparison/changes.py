"""What would have changed for each job of a run: its completion times beside those in other runs of the same jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from heddle.record.run import Run


class OtherRun(Protocol):
    """A run of the same jobs, which may have other numbers there."""

    @property
    def run(self) -> Run: ...

    @property
    def job_of(self) -> Mapping[int, int]: ...


@dataclass(frozen=True)
class JobChange:
    """Seconds from submission to end in each of the runs."""

    name: str
    taken_s: tuple[float, ...]


@dataclass(frozen=True)
class Changes:
    """Only jobs that ended in every one of the runs; the first run is the record's."""

    policies: tuple[str, ...]
    jobs: tuple[JobChange, ...]
    sums: dict[str, tuple[float, ...]]


def changes(run: Run, others: Sequence[OtherRun]) -> Changes:
    """Makespan and mean are over the jobs that can be compared."""
    spans: list[tuple[tuple[int, int], ...]] = []  # of each job, in each run: submission and end
    names: list[str] = []
    ended = [dict(_spans(one)) for one in (run, *(other.run for other in others))]
    for row in run.jobs.iter_rows(named=True):
        numbers = [row["job"], *(other.job_of.get(row["job"], -1) for other in others)]
        if all(number in of for number, of in zip(numbers, ended, strict=True)):
            spans.append(tuple(of[number] for number, of in zip(numbers, ended, strict=True)))
            names.append(row["name"])
    taken = [tuple((end - submit) / 1000 for submit, end in one) for one in spans]
    by_run = list(zip(*spans, strict=True))
    makespans = tuple((max(end for _, end in of) - min(submit for submit, _ in of)) / 1000 for of in by_run)
    return Changes(
        policies=tuple(one.manifest["policy"] for one in (run, *(other.run for other in others))),
        jobs=tuple(JobChange(name, of) for name, of in zip(names, taken, strict=True)),
        sums={"mean": tuple(fmean(of) for of in zip(*taken, strict=True)), "makespan": makespans},
    )


def _spans(run: Run) -> list[tuple[int, tuple[int, int]]]:
    rows = run.jobs.filter(run.jobs["outcome"] == "finished").select("job", "submit_at_ms", "ended_at_ms").rows()
    return [(job, (submit, end)) for job, submit, end in rows]
