"""What the papers' experiments run in: the engine of comparisons, seeds in separate streams, and two sizes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from heddle.analysis.compare import ComparedRun
from heddle.experiments.compare import Jobs, PlannedRun, run_one
from heddle.model.cluster import Cluster
from heddle.reproduce.verdicts import Seeds

K = TypeVar("K", bound=Hashable)
C = TypeVar("C")
R = TypeVar("R")

# Settings are chosen on the seeds of one stream and scored on those of another, so that luck does not carry over.
SCORED_FROM: Final = 0
TUNED_FROM: Final = 1_000_000


class Compute(Protocol):
    """Computes one function for many configurations: an engine, perhaps with a progress bar."""

    def __call__(self, function: Callable[[C], R], configurations: Sequence[C]) -> Iterator[tuple[int, R]]: ...


@dataclass
class Lab:
    """One paper's experiments: where they are computed, and how large they are."""

    compute: Compute
    quick: bool = False
    traces: Path | None = None  # the folder of recorded traces, where there is one
    runs: int = 0  # so far

    def run(self, function: Callable[[C], R], configurations: Mapping[K, C]) -> dict[K, R]:
        """The result of each configuration, under its name."""
        names = list(configurations)
        self.runs += len(names)
        found = dict(self.compute(function, [configurations[name] for name in names]))
        return {name: found[number] for number, name in enumerate(names)}

    def compare(self, planned: Mapping[K, PlannedRun]) -> dict[K, ComparedRun]:
        """The runs of a comparison."""
        return self.run(run_one, planned)

    def scored(self, full: int, quick: int) -> range:
        """The seeds on which policies are compared."""
        return range(SCORED_FROM, SCORED_FROM + (quick if self.quick else full))

    def tuned(self, full: int, quick: int) -> range:
        """The seeds on which settings are chosen."""
        return range(TUNED_FROM, TUNED_FROM + (quick if self.quick else full))


def plan(source: Jobs, cluster: Cluster, policy: str, seeds: Iterable[int]) -> dict[int, PlannedRun]:
    """One run of the policy for each seed."""
    return {seed: PlannedRun(source, cluster, policy, seed) for seed in seeds}


def metric(runs: Mapping[int, ComparedRun], name: str) -> Seeds:
    """A metric of finished runs by seed; `name` is dotted as in the JSON of a run."""
    found = {}
    for seed, run in runs.items():
        if run.metrics["outcome"] != "finished":
            continue
        value: Any = run.metrics
        for part in name.split("."):
            value = value[part]
        if value is not None:
            found[seed] = float(value)
    return found
