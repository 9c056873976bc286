"""The rules that are about a cluster and its clock, looked up piece by piece: what nodes hold is carried over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.analysis.soundness.findings import Findings
from heddle.analysis.soundness.happenings import ALLOCATED, ENDED, FETCHED, STARTED
from heddle.model.cluster import BYTES_PER_MS_OF_MBPS, MOST_MBPS, Cluster
from heddle.sim.codes import LOG_NODE_LOST, LOG_NODE_RETURNED, LOG_RESIZED

Rows = npt.NDArray[Any]
Column = npt.NDArray[np.int64]


class NodeBooks:
    """What each node holds, may hold, and whether it is lost, as of the last row that was looked at."""

    def __init__(self, shapes: Column, cluster: Cluster, found: Findings) -> None:
        self._shapes = np.vstack([shapes, np.zeros_like(shapes, shape=(1, shapes.shape[1]))])  # the last: NO_SHAPE
        self._resources, self._found = cluster.resources, found
        self._held = np.zeros((cluster.n_nodes, len(cluster.resources)), np.int64)
        self._total = np.array([node.allowance for node in cluster.nodes], np.int64)
        self._lost = np.zeros(cluster.n_nodes, np.int64)
        self._mbps = np.array([node.bandwidth_mbps or MOST_MBPS for node in cluster.nodes], np.int64)
        self._now_ms = 0

    def look_at(self, rows: Rows) -> None:
        """All that happened next, in order."""
        self._clock(rows)
        self._promises(rows[np.isin(rows["kind"], (ALLOCATED, ENDED, LOG_RESIZED))])
        self._losses(rows)
        self._links(rows[rows["kind"] == FETCHED])

    def close(self, counts: Sequence[bool], *, finished: bool) -> None:
        """The run is over. `counts`: the resources that the scheduler looked at; others it may promise twice."""
        for r, resource in enumerate(self._resources):
            if not counts[r]:
                self._found.forget(_promised_twice(resource))
            left = np.flatnonzero(self._held[:, r])
            if finished and len(left):
                what = f"{resource} is still allocated on node {left[0]} after the run"
                self._found.add_at_the_end(what, "", len(left))

    def _clock(self, rows: Rows) -> None:
        at_ms = np.maximum(0, rows["at_ms"])  # below 0: there before the run, noted at 0
        backwards = np.diff(at_ms, prepend=self._now_ms) < 0
        self._found.add_rows("the clock runs backwards", rows[backwards])
        self._now_ms = int(at_ms[-1]) if len(at_ms) else self._now_ms

    def _promises(self, rows: Rows) -> None:
        """Never more allocated on a node than its total at that time, never less than nothing."""
        by_node = np.argsort(rows["node"], kind="stable")
        rows = rows[by_node]
        node, kind = rows["node"], rows["kind"]
        sign = np.where(kind == ALLOCATED, 1, np.where(kind == ENDED, -1, 0))
        first = np.searchsorted(node, np.arange(len(self._held)))[node]
        for r, resource in enumerate(self._resources):
            change = sign * self._shapes[rows["shape"], r]
            allocated = self._held[node, r] + _sums(change, first)
            resized = (kind == LOG_RESIZED) & (rows["code"] == r)
            last = np.maximum.accumulate(np.where(resized, np.arange(len(node)), -1))
            total = np.where(last >= first, rows["value"][last], self._total[node, r])
            over = _earliest_first(np.flatnonzero((sign > 0) & (allocated > total)), by_node)
            amounts = f", {allocated[over[0]]} of {total[over[0]]}" if len(over) else ""
            self._found.add_rows(_promised_twice(resource), rows[over], amounts)
            below = _earliest_first(np.flatnonzero(allocated < 0), by_node)
            self._found.add_rows(f"{resource} given back that was not taken", rows[below])
            np.add.at(self._held[:, r], node, change)
            self._total[node[resized], r] = rows["value"][resized]

    def _losses(self, rows: Rows) -> None:
        """Nothing begins on a lost node."""
        gone_or_back = np.isin(rows["kind"], (LOG_NODE_LOST, LOG_NODE_RETURNED))
        if not (gone_or_back.any() or self._lost.any()):
            return
        rows = rows[gone_or_back | np.isin(rows["kind"], (ALLOCATED, STARTED))]
        by_node = np.argsort(rows["node"], kind="stable")
        rows = rows[by_node]
        node, kind = rows["node"], rows["kind"]
        change = (kind == LOG_NODE_LOST).astype(np.int64) - (kind == LOG_NODE_RETURNED)
        first = np.searchsorted(node, np.arange(len(self._lost)))[node]
        lost = self._lost[node] + _sums(change, first)
        wrong = np.flatnonzero((lost > 0) & np.isin(kind, (ALLOCATED, STARTED)))
        self._found.add_rows("something begins on a lost node", rows[_earliest_first(wrong, by_node)])
        np.add.at(self._lost, node, change)

    def _links(self, rows: Rows) -> None:
        """Nothing comes faster than its node's link can carry."""
        fast = rows["value"] > rows["took_ms"] * self._mbps[rows["node"]] * BYTES_PER_MS_OF_MBPS
        self._found.add_rows("data came faster than its node's link carries it", rows[fast])


def _promised_twice(resource: str) -> str:
    return f"{resource} promised twice"


def _sums(change: Column, first: Column) -> Column:
    """Of each row and those before it, from `first` on, which is the first row of its node."""
    sums = np.concatenate([[0], np.cumsum(change)])
    found: Column = sums[1:] - sums[first]
    return found


def _earliest_first(rows: Column, by_node: Column) -> Column:
    found: Column = rows[np.argsort(by_node[rows])]
    return found
