"""What the cluster may promise now, and every queue's part of it (a section of docs/semantics.md).

The sum over the nodes that are alive is kept as they change; queues are told once an instant, before anybody asks.
"""

from __future__ import annotations

from heddle.model.compiled import inlined
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.reports import catch_up_reports, resize


@inlined
def count_node(sim, n, sign):
    """Node n has come (1) or is lost (-1), with all that it may promise."""
    sim.control["n_alive"][0] += sign
    for r in range(sim.shown.node["total"].shape[1]):
        sim.control["promised"][0, r] += sign * sim.shown.node["total"][n, r]


@unit
def share_out(sim):
    """Guarantee and maximum of every queue follow what may be promised, from root down."""
    view, control = sim.shown, sim.control
    changed, grew = 0, 0
    for r in range(view.shape["demand"].shape[1]):
        total = control["promised"][0, r] if control["n_alive"][0] > 0 else view.clock["allowance"][0, r]
        if total != view.clock["total"][0, r]:
            changed = 1
            grew = grew | (total > view.clock["total"][0, r])
            view.clock["total"][0, r] = total
    if changed == 0 and control["shares_moved"][0] == 0:
        return 0
    control["shares_moved"][0] = 0
    queue, share = view.queue, sim.queue_share
    for r in range(view.shape["demand"].shape[1]):
        queue["guarantee"][0, r] = queue["maximum"][0, r] = view.clock["total"][0, r]
        for q in range(1, queue.shape[0]):  # parents come before their children
            above = queue["parent"][q]
            queue["guarantee"][q, r] = queue["guarantee"][above, r] * share["guarantee_permille"][q] // 1000
            queue["maximum"][q, r] = queue["maximum"][above, r] * share["maximum_permille"][q] // 1000
    # Who was held back may go now; less to share helps nobody, except that an AM limit may count from another base.
    if grew or sim.setting["has_gate"][0]:
        control["epoch"][0] += 1
        control["news"][0] = 1
    return 1


@inlined
def look_at_promises(sim, now):
    """Once an instant, if anybody waits: all nodes have told what they use, and queues know what they share."""
    control = sim.control
    if control["waiting"][0] == 0 or control["promised_at_ms"][0] == now or sim.setting["shares_out"][0] == 0:
        return
    control["promised_at_ms"][0] = now
    if sim.setting["reports_matter"][0]:
        catch_up_reports(sim, now)
    if sim.setting["oracle"][0]:  # its answer changes with time alone
        for n in range(sim.shown.node.shape[0]):
            if sim.shown.node["alive"][n]:
                resize(sim, n)
    share_out(sim)
