"""Two jobs that always wait for more, and tables: by whose turn it is one sees whether a table decides."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from heddle.yarn.live.bridge.endpoint import BridgeEndpoint
from heddle.yarn.live.bridge.table import RequestRow, Table
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.rm_answers import read_apps, read_nodes
from heddle.yarn.testbed.local.cluster import RM, LocalCluster
from heddle.yarn.testbed.replay.plan import ReplayJob
from heddle.yarn.testbed.replay.submit import Submitter
from yarn_steering.watching import wait_for

from .live import STARTS_S
from .own_daemons import rm_admin, set_in

LEASE_MS = 20_000
ENOUGH = 3  # containers, to see whose turn it is
CAPACITY = "yarn.scheduler.capacity"


@dataclass
class Deciding:
    """Puts tables, and sees who was given what by them."""

    cluster: LocalCluster
    rm: RmClient
    endpoint: BridgeEndpoint
    submitter: Submitter
    leaves: tuple[str, ...]  # that tables are about unless said otherwise
    jobs: dict[str, str] = field(default_factory=dict)  # name -> application
    leaf_of: dict[str, str] = field(default_factory=dict)  # application -> leaf

    def submit(self, name: str, leaf: str, tasks: int, task_s: float) -> str:
        lines = ("stage 512 1 -", *tasks * (f"task 0 {round(1000 * task_s)} 40:10:10000",))
        app = self.submitter.submit(ReplayJob(name, 0, leaf, 0, (256, 1), (), tasks, lines), len(self.jobs))
        self.jobs[name], self.leaf_of[app] = app, leaf
        return app

    def submit_two_that_wait(self, leaf: str) -> tuple[str, str]:
        """Both at once, or the first would keep every node for itself."""
        a, b = (self.submit(name, leaf, 400, 4) for name in ("a", "b"))
        wait_for(lambda: self._asks(a) and self._asks(b), STARTS_S)
        return a, b

    def _asks(self, app: str) -> bool:
        seen = read_apps(self.rm.apps(), "").get(app)
        return seen is not None and seen.running and bool(seen.asks)

    def refresh(self, settings: dict[str, str]) -> None:
        """What people do who have changed the file."""
        set_in(self.cluster.conf / "capacity-scheduler.xml", {f"{CAPACITY}.{key}": to for key, to in settings.items()})
        rm_admin(self.cluster, "-refreshQueues")

    def put(self, first: str, leaves: tuple[str, ...] = ()) -> int:
        """A table by which this application goes before all others."""
        time.sleep(0.25)  # no more than five a second
        own = {node.id: node.total for node in read_nodes(self.rm.nodes(), "").values()}
        rows = [
            RequestRow(seen.id, ask.priority, one, self.leaf_of[seen.id], ask.size, int(seen.id != first))
            for seen in read_apps(self.rm.apps(), "").values()
            for ask in seen.asks
            for one in ask.allocations
        ]
        return self.endpoint.put(Table("key", tuple(rows), own, leaves or self.leaves), LEASE_MS)

    def given(self, since: int, *apps: str) -> list[dict[str, Any]]:
        """Containers of tasks of these applications, by this table or a later one; 0: all."""
        found = self.endpoint.allocations_after(0)
        return [one for one in found if one["app"] in apps and one["priority"] > 0 and one["table"] >= since]

    def goes_first(self, first: str, other: str) -> None:
        """By a table that says so, although both wait."""
        version = self.put(first)

        def enough() -> bool:
            self.put(first)
            return len(self.given(version, first, other)) >= ENOUGH

        wait_for(enough, STARTS_S)
        assert {one["app"] for one in self.given(version, first, other)[:ENOUGH]} == {first}

    def nothing_went_wrong(self) -> None:
        state = self.endpoint.state()
        assert state is not None
        assert (state.told["errors"], state.off) == (0, "")
        assert " FATAL " not in self.cluster.log(RM).read_text()
