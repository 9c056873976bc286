"""From one look at a cluster to a plan: what happened since the last look, the view brought forward, the levers asked.

The controller of a live cluster and the policy outside a simulated one (stock_yarn/) both decide here.
"""

from __future__ import annotations

import numpy as np

from heddle.model.plan import Plan
from heddle.model.view import EVENT_ALLOCATED, EVENT_ARRIVED
from heddle.yarn.live.differ import Changes, Differ
from heddle.yarn.live.levers import LiveLevers
from heddle.yarn.live.live_view import LiveView
from heddle.yarn.live.snapshot import Snapshot


class Decider:
    """Remembers the last look. `report_ms`: how often nodes report use."""

    def __init__(self, levers: LiveLevers, live: LiveView, report_ms: int) -> None:
        self._levers, self.live, self._report_ms = levers, live, report_ms
        self._differ = Differ()
        self.before: Snapshot | None = None

    def decide(self, snapshot: Snapshot) -> tuple[Changes, Plan]:
        """What happened since the last look, and what the levers say now."""
        changes = self._differ.differences(self.before, snapshot, self._report_ms)
        self.live.sight(snapshot)
        declared = self.live.declared
        if self.before is None:
            self._levers.prepare(self.live.view, declared)
        elif declared is not None:
            self._levers.keep_up(self.live.view, declared)
        since_ms = self.before.at_ms if self.before else snapshot.at_ms
        self.before = snapshot
        for batch in self.live.absorb(changes):
            if declared is not None and batch.kind == EVENT_ARRIVED:
                self._levers.keep_up(self.live.view, declared)
            new = batch.rows[:, 2] if batch.kind == EVENT_ALLOCATED else np.zeros(0, np.int64)
            self._levers.hear(self.live.view, batch, new)
        self._levers.pass_time(self.live, since_ms)
        return changes, self._levers.decide(self.live)
