"""What stood in the way at the beginning of a wait, with names and numbers from the record."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.analysis.waiting.explain import Explained, Span
from heddle.analysis.waiting.holdings import amounts, at_queue_limit, holding, promised
from heddle.model.reasons import Reason
from heddle.model.workload import AM, INNER
from heddle.record.run import Run

_NAMED: Final = 3  # jobs that went first, named one by one
_OVERTAKEN: Final = (Reason.NONE, Reason.RESERVED, Reason.VETO, Reason.NOT_ADMITTED)


def detail(run: Run, explained: Explained, span: Span) -> str:
    """One sentence more about a wait; empty where the record says no more than its reason."""
    if span.stage < 0:
        return ""
    need = _shape(run, explained.job, span.stage)
    if span.reason in (Reason.NO_ROOM, Reason.LABEL):
        return _nearest(run, span, need)
    if span.reason is Reason.QUEUE_LIMIT:
        return at_queue_limit(run, explained.queue, span.from_ms, need) or _held(run, explained, span)
    if span.reason in (Reason.USER_LIMIT, Reason.POOL_LIMIT, Reason.AM_SHARE):
        return _held(run, explained, span)
    if span.reason is Reason.BEHIND:
        return f"{_ahead(run, explained, span)}; {_went_first(run, explained, span)}"
    if span.reason in _OVERTAKEN:
        return _went_first(run, explained, span)
    return ""


def _shape(run: Run, job: int, stage: int) -> npt.NDArray[np.int64]:
    shape = run.of_jobs("stages", job, job).filter(pl.col("stage") == stage)["shape"][0]
    return np.array(run.shapes.filter(pl.col("shape") == shape).select(run.resources).row(0), np.int64)


def _free(run: Run, at_ms: int) -> npt.NDArray[np.int64]:
    """[nodes, resources]: what could still be promised on each node."""
    free = promised(run, at_ms)
    held = holding(run, at_ms).group_by("node").agg(pl.col(name).sum() for name in run.resources)
    free[held["node"].to_numpy()] -= held.select(run.resources).to_numpy()
    return free


def _nearest(run: Run, span: Span, need: npt.NDArray[np.int64]) -> str:
    free = np.maximum(0, _free(run, span.from_ms))
    wanted = need > 0
    fits = (free[:, wanted] / need[wanted]).min(axis=1) if wanted.any() else np.ones(len(free))
    best = int(np.argmax(fits))
    name, size = run.nodes["name"][best], amounts(need, run.resources)
    shown = amounts(np.where(wanted, free[best], 0), run.resources)
    if fits[best] >= 1:
        return f"it needs {size}; {name} had {shown} free, but was not offered to it then"
    return f"no node had {size} free; the nearest, {name}, had {shown}"


def _held(run: Run, explained: Explained, span: Span) -> str:
    held = holding(run, span.from_ms)
    jobs = run.of_these_jobs("jobs", held["job"].unique().sort()).filter(pl.col("queue") == explained.queue)
    who = f"queue {explained.queue}"
    if span.reason is Reason.USER_LIMIT:
        jobs, who = jobs.filter(pl.col("user") == explained.user), f"user {explained.user} in queue {explained.queue}"
    held = held.filter(pl.col("job").is_in(jobs["job"].implode()))
    if span.reason is Reason.AM_SHARE:
        held, who = held.filter(pl.col("kind") == AM), f"the application masters of {who}"
    total = [int(held[name].sum()) for name in run.resources]
    return f"{who} held {amounts(np.array(total), run.resources)} in {held['job'].n_unique()} jobs"


def _ahead(run: Run, explained: Explained, span: Span) -> str:
    """Who else was waiting meanwhile."""
    waiting = _others(
        run, explained, span, (pl.col("asked_at_ms") < span.to_ms) & (pl.col("allocated_at_ms") > span.from_ms)
    )
    requests = int(waiting["len"].sum())
    count = f"{requests} request{'s' if requests > 1 else ''}"
    return f"{count} of {waiting.height} other job{'s' if waiting.height > 1 else ''} waited too"


def _went_first(run: Run, explained: Explained, span: Span) -> str:
    given = _others(run, explained, span, pl.col("allocated_at_ms").is_between(span.from_ms, span.to_ms, closed="left"))
    if not given.height:
        return "in the meantime, no other job got a container"
    most = given.sort("len", "job", descending=[True, False]).head(_NAMED)
    name_of = dict(run.of_these_jobs("jobs", most["job"].sort()).select("job", "name").iter_rows())
    names = [f"{name_of[job]} ({count})" for job, count in most.iter_rows()]
    more = f" and {given.height - _NAMED} more jobs" if given.height > _NAMED else ""
    return f"in the meantime, containers went to {', '.join(names)}{more}"


def _others(run: Run, explained: Explained, span: Span, which: pl.Expr) -> pl.DataFrame:
    """job, len: of the attempts of other jobs around a span, how many each has of these."""
    chosen = (pl.col("kind") != INNER) & (pl.col("job") != explained.job) & which
    pieces = [piece.filter(chosen).group_by("job").len() for piece in run.attempts_around(span.from_ms, span.to_ms)]
    return pl.concat(pieces).group_by("job").agg(pl.col("len").cast(pl.Int64).sum())
