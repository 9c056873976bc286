"""What no container held: node by node and instant by instant, by what waited meanwhile and why.

Load that is not the framework's (background) comes before everything that was reserved: it was there anyway.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from heddle.analysis.measures.steps import Ints, Steps
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
_ADMISSION: Final = list(_CAUSES).index("not_admitted")


def free_capacity(run: Run, attempts: pl.DataFrame, lines: LedgerLines, begin: int, end: int) -> Ints:
    """Fills the lines of FREE_LINES; returns what was promised beyond the hardware."""
    oversold = np.zeros(len(run.resources), np.int64)
    events = _node_events(run, attempts, begin, end)
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
        _split(lines, r, free, _pending(run, attempts, name, begin, end), begin, end)
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


def _node_events(run: Run, attempts: pl.DataFrame, begin: int, end: int) -> pl.DataFrame:
    """Changes of what is reserved on each node and of whether it is there, with how long each state lasts."""
    containers = attempts.filter(pl.col("kind") != INNER)
    amounts = [f"change_{name}" for name in run.resources]
    rename = dict(zip(run.resources, amounts, strict=True))
    begins = containers.select("node", *run.resources, at_ms="allocated_at_ms").rename(rename)
    ends = containers.select("node", *(-pl.col(name) for name in run.resources), at_ms="ended_at_ms").rename(rename)
    start = run.nodes.select("node", at_ms=pl.lit(begin, pl.Int64), change_up=pl.lit(1, pl.Int64))
    logged = (
        run.events
        if run.events is not None
        else pl.DataFrame(schema={"kind": pl.String, "node": pl.Int32, "at_ms": pl.Int64})
    )
    there = logged.filter(pl.col("kind").cast(pl.String).is_in(("node_lost", "node_returned"))).select(
        "node",
        at_ms=pl.col("at_ms").clip(begin, end),
        change_up=pl.when(pl.col("kind").cast(pl.String) == "node_lost").then(-1).otherwise(1).cast(pl.Int64),
    )
    amounts += [f"background_{name}" for name in run.resources]
    parts = [start, there, begins, ends, _background(run, begin, end)]
    changes = pl.concat(parts, how="diagonal_relaxed").with_columns(
        pl.col(*amounts, "change_up").fill_null(0).cast(pl.Int64)
    )
    merged = changes.group_by("node", "at_ms").agg(pl.col(*amounts, "change_up").sum()).sort("node", "at_ms")
    following = pl.col("at_ms").shift(-1).over("node").fill_null(end)
    return merged.with_columns(lasts=following - pl.col("at_ms"))


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


def _pending(run: Run, attempts: pl.DataFrame, name: str, begin: int, end: int) -> Steps:
    """How much waits for each cause: what a stage's waiting tasks reserve, under the stage's reason of the moment."""
    containers = attempts.filter(pl.col("kind") != INNER)
    change = [
        containers.select("stage", at_ms=pl.col("asked_at_ms").clip(begin, end), waiting=pl.lit(1, pl.Int64)),
        containers.select("stage", at_ms="allocated_at_ms", waiting=pl.lit(-1, pl.Int64)),
        _never_given(run, containers, begin, end),
    ]
    if run.events is not None:
        waits = run.events.filter(pl.col("kind").cast(pl.String) == "wait")
        change.append(
            waits.select("stage", at_ms=pl.col("at_ms").clip(begin, end), reason=pl.col("reason").cast(pl.Int64))
        )
    rows = pl.concat(change, how="diagonal_relaxed")
    if "reason" not in rows.columns:
        rows = rows.with_columns(reason=pl.lit(None, pl.Int64))
    rows = (
        rows.group_by("stage", "at_ms")
        .agg(pl.col("waiting").sum(), pl.col("reason").drop_nulls().last())
        .sort("stage", "at_ms")
        .with_columns(
            waiting=pl.col("waiting").cum_sum().over("stage"),
            reason=pl.col("reason").forward_fill().over("stage").fill_null(0),
        )
    )
    rows = rows.join(_demand(run, name), on="stage", how="left", maintain_order="left")
    cause = (
        rows["reason"].replace_strict(_CAUSE_OF, default=_CAUSE_OF[int(Reason.NONE)], return_dtype=pl.Int64).to_numpy()
    )
    # A job that is not admitted would want all of its tasks, not only its application master.
    each = np.where(cause == _ADMISSION, rows["whole"].to_numpy(), rows["one"].to_numpy())
    wanted = rows["waiting"].to_numpy() * each
    at, stage = rows["at_ms"].to_numpy(), rows["stage"].to_numpy()
    found = Steps(len(_CAUSES))
    found.add(at, cause, wanted)
    same = np.diff(stage, prepend=-1) == 0
    if same.any():
        place = np.flatnonzero(same)
        found.add(at[place], cause[place - 1], -wanted[place - 1])
    return found


def _never_given(run: Run, containers: pl.DataFrame, begin: int, end: int) -> pl.DataFrame:
    """What still waited when a run stalled: tasks of unfinished jobs without an attempt, from when their stage asked.

    A stage of which nobody ever heard had not asked; but an AM asks when its job arrives.
    """
    unfinished = run.jobs.filter(pl.col("outcome") == "unfinished").select("job", "submit_at_ms")
    given = containers.group_by("stage").agg(given=pl.col("task").n_unique(), asked=pl.col("asked_at_ms").min())
    events = run.events if run.events is not None else pl.DataFrame(schema={"stage": pl.Int32, "at_ms": pl.Int64})
    heard = events.filter(pl.col("stage") >= 0).group_by("stage").agg(heard=pl.col("at_ms").min())
    stages = run.stages.filter(pl.col("kind") != INNER).join(unfinished, on="job")
    stages = stages.join(given, on="stage", how="left").join(heard, on="stage", how="left")
    of_am = pl.when(pl.col("kind") == AM).then("submit_at_ms")
    return stages.select(
        "stage",
        at_ms=pl.coalesce("asked", "heard", of_am).clip(begin, end),
        waiting=(pl.col("n_tasks") - pl.col("given").fill_null(0)).cast(pl.Int64),
    ).filter(pl.col("at_ms").is_not_null() & (pl.col("waiting") > 0))


def _demand(run: Run, name: str) -> pl.DataFrame:
    """stage, one (what a container of it reserves), whole (what its job reserves in all; for AMs)."""
    stages = run.stages.join(run.shapes.select("shape", one=name), on="shape", how="left", maintain_order="left")
    asked = stages.filter(pl.col("kind") != INNER)
    whole = asked.group_by("job").agg(whole=(pl.col("one") * pl.col("n_tasks")).sum())
    return stages.join(whole, on="job", how="left", maintain_order="left").select(
        "stage", "one", whole=pl.when(pl.col("kind") == AM).then("whole").otherwise("one")
    )
