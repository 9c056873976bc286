"""Tables of nodes, beside what levers see of them."""

from __future__ import annotations

from heddle.sim.memory.declaring import Int8, Int32, Int64, Row, Vector, of_run


class NodeRun(Row):
    use: Vector  # true use, background included
    seen: Vector  # of containers, as a report would say
    background: Vector
    speed_permille: Int64 = of_run(lambda run: run.speeds)
    report_phase_ms: Int64 = of_run(lambda run: run.report_phases)
    heartbeat_phase_ms: Int64 = of_run(lambda run: run.heartbeat_phases)
    reports: Int64  # made so far (those included that it would have made while it was lost)
    numbered: Int64  # really made; this and the next three: observation.py
    known: Int64  # made up to the last one that was seen
    sent: Int64  # not lost
    unseen: Int64  # the first of those that is still on its way
    epoch: Int64 = -1  # of the last full offer
    decommission_at_ms: Int64 = of_run(lambda run: [node.decommission_at_ms for node in run.cluster.nodes])  # -1: never
    promise: Int32 = of_run(lambda run: run.trees.of_node)  # its row of `promise`
    fault: Int32  # number of its next loss or return
    level: Int32 = of_run(lambda run: run.background.first[:-1])  # its next background level
    gained: Int32  # 1 + its place in the list of nodes that have more free than at their last offer; 0: not in it
    next_kept: Int32  # this and the next: nodes kept for the same stage
    previous_kept: Int32
    lost: Int8
    leaving: Int8  # 0, LEAVING or LEFT: it is being decommissioned
    contended: Int8
    touched: Int8  # in the list of nodes whose rates must be looked at
    coarse: Int8  # in the list of nodes whose free amounts the index has not handed upwards
    stale: Int8  # in the list of nodes that the placement index must be told of
    untold: Int8  # in the list of nodes that have yet to tell that a container ended


class Promise(Row):
    """What the nodes may promise, all together or those of each label; clock["total"] is what was told last."""

    total: Vector = of_run(lambda run: run.trees.allowance)
    allowance: Vector = of_run(lambda run: run.trees.allowance)
    n_nodes: Int64 = of_run(lambda run: run.trees.n_nodes)  # that are alive, or hold something while they leave


class Truth(Row):
    """As policy/state.py has it."""

    future_peak: Vector


class TreeRow(Row):
    """The best of the nodes below: the highest score and the first node that has it, the most free of each resource."""

    score: Int64 = -(1 << 62)
    node: Int64 = of_run(lambda run: run.first_nodes_of_tree)
    free: Vector = -1
