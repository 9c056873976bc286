"""Another workload out of the jobs of one: drawn in blocks of time, or arriving faster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.analysis.best_possible.alone import alone_ms
from heddle.model.cluster import Cluster
from heddle.model.errors import HeddleError
from heddle.model.workload import NOT_RUNNING, Workload

Numbers = npt.NDArray[np.int64]

FEWEST_BLOCKS: Final = 5  # with fewer, hardly any different traces can be put together
_BLOCKS: Final = 20  # unless jobs are so long that blocks would cut them apart
_JOBS_IN_A_BLOCK: Final = 2.0  # a block lasts this many times a long job, so that neighbours stay together


class TooShort(HeddleError):
    """A trace that cannot be cut into enough blocks of time."""


def block_length_ms(workload: Workload, cluster: Cluster) -> int:
    """A length of blocks that keeps most jobs that met each other together; TooShort if the trace has not enough."""
    span_ms = _span_ms(workload)
    long_job_ms = float(np.percentile(alone_ms(workload, cluster), 95))
    length = max(span_ms / _BLOCKS, _JOBS_IN_A_BLOCK * long_job_ms, 1.0)
    if span_ms / length < FEWEST_BLOCKS:
        raise TooShort(
            f"Its submissions span {span_ms / 1000:,.0f} s and a long job takes {long_job_ms / 1000:,.0f} s: too "
            "little to be resampled in time blocks."
        )
    return round(length)


def resampled(workload: Workload, block_ms: int, seed: int) -> Workload:
    """A trace of the same length whose blocks of time are drawn from this one's, with replacement.

    A job keeps its place within its block. Jobs that depend on each other come along together, with the first of them.
    """
    n_blocks = n_blocks_of(workload, block_ms)
    drawn = np.random.default_rng((seed, n_blocks)).integers(0, n_blocks, n_blocks)
    made = _of_blocks(workload, n_blocks, drawn.tolist())
    return replace(made, about=workload.about | {"resampled": {"seed": seed, "blocks": n_blocks}})


def every_other_block(workload: Workload, block_ms: int, first: int) -> Workload:
    """Half of a trace: every other block of its time, from `first` (0 or 1) on, moved together."""
    n_blocks = n_blocks_of(workload, block_ms)
    made = _of_blocks(workload, n_blocks, range(first, n_blocks, 2))
    return replace(made, about=workload.about | {"every_other_block": {"first": first, "blocks": n_blocks}})


def _of_blocks(workload: Workload, n_blocks: int, blocks: Sequence[int]) -> Workload:
    """These blocks of the trace one after the other."""
    submit = workload.jobs["submit_at_ms"]
    start, length = int(submit.min()), _span_ms(workload) / n_blocks
    unit = _units(workload)
    first = np.full(workload.n_jobs, np.iinfo(np.int64).max)
    np.minimum.at(first, unit, submit)
    home = np.minimum(n_blocks - 1, ((first[unit] - start) / length).astype(np.int64))
    picks = [np.flatnonzero(home == block) for block in blocks]
    moves = [round((place - block) * length) for place, block in enumerate(blocks)]
    pick = np.concatenate(picks)
    moved = submit[pick] + np.repeat(moves, [len(some) for some in picks])
    copy = np.repeat(np.arange(len(blocks)), [len(some) for some in picks])
    return rearranged(workload, pick, moved.astype(np.int64), copy)


def n_blocks_of(workload: Workload, block_ms: int) -> int:
    return max(1, round(_span_ms(workload) / block_ms))


def at_load(workload: Workload, load: float) -> Workload:
    """The same jobs, submitted `load` times as fast."""
    if load == 1.0:
        return workload
    submit = workload.jobs["submit_at_ms"]
    start = int(submit.min())
    faster = start + np.rint((submit - start) / load).astype(np.int64)
    made = rearranged(workload, np.arange(workload.n_jobs), faster, np.zeros(workload.n_jobs, np.int64))
    return replace(made, about=workload.about | {"load": load})


def rearranged(workload: Workload, pick: Numbers, submit_at_ms: Numbers, copy: Numbers) -> Workload:
    """The workload of these jobs, by number, with new submissions; a job may be picked once in each `copy`."""
    order = np.lexsort((np.arange(len(pick)), submit_at_ms))
    pick, submit_at_ms, copy = pick[order], submit_at_ms[order], copy[order]
    jobs = workload.jobs[pick].copy()
    jobs["submit_at_ms"] = submit_at_ms
    stage_from = _ranges(jobs["first_stage"], jobs["n_stages"])
    stages = workload.stages[stage_from].copy()
    task_from = _ranges(stages["first_task"], stages["n_tasks"])
    after_from = _ranges(stages["first_after"], stages["n_after"])
    job_after_from = _ranges(jobs["first_after"], jobs["n_after"])

    stages["job"] = np.repeat(np.arange(len(jobs)), jobs["n_stages"])
    old_first_stage = np.repeat(workload.jobs["first_stage"][pick][stages["job"]], stages["n_after"])
    jobs["first_stage"] = _starts(jobs["n_stages"])
    new_first_stage = np.repeat(jobs["first_stage"][stages["job"]], stages["n_after"])
    stage_after = workload.stage_after[after_from] - old_first_stage + new_first_stage
    stages["first_task"], stages["first_after"] = _starts(stages["n_tasks"]), _starts(stages["n_after"])

    number = {key: new for new, key in enumerate(zip(copy.tolist(), pick.tolist(), strict=True))}
    if len(number) < len(pick):
        raise ValueError("a job was picked twice in one copy")
    copies = np.repeat(copy, jobs["n_after"]).tolist()
    befores = workload.job_after[job_after_from].tolist()
    job_after = [number[key] for key in zip(copies, befores, strict=True)]
    jobs["first_after"] = _starts(jobs["n_after"])
    running_on = None
    if workload.running_on is not None:  # a job that now comes later has nothing running yet
        later = np.repeat(jobs["submit_at_ms"][stages["job"]] > 0, stages["n_tasks"])
        running_on = np.where(later, np.int32(NOT_RUNNING), workload.running_on[task_from])
    return replace(
        workload,
        jobs=jobs,
        stages=stages,
        tasks=workload.tasks[task_from],
        stage_after=stage_after.astype(np.int32),
        job_after=np.array(job_after, np.int32),
        job_names=_copied_names(workload, pick),
        stage_names=None if workload.stage_names is None else workload.stage_names.gather(stage_from),
        prefers=None if workload.prefers is None else workload.prefers[task_from],
        running_on=running_on,
        started_at_ms=None if workload.started_at_ms is None else workload.started_at_ms[task_from],
        edge_bytes=None if workload.edge_bytes is None else workload.edge_bytes[after_from],
        input_bytes=None if workload.input_bytes is None else workload.input_bytes[task_from],
    )


def _span_ms(workload: Workload) -> int:
    submit = workload.jobs["submit_at_ms"]
    return int(submit.max() - submit.min()) + 1


def _ranges(first: npt.NDArray[Any], count: npt.NDArray[Any]) -> Numbers:
    """first[0], first[0] + 1, ... (count[0] of them), then from first[1] on, and so forth."""
    counts = count.astype(np.int64)
    return np.repeat(first - _starts(count), counts) + np.arange(int(counts.sum()))


def _starts(count: npt.NDArray[Any]) -> Numbers:
    starts: Numbers = np.cumsum(count, dtype=np.int64) - count
    return starts


def _copied_names(workload: Workload, pick: Numbers) -> pl.Series:
    """Names stay unique: the second copy of etl is etl~2."""
    numbers = pl.Series("name", pick)
    names = workload.job_names.gather(numbers) if workload.job_names is not None else None
    frame = pl.DataFrame({"name": names if names is not None else pl.select(pl.format("job-{}", numbers)).to_series()})
    nth = pl.int_range(pl.len()).over("name") + 1
    copied = pl.when(nth > 1).then(pl.format("{}~{}", "name", nth)).otherwise(pl.col("name"))
    return frame.select(copied.alias("job")).to_series()


def _units(workload: Workload) -> Numbers:
    """For each job the smallest number of a job that it is tied to by dependencies."""
    unit = np.arange(workload.n_jobs)
    jobs = workload.jobs
    for job in np.flatnonzero(jobs["n_after"] > 0).tolist():
        first = int(jobs["first_after"][job])
        for before in workload.job_after[first : first + int(jobs["n_after"][job])].tolist():
            old, new = sorted((int(unit[before]), int(unit[job])), reverse=True)
            if old != new:
                unit[unit == old] = new
    return unit
