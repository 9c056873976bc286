"""A run as a few small arrays to draw: distributions over jobs, and levels over time.

Levels are exact means over equal bins of time, so that a short spike is flattened but never lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.analysis.edges import NO_EDGES, Edges
from heddle.analysis.metrics import completion_s, wait_s
from heddle.model.resources import MEMORY, display_name
from heddle.model.workload import INNER
from heddle.record.run import Run

Floats = npt.NDArray[np.float64]

QUANTILE_POINTS: Final = 200
TIME_BINS: Final = 300
QUEUES_SHOWN: Final = 7
OTHER_QUEUES: Final = "all others"
_ROWS_AT_ONCE: Final = 1 << 20  # bounds the memory that ten million attempts would take


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
    begin_ms, end_ms = _horizon_ms(run)
    edges_ms = np.linspace(begin_ms, end_ms, TIME_BINS + 1)
    shapes = run.shapes.sort("shape").select(run.resources).to_numpy().astype(np.float64)

    running, pending = _Level(edges_ms), _Level(edges_ms)
    reserved = [_Level(edges_ms) for _ in run.resources]
    used = [_Level(edges_ms) for _ in run.resources]
    queue_names, queue_of = _shown_queues(run)
    held = [_Level(edges_ms) for _ in queue_names]
    for part in run.attempts.iter_slices(_ROWS_AT_ONCE):
        ended = part["ended_at_ms"].fill_null(int(end_ms)).to_numpy()  # still there when the run stalled
        started = part["started_at_ms"].fill_null(pl.Series(ended)).to_numpy()  # never ran: an empty interval
        allocated, asked = part["allocated_at_ms"].to_numpy(), part["asked_at_ms"].to_numpy()
        container = (part["kind"] != INNER).to_numpy().astype(np.float64)
        running.add(started, ended, container)
        pending.add(asked, started, container)
        of_queue = queue_of[part["job"].to_numpy()]
        memory = container * shapes[part["shape"].to_numpy(), MEMORY]
        for q, level in enumerate(held):
            level.add(allocated, ended, np.where(of_queue == q, memory, 0.0))
        for r, name in enumerate(run.resources):
            reserved[r].add(allocated, ended, container * shapes[part["shape"].to_numpy(), r])
            if run.manifest["use_known"]:
                total = part[f"used_{name}_ms"].fill_null(0).to_numpy()
                begun = np.maximum(started, 0)  # use before the run is not counted
                used[r].add(begun, ended, total / np.maximum(1, ended - begun))

    levels = {
        display_name(name): ResourceLevels(
            capacity=float(run.manifest["capacity_total"][r]),
            reserved=reserved[r].means(),
            used=used[r].means() if run.manifest["use_known"] else None,
        )
        for r, name in enumerate(run.resources)
    }
    return Curves(
        quantiles=quantiles,
        completion_s=_at_quantiles(completion_s(run, edges), quantiles),
        wait_s=_at_quantiles(wait_s(run, edges), quantiles),
        edges_s=(edges_ms - begin_ms) / 1000,
        running=running.means(),
        pending=pending.means(),
        levels=levels,
        queues={name: level.means() for name, level in zip(queue_names, held, strict=True)},
        complete=run.manifest["complete_attempts"],
    )


def _shown_queues(run: Run) -> tuple[list[str], npt.NDArray[np.int64]]:
    """The queues with the most tasks, in order of name, and for each job the number of its own among them."""
    sizes = run.jobs.group_by("queue").agg(pl.col("tasks").sum()).sort("tasks", "queue", descending=[True, False])
    names = sorted(sizes["queue"].head(QUEUES_SHOWN).to_list())
    if sizes.height > QUEUES_SHOWN:
        names.append(OTHER_QUEUES)
    number = {name: q for q, name in enumerate(names)}
    return names, np.array([number.get(queue, len(names) - 1) for queue in run.jobs["queue"]], np.int64)


class _Level:
    """A level over time made of many intervals: how much stood, on average, in each bin."""

    def __init__(self, edges_ms: Floats) -> None:
        self._edges = edges_ms
        # For each edge, what begins (or, negative, ends) in the bin before it: amounts, and amounts times instants.
        self._amount = np.zeros(len(edges_ms) + 1)
        self._moment = np.zeros(len(edges_ms) + 1)

    def add(self, start_ms: npt.NDArray[np.int64], end_ms: npt.NDArray[np.int64], amount: Floats) -> None:
        for instants, signed in ((start_ms, amount), (end_ms, -amount)):
            place = np.searchsorted(self._edges, instants)
            since = (instants - self._edges[0]) * signed  # from the first edge: keeps the sums small and precise
            self._amount += np.bincount(place, signed, len(self._amount))
            self._moment += np.bincount(place, since, len(self._moment))

    def means(self) -> Floats:
        offsets = self._edges - self._edges[0]
        so_far = offsets * np.cumsum(self._amount)[:-1] - np.cumsum(self._moment)[:-1]
        means: Floats = np.maximum(0.0, np.diff(so_far) / np.diff(self._edges))  # rounding may dip below 0
        return means


def _at_quantiles(values: Floats, quantiles: Floats) -> Floats:
    return np.quantile(values, quantiles) if len(values) else np.zeros(0)


def _horizon_ms(run: Run) -> tuple[float, float]:
    """From the first submission to the last thing known; never empty."""
    begin = run.jobs["submit_at_ms"].min()
    last = [run.jobs["ended_at_ms"].max()]
    last += [run.attempts[name].max() for name in ("asked_at_ms", "allocated_at_ms", "started_at_ms", "ended_at_ms")]
    first_ms = float(begin) if isinstance(begin, int) else 0.0
    known = [float(instant) for instant in last if isinstance(instant, int)]
    return first_ms, max([*known, first_ms + 1.0])
