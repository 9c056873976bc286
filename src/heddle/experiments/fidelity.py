"""How well the simulator predicts what really happened: a recorded run, simulated, beside the record.

The jobs, sizes and nodes are those of the record. How long an AM takes before it asks, and how long a job takes to end
after its last container, are taken from *another* record of the same cluster, so that nothing is fitted to what it
is held against.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Final

import polars as pl

from heddle.analysis.ranks import spearman
from heddle.model.cluster import Cluster, Timing
from heddle.model.errors import BadInput
from heddle.model.workload import AM, TASKS
from heddle.policy.parse import parse_policy
from heddle.record.run import Run
from heddle.record_workload import cluster_of, job_name, workload_of
from heddle.run import Executor, simulate

STOCK: Final = "stock"
DRAWS: Final = 5
NODE_HEARTBEAT_MS: Final = 1000  # YARN's default


@dataclass(frozen=True)
class Overheads:
    """What YARN adds to a job, medians over the jobs of a record."""

    am_start_ms: int  # from the AM's container to its first request
    ending_ms: int  # from its last container to the end of the job

    @property
    def timing(self) -> Timing:
        # AMs' heartbeats and launches are part of what a task or an AM's start takes: see record_workload.py.
        return Timing(NODE_HEARTBEAT_MS, 0, NODE_HEARTBEAT_MS, 0, max(0, self.am_start_ms))


@dataclass(frozen=True)
class Fidelity:
    """A prediction beside what happened. Errors are parts of the real value."""

    jobs: int
    real_makespan_s: float
    predicted_makespan_s: float
    makespan_error: float
    jct_error: float  # mean over jobs of |predicted - real| / real
    spearman: float | None  # of completion times; None: all alike
    naive_spearman: float | None  # of the naive predictor: who comes first is served first
    overheads: Overheads


def overheads_of(run: Run) -> Overheads:
    """Medians over the jobs that have an AM and ended."""
    masters = run.attempts.filter(pl.col("kind") == AM).group_by("job").agg(began=pl.col("allocated_at_ms").min())
    tasks = (
        run.attempts.filter(pl.col("kind") == TASKS)
        .group_by("job")
        .agg(asked=pl.col("asked_at_ms").min(), last=pl.col("ended_at_ms").max())
    )
    ended = run.jobs.filter(pl.col("outcome") == "finished").select("job", "ended_at_ms")
    both = masters.join(tasks, on="job").join(ended, on="job").drop_nulls()
    if not len(both):
        raise BadInput.of("--calibrate", "no job with an AM and tasks finished in that record")
    return Overheads(
        round(median((both["asked"] - both["began"]).to_list())),
        max(0, round(median((both["ended_at_ms"] - both["last"]).to_list()))),
    )


def fidelity(run: Run, overheads: Overheads, cluster: Cluster | None = None, policy: str | None = None) -> Fidelity:
    """The record's jobs simulated under its policy.

    `cluster`: its queues and whether vcores count, neither of which a record can tell.
    """
    workload = workload_of(run)
    on = cluster_of(run, overheads.timing)
    if cluster is not None:
        on = replace(on, queues=cluster.queues, calculator=cluster.calculator)
    steered = policy or run.manifest["policy"]
    executor: Executor = "native" if steered == STOCK else "yarn-knobs"
    chosen = parse_policy("capacity" if steered == STOCK else steered)
    # Nobody knows when in a second each heartbeat of the real run came: several draws, and their mean.
    predicted = pl.concat([simulate(workload, on, chosen, seed=s, executor=executor).jobs for s in range(DRAWS)])
    ended = run.jobs.filter(pl.col("outcome") == "finished")
    names = pl.Series("name", [job_name(row) for row in ended.iter_rows(named=True)], pl.String)
    real = ended.select(names, "submit_at_ms", "ended_at_ms")
    guessed = predicted.group_by("name").agg(guess=pl.col("ended_at_ms").mean() + overheads.ending_ms)
    both = real.join(guessed, on="name").sort("submit_at_ms", "name").drop_nulls()
    if not len(both):
        raise BadInput.of("record", "no job finished in it")
    began = int(both["submit_at_ms"].min())  # type: ignore[arg-type]
    real_jct = (both["ended_at_ms"] - both["submit_at_ms"]).to_list()
    guessed_jct = (both["guess"] - both["submit_at_ms"]).to_list()
    real_ms, guessed_ms = (float(both[name].max()) - began for name in ("ended_at_ms", "guess"))  # type: ignore[arg-type]
    return Fidelity(
        jobs=len(both),
        real_makespan_s=real_ms / 1000,
        predicted_makespan_s=guessed_ms / 1000,
        makespan_error=guessed_ms / real_ms - 1,
        jct_error=fmean(abs(guess - real) / real for guess, real in zip(guessed_jct, real_jct, strict=True)),
        spearman=spearman(guessed_jct, real_jct),
        naive_spearman=spearman(list(range(len(both))), real_jct),
        overheads=overheads,
    )
