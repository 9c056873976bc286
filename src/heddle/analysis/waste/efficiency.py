"""Allocation efficiency: used over reserved, weighted by time (docs/efficiency.md).

Ratios are of sums over time, never means of ratios. Containers without recorded use are counted apart: they are taken
neither for empty nor for full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.analysis.measures.numbers_in_pieces import NumbersInPieces
from heddle.analysis.waste.group_sums import GroupSums
from heddle.model.profiles import profile_begins
from heddle.model.resources import display_name
from heddle.model.workload import EXECUTORS, INNER, NO_SEGMENTS, PERMYRIAD, TASKS, Workload
from heddle.record.run import Run

GROUPS: Final = ("container", "job", "user", "queue", "node")
QUANTILES: Final = (0.1, 0.25, 0.5, 0.6, 0.75, 0.9)  # the paper prints the last and, of vcores, 60 %
SHOWN_GROUPS: Final = 1000
_SUMMED: Final = ("reserved", "used", "containers")
_WASTERS: Final = 20
_CALLED: Final = {
    "job": pl.col("job_name"),
    "user": pl.col("user"),
    "queue": pl.col("queue"),
    "container": pl.format("{}/{}/{}", "job_name", "stage_name", "task"),
}


class Containers(NamedTuple):
    """`pieces`: for a grouping, tables with a row for each container, all containers of a job in one: the name of its
    `group`, for each resource `reserved_<resource>` and `used_<resource>` in resource x ms, and `received_bytes` from
    other nodes; used and received are null where they were not recorded."""

    pieces: Callable[[str], Iterator[pl.DataFrame]]
    resources: tuple[str, ...]
    has_nodes: bool


def containers_of_run(run: Run) -> Containers:
    """The containers of a record. Use inside executors counts for all of the job: the record does not say for which."""

    def pieces(by: str) -> Iterator[pl.DataFrame]:
        for first, last in run.job_ranges():
            yield _containers_of_jobs(run, first, last, by)

    return Containers(pieces, run.resources, has_nodes=True)


def _containers_of_jobs(run: Run, first: int, last: int, by: str) -> pl.DataFrame:
    spans = (
        run.of_jobs("attempts", first, last)
        .filter(pl.col("ended_at_ms").is_not_null())
        .with_columns(span=pl.col("ended_at_ms") - pl.col("allocated_at_ms"))
    )
    reserving = spans.filter(pl.col("kind") != INNER).join(run.shapes, on="shape", how="left", maintain_order="left")
    for name in run.resources:
        reserving = reserving.with_columns((pl.col(name) * pl.col("span")).alias(f"reserved_{name}")).rename(
            {f"used_{name}_ms": f"used_{name}"}
        )
    inner = spans.filter(pl.col("kind") == INNER)
    if inner.height:
        reserving = _with_inner(reserving, inner, run.resources)
    if by == "node":
        named = reserving.join(run.nodes.select("node", group="name"), on="node", how="left", maintain_order="left")
    else:
        jobs = run.of_jobs("jobs", first, last).rename({"name": "job_name"})
        named = reserving.join(jobs, on="job", how="left", maintain_order="left", suffix="_of_job")
        if by == "container":
            stages = run.of_jobs("stages", first, last).select("stage", stage_name="name")
            named = named.join(stages, on="stage", how="left", maintain_order="left")
        named = named.with_columns(group=_CALLED[by])
    columns = [f"{what}_{name}" for name in run.resources for what in ("reserved", "used")]
    return named.select("group", *columns, received_bytes="fetched_bytes")


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
    columns["received_bytes"] = pl.repeat(None, len(works), dtype=pl.Int64, eager=True)

    def pieces(by: str) -> Iterator[pl.DataFrame]:
        names = _names(workload, job, stage)
        names["container"] = names["job"] + "/" + names["stage"] + "/" + pl.Series(works).cast(pl.String)
        yield pl.DataFrame({"group": names[by], **columns})

    return Containers(pieces, workload.resources, has_nodes=False)


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
    # group, reserved, used, containers, efficiency, wasted; most wasted first. Those that are among the largest
    # wasters of some resource.
    groups: pl.DataFrame


def efficiency(containers: Containers, by: str, most: int = SHOWN_GROUPS) -> list[Efficiency]:
    """The efficiency of each resource, grouped by container, job, user, queue or node; the `most` largest wasters."""
    totals: Counter[tuple[str, str]] = Counter()
    sums = [one for name in containers.resources for one in _sums_of_groups(name)]
    with GroupSums() as found:
        for piece in containers.pieces(by):
            found.add(piece.group_by("group", maintain_order=True).agg(sums))
            for name in containers.resources:
                totals.update(_totals(piece, name))
        found.close()
        wasters = {name: _largest(found, name, most) for name in containers.resources}
        kept = pl.concat([one.select("group") for one in wasters.values()]).unique()
        shown = {name: _of_groups(found, name, kept) for name in containers.resources}
        return [_one_resource(found, name, totals, shown[name]) for name in containers.resources]


def _sums_of_groups(name: str) -> list[pl.Expr]:
    """Of containers with recorded use."""
    reserved, used = pl.col(f"reserved_{name}"), pl.col(f"used_{name}")
    known = used.is_not_null() & (reserved > 0)
    return [
        reserved.filter(known).sum(),
        used.filter(known).sum(),
        known.cast(pl.Int64).sum().alias(f"containers_{name}"),
    ]


def _totals(piece: pl.DataFrame, name: str) -> dict[tuple[str, str], int]:
    reserved, used = pl.col(f"reserved_{name}"), pl.col(f"used_{name}")
    known, unknown = used.is_not_null() & (reserved > 0), used.is_null() & (reserved > 0)
    row = piece.select(
        reserved=reserved.filter(known).sum(),
        used=used.filter(known).sum(),
        unrecorded_containers=unknown.cast(pl.Int64).sum(),
        unrecorded_reserved=reserved.filter(unknown).sum(),
    ).row(0, named=True)
    return {(name, what): int(amount) for what, amount in row.items()}


def _no_sums(name: str) -> pl.DataFrame:
    return pl.DataFrame(schema={"group": pl.String} | dict.fromkeys((f"{what}_{name}" for what in _SUMMED), pl.Int64))


def _groups(sums: pl.DataFrame, name: str) -> pl.DataFrame:
    """Of one resource, with what follows from the sums."""
    reserved, used, count = (pl.col(f"{what}_{name}") for what in _SUMMED)
    return sums.filter(count > 0).select(
        "group",
        reserved=reserved,
        used=used,
        containers=count,
        efficiency=used / reserved,
        wasted=(reserved - used).clip(0),
    )


def _by_waste(groups: pl.DataFrame) -> pl.DataFrame:
    return groups.sort("wasted", "group", descending=[True, False])


def _largest(found: GroupSums, name: str, most: int) -> pl.DataFrame:
    best = _groups(_no_sums(name), name)
    for sums in found.read():
        best = _by_waste(pl.concat([best, _groups(sums, name)])).head(most)
    return best


def _of_groups(found: GroupSums, name: str, kept: pl.DataFrame) -> pl.DataFrame:
    pieces = [_groups(sums.join(kept, on="group", how="semi"), name) for sums in found.read()]
    return _by_waste(pl.concat([_groups(_no_sums(name), name), *pieces]))


def _one_resource(found: GroupSums, name: str, totals: Counter[tuple[str, str]], shown: pl.DataFrame) -> Efficiency:
    values = NumbersInPieces(lambda: (_groups(sums, name)["efficiency"].to_numpy() for sums in found.read()))
    reserved, used = totals[name, "reserved"], totals[name, "used"]
    at = values.quantiles(QUANTILES).tolist() if len(values) else []
    return Efficiency(
        resource=name,
        ratio=used / reserved if reserved else None,
        reserved=reserved,
        used=used,
        unrecorded_containers=totals[name, "unrecorded_containers"],
        unrecorded_reserved=totals[name, "unrecorded_reserved"],
        count=len(values),
        quantiles=dict(zip(QUANTILES, at, strict=False)),
        cdf=_cdf(values),
        groups=shown,
    )


@dataclass(frozen=True)
class Received:
    """Bytes from other nodes, of containers that were measured."""

    containers: int
    total_bytes: int
    groups: pl.DataFrame  # group, received_bytes, containers; most first


def received(containers: Containers, by: str, most: int = SHOWN_GROUPS) -> Received:
    """By group, those that received most."""
    columns = {"group": pl.String, "received_bytes": pl.Int64, "containers": pl.Int64}
    best, count, total = pl.DataFrame(schema=columns), 0, 0
    with GroupSums() as found:
        for piece in containers.pieces(by):
            measured = piece.filter(pl.col("received_bytes").is_not_null())
            sums = measured.group_by("group", maintain_order=True).agg(
                pl.col("received_bytes").sum(), containers=pl.len().cast(pl.Int64)
            )
            found.add(sums)
            count, total = count + measured.height, total + int(measured["received_bytes"].sum())
        found.close()
        for sums in found.read():
            best = pl.concat([best, sums]).sort("received_bytes", "group", descending=[True, False]).head(most)
    return Received(count, total, best)


def _cdf(values: NumbersInPieces, points: int = 200) -> pl.DataFrame:
    share = np.linspace(0, 1, points) if len(values) else np.zeros(0)
    return pl.DataFrame({"share": share, "efficiency": values.quantiles(share) if len(values) else share})


def document(found: list[Efficiency], network: Received, by: str) -> dict[str, object]:
    """For JSON. `network`: of received()."""
    return {
        "by": by,
        "received_bytes": network.total_bytes if network.containers else None,
        "top_receivers": network.groups.head(_WASTERS).to_dicts(),
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
