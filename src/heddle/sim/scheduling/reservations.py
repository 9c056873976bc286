"""Nodes that are kept for requests that did not fit there: a list of them for each stage; who may have one."""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.sim.codes import AS_CAPACITY, IF_STARVED
from heddle.sim.linked import link_first, unlink
from heddle.sim.numba import hooks
from heddle.sim.scheduling.near_tasks import task_near


@inlined
def _keep_node(sim, n, stage):
    """Node n, which is kept for nobody, is kept for the stage."""
    keeping, node_run = sim.keeping, sim.node_run
    link_first(node_run["next_kept"], node_run["previous_kept"], keeping["first_node"], stage, n)
    keeping["count"][stage] += 1
    sim.shown.node["reserved_for"][n] = stage


@compiled
def free_node(sim, n):
    """Node n is kept for nobody any more."""
    keeping, node_run = sim.keeping, sim.node_run
    stage = sim.shown.node["reserved_for"][n]
    if stage < 0:
        return
    unlink(node_run["next_kept"], node_run["previous_kept"], keeping["first_node"], stage, n)
    keeping["count"][stage] -= 1
    sim.shown.node["reserved_for"][n] = -1
    starvation_may_show(sim)


@inlined
def free_nodes_of(sim, stage):
    """The stage waits for nothing any more: no node is kept for it."""
    if sim.setting["reserves"][0]:
        while sim.keeping["first_node"][stage] >= 0:
            free_node(sim, sim.keeping["first_node"][stage])


@inlined
def starvation_may_show(sim):
    """Something has changed by which a node may be kept now for somebody for whom it was not: news for every node."""
    if sim.setting["reserves"][0] == IF_STARVED:
        sim.control["epoch"][0] += 1


@inlined
def _could_fit(sim, n, stage):
    """Whether there would be room if nothing else were on the node."""
    view = sim.shown
    shape = view.stage_spec["shape"][stage]
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.shape["demand"][shape, r] > view.node["total"][n, r]:
            return False
    return True


@compiled
def stays_kept(sim, n, stage):
    """Whether node n is kept for the stage still. Who may not start keeps no node: those who could make room for it may
    need that very node."""
    job = sim.shown.stage_spec["job"][stage]
    if sim.bucket["gated"][sim.stage_run["bucket"][stage]] and hooks.admits(sim, job) != 0:
        return False
    if sim.setting["reserves"][0] == AS_CAPACITY:
        return True
    if sim.setting["has_queue_limits"][0] and hooks.queue_allows(sim, stage) != 0:
        return False
    return _could_fit(sim, n, stage)


@compiled
def _nodes_left(sim, n, stage):
    """Whether one more node may be kept for the job: of all, or of the rack where only its rack is near."""
    view = sim.shown
    near = task_near(sim, stage, n) if sim.setting["has_preferences"][0] else -1
    if near >= 0 and sim.prefers[near] == n:
        return True
    job = view.stage_spec["job"][stage]
    first = view.job_spec["first_stage"][job]
    kept = 0
    for other in range(first, first + view.job_spec["n_stages"][job]):
        node = sim.keeping["first_node"][other]
        while node >= 0:
            kept += near < 0 or view.node["rack"][node] == view.node["rack"][n]
            node = sim.node_run["next_kept"][node]
    alive = sim.control["n_alive"][0]
    if near >= 0:
        alive = 0
        for node in range(view.node.shape[0]):
            alive += view.node["alive"][node] != 0 and view.node["rack"][node] == view.node["rack"][n]
    return kept < -(-sim.setting["reservable_permille"][0] * alive // 1000)


@compiled
def reserve(sim, n, stage):
    """Keeps node n for the stage, which does not fit there now, if the form of reservation lets it."""
    view, form = sim.shown, sim.setting["reserves"][0]
    if not _could_fit(sim, n, stage):
        return False
    if form == AS_CAPACITY and sim.keeping["count"][stage] >= view.stage["waiting"][stage]:
        return False
    if form == IF_STARVED:
        leaf = view.job["queue"][view.stage_spec["job"][stage]]
        if hooks.keeps(sim, stage, sim.queue_run["jobs"][leaf]) == 0 or not _nodes_left(sim, n, stage):
            return False
    _keep_node(sim, n, stage)
    return True
