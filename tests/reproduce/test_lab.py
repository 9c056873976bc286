"""Parts of an experiment: what they ask for at the same time runs together, and each is sent its own results."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

from heddle.model.cluster import Cluster
from heddle.model.workload import Workload
from heddle.reproduce.lab import SCORED_FROM, TUNED_FROM, Findings, Lab, Part, Scores, runs_of
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.clusters import load_cluster


def square(value: int) -> int:
    return value * value


class Counting:
    """Computes in this process, backwards, and remembers how much it was given at a time."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def __call__(self, function: Callable[[Any], Any], configurations: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        self.batches.append(len(configurations))
        for place in reversed(range(len(configurations))):
            yield place, function(configurations[place])


def one_step(values: list[int]) -> Part:
    found = yield {value: partial(square, value) for value in values}
    return Findings(remarks=[f"{[found[value] for value in values]}"])


def two_steps(value: int) -> Part:
    found = yield {"first": partial(square, value)}
    found = yield {"second": partial(square, found["first"])}
    return Findings(remarks=[f"{found['second']}"])


def test_parts_run_together_and_get_their_own_results(tmp_path: Path) -> None:
    compute = Counting()
    lab = Lab(compute, tmp_path)
    found = lab.together([two_steps(3), one_step([1, 2]), one_step([4])])
    assert found.remarks == ["81", "[1, 4]", "[16]"]  # in the order of the parts
    assert compute.batches == [4, 1]  # one pool for all first steps
    assert lab.runs == 5


@dataclass(frozen=True)
class MadeJobs:
    """Jobs that tell when they are made."""

    made: ClassVar[list[int]] = []

    def jobs(self, seed: int) -> Workload:
        self.made.append(seed)
        return build("one", [JobSpec("job", 0, (StageSpec("all", (1024, 1000), [TaskSpec(1000 * (seed + 1))]),))])


def policies_on(source: MadeJobs, cluster: Cluster) -> Part:
    found = yield {
        name: run
        for policy in ("fifo", "fair")
        for name, run in runs_of("one", source, cluster, policy, range(2)).items()
    }
    seen = [(policy, seed, metrics["policy"], metrics["makespan_s"]) for (_, policy, seed), metrics in found.items()]
    return Findings(remarks=[f"{one}" for one in sorted(seen)])


def test_jobs_are_made_once_for_all_runs_of_them(tmp_path: Path) -> None:
    class Forward(Counting):
        def __call__(self, function: Callable[[Any], Any], configurations: Sequence[Any]) -> Iterator[tuple[int, Any]]:
            yield from ((place, function(one)) for place, one in enumerate(configurations))

    source = MadeJobs()
    found = Lab(Forward(), tmp_path).together([policies_on(source, load_cluster("2x4096x4"))])
    assert source.made == [0, 1]
    assert [remark.split(",")[0] for remark in found.remarks] == ["('fair'", "('fair'", "('fifo'", "('fifo'"]
    assert len(set(found.remarks)) == 4
    for remark in found.remarks:
        policy, seed, ran, _ = ast.literal_eval(remark)
        assert ran == policy, f"seed {seed} got another run's results"


def test_seeds_of_tuning_and_scoring_are_apart(tmp_path: Path) -> None:
    lab = Lab(Counting(), tmp_path, quick=True)
    assert lab.scored(20, 5) == range(SCORED_FROM, SCORED_FROM + 5)
    assert lab.tuned(20, 5) == range(TUNED_FROM, TUNED_FROM + 5)
    assert not set(Lab(Counting(), tmp_path).scored(1000, 5)) & set(lab.tuned(20, 1000))


def test_scores_leave_out_what_did_not_end() -> None:
    ended = {"outcome": "finished", "jct_s": {"mean": 2.0}, "crashed_tasks": 3, "tasks": 600}
    runs = {("day", "fifo", 0): ended, ("day", "fifo", 1): {**ended, "outcome": "stalled"}}
    scores = Scores(runs)
    assert scores.metric("day", "fifo", "jct_s.mean") == {0: 2.0}
    assert scores.failed_pct("day", "fifo") == {0: pytest.approx(0.5)}
    assert scores.stalled_on("day", "fifo") == {1}
