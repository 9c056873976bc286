"""Policies against a baseline, paired on the seed: what the same jobs on the same cluster gained or lost.

Within a cluster, the runs of one seed form a pair. A row gives the mean of a metric over a policy's finished runs,
and the mean over pairs of the change against the baseline in percent, each with a 95 % Student t interval. Stalled runs
are left out of both and counted. The intervals are per row: they are not corrected for looking at many rows.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from statistics import fmean
from typing import Any, Final, Literal

from heddle.analysis.curves import Curves, run_curves
from heddle.analysis.metrics import run_metrics
from heddle.analysis.student import t_interval
from heddle.model.errors import BadInput
from heddle.record.run import Run

Better = Literal["lower", "higher", ""]  # "": neither is better in itself


@dataclass(frozen=True)
class ComparedMetric:
    """A number of the run's JSON that is compared."""

    name: str  # dotted path in the JSON
    title: str  # for people
    unit: Literal["s", "count", "ratio", "share"]
    better: Better


COMPARED: Final = (
    ComparedMetric("makespan_s", "Makespan", "s", "lower"),
    ComparedMetric("jct_s.mean", "Mean completion", "s", "lower"),
    ComparedMetric("jct_s.p95", "95th percentile completion", "s", "lower"),
    ComparedMetric("wait_s.mean", "Mean wait", "s", "lower"),
    ComparedMetric("slowdown.mean", "Mean slowdown", "ratio", "lower"),
    ComparedMetric("utilisation.memory.reserved", "Memory reserved", "share", ""),
    ComparedMetric("utilisation.memory.used", "Memory used", "share", "higher"),
    ComparedMetric("allocation_efficiency.memory", "Used of reserved memory", "share", "higher"),
    ComparedMetric("crashed_tasks", "Crashed tasks", "count", "lower"),
    ComparedMetric("failed_jobs", "Failed jobs", "count", "lower"),
    ComparedMetric("fairness.jain", "Jain's fairness", "ratio", "higher"),
)


@dataclass(frozen=True)
class ComparedRun:
    """One run of a comparison."""

    policy: str
    seed: int
    metrics: Mapping[str, Any]
    curves: Curves

    @classmethod
    def of(cls, run: Run) -> ComparedRun:
        metrics = run_metrics(run)
        return cls(metrics["policy"], metrics["seed"], metrics, run_curves(run))


@dataclass(frozen=True)
class Comparison:
    """Runs of several policies, and what they show against the baseline."""

    runs: tuple[ComparedRun, ...]
    baseline: str
    summary: list[dict[str, Any]]
    command: str  # what a reader types to get the same
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def policies(self) -> tuple[str, ...]:
        """In the order in which they were given."""
        return tuple(dict.fromkeys(run.policy for run in self.runs))

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(sorted({run.seed for run in self.runs}))

    @property
    def clusters(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cluster_of(run.metrics) for run in self.runs))

    @property
    def configuration_hash(self) -> str:
        """The same for two comparisons exactly if they ran the same policies, seeds, workloads and clusters."""
        keys = ("policy", "seed", "executor", "workload_hash", "cluster_hash", "heddle_version")
        configured = sorted([str(run.metrics[key]) for key in keys] for run in self.runs)
        return hashlib.sha256(json.dumps([self.baseline, configured]).encode()).hexdigest()[:16]

    def row(self, cluster: str, policy: str, metric: str) -> dict[str, Any]:
        """The summary's row; KeyError if there is none."""
        for row in self.summary:
            if (row["cluster"], row["policy"], row["metric"]) == (cluster, policy, metric):
                return row
        raise KeyError((cluster, policy, metric))

    def as_json(self) -> dict[str, Any]:
        """The document that `heddle compare --json` prints."""
        return {
            "runs": [dict(run.metrics) for run in self.runs],
            "summary": self.summary,
            "baseline": self.baseline,
            "configuration_hash": self.configuration_hash,
        }


def compare_runs(runs: Sequence[ComparedRun], baseline: str, command: str) -> Comparison:
    """The comparison of these runs against the policy `baseline` (in canonical form)."""
    packages = ("heddle", "numba", "numpy", "polars")
    versions = {"python": platform.python_version()} | {name: version(name) for name in packages}
    summary = summarise([dict(run.metrics) for run in runs], baseline)
    return Comparison(tuple(runs), baseline, summary, command, versions)


def cluster_of(metrics: Mapping[str, Any]) -> str:
    """The name under which runs on one cluster are put together."""
    return str(metrics["cluster"] or metrics["cluster_hash"])


def summarise(runs: Sequence[Mapping[str, Any]], baseline: str) -> list[dict[str, Any]]:
    """One row per cluster, policy and metric, from the metrics of the runs."""
    policies = list(dict.fromkeys(run["policy"] for run in runs))
    if baseline not in policies:
        raise BadInput.of("--baseline", f"{baseline} is not among the policies compared: {', '.join(policies)}")
    by_key: dict[tuple[str, str, int], Mapping[str, Any]] = {}
    for run in runs:
        key = (cluster_of(run), run["policy"], run["seed"])
        if key in by_key:
            what = (
                f"{key[1]} ran twice with seed {key[2]} on cluster {key[0]}: give each policy once, each cluster a name"
            )
            raise BadInput.of("--policy, --cluster", what)
        by_key[key] = run
    rows = []
    for cluster in dict.fromkeys(cluster_of(run) for run in runs):
        for policy in policies:
            own = {seed: run for (on, of, seed), run in by_key.items() if (on, of) == (cluster, policy)}
            base = {seed: run for (on, of, seed), run in by_key.items() if (on, of) == (cluster, baseline)}
            stalled = sum(run["outcome"] == "stalled" for run in own.values())
            for metric in COMPARED:
                row = _row(_by_seed(own, metric.name), None if policy == baseline else _by_seed(base, metric.name))
                rows.append(
                    {"policy": policy, "cluster": cluster, "metric": metric.name, **row, "stalled_runs": stalled}
                )
    return rows


def metric_value(metrics: Mapping[str, Any], name: str) -> float | None:
    """The number at a dotted path of a run's JSON; None where it is unknown."""
    value: Any = metrics
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return None if value is None else float(value)


def _by_seed(runs: Mapping[int, Mapping[str, Any]], metric: str) -> dict[int, float]:
    found = {seed: metric_value(run, metric) for seed, run in runs.items() if run["outcome"] != "stalled"}
    return {seed: value for seed, value in found.items() if value is not None}


def _row(own: Mapping[int, float], base: Mapping[int, float] | None) -> dict[str, Any]:
    """Mean and change with their intervals; `base` is None for the baseline itself."""
    row: dict[str, Any] = {"mean": fmean(own.values()) if own else None, "ci95": t_interval(list(own.values()))}
    row |= {"runs": len(own), "vs_baseline_pct": None, "vs_ci95": None, "pairs": 0}
    if base is None:
        return row
    pairs = [(own[seed], base[seed]) for seed in own if seed in base]
    changes = [_change_pct(mine, theirs) for mine, theirs in pairs]
    known = [change for change in changes if change is not None]
    if known and len(known) == len(changes):  # a change from 0 has no percentage, and leaving it out would flatter
        row |= {"vs_baseline_pct": fmean(known), "vs_ci95": t_interval(known)}
    return row | {"pairs": len(pairs)}


def _change_pct(value: float, base: float) -> float | None:
    if value == base:
        return 0.0
    return None if base == 0 else 100.0 * (value - base) / base
