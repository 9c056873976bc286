"""What the papers' experiments run in: parts that ask for runs, one pool for all of them, seeds in separate streams."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from heddle.analysis.comparison.compare import ComparedRun
from heddle.experiments.compare import Jobs, PlannedRun, metrics_alone, run_one
from heddle.model.cluster import Cluster
from heddle.reproduce.claims import Claim, Drawing, Table
from heddle.reproduce.constants import Constants

C = TypeVar("C")
R = TypeVar("R")

Work = Callable[[], Any]  # of one run: picklable
Plan = Mapping[Hashable, Work]
Metrics = Mapping[str, Any]

# Settings are chosen on the seeds of one stream and scored on those of another, so that luck does not carry over.
SCORED_FROM: Final = 0
TUNED_FROM: Final = 1_000_000


@dataclass
class Findings:
    """What one part of an experiment brought."""

    claims: list[Claim] = field(default_factory=list)
    drawings: list[Drawing] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def add(self, other: Findings) -> None:
        self.claims += other.claims
        self.drawings += other.drawings
        self.tables += other.tables
        self.remarks += other.remarks


# A part yields the runs that it needs and is sent their results by name; it may do so again, and returns its findings.
Part = Generator[Plan, Mapping[Any, Any], Findings]


class Compute(Protocol):
    """Computes one function for many configurations: an engine, perhaps with a progress bar."""

    def __call__(self, function: Callable[[C], R], configurations: Sequence[C]) -> Iterator[tuple[int, R]]: ...


@dataclass
class Lab:
    """Where experiments are computed, and how large they are."""

    compute: Compute
    scratch: Path  # for files that the runs read
    quick: bool = False
    traces: Path | None = None  # the folder of recorded traces, where there is one
    runs: int = 0  # so far

    def together(self, parts: Sequence[Part]) -> Findings:
        """Carry out all parts side by side: one pool of processes for what they ask for at the same time."""
        asked: dict[int, Plan] = {number: next(part) for number, part in enumerate(parts)}
        found: dict[int, Findings] = {}
        while asked:
            names = _same_jobs_together(asked)
            works = [asked[number][name] for number, name in names]
            self.runs += len(works)
            results: dict[int, dict[Hashable, Any]] = {number: {} for number in asked}
            for place, result in self.compute(call, works):
                number, name = names[place]
                results[number][name] = result
            asked = {}
            for number, result_of in results.items():
                try:
                    asked[number] = parts[number].send(result_of)
                except StopIteration as ended:
                    found[number] = ended.value
        findings = Findings()
        for number in sorted(found):
            findings.add(found[number])
        return findings

    def size(self, full: C, quick: C) -> C:
        return quick if self.quick else full

    def scored(self, full: int, quick: int) -> range:
        """The seeds on which policies are compared."""
        return range(SCORED_FROM, SCORED_FROM + self.size(full, quick))

    def tuned(self, full: int, quick: int) -> range:
        """The seeds on which settings are chosen."""
        return range(TUNED_FROM, TUNED_FROM + self.size(full, quick))


@dataclass(frozen=True)
class Scope:
    """What all parts of a paper's experiments share: where they run, and the constants by which."""

    lab: Lab
    known: Constants

    @property
    def seeds(self) -> range:
        """On which policies are scored."""
        return self.lab.scored(self.known["seeds.full"], self.known["seeds.quick"])

    @property
    def tuning_seeds(self) -> range:
        """On which settings are chosen."""
        return self.lab.tuned(self.known["seeds.tuning"], self.known["seeds.tuning_quick"])


def call(work: Work) -> Any:
    return work()


@dataclass(frozen=True)
class MetricsOf:
    """The metrics of a run alone: thousands of runs are kept."""

    planned: PlannedRun

    def __call__(self) -> Metrics:
        return metrics_alone(self.planned)


def _same_jobs_together(asked: Mapping[int, Plan]) -> list[tuple[int, Hashable]]:
    """What is asked for, by part and name; runs of the same jobs follow each other, so that jobs are made once."""
    found: dict[Hashable, list[tuple[int, Hashable]]] = {}
    for number, plan in asked.items():
        for name, work in plan.items():
            jobs = (work.planned.source, work.planned.seed) if isinstance(work, MetricsOf) else (number, name)
            found.setdefault(jobs, []).append((number, name))
    return [one for of_jobs in found.values() for one in of_jobs]


def whole_run(source: Jobs, cluster: Cluster, policy: str, seed: int) -> Callable[[], ComparedRun]:
    """One run with its curves over time."""
    return partial(run_one, PlannedRun(source, cluster, policy, seed, complete=True))


def runs_of(name: Hashable, source: Jobs, cluster: Cluster, policy: str, seeds: Iterable[int]) -> Plan:
    """One run for each seed, called (name, policy, seed)."""
    return {(name, policy, seed): MetricsOf(PlannedRun(source, cluster, policy, seed)) for seed in seeds}


class Scores:
    """The results of `runs_of`, by name and policy."""

    def __init__(self, runs: Mapping[Any, Metrics]) -> None:
        self._by_setting: dict[tuple[Hashable, str], dict[int, Metrics]] = {}
        for (name, policy, seed), metrics in runs.items():
            self._by_setting.setdefault((name, policy), {})[seed] = metrics

    def metric(self, name: Hashable, policy: str, path: str) -> dict[int, float]:
        """A metric of finished runs by seed; `path` is dotted as in the JSON of a run."""
        found = {}
        for seed, metrics in self._by_setting[name, policy].items():
            value: Any = metrics
            for part in path.split("."):
                value = value[part]
            if metrics["outcome"] == "finished" and value is not None:
                found[seed] = float(value)
        return found

    def failed_pct(self, name: Hashable, policy: str) -> dict[int, float]:
        """Crashed attempts in percent of all tasks by seed: the papers count broken tasks so."""
        crashed, tasks = self.metric(name, policy, "crashed_tasks"), self.metric(name, policy, "tasks")
        return {seed: 100.0 * crashed[seed] / tasks[seed] for seed in crashed}

    def stalled_on(self, name: Hashable, policy: str) -> set[int]:
        """The seeds of the runs that did not come to an end."""
        runs = self._by_setting[name, policy]
        return {seed for seed, metrics in runs.items() if metrics["outcome"] != "finished"}
