"""A recorded real run made ready to be simulated: its jobs, sizes and nodes, and what YARN adds to a job.

How long an AM takes before it asks, and a job takes to end after its last container, no record of the same run should
tell: what is fitted to a run cannot be held against it. Where only a guess of what would have been is wanted, it may.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import Final

import polars as pl

from heddle.model.cluster import Cluster, Timing
from heddle.model.errors import BadInput
from heddle.model.workload import AM, TASKS, Workload
from heddle.policy.parse import parse_policy
from heddle.record.run import Run
from heddle.record_workload import cluster_of, workload_of
from heddle.run import Executor, simulate

STOCK: Final = "stock"
NODE_HEARTBEAT_MS: Final = 1000  # YARN's default


@dataclass(frozen=True)
class Overheads:
    """What YARN adds to a job, medians over the jobs of a record."""

    am_start_ms: int  # from the AM's container to its first request
    ending_ms: int  # from its last container to the end of the job

    @property
    def timing(self) -> Timing:
        # AMs' heartbeats and launches are part of what a task or an AM's start takes: see record_workload.py. So is the
        # time until YARN hears of an end; when it does, the room is given away.
        return Timing(
            node_heartbeat_ms=NODE_HEARTBEAT_MS,
            usage_report_ms=NODE_HEARTBEAT_MS,
            am_start_ms=max(0, self.am_start_ms),
            heartbeat_at_end=True,
        )


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
        raise BadInput.of("record", "no job with an AM and tasks finished in it, so it does not show how long AMs take")
    return Overheads(
        round(median((both["asked"] - both["began"]).to_list())),
        max(0, round(median((both["ended_at_ms"] - both["last"]).to_list()))),
    )


@dataclass(frozen=True)
class Replay:
    """What ran, to be simulated under its own policy or another."""

    workload: Workload
    cluster: Cluster

    def under(self, policy: str, seed: int = 0, *, record: bool = False) -> Run:
        """`stock` is YARN left alone, every other policy turns its knobs."""
        executor: Executor = "native" if policy == STOCK else "yarn-knobs"
        chosen = parse_policy((self.cluster.policy or "capacity") if policy == STOCK else policy)
        return simulate(self.workload, self.cluster, chosen, seed=seed, record=record, executor=executor)


def replay_of(run: Run, overheads: Overheads, cluster: Cluster | None = None) -> Replay:
    """`cluster`: its queues and its scheduler's settings, which a record cannot tell."""
    on = cluster_of(run, overheads.timing)
    if cluster is not None:
        most = cluster.off_switch_per_heartbeat
        on = replace(
            on,
            queues=cluster.queues,
            calculator=cluster.calculator,
            off_switch_per_heartbeat=most,
            policy=cluster.policy,
        )
    return Replay(workload_of(run), on)
