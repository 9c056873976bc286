"""The metrics of one run, by the definitions of docs/semantics.md.

Times are seconds. Statistics are over finished jobs; percentiles interpolate linearly between order statistics
(numpy's "linear": the p-th of n values lies at position (n - 1) * p / 100 of the sorted values, from 0). What is not
known is None: anything over no jobs, the makespan of a stalled run and what is divided by it, use that was not
recorded. A job whose time alone is 0 has no slowdown.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.analysis.measures.edges import NO_EDGES, Edges
from heddle.model.resources import display_name
from heddle.model.workload import INNER
from heddle.record.run import Run

_PERCENTILES: Final = (50, 95, 99)


def run_metrics(run: Run, edges: Edges = NO_EDGES) -> dict[str, Any]:
    """Everything heddle says about a run, ready for JSON.

    Jobs in the edges are left out of completion, wait, slowdown and fairness; everything else is of the whole run.
    """
    manifest, totals = run.manifest, run.manifest["totals"]
    finished = run.jobs.filter((pl.col("outcome") == "finished") & edges.counted(run))
    outcomes = run.jobs["outcome"]
    tasks = int(run.jobs["tasks"].sum())
    makespan_ms = _makespan_ms(run)
    slowdown = _slowdown(finished)
    return {
        "policy": manifest["policy"],
        "seed": manifest["seed"],
        "executor": manifest["executor"],
        "workload": manifest["workload"]["name"],
        "workload_hash": manifest["workload"]["hash"],
        "cluster": manifest["cluster"]["name"],
        "cluster_hash": manifest["cluster"]["hash"],
        "heddle_version": manifest["heddle_version"],
        "outcome": manifest["outcome"],
        "reason": manifest["reason"],
        "jobs": run.jobs.height,
        "tasks": tasks,
        "finished_jobs": int((outcomes == "finished").sum()),
        "failed_jobs": int((outcomes == "failed").sum()),
        "unfinished_jobs": int((outcomes == "unfinished").sum()),
        **edges.as_json(run),
        "makespan_s": None if makespan_ms is None else makespan_ms / 1000,
        "jct_s": _spread(_between(finished, "submit_at_ms", "ended_at_ms"), 1000),
        "wait_s": _spread(_between(finished, "submit_at_ms", "started_at_ms"), 1000),
        "am_wait_s": _spread(_between(finished, "submit_at_ms", "am_started_at_ms"), 1000),
        "slowdown": _spread(slowdown, 1),
        "crashed_tasks": totals["crashed_tasks"],
        "killed_tasks": totals["killed_tasks"],
        "retried_tasks": totals["retried_tasks"],
        "preempted_tasks": totals["preempted_tasks"],
        "allocations": totals["allocations"],
        "utilisation": _utilisation(run, makespan_ms),
        "allocation_efficiency": _efficiency(run),
        "network": _network(run),
        "fairness": {"jain": _jain(slowdown), "max_slowdown": float(slowdown.max()) if len(slowdown) else None},
        "pending_area_s": _pending_area_s(run),
        "wall_s": manifest["wall_s"],
        "simulate_s": manifest["simulate_s"],
        "compile_s": manifest["compile_s"],
        "tasks_per_s": tasks / manifest["simulate_s"] if manifest["simulate_s"] else None,
        "peak_rss_mb": manifest["peak_rss_mb"],
    }


def completion_s(run: Run, edges: Edges = NO_EDGES) -> npt.NDArray[np.float64]:
    """Submission to end of each finished job that counts."""
    finished = run.jobs.filter((pl.col("outcome") == "finished") & edges.counted(run))
    return _between(finished, "submit_at_ms", "ended_at_ms") / 1000


def wait_s(run: Run, edges: Edges = NO_EDGES) -> npt.NDArray[np.float64]:
    """Submission to the first task or executor of each finished job that counts."""
    finished = run.jobs.filter((pl.col("outcome") == "finished") & edges.counted(run))
    return _between(finished, "submit_at_ms", "started_at_ms") / 1000


def _between(jobs: pl.DataFrame, start: str, end: str) -> npt.NDArray[np.int64]:
    """Milliseconds from one instant to another, for the jobs that know both."""
    spans: npt.NDArray[np.int64] = jobs.select(pl.col(end) - pl.col(start)).to_series().drop_nulls().to_numpy()
    return spans


def _slowdown(finished: pl.DataFrame) -> npt.NDArray[np.float64]:
    ratio = (pl.col("ended_at_ms") - pl.col("submit_at_ms")) / pl.col("alone_ms")
    values: npt.NDArray[np.float64] = finished.filter(pl.col("alone_ms") > 0).select(ratio).to_series().to_numpy()
    return values


def _makespan_ms(run: Run) -> int | None:
    if run.manifest["outcome"] != "finished" or run.jobs.height == 0:
        return None
    span = run.jobs.select(pl.col("ended_at_ms").max() - pl.col("submit_at_ms").min()).item()
    return None if span is None else int(span)


def _spread(values: npt.NDArray[Any], per_unit: int) -> dict[str, float | None]:
    """Mean and percentiles of values that come in 1/per_unit."""
    if len(values) == 0:
        return {"mean": None, **{f"p{percent}": None for percent in _PERCENTILES}}
    points = np.percentile(values, _PERCENTILES, method="linear")
    return {
        "mean": float(values.mean()) / per_unit,
        **{f"p{percent}": float(point) / per_unit for percent, point in zip(_PERCENTILES, points, strict=True)},
    }


def _utilisation(run: Run, makespan_ms: int | None) -> dict[str, dict[str, float | None]]:
    totals = run.manifest["totals"]
    unwatched_ms = -int(run.jobs["submit_at_ms"].to_numpy().min(initial=0))
    found = {}
    for r, name in enumerate(run.resources):
        available = run.manifest["capacity_total"][r] * max(0, (makespan_ms or 0) - unwatched_ms)
        used = totals["used_ms"][r] if run.manifest["use_known"] else None
        found[display_name(name)] = {
            "reserved": totals["reserved_ms"][r] / available if available else None,
            "used": used / available if available and used is not None else None,
        }
    return found


def _efficiency(run: Run) -> dict[str, float | None]:
    totals = run.manifest["totals"]
    found = {}
    for r, name in enumerate(run.resources):
        used, reserved = totals["used_ms"][r], totals["reserved_ms"][r]
        known = run.manifest["use_known"] and used is not None and reserved > 0
        found[display_name(name)] = used / reserved if known else None
    return found


def _network(run: Run) -> dict[str, float | None] | None:
    """Of a real cluster, nobody knows between which racks, what was read locally, and how long that took."""
    totals = run.manifest["totals"]
    if totals["moved_bytes"] is None:
        return None

    def scaled(key: str, by: float) -> float | None:
        return None if totals[key] is None else totals[key] / by

    gigabytes = {f"{what}_gb": scaled(f"{what}_bytes", 1e9) for what in ("moved", "cross_rack", "local")}
    return gigabytes | {"fetching_s": scaled("fetch_ms", 1000)}


def _jain(values: npt.NDArray[np.float64]) -> float | None:
    squares = float(np.square(values).sum())  # not np.dot: BLAS may add up in another order on another machine
    return float(values.sum()) ** 2 / (len(values) * squares) if squares > 0 else None


def _pending_area_s(run: Run) -> float | None:
    """Containers asked for and not yet running, integrated over time; needs every attempt of a finished run."""
    if not run.manifest["complete_attempts"] or run.manifest["outcome"] != "finished":
        return None
    until = pl.coalesce("started_at_ms", "ended_at_ms")
    waited = run.scan_attempts().filter(pl.col("kind") != INNER).select((until - pl.col("asked_at_ms")).sum())
    return int(waited.collect(engine="streaming").item()) / 1000
