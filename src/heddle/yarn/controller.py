"""The controller: observe, let the levers decide, act on a live cluster; one step at a time.

It has one actuator, the size of nodes; what the other levers say is in the plan, for the record, and not acted on. In
shadow mode, the default, it decides and records and never posts. It keeps no lease and has no watchdog: whoever runs
it must call restore(), and must see to it that some node stays as large as the largest request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from time import perf_counter

import numpy as np

from heddle.model.cluster import Calculator
from heddle.model.errors import RunRefused
from heddle.model.plan import Plan
from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.model.view import EVENT_ALLOCATED
from heddle.policy.lever import Question
from heddle.policy.policy import Policy
from heddle.yarn.client import RmClient, YarnError
from heddle.yarn.differ import Change, differences
from heddle.yarn.levers import LiveLevers
from heddle.yarn.live_view import CapacityOf, LiveView
from heddle.yarn.snapshot import Size, Snapshot, read_nodes, take_snapshot


class Verdict(StrEnum):
    """What became of a node's decided size, and why."""

    POSTED = "posted"
    SHADOW = "shadow"  # would have been posted
    UNCHANGED = "unchanged"
    DEAD_BAND = "dead-band"  # too small a change to trouble the RM with
    AWAY = "away"  # the node is lost, or being decommissioned
    FAILED = "failed"  # the RM refused or did not answer


@dataclass(frozen=True)
class Resize:
    """A node's size as it was, as decided, and what was done about it."""

    node: str
    before: Size
    wanted: Size
    verdict: Verdict
    problem: str = ""


@dataclass(frozen=True)
class Step:
    """One step: what was seen, what happened since the last, what was decided, what was done."""

    snapshot: Snapshot
    changes: list[Change]
    plan: Plan
    resizes: list[Resize]
    observe_s: float  # polling and reading, wall time
    decide_s: float  # from two snapshots to a plan
    act_s: float


@dataclass(frozen=True)
class Settings:
    """How the controller looks at a cluster and how gently it acts."""

    report_ms: int = 1000  # how often nodes report use: the levers' unit of time
    calculator: Calculator = "dominant"
    increment: Size = (1, MILLI)  # node sizes are multiples of this; YARN knows whole vcores only
    dead_band: Size = (256, MILLI)  # smaller changes than this are not posted
    shadow: bool = True

    def __post_init__(self) -> None:
        if self.report_ms <= 0:
            raise RunRefused(f"report_ms must be positive, not {self.report_ms}")
        if self.increment[MEMORY] < 1 or self.increment[VCORES] < MILLI or self.increment[VCORES] % MILLI:
            raise RunRefused(f"increment must be whole MB and whole vcores, not {self.increment}")


class Controller:
    """Runs one policy against one ResourceManager. `clock_ms` gives the time of each poll, in ms from any origin."""

    def __init__(
        self, client: RmClient, policy: Policy, capacity_of: CapacityOf, clock_ms: Callable[[], int], settings: Settings
    ) -> None:
        self._client = client
        self._clock_ms = clock_ms
        self.settings = settings
        self._levers = LiveLevers(policy, settings.increment)
        n_pools = policy.by_question[Question.PARTITION].n_pools
        self.live = LiveView(capacity_of, report_ms=settings.report_ms, n_pools=n_pools, calculator=settings.calculator)
        self._before: Snapshot | None = None

    def step(self) -> Step:
        """One poll, one decision. Raises YarnError, with nothing changed, if the RM cannot be polled."""
        began = perf_counter()
        snapshot = take_snapshot(self._client, self._clock_ms(), self._before.apps if self._before else ())
        observed = perf_counter()
        changes = differences(self._before, snapshot, self.settings.report_ms)
        self.live.sight(snapshot)
        if self._before is None:
            self._levers.prepare(self.live.view)
        self._before = snapshot
        for batch in self.live.absorb(snapshot, changes):
            new = batch.rows[:, 2] if batch.kind == EVENT_ALLOCATED else np.zeros(0, np.int64)
            self._levers.hear(self.live.view, batch, new)
        plan = self._levers.decide(self.live)
        decided = perf_counter()
        resizes = self._act(snapshot, plan)
        acted = perf_counter()
        return Step(snapshot, changes, plan, resizes, observed - began, decided - observed, acted - decided)

    def restore(self) -> list[Resize]:
        """Puts every node that is there back to the size it had when first seen. In shadow mode nothing was changed."""
        nodes = read_nodes(self._client.nodes(), self._client.address)
        allowance = self.live.view.node["allowance"]
        resizes = []
        for name, row in self.live.node_row.items():
            baseline = (int(allowance[row, MEMORY]), int(allowance[row, VCORES]))
            node = nodes.get(name)
            if node is None:
                resizes.append(Resize(name, baseline, baseline, Verdict.AWAY))
            elif node.total == baseline:
                resizes.append(Resize(name, baseline, baseline, Verdict.UNCHANGED))
            else:
                resizes.append(self._post(name, node.total, baseline))
        return resizes

    def _act(self, snapshot: Snapshot, plan: Plan) -> list[Resize]:
        if plan.node_totals is None:
            return []
        resizes = []
        for name, row in self.live.node_row.items():
            node = snapshot.nodes.get(name)
            decided = (int(plan.node_totals[row, MEMORY]), int(plan.node_totals[row, VCORES]))
            if node is None or not node.resizable:
                resizes.append(Resize(name, node.total if node else decided, decided, Verdict.AWAY))
                continue
            # The RM may have allocated more than was seen when the containers were listed.
            wanted = max(decided[MEMORY], node.allocated[MEMORY]), max(decided[VCORES], node.allocated[VCORES])
            step = tuple(abs(wanted[r] - node.total[r]) for r in (MEMORY, VCORES))
            if step == (0, 0):
                resizes.append(Resize(name, node.total, wanted, Verdict.UNCHANGED))
            elif step[MEMORY] < self.settings.dead_band[MEMORY] and step[VCORES] < self.settings.dead_band[VCORES]:
                resizes.append(Resize(name, node.total, wanted, Verdict.DEAD_BAND))
            else:
                resizes.append(self._post(name, node.total, wanted))
        return resizes

    def _post(self, node: str, before: Size, wanted: Size) -> Resize:
        """The only place that changes anything on the cluster."""
        if self.settings.shadow:
            return Resize(node, before, wanted, Verdict.SHADOW)
        try:
            held = self._client.resize_node(node, wanted[MEMORY], wanted[VCORES] // MILLI)
        except YarnError as error:
            return Resize(node, before, wanted, Verdict.FAILED, str(error))
        if held != (wanted[MEMORY], wanted[VCORES] // MILLI):
            return Resize(node, before, wanted, Verdict.FAILED, f"the RM now has {held}")
        return Resize(node, before, wanted, Verdict.POSTED)
