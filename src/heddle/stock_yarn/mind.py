"""One policy outside a simulated YARN: what it has learnt, and where it wants the knobs after a look."""

from __future__ import annotations

from dataclasses import replace

from heddle.model.cluster import Cluster
from heddle.model.plan import Plan
from heddle.policy.policy import Policy
from heddle.stock_yarn.sight import node_number
from heddle.yarn.live.applying.standing import Standing
from heddle.yarn.live.applying.wanted import WHOLE, from_outside, wanted_by
from heddle.yarn.live.decider import Decider
from heddle.yarn.live.levers import LiveLevers
from heddle.yarn.live.live_view import LiveView
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.things_seen import NodeSeen, Size


class Mind:
    """`stock`: what decides inside; `bridge`: it orders single requests."""

    def __init__(self, cluster: Cluster, policy: Policy, stock: Policy, bridge: bool) -> None:
        nodes = cluster.nodes

        def capacity_of(seen: NodeSeen) -> Size:
            memory, vcores, *_ = nodes[node_number(seen.id)].capacity
            return memory, vcores

        self.live = LiveView(
            capacity_of,
            report_ms=cluster.timing.usage_report_ms,
            n_pools=policy.partition.n_pools,
            calculator=policy.calculator(cluster.calculator),
            counts_labels=stock.queues.by_label,
        )
        self._bridge = bridge
        levers = LiveLevers(from_outside(policy), WHOLE, per_request=bridge)
        self._decider = Decider(levers, self.live, cluster.timing.usage_report_ms)

    def decide(self, snapshot: Snapshot) -> Plan:
        """Sees what has happened, and decides: whether anybody acts on it makes no difference to what is learnt."""
        _, plan = self._decider.decide(snapshot)
        return plan

    def wanted(self, plan: Plan) -> Standing:
        """Sizes only of nodes that are there: one that returns before this takes effect has a size of its own again."""
        live = self.live
        wanted, alive = wanted_by(plan, live, self._bridge), live.view.node["alive"].tolist()
        if all(alive):
            return wanted
        return replace(wanted, sizes={name: size for name, size in wanted.sizes.items() if alive[live.node_row[name]]})
