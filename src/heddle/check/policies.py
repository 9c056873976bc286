"""What each policy that can be tried without danger would have changed on these very jobs, against the present one.

Without danger: `heddle yarn steer` brings it about by knobs that YARN has, kills nothing, and puts everything back.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from heddle.analysis.comparison.compare import ComparedRun, Comparison
from heddle.check.jobs import Jobs
from heddle.check.present import Present
from heddle.experiments.compare import PlannedRun
from heddle.experiments.plan import plan_comparison
from heddle.model.errors import RunRefused
from heddle.policy.parse import parse_policy
from heddle.policy.policy import Policy
from heddle.report.wording import LEAD, judgement
from heddle.run import Executor, check_executor
from heddle.traces.parquet import write_parquet
from heddle.yarn.live.levers import YOUNG_MS, charging_young

SEEDS: Final = {10: (5000, 5e6), 5: (15_000, 1e7)}  # up to so many tasks and node-seconds
FEW: Final = 3
MOST_LOOKS: Final = 1800  # in a run by knobs that still is quick
NODES_IN_A_LOOK: Final = 500  # that make a look twice as long
_QUEUES_CHANGE: Final = "yarn.scheduler.configuration.store.class=memory"
_PRIORITIES: Final = "yarn.cluster.max-application-priority=10"
# What `steer` is told, and what a cluster needs for it (docs/yarn.md): weave, and each of its levers alone.
CANDIDATES: Final = {
    "weave": f"{_QUEUES_CHANGE} and {_PRIORITIES}",
    "usage-feedback": "",
    "admission-control(backlog=0.75)": _QUEUES_CHANGE,
    "smallest-first": _PRIORITIES,
}


@dataclass(frozen=True)
class Candidate:
    """`steered`: what `heddle yarn steer --policy` is told; `needs`: settings of the cluster, "" for none."""

    steered: str
    policy: Policy
    needs: str


@dataclass(frozen=True)
class Tried:
    comparison: Comparison
    candidates: Mapping[str, Candidate]  # by the comparison's name
    refused: Mapping[str, str]  # why a policy cannot be tried here
    by_knobs: bool  # simulated as `steer` would bring it about; else as if the scheduler itself had the policy

    @property
    def cluster(self) -> str:
        return self.comparison.clusters[0]

    def best(self) -> Candidate | None:
        """The one that finishes jobs soonest, if its gain is not chance."""
        rows = {name: self.comparison.row(self.cluster, name, LEAD) for name in self.candidates}
        better = {name: row["vs_baseline_pct"] for name, row in rows.items() if judgement(row) == "better"}
        return self.candidates[min(better, key=lambda name: better[name])] if better else None


Run = Callable[[Sequence[PlannedRun]], Iterable[tuple[int, ComparedRun]]]


def try_policies(jobs: Jobs, present: Present, folder: Path, command: Sequence[str], run: Run) -> Tried:
    """`folder`: where the workload is kept while it lasts; `run` makes the runs, with a bar where somebody looks."""
    candidates, refused = _candidates(jobs, present)
    path = folder / "jobs.parquet"
    write_parquet(jobs.workload, path)
    policies = [parse_policy(present.policy), *(one.policy for one in candidates.values())]
    executor = executor_for(jobs, present)
    plan = plan_comparison(
        str(path),
        jobs.workload,
        policies,
        [present.cluster],
        seeds=seeds_for(jobs, present, executor),
        complete=True,
        executor=executor,
    )
    comparison = plan.comparison(dict(run(plan.runs)), shlex.join(command))
    return Tried(comparison, candidates, refused, executor == "yarn-knobs")


def executor_for(jobs: Jobs, present: Present) -> Executor:
    """As `steer` would, where that is quick: it looks at every node once a second of the time simulated."""
    looks = _span_s(jobs) * (1 + present.cluster.n_nodes / NODES_IN_A_LOOK)
    return "yarn-knobs" if looks <= MOST_LOOKS else "native"


def seeds_for(jobs: Jobs, present: Present, executor: Executor) -> int:
    """As many resamples as there is time for, judged by what there is to do: every machine gives the same intervals."""
    node_s = _span_s(jobs) * present.cluster.n_nodes
    if executor == "yarn-knobs":
        return FEW
    return next((n for n, (tasks, most_s) in SEEDS.items() if jobs.workload.n_tasks <= tasks and node_s <= most_s), FEW)


def _span_s(jobs: Jobs) -> float:
    return int(jobs.workload.jobs["submit_at_ms"].max()) / 1000


def _candidates(jobs: Jobs, present: Present) -> tuple[dict[str, Candidate], dict[str, str]]:
    found, refused = {}, {}
    for steered, needs in CANDIDATES.items():
        policy = parse_policy(f"{present.policy}+{steered}")
        charging = charging_young(policy, YOUNG_MS, present.cluster.timing.usage_report_ms)
        if charging != policy:  # as `steer` does; said in its name, by which other processes know it
            young = policy.sizing.young
            policy = parse_policy(f"{policy.name}({young}={charging.sizing.values[young]})")
        try:
            check_executor([policy], jobs.workload, present.cluster, "yarn-knobs")
        except RunRefused as error:
            refused[steered] = str(error)
            continue
        found[policy.name] = Candidate(steered, policy, needs)
    return found, refused
