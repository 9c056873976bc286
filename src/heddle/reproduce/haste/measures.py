"""One run of a batch: makespan, response, what was allocated, and how long reduces held containers idle."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from heddle.analysis.measures.metrics import run_metrics
from heddle.experiments.compare import Jobs
from heddle.model.cluster import Cluster
from heddle.model.resources import MEMORY_MB
from heddle.record.run import Run
from heddle.run import simulate


@dataclass(frozen=True)
class Measured:
    """Of a finished run; times in seconds, shares in percent of the cluster."""

    makespan_s: float
    response_s: float
    memory_pct: float
    vcores_pct: float
    idle_gb_h: float  # of reduces that wait for the maps of their job


def makespan(measured: Measured) -> float:
    return measured.makespan_s


def response(measured: Measured) -> float:
    return measured.response_s


def allocated(measured: Measured) -> float:
    return (measured.memory_pct + measured.vcores_pct) / 2


def idle(measured: Measured) -> float:
    """Never 0, so that runs can be divided by each other."""
    return max(measured.idle_gb_h, 1e-3)


def measure(batch: Jobs, cluster: Cluster, policy: str, seed: int) -> Measured | None:
    """None where the run stalled."""
    run = simulate(batch.jobs(seed), cluster, policy, seed=seed)
    metrics = run_metrics(run)
    if metrics["outcome"] != "finished":
        return None
    return Measured(
        makespan_s=metrics["makespan_s"],
        response_s=metrics["jct_s"]["mean"],
        memory_pct=100 * metrics["utilisation"]["memory"]["reserved"],
        vcores_pct=100 * metrics["utilisation"]["vcores"]["reserved"],
        idle_gb_h=idle_reduces_gb_h(run),
    )


def idle_reduces_gb_h(run: Run) -> float:
    """Memory that started reduces held until the last map of their iteration had ended."""
    role = pl.col("name").str.splitn("-", 2)
    stages = run.stages.select("stage", phase=role.struct.field("field_0"), iteration=role.struct.field("field_1"))
    tasks = run.attempts.join(stages, on="stage").join(run.shapes, on="shape")
    maps = tasks.filter(pl.col("phase") == "map").group_by("job", "iteration").agg(pl.col("ended_at_ms").max())
    held = (
        tasks.filter(pl.col("phase") == "reduce")
        .join(maps.rename({"ended_at_ms": "maps_ended_at_ms"}), on=["job", "iteration"])
        .select(
            (pl.min_horizontal("maps_ended_at_ms", "ended_at_ms") - pl.col("started_at_ms")).clip(0) * pl.col(MEMORY_MB)
        )
        .to_series()
        .sum()
    )
    return float(held) / 1024 / 3_600_000
