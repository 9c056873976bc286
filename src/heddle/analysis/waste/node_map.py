"""What each node promised and what was used of it, over time: small enough to draw, however many nodes there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from heddle.analysis.measures.levels import Floats, Ints, Levels, horizon_ms, placed
from heddle.model.workload import INNER
from heddle.record.run import Run

MAP_ROWS: Final = 40
MAP_BINS: Final = 80


@dataclass(frozen=True)
class NodeMap:
    """Rows are nodes, or where there are many, groups of neighbours in the list of nodes."""

    edges_s: Floats  # of the bins of time, from the first submission on
    labels: tuple[str, ...]
    reserved: dict[str, Floats]  # resource -> [row, bin]: share of the hardware of the row
    used: dict[str, Floats] | None  # None: not recorded


def node_map(run: Run) -> NodeMap:
    """The map of a record. A task's use is spread evenly over its run."""
    begin, end = horizon_ms(run)
    end = max(end, begin + 1)
    edges = np.linspace(begin, end, MAP_BINS + 1)
    nodes = run.nodes.sort("node")
    row_of, labels = _rows(nodes["name"].to_list())
    shapes = run.shapes.sort("shape").select(run.resources).to_numpy().astype(np.float64)
    reserved = [Levels(edges, len(labels)) for _ in run.resources]
    used = [Levels(edges, len(labels)) for _ in run.resources]
    for part in run.pieces("attempts"):
        ended_ms = part["ended_at_ms"].fill_null(end).to_numpy()
        started_ms = np.maximum(part["started_at_ms"].fill_null(pl.Series(ended_ms)).to_numpy(), begin)
        allocated_ms, ran_ms = part["allocated_at_ms"].to_numpy(), np.maximum(1, ended_ms - started_ms)
        allocated, started, ended = (placed(edges, instants) for instants in (allocated_ms, started_ms, ended_ms))
        row = row_of[part["node"].to_numpy()]
        container = (part["kind"] != INNER).to_numpy().astype(np.float64)
        for r, name in enumerate(run.resources):
            reserved[r].add(allocated, ended, container * shapes[part["shape"].to_numpy(), r], row)
            used[r].add(started, ended, part[f"used_{name}_ms"].fill_null(0).to_numpy() / ran_ms, row)
    capacity = {
        name: np.maximum(1, np.bincount(row_of, nodes[f"capacity_{name}"].to_numpy(), len(labels)))[:, None]
        for name in run.resources
        if nodes[f"capacity_{name}"].sum()
    }
    shown = [(r, name) for r, name in enumerate(run.resources) if name in capacity]
    return NodeMap(
        edges_s=(edges - begin) / 1000,
        labels=labels,
        reserved={name: reserved[r].means() / capacity[name] for r, name in shown},
        used={name: used[r].means() / capacity[name] for r, name in shown} if run.manifest["use_known"] else None,
    )


def _rows(names: list[str]) -> tuple[Ints, tuple[str, ...]]:
    """For each node the row that it stands in, and what the rows are called."""
    each = max(1, -(-len(names) // MAP_ROWS))
    row_of = np.arange(len(names)) // each
    if each == 1:
        return row_of, tuple(names)
    firsts = range(0, len(names), each)
    return row_of, tuple(f"{names[first]} … {names[min(first + each, len(names)) - 1]}" for first in firsts)
