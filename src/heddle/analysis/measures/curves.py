"""A run as a few small arrays to draw: distributions over jobs, and levels over time.

Levels are exact means over equal bins of time, so that a short spike is flattened but never lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.analysis.measures.edges import NO_EDGES, Edges
from heddle.analysis.measures.levels import Floats, Levels, horizon_ms, placed
from heddle.analysis.measures.metrics import completion_s, wait_s
from heddle.analysis.measures.numbers_in_pieces import NumbersInPieces
from heddle.model.resources import MEMORY, display_name
from heddle.model.workload import INNER
from heddle.record.run import Run

QUANTILE_POINTS: Final = 200
TIME_BINS: Final = 300
QUEUES_SHOWN: Final = 7
OTHER_QUEUES: Final = "all others"


@dataclass(frozen=True)
class ResourceLevels:
    """One resource over time, mean amount per bin."""

    capacity: float  # of all nodes
    reserved: Floats
    used: Floats | None  # None: not recorded


@dataclass(frozen=True)
class Curves:
    """What the figures of one run need."""

    quantiles: Floats  # 0 ... 1, the same for every run, so that runs can be laid over each other
    completion_s: Floats  # completion time at these quantiles; empty: no job finished
    wait_s: Floats
    edges_s: Floats  # edges of the bins of time, from the first submission on
    running: Floats  # containers running, mean per bin
    pending: Floats  # containers asked for and not yet running
    levels: dict[str, ResourceLevels]  # by the name people read
    queues: dict[str, Floats]  # memory reserved by each leaf queue, mean per bin; the largest queues, then the others
    complete: bool  # False: attempts that were repeated are missing from what is over time


def run_curves(run: Run, edges: Edges = NO_EDGES) -> Curves:
    """The curves of a run; distributions leave out the jobs in the edges, levels over time show everything."""
    quantiles = np.linspace(0.0, 1.0, QUANTILE_POINTS)
    begin_ms, end_ms = horizon_ms(run)
    end_ms = max(end_ms, begin_ms + 1)  # never empty
    edges_ms = np.linspace(begin_ms, end_ms, TIME_BINS + 1)
    shapes = run.shapes.sort("shape").select(run.resources).to_numpy().astype(np.float64)

    queue_names, queue_of = _shown_queues(run)
    running, pending, held = Levels(edges_ms), Levels(edges_ms), Levels(edges_ms, len(queue_names))
    reserved, used = Levels(edges_ms, len(run.resources)), Levels(edges_ms, len(run.resources))
    for part in run.pieces("attempts"):
        ended_ms = part["ended_at_ms"].fill_null(end_ms).to_numpy()  # still there when the run stalled
        started_ms = part["started_at_ms"].fill_null(pl.Series(ended_ms)).to_numpy()  # never ran: an empty interval
        ended, started = placed(edges_ms, ended_ms), placed(edges_ms, started_ms)
        asked, allocated = (placed(edges_ms, part[f"{name}_at_ms"].to_numpy()) for name in ("asked", "allocated"))
        container = (part["kind"] != INNER).to_numpy().astype(np.float64)
        running.add(started, ended, container)
        pending.add(asked, started, container)
        amounts = shapes[part["shape"].to_numpy()] * container[:, np.newaxis]
        held.add(allocated, ended, amounts[:, MEMORY], queue_of[part["job"].to_numpy()])
        for r in range(len(run.resources)):
            reserved.add(allocated, ended, amounts[:, r], r)
        if run.manifest["use_known"]:
            begun_ms = np.maximum(started_ms, 0)  # use before the run is not counted
            begun, ran_ms = placed(edges_ms, begun_ms), np.maximum(1, ended_ms - begun_ms)
            for r, name in enumerate(run.resources):
                used.add(begun, ended, part[f"used_{name}_ms"].fill_null(0).to_numpy() / ran_ms, r)

    reserved_means, used_means = reserved.means(), used.means()
    levels = {
        display_name(name): ResourceLevels(
            capacity=float(run.manifest["capacity_total"][r]),
            reserved=reserved_means[r],
            used=used_means[r] if run.manifest["use_known"] else None,
        )
        for r, name in enumerate(run.resources)
    }
    return Curves(
        quantiles=quantiles,
        completion_s=_at_quantiles(completion_s(run, edges), quantiles),
        wait_s=_at_quantiles(wait_s(run, edges), quantiles),
        edges_s=(edges_ms - begin_ms) / 1000,
        running=running.means()[0],
        pending=pending.means()[0],
        levels=levels,
        queues=dict(zip(queue_names, held.means(), strict=True)),
        complete=run.manifest["complete_attempts"],
    )


def _shown_queues(run: Run) -> tuple[list[str], npt.NDArray[np.int8]]:
    """The queues with the most tasks, in order of name, and for each job the number of its own among them."""
    sizes = run.scan("jobs").group_by("queue").agg(pl.col("tasks").cast(pl.Int64).sum()).collect(engine="streaming")
    sizes = sizes.sort("tasks", "queue", descending=[True, False])
    names = sorted(sizes["queue"].head(QUEUES_SHOWN).to_list())
    if sizes.height > QUEUES_SHOWN:
        names.append(OTHER_QUEUES)
    number = {name: q for q, name in enumerate(names)}
    of_job = pl.col("queue").replace_strict(number, default=len(names) - 1, return_dtype=pl.Int8)
    return names, run.scan("jobs").select(of_job).collect(engine="streaming").to_series().to_numpy()


def _at_quantiles(values: NumbersInPieces, quantiles: Floats) -> Floats:
    return values.quantiles(quantiles) if len(values) else np.zeros(0)
