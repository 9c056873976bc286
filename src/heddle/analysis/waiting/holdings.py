"""Who held what at an instant of a record, and how that stands to the limits of queues; in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.resources import MEMORY_MB, MILLI, VCORES_MILLI, display_name
from heddle.model.workload import INNER
from heddle.record.run import Run

Amounts = npt.NDArray[np.int64]


def amounts(values: Amounts | tuple[int, ...], resources: tuple[str, ...]) -> str:
    """As in `4 GB, 2 vcores`; resources of which nothing is meant are left out unless all are."""
    words = [amount(int(value), name) for value, name in zip(values, resources, strict=True) if value]
    return ", ".join(words) or "nothing"


def amount(value: int, resource: str) -> str:
    if resource == MEMORY_MB:
        return f"{value / 1024:.3g} GB" if abs(value) >= 1024 else f"{value} MB"
    if resource == VCORES_MILLI:
        return f"{value / MILLI:.3g} vcore{'' if value == MILLI else 's'}"
    return f"{value} {display_name(resource)}"


def holding(run: Run, at_ms: int) -> pl.DataFrame:
    """What holds a container after everything that happened at this instant, with its reservation."""
    alive = pl.col("ended_at_ms").is_null() | (pl.col("ended_at_ms") > at_ms)
    holds = (pl.col("kind") != INNER) & (pl.col("allocated_at_ms") <= at_ms) & alive
    return pl.concat([piece.filter(holds) for piece in run.attempts_around(at_ms, at_ms)]).join(run.shapes, on="shape")


def promised(run: Run, at_ms: int) -> npt.NDArray[np.int64]:
    """[nodes, resources]: what each node might promise, nothing where it was lost."""
    sizes: npt.NDArray[np.int64]
    sizes = run.nodes.sort("node").select([f"allowance_{name}" for name in run.resources]).to_numpy().copy()
    if run.has_events:
        _set_sizes(run, at_ms, sizes)
        moved = pl.col("kind").cast(pl.String).is_in(["node_lost", "node_returned"]) & (pl.col("at_ms") <= at_ms)
        moves = run.scan("events").filter(moved).select("node", "kind").collect(engine="streaming")
        gone = moves.group_by("node").agg(pl.col("kind").last()).filter(pl.col("kind") == "node_lost")
        sizes[gone["node"].to_numpy()] = 0
    return sizes


def _set_sizes(run: Run, at_ms: int, sizes: npt.NDArray[np.int64]) -> None:
    """What nodes were last told that they may promise; looked for backwards, until all are known."""
    unknown = np.ones(sizes.shape, bool)
    for events in run.events_back_from(at_ms):
        for r, name in enumerate(run.resources):
            last = events.filter(pl.col("kind") == f"size_{name}").group_by("node").agg(pl.col("value").last())
            node, value = last["node"].to_numpy(), last["value"].to_numpy()
            new = unknown[node, r]
            sizes[node[new], r] = value[new]
            unknown[node, r] = False
        if not unknown.any():
            return


def at_queue_limit(run: Run, leaf: str, at_ms: int, need: Amounts) -> str:
    """Which queue of the leaf's line was full, with numbers: the root is the cluster. Empty where none can be told."""
    held = holding(run, at_ms)
    jobs = run.of_these_jobs("jobs", held["job"].unique().sort()).select("job", "queue")
    held = held.join(jobs, on="job", how="left")
    for queue, most in _maxima(run, leaf, at_ms).items():
        within = pl.lit(value=True) if queue == "root" else _below(queue)
        inside = held.filter(within)
        for r, name in enumerate(run.resources):
            total = int(inside[name].sum())
            if need[r] and total + int(need[r]) > most[r]:
                if queue == "root":
                    return f"the whole cluster was promised: {amount(total, name)} of {amount(int(most[r]), name)}"
                return (
                    f"queue {queue} held {amount(total, name)} of the {amount(int(most[r]), name)} that it may hold, "
                    f"and {amount(int(need[r]), name)} more would be too much"
                )
    return ""


def _below(queue: str) -> pl.Expr:
    return (pl.col("queue") == queue) | pl.col("queue").str.starts_with(f"{queue}.")


def _maxima(run: Run, leaf: str, at_ms: int) -> dict[str, Amounts]:
    """The queues from the leaf up to the root with what each may hold; only the root where the record has no limits."""
    limits = _limits(run, at_ms)
    line: list[str] = []
    queue: str | None = leaf if leaf in limits else "root"
    while queue is not None:
        line.append(queue)
        queue = limits[queue]["parent"] if queue in limits else None
    most: dict[str, Amounts] = {"root": promised(run, at_ms).sum(axis=0)}
    for name in reversed(line):
        if name != "root":
            above, amount_of = most[limits[name]["parent"]], limits[name].get("maximum")
            most[name] = np.minimum(above, amount_of or above * limits[name]["maximum_permille"] // 1000)
    return {name: most[name] for name in line}


def _limits(run: Run, at_ms: int) -> Mapping[str, Any]:
    """The maxima of queues at an instant: those of the start, and what was set since."""
    limits = {name: dict(limit) for name, limit in run.manifest["cluster"].get("queues", {}).items()}
    if run.has_events:
        changed = (pl.col("kind") == "queue_maximum") & (pl.col("at_ms") <= at_ms)
        changes = run.scan("events").filter(changed).collect(engine="streaming")
        for queue, value in changes.select("queue", "value").iter_rows():
            if queue in limits:
                limits[queue] |= {"maximum_permille": value, "maximum": None}
    return limits
