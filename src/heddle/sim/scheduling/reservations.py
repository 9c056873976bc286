"""Nodes that are kept for requests that did not fit there: a list of them for each stage."""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.sim.linked import link_first, unlink


@inlined
def keep_node(sim, n, stage):
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


@inlined
def free_nodes_of(sim, stage):
    """The stage waits for nothing any more: no node is kept for it."""
    if sim.setting["reserves"][0]:
        while sim.keeping["first_node"][stage] >= 0:
            free_node(sim, sim.keeping["first_node"][stage])
