"""One run of a batch: makespan, response, what was allocated, and how long reduces held containers idle."""

from __future__ import annotations

from dataclasses import dataclass

from heddle.analysis.measures.idle_reduces import idle_reduces_gb_h
from heddle.analysis.measures.metrics import run_metrics
from heddle.experiments.compare import Jobs
from heddle.model.cluster import Cluster
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
