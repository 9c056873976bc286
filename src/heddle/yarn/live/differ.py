"""Two snapshots in, the events between them out: the one place where polling becomes what levers listen to.

Between two polls the true order is unknown. Events come in the order of the phases of a simulated instant
(docs/semantics.md): containers that ended, nodes lost or returned, what ended with them, usage reports, arrivals,
allocations. So a new container is charged in full after the reports of the same poll, which have seen next to nothing
of it, and an ended one is taken off before them.

What a poll cannot show: a container that came and went between two polls; when a container began to run (the RM does
not tell, hence no EVENT_STARTED); how one ended, other than by the fate of its node or application.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from heddle.model.view import (
    EVENT_ALLOCATED,
    EVENT_ARRIVED,
    EVENT_FINISHED,
    EVENT_NODE_LOST,
    EVENT_NODE_RETURNED,
    EVENT_REPORTED,
    EVENT_STOPPED,
    EVENT_TICK,
)
from heddle.yarn.live.columns import Columns, no_rows
from heddle.yarn.live.comparing import (
    ARRIVED,
    BACK,
    ENDED,
    ENDED_KIND,
    ENDED_WITH_NODE,
    LOST,
    N_FOUND,
    NEW,
    NOTHING,
    REPORTED,
    REPORTS,
    compare,
)
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.things_seen import ContainerSeen

OBSERVABLE: Final = frozenset(
    {
        EVENT_ARRIVED,
        EVENT_ALLOCATED,
        EVENT_FINISHED,
        EVENT_STOPPED,
        EVENT_REPORTED,
        EVENT_NODE_LOST,
        EVENT_NODE_RETURNED,
        EVENT_TICK,  # no difference of snapshots: the controller tells it as time passes
    }
)


Rows = npt.NDArray[np.int64]
_NOTHING_SEEN: Final = no_rows()


@dataclass(frozen=True)
class Change:
    """One event, in the RM's names. `reports`: how many usage reports of the node it stands for."""

    kind: int
    node: str = ""
    app: str = ""
    container: ContainerSeen | None = None
    reports: int = 0


class Happened(NamedTuple):
    """Events of one kind. `rows`: of the columns that they are about, of the look before for what is gone."""

    kind: int
    rows: Rows
    reports: Rows | None = None


@dataclass(frozen=True)
class Changes:
    """All that happened between two looks, in order."""

    before: Snapshot | None
    after: Snapshot
    happened: tuple[Happened, ...]

    def __len__(self) -> int:
        return sum(len(batch.rows) for batch in self.happened)

    def __iter__(self) -> Iterator[Change]:
        """One by one, by name."""
        for batch in self.happened:
            about = self.before if batch.kind in _OF_BEFORE else self.after
            assert about is not None
            for k, row in enumerate(batch.rows.tolist()):
                if batch.kind in _OF_CONTAINERS:
                    seen = about.container(row)
                    yield Change(batch.kind, seen.node, seen.app, seen)
                elif batch.kind == EVENT_ARRIVED:
                    yield Change(batch.kind, app=about.names.apps.name(int(about.columns.apps["app"][row])))
                else:
                    reports = 0 if batch.reports is None else int(batch.reports[k])
                    name = about.names.nodes.name(int(about.columns.nodes["node"][row]))
                    yield Change(batch.kind, node=name, reports=reports)


_OF_BEFORE: Final = (EVENT_FINISHED, EVENT_STOPPED, EVENT_NODE_LOST)
_OF_CONTAINERS: Final = (EVENT_FINISHED, EVENT_STOPPED, EVENT_ALLOCATED)


class Differ:
    """Compares looks at one cluster. Keeps a scratch array for each kind of number, so that none is made per look."""

    def __init__(self) -> None:
        self._before, self._after = np.zeros(0, np.int8), np.zeros(0, np.int8)  # nodes that were, that are alive
        self._place = np.full(0, NOTHING, np.int64)  # of a container
        self._app = np.full(0, NOTHING, np.int64)
        self._found = np.zeros((0, 0), np.int64)
        self._counts = np.zeros(N_FOUND, np.int64)

    def differences(self, before: Snapshot | None, after: Snapshot, report_ms: int) -> Changes:
        """What happened between two polls. Before the first there was nothing: all that is there has just come."""
        was, now = before.columns if before else _NOTHING_SEEN, after.columns
        self._make_room(after, was, now)
        passed = after.at_ms // report_ms - before.at_ms // report_ms if report_ms and before else 0
        found, counts = self._found, self._counts
        compare(
            was.nodes, was.apps, was.containers, now.nodes, now.apps, now.containers, now.ended,
            self._before, self._after, self._place, self._app, before is None, passed, found, counts,
        )  # fmt: skip

        n = counts.tolist()

        def rows(which: int) -> Rows:
            return found[which, : n[which]].copy()

        happened = []
        if n[ENDED]:
            ended, first = rows(ENDED), 0
            for kind, run in groupby(found[ENDED_KIND, : n[ENDED]].tolist()):
                last = first + sum(1 for _ in run)
                happened.append(Happened(kind, ended[first:last]))
                first = last
        if n[LOST]:
            happened.append(Happened(EVENT_NODE_LOST, rows(LOST)))
        if n[BACK]:
            happened.append(Happened(EVENT_NODE_RETURNED, rows(BACK)))
        if n[ENDED_WITH_NODE]:
            happened.append(Happened(EVENT_STOPPED, rows(ENDED_WITH_NODE)))
        if n[REPORTED]:
            happened.append(Happened(EVENT_REPORTED, rows(REPORTED), rows(REPORTS)))
        if n[ARRIVED]:
            happened.append(Happened(EVENT_ARRIVED, self._in_order(rows(ARRIVED), after)))
        if n[NEW]:
            new = rows(NEW)
            if len(new) > 1:
                new = new[np.lexsort([now.containers[key][new] for key in ("number", "attempt", "app")])]
            happened.append(Happened(EVENT_ALLOCATED, new))
        return Changes(before, after, tuple(happened))

    def _in_order(self, arrived: Rows, after: Snapshot) -> Rows:
        """Jobs are numbered in order of submission; applications of one millisecond by their number."""
        if len(arrived) < 2:
            return arrived
        return arrived[np.lexsort([after.columns.apps[key][arrived] for key in ("app", "number", "started_at_ms")])]

    def _make_room(self, after: Snapshot, was: Columns, now: Columns) -> None:
        names = after.names
        if len(names.nodes) > len(self._before):
            self._before, self._after = (np.zeros(2 * len(names.nodes), np.int8) for _ in range(2))
        if len(names.containers) > len(self._place):
            self._place = np.full(2 * len(names.containers), NOTHING, np.int64)
        if len(names.apps) > len(self._app):
            self._app = np.full(2 * len(names.apps), NOTHING, np.int64)
        most = max(map(len, (was.nodes, now.nodes, was.containers, now.containers, now.apps)))
        if most > self._found.shape[1]:
            self._found = np.zeros((N_FOUND, 2 * most), np.int64)
