"""Policies against a baseline, paired on the seed: what the same jobs on the same cluster gained or lost.

Within a cluster, the runs of one seed form a pair. A row gives the mean of a metric over a policy's finished runs,
and the mean over pairs of the change against the baseline in percent, each with a 95 % interval (certainty/sampling.py
says what it means). A policy that stalled in some run has neither: the runs that stall are the hard ones, and a mean of
the others would flatter it. Nor is there a change against a baseline that stalled. The intervals are per row: they are
not corrected for looking at many rows. Where several queue configurations are compared, a "policy" is one of them under
one of those.
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

import polars as pl

from heddle.analysis.best_possible.bounds import Bound
from heddle.analysis.certainty.sampling import SEEDS, Sampling
from heddle.analysis.comparison.losers import JobTimes, Losers, losers
from heddle.analysis.comparison.paired import paired_change
from heddle.analysis.measures.curves import Curves, run_curves
from heddle.analysis.measures.edges import NO_EDGES, Edges
from heddle.analysis.measures.metrics import run_metrics
from heddle.analysis.waiting.explain import Explained, explain, most_delayed
from heddle.analysis.waste.efficiency import Efficiency, containers_of_run
from heddle.analysis.waste.run_waste import Waste, efficiencies, run_waste
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

BOUNDED: Final = {"makespan_s": "makespan_s", "jct_s.mean": "mean_jct_s"}  # metric -> the bound that it cannot beat


@dataclass(frozen=True)
class ComparedRun:
    """One run of a comparison."""

    policy: str  # with its queue configuration, where several are compared
    seed: int
    metrics: Mapping[str, Any]
    curves: Curves
    times: JobTimes
    jobs: (
        pl.DataFrame | None
    )  # name, queue and user of each job; needed of the baseline only, they are the same for all
    delayed: tuple[Explained, ...] = ()  # the most delayed jobs, where the run kept reasons
    waste: Waste | None = None  # where the capacity went, of the same runs
    efficiency: Mapping[str, Sequence[Efficiency]] = field(default_factory=dict)  # by grouping, of the same runs
    bounds: tuple[Bound, ...] = ()

    @classmethod
    def of(
        cls,
        run: Run,
        *,
        policy: str | None = None,
        edges: Edges = NO_EDGES,
        with_jobs: bool = True,
        explained: int = 0,
        bounds: tuple[Bound, ...] = (),
    ) -> ComparedRun:
        metrics = run_metrics(run, edges)
        return cls(
            policy=policy or metrics["policy"],
            seed=metrics["seed"],
            metrics=metrics,
            curves=run_curves(run, edges),
            times=JobTimes.of(run, edges.counted(run)),
            jobs=run.jobs.select("name", "queue", "user") if with_jobs else None,
            delayed=tuple(explain(run, job) for job in most_delayed(run, explained)) if explained else (),
            waste=run_waste(run) if explained else None,
            efficiency=efficiencies(containers_of_run(run)) if explained else {},
            bounds=bounds,
        )


@dataclass(frozen=True)
class Comparison:
    """Runs of several policies, and what they show against the baseline."""

    runs: tuple[ComparedRun, ...]
    baseline: str
    summary: list[dict[str, Any]]
    command: str  # what a reader types to get the same
    losers: tuple[Losers, ...] = ()
    sampling: Sampling = SEEDS
    baseline_is_present: bool = False  # it is what the cluster runs today
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
        runs = ("policy", "seed", "executor", "workload_hash", "cluster_hash", "heddle_version")
        keys = (*runs, "warm_up_s", "cool_down_s")
        configured = sorted([str(run.metrics.get(key)) for key in keys] for run in self.runs)
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
            "baseline_is_present": self.baseline_is_present,
            "sampling": self.sampling.as_json(),
            "bounds": [
                {"cluster": cluster_of(run.metrics), "seed": run.seed, **bound.as_json()}
                for run in self.runs
                if run.policy == self.baseline
                for bound in run.bounds
            ],
            "who_got_worse": [one.as_json() for one in self.losers],
            "configuration_hash": self.configuration_hash,
        }


def compare_runs(
    runs: Sequence[ComparedRun],
    baseline: str,
    command: str,
    sampling: Sampling = SEEDS,
    baseline_is_present: bool = False,
) -> Comparison:
    """The comparison of these runs against the policy `baseline` (in canonical form)."""
    packages = ("heddle", "numba", "numpy", "polars")
    versions = {"python": platform.python_version()} | {name: version(name) for name in packages}
    named = [dict(run.metrics) | {"policy": run.policy} for run in runs]
    summary = summarise(named, baseline, sampling)
    _add_bounds(summary, runs, baseline)
    worse = _losers(runs, baseline, sampling)
    return Comparison(tuple(runs), baseline, summary, command, worse, sampling, baseline_is_present, versions)


def _losers(runs: Sequence[ComparedRun], baseline: str, sampling: Sampling) -> tuple[Losers, ...]:
    found = []
    for cluster in dict.fromkeys(cluster_of(run.metrics) for run in runs):
        here = [run for run in runs if cluster_of(run.metrics) == cluster]
        base = {run.seed: run for run in here if run.policy == baseline}
        before = {seed: run.times for seed, run in base.items()}
        who = {seed: run.jobs for seed, run in base.items() if run.jobs is not None}
        for policy in dict.fromkeys(run.policy for run in here if run.policy != baseline):
            own = {run.seed: run.times for run in here if run.policy == policy}
            found.append(losers(policy, cluster, before, own, who, sampling))
    return tuple(found)


def _add_bounds(summary: list[dict[str, Any]], runs: Sequence[ComparedRun], baseline: str) -> None:
    """How far each policy is above what no scheduler can beat: mean over its finished runs, in percent."""
    bound_of = {(cluster_of(run.metrics), run.seed): run.bounds for run in runs if run.bounds}
    for row in summary:
        attribute = BOUNDED.get(row["metric"])
        above: dict[str, list[float]] = {}
        for run in runs if attribute and not row["stalled_runs"] else ():
            where = (cluster_of(run.metrics), run.seed)
            value = metric_value(run.metrics, row["metric"])
            mine = where[0] == row["cluster"] and run.policy == row["policy"]
            whole = run.metrics["outcome"] == "finished" and not run.metrics["failed_jobs"]
            if row["metric"] != "makespan_s" and run.metrics.get("left_out_jobs"):
                continue  # the bound is of all jobs
            for bound in bound_of.get(where, ()) if mine and whole and value is not None else ():
                least = getattr(bound, attribute or "")
                if least > 0 and value is not None:
                    above.setdefault(bound.kind, []).append(100.0 * (value / least - 1.0))
        row["above_bound_pct"] = {kind: fmean(values) for kind, values in above.items()} or None


def cluster_of(metrics: Mapping[str, Any]) -> str:
    """The name under which runs on one cluster are put together."""
    return str(metrics["cluster"] or metrics["cluster_hash"])


def summarise(runs: Sequence[Mapping[str, Any]], baseline: str, sampling: Sampling = SEEDS) -> list[dict[str, Any]]:
    """One row per cluster, policy and metric, from the metrics of the runs."""
    policies = list(dict.fromkeys(run["policy"] for run in runs))
    if baseline not in policies:
        raise BadInput.of("--baseline", f"{baseline} is not among the policies compared: {', '.join(policies)}")
    by_key: dict[tuple[str, str, int], Mapping[str, Any]] = {}
    for run in runs:
        key = (cluster_of(run), run["policy"], run["seed"])
        if key in by_key:
            what = (
                f"{key[1]} ran twice with seed {key[2]} on cluster {key[0]}: name each policy once and each "
                "cluster differently"
            )
            raise BadInput.of("--policy, --cluster", what)
        by_key[key] = run
    rows = []
    for cluster in dict.fromkeys(cluster_of(run) for run in runs):
        for policy in policies:
            own = {seed: run for (on, of, seed), run in by_key.items() if (on, of) == (cluster, policy)}
            base = {seed: run for (on, of, seed), run in by_key.items() if (on, of) == (cluster, baseline)}
            counts = {"stalled_runs": _stalled(own), "all_runs": len(own)}
            for metric in COMPARED:
                against = {} if policy == baseline or _stalled(base) else _by_seed(base, metric.name)
                row = _row({} if counts["stalled_runs"] else _by_seed(own, metric.name), against, sampling)
                rows.append({"policy": policy, "cluster": cluster, "metric": metric.name, **row, **counts})
    return rows


def _stalled(runs: Mapping[int, Mapping[str, Any]]) -> int:
    return sum(run["outcome"] == "stalled" for run in runs.values())


def metric_value(metrics: Mapping[str, Any], name: str) -> float | None:
    """The number at a dotted path of a run's JSON; None where it is unknown."""
    value: Any = metrics
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return None if value is None else float(value)


def _by_seed(runs: Mapping[int, Mapping[str, Any]], metric: str) -> dict[int, float]:
    found = {seed: metric_value(run, metric) for seed, run in runs.items()}
    return {seed: value for seed, value in found.items() if value is not None}


def _row(own: Mapping[int, float], base: Mapping[int, float], sampling: Sampling) -> dict[str, Any]:
    """Mean and change with their intervals; `base` is empty where there is nothing to compare with."""
    mean, interval = sampling.estimate(own)
    change = paired_change(own, base, sampling)
    return {
        "mean": mean, "ci95": interval, "runs": len(own),
        "vs_baseline_pct": change.pct, "vs_ci95": change.interval, "pairs": change.pairs,
    }  # fmt: skip
