"""The metrics of one run, by the definitions of docs/semantics.md.

Times are seconds. Statistics are over finished jobs; percentiles interpolate linearly between order statistics
(numpy's "linear": the p-th of n values lies at position (n - 1) * p / 100 of the sorted values, from 0). What is not
known is None: anything over no jobs, the makespan of a stalled run and what is divided by it, use that was not
recorded. A job whose time alone is 0 has no slowdown. Tables are gone through in pieces: of jobs, none is held.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy.typing as npt
import polars as pl

from heddle.analysis.measures.edges import NO_EDGES, Edges
from heddle.analysis.measures.numbers_in_pieces import NumbersInPieces
from heddle.model.resources import display_name
from heddle.model.workload import INNER
from heddle.record.run import Run
from heddle.record.schema import JOB_OUTCOMES

_PERCENTILES: Final = (50, 95, 99)


def run_metrics(run: Run, edges: Edges = NO_EDGES) -> dict[str, Any]:
    """Everything heddle says about a run, ready for JSON.

    Jobs in the edges are left out of completion, wait, slowdown and fairness; everything else is of the whole run.
    """
    manifest, totals = run.manifest, run.manifest["totals"]
    jobs = _jobs_together(run)
    tasks = jobs["tasks"]
    makespan_ms = jobs["makespan_ms"] if manifest["outcome"] == "finished" else None
    spans = {name: _spans(run, edges, f"{name}_at_ms") for name in ("ended", "started", "am_started")}
    slowdown = _slowdown(run, edges)
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
        "jobs": jobs["jobs"],
        "tasks": tasks,
        "finished_jobs": jobs["finished"],
        "failed_jobs": jobs["failed"],
        "unfinished_jobs": jobs["unfinished"],
        **edges.as_json(run),
        "makespan_s": None if makespan_ms is None else makespan_ms / 1000,
        "jct_s": _spread(spans["ended"], 1000),
        "wait_s": _spread(spans["started"], 1000),
        "am_wait_s": _spread(spans["am_started"], 1000),
        "slowdown": _spread(slowdown, 1),
        "crashed_tasks": totals["crashed_tasks"],
        "killed_tasks": totals["killed_tasks"],
        "retried_tasks": totals["retried_tasks"],
        "preempted_tasks": totals["preempted_tasks"],
        "allocations": totals["allocations"],
        "utilisation": _utilisation(run, makespan_ms, jobs["first_ms"]),
        "allocation_efficiency": _efficiency(run),
        "network": _network(run),
        "fairness": {
            "jain": _jain(slowdown),
            "max_slowdown": float(slowdown.quantiles([1.0])[0]) if len(slowdown) else None,
        },
        "pending_area_s": _pending_area_s(run),
        "wall_s": manifest["wall_s"],
        "simulate_s": manifest["simulate_s"],
        "compile_s": manifest["compile_s"],
        "tasks_per_s": tasks / manifest["simulate_s"] if manifest["simulate_s"] else None,
        "peak_rss_mb": manifest["peak_rss_mb"],
    }


def completion_s(run: Run, edges: Edges = NO_EDGES) -> NumbersInPieces:
    """Submission to end of each finished job that counts."""
    return _spans(run, edges, "ended_at_ms", 1000)


def wait_s(run: Run, edges: Edges = NO_EDGES) -> NumbersInPieces:
    """Submission to the first task or executor of each finished job that counts."""
    return _spans(run, edges, "started_at_ms", 1000)


def _of_finished(run: Run, edges: Edges, value: pl.Expr, which: pl.Expr) -> NumbersInPieces:
    """Of the finished jobs that count and of which this can be told."""
    chosen = (pl.col("outcome") == "finished") & edges.counted(run) & which

    def read() -> Iterator[npt.NDArray[Any]]:
        for jobs in run.pieces("jobs"):
            yield jobs.filter(chosen).select(value).to_series().to_numpy()

    return NumbersInPieces(read)


def _spans(run: Run, edges: Edges, until: str, per_unit: int = 1) -> NumbersInPieces:
    """From its submission to another instant, for the jobs that know it: in ms, or in so many of them."""
    span = pl.col(until) - pl.col("submit_at_ms")
    return _of_finished(run, edges, span if per_unit == 1 else span / per_unit, pl.col(until).is_not_null())


def _slowdown(run: Run, edges: Edges) -> NumbersInPieces:
    ratio = (pl.col("ended_at_ms") - pl.col("submit_at_ms")) / pl.col("alone_ms")
    return _of_finished(run, edges, ratio, pl.col("alone_ms") > 0)


def _jobs_together(run: Run) -> dict[str, Any]:
    """Counts over all jobs, the first submission, and from it to the last end; None where there is none."""
    submit, outcome = pl.col("submit_at_ms"), pl.col("outcome")
    wanted = {
        "jobs": pl.len(),
        "tasks": pl.col("tasks").cast(pl.Int64).sum(),
        **{word: (outcome == word).sum() for word in JOB_OUTCOMES},
        "first_ms": submit.min(),
        "makespan_ms": pl.col("ended_at_ms").max() - submit.min(),
    }
    return run.scan("jobs").select(**wanted).collect(engine="streaming").row(0, named=True)


def _spread(values: NumbersInPieces, per_unit: int) -> dict[str, float | None]:
    """Mean and percentiles of values that come in 1/per_unit."""
    if len(values) == 0:
        return {"mean": None, **{f"p{percent}": None for percent in _PERCENTILES}}
    points = values.quantiles([percent / 100 for percent in _PERCENTILES])
    return {
        "mean": values.mean / per_unit,
        **{f"p{percent}": float(point) / per_unit for percent, point in zip(_PERCENTILES, points, strict=True)},
    }


def _utilisation(run: Run, makespan_ms: int | None, first_ms: int | None) -> dict[str, dict[str, float | None]]:
    totals = run.manifest["totals"]
    unwatched_ms = -min(0, first_ms or 0)
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


def _jain(values: NumbersInPieces) -> float | None:
    return values.total**2 / (len(values) * values.squares) if values.squares > 0 else None


def _pending_area_s(run: Run) -> float | None:
    """Containers asked for and not yet running, integrated over time; needs every attempt of a finished run."""
    if not run.manifest["complete_attempts"] or run.manifest["outcome"] != "finished":
        return None
    until = pl.coalesce("started_at_ms", "ended_at_ms")
    waited = run.scan("attempts").filter(pl.col("kind") != INNER).select((until - pl.col("asked_at_ms")).sum())
    return int(waited.collect(engine="streaming").item()) / 1000
