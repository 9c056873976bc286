"""The live host over a simulated cluster: somebody who polls it and asks the levers, and turns no knob."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster
from heddle.model.plan import Plan
from heddle.model.workload import Workload
from heddle.policy.policy import Policy
from heddle.sim.handle import SimHandle
from heddle.sim.loading import Engine
from heddle.sim.memory.queue_tree import QueueTree
from heddle.sim.memory.tables import LOG_ROW
from heddle.stock_yarn.sight import Sight, node_number
from heddle.yarn.live.applying.wanted import WHOLE
from heddle.yarn.live.decider import Decider
from heddle.yarn.live.levers import LiveLevers
from heddle.yarn.live.live_view import LiveView
from heddle.yarn.live.things_seen import NodeSeen, Size

POLL_MS = 1000


class Onlooker:
    """Somebody outside a run, as sim/run.py has it."""

    moves_to: tuple[str, ...] = ()
    hears_in_ms: int = 0

    def __init__(self, policy: Policy, workload: Workload, cluster: Cluster) -> None:
        def capacity_of(seen: NodeSeen) -> Size:
            memory, vcores, *_ = cluster.nodes[node_number(seen.id)].capacity
            return memory, vcores

        report_ms = cluster.timing.usage_report_ms
        live = LiveView(
            capacity_of,
            report_ms=report_ms,
            n_pools=policy.partition.n_pools,
            calculator=policy.calculator(cluster.calculator),
            counts_labels=policy.queues.by_label,
        )
        queues = QueueTree.of(cluster, workload)
        self._sight = Sight(workload, cluster, queues, self.moves_to, lambda sim: sim.shown.node["total"])
        self._decider = Decider(LiveLevers(policy, WHOLE), live, report_ms)
        self.plans: list[Plan] = []

    def look(self, engine: Engine, handle: SimHandle) -> npt.NDArray[Any]:
        now_ms = int(handle.sim.shown.clock["now_ms"][0])
        engine.report(handle)
        _, plan = self._decider.decide(self._sight.snapshot(handle))
        self.plans.append(plan)
        handle.sim.control["look_at_ms"] = now_ms + POLL_MS
        return np.zeros(0, LOG_ROW)
