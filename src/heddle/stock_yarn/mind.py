"""One policy outside a simulated YARN."""

from __future__ import annotations

from dataclasses import replace

from heddle.model.cluster import Cluster
from heddle.model.plan import Plan
from heddle.model.workload import Workload
from heddle.policy.policy import Policy
from heddle.stock_yarn.sight import app_number, node_number
from heddle.yarn.live.applying.wanted import WHOLE, Wanted
from heddle.yarn.live.declared_data import DeclaredData
from heddle.yarn.live.live_view import LiveView
from heddle.yarn.live.mind import Mind
from heddle.yarn.live.things_seen import NodeSeen, Size


def _declared(workload: Workload, cluster: Cluster) -> DeclaredData:
    """What the workload and the cluster declare; who is who, numbers tell."""
    first_stage = workload.jobs["first_stage"]
    return DeclaredData(
        workload,
        job_of=lambda app: app_number(app.id),
        priorities_of=lambda app, stages: tuple(stage - int(first_stage[app_number(app.id)]) for stage in stages),
        host_of=lambda node: cluster.nodes[node_number(node.id)].name,
        link_mbps_of=lambda node: cluster.nodes[node_number(node.id)].bandwidth_mbps,
        uplink_mbps_of=cluster.network.uplink_mbps,
        one_at_a_time=cluster.timing.node_heartbeat_ms > 0,
    )


class SimulatedMind(Mind):
    """`stock`: what decides inside."""

    def __init__(self, cluster: Cluster, policy: Policy, stock: Policy, bridge: bool, workload: Workload) -> None:
        nodes, report_ms = cluster.nodes, cluster.timing.usage_report_ms

        def capacity_of(seen: NodeSeen) -> Size:
            memory, vcores, *_ = nodes[node_number(seen.id)].capacity
            return memory, vcores

        live = LiveView(
            capacity_of,
            report_ms=report_ms,
            n_pools=policy.partition.n_pools,
            calculator=policy.calculator(cluster.calculator),
            counts_labels=stock.queues.by_label,
            declared=_declared(workload, cluster) if policy.placement.reads_declared else None,
        )
        super().__init__(policy, live, WHOLE, report_ms, bridge)

    def wanted(self, plan: Plan) -> Wanted:
        """Sizes only of nodes that are there: one that returns before this takes effect has a size of its own again."""
        live, wanted = self.live, super().wanted(plan)
        alive = live.view.node["alive"].tolist()
        if all(alive):
            return wanted
        sizes = {name: size for name, size in wanted.standing.sizes.items() if alive[live.node_row[name]]}
        return wanted._replace(standing=replace(wanted.standing, sizes=sizes))
