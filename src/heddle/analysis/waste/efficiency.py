"""Allocation efficiency: used over reserved, weighted by time (docs/efficiency.md).

Ratios are of sums over time, never means of ratios. Containers without recorded use are counted apart: they are taken
neither for empty nor for full.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.profiles import profile_begins
from heddle.model.resources import display_name
from heddle.model.workload import EXECUTORS, INNER, NO_SEGMENTS, PERMYRIAD, TASKS, Workload
from heddle.record.run import Run

GROUPS: Final = ("container", "job", "user", "queue", "node")
QUANTILES: Final = (0.1, 0.25, 0.5, 0.6, 0.75, 0.9)  # the paper prints the last and, of vcores, 60 %
_WASTERS: Final = 20


@dataclass(frozen=True)
class Containers:
    """`table`: a row for each container, with the names of its job, user, queue, stage and (in records) node, its span
    in ms, for each resource `reserved_<resource>` and `used_<resource>` in resource x ms, and `received_bytes` from
    other nodes; used and received are null where they were not recorded."""

    table: pl.DataFrame
    resources: tuple[str, ...]
    has_nodes: bool


def containers_of_run(run: Run) -> Containers:
    """The containers of a record. Use inside executors counts for all of the job: the record does not say for which."""
    spans = run.attempts.filter(pl.col("ended_at_ms").is_not_null()).with_columns(
        span=pl.col("ended_at_ms") - pl.col("allocated_at_ms")
    )
    reserving = spans.filter(pl.col("kind") != INNER).join(run.shapes, on="shape", how="left", maintain_order="left")
    for name in run.resources:
        reserving = reserving.with_columns((pl.col(name) * pl.col("span")).alias(f"reserved_{name}")).rename(
            {f"used_{name}_ms": f"used_{name}"}
        )
    inner = spans.filter(pl.col("kind") == INNER)
    if inner.height:
        reserving = _with_inner(reserving, inner, run.resources)
    named = (
        reserving.join(
            run.jobs.select("job", "user", "queue", job_name="name"), on="job", how="left", maintain_order="left"
        )
        .join(run.stages.select("stage", stage_name="name"), on="stage", how="left", maintain_order="left")
        .join(run.nodes.select("node", node_name="name"), on="node", how="left", maintain_order="left")
    )
    columns = [f"{what}_{name}" for name in run.resources for what in ("reserved", "used")]
    table = named.select(
        "user",
        "queue",
        "span",
        *columns,
        received_bytes="fetched_bytes",
        job="job_name",
        node="node_name",
        stage="stage_name",
        container=pl.format("{}/{}/{}", "job_name", "stage_name", "task"),
    )
    return Containers(table, run.resources, has_nodes=True)


def _with_inner(reserving: pl.DataFrame, inner: pl.DataFrame, resources: tuple[str, ...]) -> pl.DataFrame:
    """Use of inner tasks spread over the executors of their job by what these reserved."""
    total = inner.group_by("job").agg(pl.col(f"used_{name}_ms").sum().alias(f"inner_{name}") for name in resources)
    rows = reserving.join(total, on="job", how="left", maintain_order="left")
    executor = pl.col("kind") == EXECUTORS
    for name in resources:
        area = pl.when(executor).then(pl.col(f"reserved_{name}")).otherwise(0)
        share = pl.col(f"inner_{name}") * area / area.sum().over("job").clip(1)
        both = pl.col(f"used_{name}").fill_null(0) + share.round().cast(pl.Int64)
        used = pl.when(executor & pl.col(f"inner_{name}").is_not_null()).then(both).otherwise(pl.col(f"used_{name}"))
        rows = rows.with_columns(used.alias(f"used_{name}"))
    return rows


def containers_of_workload(workload: Workload) -> Containers:
    """The tasks of a trace as the containers they were, each for its own duration; AMs and executors have none."""
    kind = np.repeat(workload.stages["kind"], workload.stages["n_tasks"])
    works = np.flatnonzero(kind == TASKS)
    stage = np.repeat(np.arange(len(workload.stages)), workload.stages["n_tasks"])[works]
    job = workload.stages["job"][stage]
    duration = workload.tasks["duration_ms"][works]
    first = workload.tasks["first_segment"][works]
    columns: dict[str, pl.Series] = {}
    mean = _mean_use(workload)
    for r, name in enumerate(workload.resources):
        reserved = workload.shapes[workload.stages["shape"][stage], r] * duration
        columns[f"reserved_{name}"] = pl.Series(reserved)
        used = (
            np.round(mean[np.maximum(first, 0), r] * duration).astype(np.int64)
            if len(mean)
            else np.zeros(len(works), np.int64)
        )
        columns[f"used_{name}"] = pl.Series(used).set(pl.Series(first == NO_SEGMENTS), None)
    numbers = pl.Series(works).cast(pl.String)
    names = _names(workload, job, stage)
    container = names["job"] + "/" + names["stage"] + "/" + numbers
    return Containers(
        pl.DataFrame({**names, "container": container, "span": pl.Series(duration), **columns}).with_columns(
            received_bytes=pl.lit(None, pl.Int64)
        ),
        workload.resources,
        False,
    )


def _names(workload: Workload, job: npt.NDArray[np.int32], stage: npt.NDArray[np.int64]) -> dict[str, pl.Series]:
    jobs = (
        workload.job_names
        if workload.job_names is not None
        else pl.Series([f"job-{n}" for n in range(workload.n_jobs)])
    )
    stages = workload.stage_names
    if stages is None:
        stages = pl.Series([workload.stage_name(n) for n in range(len(workload.stages))])
    return {
        "job": jobs.gather(job),
        "stage": stages.gather(stage),
        "user": pl.Series(workload.users, dtype=pl.String).gather(workload.jobs["user"][job]),
        "queue": pl.Series(workload.queues, dtype=pl.String).gather(workload.jobs["queue"][job]),
    }


def _mean_use(workload: Workload) -> npt.NDArray[np.float64]:
    """For the first segment of each task, the mean of its use over its work; by resource."""
    segments = workload.segments
    if not len(segments):
        return np.zeros((0, len(workload.resources)))
    until = segments["until_permyriad"].astype(np.int64)
    starts = profile_begins(segments)
    width = until - np.where(starts, 0, np.concatenate([[0], until[:-1]]))
    area = segments["use"] * width[:, None]
    begins = np.flatnonzero(starts)
    sums = np.add.reduceat(area, begins, axis=0) / PERMYRIAD
    mean = np.zeros((len(segments), len(workload.resources)))
    mean[begins] = sums
    return mean


@dataclass(frozen=True)
class Efficiency:
    """One resource: the whole, the distribution over groups, and who wasted most. Amounts in resource x ms."""

    resource: str
    ratio: float | None  # of sums, over containers with recorded use
    reserved: int
    used: int
    unrecorded_containers: int
    unrecorded_reserved: int
    count: int  # groups
    quantiles: dict[float, float]  # share of groups below -> efficiency
    cdf: pl.DataFrame  # efficiency, share: of the groups
    groups: pl.DataFrame  # group, reserved, used, wasted, efficiency, containers; most wasted first


def efficiency(containers: Containers, by: str) -> list[Efficiency]:
    """The efficiency of each resource, grouped by container, job, user, queue or node."""
    found = []
    for name in containers.resources:
        reserved, used = f"reserved_{name}", f"used_{name}"
        known = containers.table.filter(pl.col(used).is_not_null() & (pl.col(reserved) > 0))
        unknown = containers.table.filter(pl.col(used).is_null() & (pl.col(reserved) > 0))
        groups = (
            known.group_by(pl.col(by).alias("group"), maintain_order=True)
            .agg(reserved=pl.col(reserved).sum(), used=pl.col(used).sum(), containers=pl.len())
            .with_columns(
                efficiency=pl.col("used") / pl.col("reserved"), wasted=(pl.col("reserved") - pl.col("used")).clip(0)
            )
            .sort("wasted", "group", descending=[True, False])
        )
        values = np.sort(groups["efficiency"].to_numpy())
        total, consumed = int(known[reserved].sum()), int(known[used].sum())
        found.append(
            Efficiency(
                resource=name,
                ratio=consumed / total if total else None,
                reserved=total,
                used=consumed,
                unrecorded_containers=unknown.height,
                unrecorded_reserved=int(unknown[reserved].sum()),
                count=groups.height,
                quantiles={q: float(np.quantile(values, q)) for q in QUANTILES} if len(values) else {},
                cdf=_cdf(values),
                groups=groups,
            )
        )
    return found


def received(containers: Containers, by: str) -> pl.DataFrame:
    """Bytes from other nodes, most first: group, received_bytes, containers. Only of containers that were measured."""
    return (
        containers.table.filter(pl.col("received_bytes").is_not_null())
        .group_by(pl.col(by).alias("group"), maintain_order=True)
        .agg(pl.col("received_bytes").sum(), containers=pl.len())
        .sort("received_bytes", "group", descending=[True, False])
    )


def _cdf(values: npt.NDArray[np.float64], points: int = 200) -> pl.DataFrame:
    share = np.linspace(0, 1, points) if len(values) else np.zeros(0)
    return pl.DataFrame({"share": share, "efficiency": np.quantile(values, share) if len(values) else share})


def document(found: list[Efficiency], network: pl.DataFrame, by: str) -> dict[str, object]:
    """For JSON. `network`: of received()."""
    return {
        "by": by,
        "received_bytes": int(network["received_bytes"].sum()) if network.height else None,
        "top_receivers": network.head(_WASTERS).to_dicts(),
        "resources": {
            display_name(one.resource): {
                "efficiency": one.ratio,
                "reserved_ms": one.reserved,
                "used_ms": one.used,
                "unrecorded": {"containers": one.unrecorded_containers, "reserved_ms": one.unrecorded_reserved},
                "groups": one.count,
                "quantiles": {f"p{round(100 * q)}": value for q, value in one.quantiles.items()},
                "cdf": one.cdf.to_dict(as_series=False),
                "top_wasters": one.groups.head(_WASTERS).to_dicts(),
            }
            for one in found
        },
    }
