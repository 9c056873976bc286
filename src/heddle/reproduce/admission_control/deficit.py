"""Fig. 2: what should be reserved for tasks by equations (2) and (3), and what AMs leave, over time."""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl

from heddle.model.cluster import Cluster
from heddle.model.resources import MILLI, VCORES_MILLI
from heddle.model.workload import AM
from heddle.reproduce.admission_control.rounds import Batch
from heddle.reproduce.admission_control.settings import MIXED, Rounds
from heddle.reproduce.drawing import Curve, draw_curves
from heddle.reproduce.lab import Findings, Part
from heddle.run import simulate

STEP_MS = 1000


def reserve(total: float, ams: float, n_ams: int, tasks: float, n_tasks: int) -> float:
    """Equation (2), and (3) once where AMs already hold more than is left."""
    if not n_ams or not n_tasks:
        return 0.0
    average_am, average_task = ams / n_ams, tasks / n_tasks
    wanted = total * average_task / (average_am + average_task)
    return wanted * (wanted + ams) / total if wanted + ams > total else wanted


def over_time(
    jobs: Batch, cluster: Cluster, total_vcores: int, policy: str, seed: int
) -> tuple[list[float], list[float], list[float]]:
    """Seconds, vcores that should be left for tasks, and vcores that AMs leave."""
    run = simulate(jobs.jobs(seed), cluster, policy, seed=seed, record=True)
    held = run.attempts.join(run.shapes, on="shape").select(
        is_am=pl.col("kind") == AM,
        start=pl.col("allocated_at_ms"),
        end=pl.col("ended_at_ms"),
        vcores=pl.col(VCORES_MILLI) / MILLI,
    )
    end = held["end"].fill_null(0).max()
    times = np.arange(0, int(end if isinstance(end, int) else 0) + 1, STEP_MS)
    wanted, left = [], []
    for now in times.tolist():
        alive = held.filter((pl.col("start") <= now) & (pl.col("end").is_null() | (pl.col("end") > now)))
        ams, tasks = alive.filter("is_am")["vcores"], alive.filter(~pl.col("is_am"))["vcores"]
        wanted.append(reserve(total_vcores, float(ams.sum()), len(ams), float(tasks.sum()), len(tasks)))
        left.append(total_vcores - float(ams.sum()))
    return (times / 1000).tolist(), wanted, left


def deficit(rounds: Rounds) -> Part:
    kind = rounds.first_start[0]
    jobs = rounds.batches[kind, MIXED]
    found = yield {
        "": partial(over_time, jobs, rounds.cluster(kind), rounds.total_vcores, rounds.controlled, rounds.seeds[0])
    }
    seconds, wanted, left = found[""]
    return Findings(
        drawings=[
            draw_curves(
                "Fig. 2: what should be left for tasks, and what is",
                "time (s)",
                "vcores",
                [Curve("equations (2), (3)", seconds, wanted), Curve("what AMs leave", seconds, left)],
                f"Mixed sizes, jobs: {kind}, one seed. Where the first is above the second, there is a "
                "deficit: AMs that run cannot be taken back, and no further one starts.",
            )
        ]
    )
