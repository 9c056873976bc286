"""From a run record back to a workload and a cluster: so that what really ran can be simulated.

A container's life from allocation to end is taken as its task's work, since a live record does not tell when its
process began: what comes between - until the AM learns of it, until it is launched - must be 0 where such a workload is
simulated. Which stages wait for which is not in a record either; one that was first asked for when others had ended is
taken to come after them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from heddle.analysis.waste.yarn_accounts import yarn_accounts
from heddle.model.cluster import Cluster, Node, Queue, Timing
from heddle.model.errors import BadInput
from heddle.model.workload import AM, TASKS, Workload
from heddle.record.manifest import LIVE_SOURCE
from heddle.record.run import Run
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant

SLACK_MS: Final = 2000  # two polls: an end is seen that much later than it was, at most


def is_real(run: Run) -> bool:
    """Whether it was observed, not simulated."""
    return bool(run.manifest["workload"]["about"].get("source") == LIVE_SOURCE)


def workload_of(run: Run) -> Workload:
    """The jobs of a record, each with its AM and its stages. BadInput where the record does not hold them."""
    if not run.manifest["complete_attempts"]:
        raise BadInput.of("record", "does not hold every attempt: observe with `heddle yarn observe`, or use --record")
    accounts = yarn_accounts(run)
    if accounts is not None and accounts.unseen:
        raise BadInput.of("record", f"has none of the containers that YARN counted for {accounts.unseen}")
    jobs = list(jobs_of(run).values())
    return build(run.manifest["workload"]["name"], jobs, tuple(run.manifest["resources"]))


def jobs_of(run: Run) -> dict[int, JobSpec]:
    """Each job of a record that has a container which ended, by its number there."""
    attempts = run.attempts.sort("allocation", maintain_order=True).filter(pl.col("ended_at_ms").is_not_null())
    other = set(attempts["kind"].unique()) - {AM, TASKS}
    if other:
        raise BadInput.of("record", "has executors with tasks inside: their workload cannot be told from the record")
    shapes = {row[0]: row[1:] for row in run.shapes.rows()}
    names = {row["stage"]: row["name"] for row in run.stages.iter_rows(named=True)}
    of_job = attempts.partition_by("job", as_dict=True)
    return {
        row["job"]: _job(row, of_job[row["job"],], shapes, names, run.manifest["resources"])
        for row in run.jobs.iter_rows(named=True)
        if (row["job"],) in of_job
    }


def cluster_of(run: Run, timing: Timing) -> Cluster:
    """The nodes of a record, with one queue for each that jobs were in; shares of queues are not in a record."""
    resources = tuple(run.manifest["resources"])
    nodes = tuple(
        Node(
            row["name"],
            tuple(row[f"capacity_{name}"] for name in resources),
            tuple(row[f"allowance_{name}"] for name in resources),
            rack=row["rack"],
            label=row["label"],
        )
        for row in run.nodes.iter_rows(named=True)
    )
    leaves = sorted(set(run.jobs["queue"]) - {"root"})
    queues = (Queue("root"), *(Queue(name) for name in leaves))
    return Cluster(nodes, resources, queues=queues, timing=timing, off_switch_per_heartbeat=0)


def job_name(row: Mapping[str, Any]) -> str:
    """The name of a job of the record in its workload: names may repeat in a record."""
    return f"{row['name']} ({row['job']})"


def _job(
    row: Mapping[str, Any],
    attempts: pl.DataFrame,
    shapes: Mapping[int, tuple[int, ...]],
    names: Mapping[int, str],
    resources: list[str],
) -> JobSpec:
    masters = attempts.filter(pl.col("kind") == AM)
    tasks = attempts.filter(pl.col("kind") == TASKS)
    stages = {key[0]: part for key, part in tasks.partition_by("stage", as_dict=True, maintain_order=True).items()}
    unique = {stage: f"{names[stage]} ({stage})" for stage in stages}
    return JobSpec(
        name=job_name(row),
        submit_at_ms=max(0, row["submit_at_ms"]),  # what was there when somebody began to look is there at once
        stages=[
            StageSpec(
                unique[stage],
                shapes[part["shape"][0]],
                [_task(attempt, resources) for attempt in part.iter_rows(named=True)],
                after=tuple(unique[other] for other, before in stages.items() if _is_before(before, part)),
            )
            for stage, part in stages.items()
        ],
        am=shapes[masters["shape"][0]] if len(masters) else None,
        am_use=_mean_use(masters.row(0, named=True), resources) if len(masters) else None,
        queue=row["queue"],
        user=row["user"],
    )


def _is_before(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    """Whether a stage had ended when another was first asked for."""
    last_end, first_ask = one["ended_at_ms"].max(), other["asked_at_ms"].min()
    return one is not other and int(last_end) - SLACK_MS <= int(first_ask)  # type: ignore[arg-type]


def _task(attempt: Mapping[str, Any], resources: list[str]) -> TaskSpec:
    use = _mean_use(attempt, resources)
    span_ms = max(0, attempt["ended_at_ms"] - attempt["allocated_at_ms"])
    return TaskSpec(span_ms) if use is None else TaskSpec(span_ms, constant(*use))


def _mean_use(attempt: Mapping[str, Any], resources: list[str]) -> tuple[int, ...] | None:
    """What a container used on average; None: not recorded."""
    span_ms = attempt["ended_at_ms"] - attempt["allocated_at_ms"]
    sums = [attempt[f"used_{name}_ms"] for name in resources]
    if span_ms <= 0 or any(used is None for used in sums):
        return None
    return tuple(round(used / span_ms) for used in sums)
