"""What no container held: node by node and instant by instant, by what waited meanwhile and why.

Load that is not the framework's (background) comes before everything that was reserved: it was there anyway.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
import polars as pl

from heddle.analysis.measures.steps import Ints, Steps
from heddle.analysis.waste.held_reservations import with_reservations
from heddle.analysis.waste.ledger_lines import LedgerLines
from heddle.model.reasons import Reason
from heddle.model.workload import AM, INNER
from heddle.record.run import Run

FREE_LINES: Final = {
    "away": "node away",
    "background": "load of others (background)",
    "outside": "outside the allowance",
    "fragmented": "free, but no node has enough for what waits",
    "reserved_node": "kept for a bigger request",
    "limits": "blocked by limits of queues, users and pools",
    "not_admitted": "waiting jobs are not admitted",
    "placement": "blocked by locality, labels or vetoes",
    "order": "others come first, or between heartbeats",
    "nothing_pending": "nothing pending",
}
# Which line a wait counts for. In this order waits take their part of what is free.
_CAUSES: Final = {
    "fragmented": (Reason.NO_ROOM,),
    "reserved_node": (Reason.RESERVED,),
    "limits": (Reason.QUEUE_LIMIT, Reason.USER_LIMIT, Reason.POOL_LIMIT),
    "not_admitted": (Reason.NOT_ADMITTED, Reason.AM_SHARE, Reason.MAX_RUNNING),
    "placement": (Reason.LOCALITY, Reason.LABEL, Reason.VETO),
    "order": (Reason.BEHIND, Reason.NONE),
}
_CAUSE_OF: Final = {int(reason): place for place, reasons in enumerate(_CAUSES.values()) for reason in reasons}
_TOLD: Final = ("wait", "job_ended")
_LONG_AGO: Final = -(2**62)
_ADMISSION: Final = list(_CAUSES).index("not_admitted")


def free_capacity(run: Run, lines: LedgerLines, begin: int, end: int) -> Ints:
    """Fills the lines of FREE_LINES; returns what was promised beyond the hardware.

    One window of time after another: what stood at the end of one is a change at the beginning of the next.
    """
    oversold = np.zeros(len(run.resources), np.int64)
    on_nodes, waits = _OnNodes(run, begin, end), _Waits(run, begin, end)
    cuts = [begin, *(cut for cut in run.time_cuts() if begin < cut < end), end]
    for since, until in pairwise(cuts):
        attempts = with_reservations(run, pl.concat(run.attempts_around(since, until)), begin, end)
        containers = attempts.filter(pl.col("kind") != INNER)
        waiting = waits.within(containers, since, until)
        oversold += _in_window(run, lines, on_nodes.within(containers, since, until), waiting, since, until)
    return oversold


def _in_window(
    run: Run, lines: LedgerLines, events: pl.DataFrame, waiting: pl.DataFrame, since: int, until: int
) -> Ints:
    oversold = np.zeros(len(run.resources), np.int64)
    at, node, lasts = (events[name].to_numpy() for name in ("at_ms", "node", "lasts"))
    up = events.select(pl.col("change_up").cum_sum().over("node") > 0).to_series().to_numpy()
    sizes = run.nodes.sort("node")
    for r, name in enumerate(run.resources):
        hardware = sizes[f"capacity_{name}"].to_numpy()[node]
        allowance = sizes[f"allowance_{name}"].to_numpy()[node]
        held = events.select(pl.col(f"change_{name}").cum_sum().over("node")).to_series().to_numpy()
        others = events.select(pl.col(f"background_{name}").cum_sum().over("node")).to_series().to_numpy()
        others = np.minimum(others, hardware)
        capacity = hardware - others
        oversold[r] = int((np.where(up, np.maximum(0, held - capacity), held) * lasts).sum())
        left = np.where(up, np.maximum(0, capacity - held), 0)
        outside = np.minimum(left, np.maximum(0, capacity - allowance))
        known: dict[str, Ints] = {
            "away": np.where(up, 0, hardware),
            "background": np.where(up, others, 0),
            "outside": outside,
        }
        for line, amount in known.items():
            lines.add(line, r, at, at + lasts, amount * lasts)
        inside = left - outside
        before = np.where(np.diff(node, prepend=-1) == 0, np.concatenate([[0], inside[:-1]]), 0)
        free = Steps(1)
        free.add(at, 0, inside - before)
        _split(lines, r, free, _pending(waiting, name), since, until)
    return oversold


def _split(lines: LedgerLines, r: int, free: Steps, pending: Steps, begin: int, end: int) -> None:
    """What is free, instant by instant, to the waits that could have used it; the rest had nothing to serve."""
    points, open_ = free.levels(begin, end, [pending.instants()])
    _, waits = pending.levels(begin, end, [free.instants()])
    until: Ints = np.append(points[1:], end)
    left = open_[:, 0]
    for place, cause in enumerate(_CAUSES):
        taken: Ints = np.minimum(left, np.maximum(0, waits[:, place]))
        lines.add(cause, r, points, until, taken * (until - points))
        left = left - taken
    lines.add("nothing_pending", r, points, until, left * (until - points))


class _OnNodes:
    """Changes of what is reserved on each node and of whether it is there."""

    def __init__(self, run: Run, begin: int, end: int) -> None:
        self._reserved = {name: f"change_{name}" for name in run.resources}
        self._amounts = [*self._reserved.values(), *(f"background_{name}" for name in run.resources), "change_up"]
        moves = ("node_lost", "node_returned")
        logged = run.scan("events").filter(pl.col("kind").cast(pl.String).is_in(moves)).collect(engine="streaming")
        there = logged.select(
            "node",
            at_ms=pl.col("at_ms").clip(begin, end),
            change_up=pl.when(pl.col("kind").cast(pl.String) == "node_lost").then(-1).otherwise(1).cast(pl.Int64),
        )
        self._apart = self._whole(there, _background(run, begin, end))
        start = run.nodes.select("node", at_ms=pl.lit(begin, pl.Int64), change_up=pl.lit(1, pl.Int64))
        self._before = self._whole(start)

    def within(self, containers: pl.DataFrame, since: int, until: int) -> pl.DataFrame:
        """From one instant on to before another, with how long each state `lasts`; one window must follow the other."""
        rename = self._reserved
        begins = containers.select("node", *rename, at_ms="allocated_at_ms").rename(rename)
        ends = containers.select("node", *(-pl.col(name) for name in rename), at_ms="ended_at_ms").rename(rename)
        changes = self._whole(self._before, self._apart, begins, ends).filter(
            pl.col("at_ms").is_between(since, until, closed="left")
        )
        merged = changes.group_by("node", "at_ms").agg(pl.col(*self._amounts).sum()).sort("node", "at_ms")
        levels = merged.group_by("node", maintain_order=True).agg(pl.col(*self._amounts).sum())
        self._before = self._whole(levels.with_columns(at_ms=pl.lit(until, pl.Int64)))
        following = pl.col("at_ms").shift(-1).over("node").fill_null(until)
        return merged.with_columns(lasts=following - pl.col("at_ms"))

    def _whole(self, *parts: pl.DataFrame) -> pl.DataFrame:
        """With all columns: what a change does not tell does not change."""
        amounts = pl.DataFrame(schema=dict.fromkeys(self._amounts, pl.Int64))
        return pl.concat([*parts, amounts], how="diagonal_relaxed").with_columns(
            pl.col(*self._amounts).fill_null(0).cast(pl.Int64)
        )


def _background(run: Run, begin: int, end: int) -> pl.DataFrame:
    """Changes of the load of others, as the manifest lists it; what the last change before the run set holds on."""
    amounts = [f"background_{name}" for name in run.resources]
    rows = []
    for node, levels in run.manifest["cluster"].get("background", {}).items():
        before = [0] * len(amounts)
        for from_ms, use in levels:
            rows.append((int(node), min(max(from_ms, begin), end), *(u - b for u, b in zip(use, before, strict=True))))
            before = use
    schema = {"node": pl.Int32(), "at_ms": pl.Int64()} | dict.fromkeys(amounts, pl.Int64())
    return pl.DataFrame(rows, schema=schema, orient="row")


class _Waits:
    """How many requests of each stage wait, and why."""

    def __init__(self, run: Run, begin: int, end: int) -> None:
        self._run, self._begin, self._end = run, begin, end
        self._apart = _never_given(run, begin, end)
        self._before = self._apart.clear()

    def within(self, containers: pl.DataFrame, since: int, until: int) -> pl.DataFrame:
        """stage, at_ms, waiting, reason; and of each resource what one of the stage reserves, and all of its job.

        From one instant on to before another; one window must follow the other.
        """
        own, until_now = ("stage", "job"), pl.col("at_ms").is_between(since, until, closed="left")
        asked = pl.col("asked_at_ms").clip(self._begin, self._end)
        logged = self._run.events_between(since if since > self._begin else _LONG_AGO, until - 1, _TOLD)
        kind, at = logged["kind"].cast(pl.String), pl.col("at_ms").clip(self._begin, self._end)
        reason = pl.col("reason").cast(pl.Int64)
        changes = [
            self._before,
            containers.select(*own, at_ms=asked, waiting=pl.lit(1, pl.Int64)),
            containers.select(*own, at_ms="allocated_at_ms", waiting=pl.lit(-1, pl.Int64)),
            self._apart,
            logged.filter(kind == "wait").select(*own, at_ms=at, reason=reason),
        ]
        rows = (
            pl.concat(changes, how="diagonal_relaxed")
            .filter(until_now)
            .group_by("stage", "at_ms")
            .agg(pl.col("job").first(), pl.col("waiting").sum(), pl.col("reason").drop_nulls().last())
            .sort("stage", "at_ms")
            .with_columns(
                waiting=pl.col("waiting").cum_sum().over("stage"), reason=pl.col("reason").forward_fill().over("stage")
            )
        )
        ended = logged.filter(kind == "job_ended")["job"]
        # Of a stage of which nothing waits, and nothing is said, nothing need be known; nor of a job that is over.
        silent = pl.col("reason").fill_null(0) == 0
        over = (pl.col("waiting") == 0) & (silent | pl.col("job").is_in(ended.implode()))
        last = rows.group_by("stage", maintain_order=True).last().filter(~over)
        self._before = last.with_columns(at_ms=pl.lit(until, pl.Int64)).select(self._apart.columns)
        jobs = rows["job"].unique().sort()
        demand = _demand(self._run, self._run.of_these_jobs("stages", jobs))
        return rows.with_columns(pl.col("reason").fill_null(0)).join(
            demand, on="stage", how="left", maintain_order="left"
        )


def _pending(rows: pl.DataFrame, name: str) -> Steps:
    """How much waits for each cause: what a stage's waiting tasks reserve, under the stage's reason of the moment."""
    cause = (
        rows["reason"].replace_strict(_CAUSE_OF, default=_CAUSE_OF[int(Reason.NONE)], return_dtype=pl.Int64).to_numpy()
    )
    # A job that is not admitted would want all of its tasks, not only its application master.
    each = np.where(cause == _ADMISSION, rows[f"whole_{name}"].to_numpy(), rows[f"one_{name}"].to_numpy())
    wanted = rows["waiting"].to_numpy() * each
    at, stage = rows["at_ms"].to_numpy(), rows["stage"].to_numpy()
    found = Steps(len(_CAUSES))
    found.add(at, cause, wanted)
    same = np.diff(stage, prepend=-1) == 0
    if same.any():
        place = np.flatnonzero(same)
        found.add(at[place], cause[place - 1], -wanted[place - 1])
    return found


def _never_given(run: Run, begin: int, end: int) -> pl.DataFrame:
    """What still waited when a run stalled: tasks of unfinished jobs without an attempt, from when their stage asked.

    A stage of which nobody ever heard had not asked; but an AM asks when its job arrives.
    """
    unfinished = run.scan("jobs").filter(pl.col("outcome") == "unfinished").select("job", "submit_at_ms")
    containers = run.scan("attempts").filter(pl.col("kind") != INNER).join(unfinished, on="job", how="semi")
    given = containers.group_by("stage").agg(given=pl.col("task").n_unique(), asked=pl.col("asked_at_ms").min())
    told = run.scan("events").filter(pl.col("stage") >= 0).join(unfinished, on="job", how="semi")
    heard = told.group_by("stage").agg(heard=pl.col("at_ms").min())
    stages = run.scan("stages").filter(pl.col("kind") != INNER).join(unfinished, on="job")
    stages = stages.join(given, on="stage", how="left").join(heard, on="stage", how="left")
    of_am = pl.when(pl.col("kind") == AM).then("submit_at_ms")
    rows = stages.select(
        "stage",
        "job",
        at_ms=pl.coalesce("asked", "heard", of_am).clip(begin, end),
        waiting=(pl.col("n_tasks") - pl.col("given").fill_null(0)).cast(pl.Int64),
        reason=pl.lit(None, pl.Int64),
    )
    return rows.filter(pl.col("at_ms").is_not_null() & (pl.col("waiting") > 0)).collect(engine="streaming")


def _demand(run: Run, stages: pl.DataFrame) -> pl.DataFrame:
    """stage, and of each resource `one_` (what a container reserves) and `whole_` (of AMs: what all of the job do)."""
    found = stages.join(run.shapes, on="shape", how="left", maintain_order="left")
    asked = found.filter(pl.col("kind") != INNER)
    whole = asked.group_by("job").agg(
        (pl.col(name) * pl.col("n_tasks")).sum().alias(f"all_{name}") for name in run.resources
    )
    of_am = pl.col("kind") == AM
    return found.join(whole, on="job", how="left", maintain_order="left").select(
        "stage",
        *(pl.col(name).alias(f"one_{name}") for name in run.resources),
        *(pl.when(of_am).then(f"all_{name}").otherwise(name).alias(f"whole_{name}") for name in run.resources),
    )
