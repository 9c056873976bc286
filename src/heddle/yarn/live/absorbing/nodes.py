"""Nodes: what they promise, what they report, whether they are there."""

from __future__ import annotations

import numpy as np

from heddle.model.compiled import compiled_live as compiled
from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.yarn.live.absorbing.events import write_event
from heddle.yarn.live.live_memory import N_RESOURCES, NODES, NOTHING, memory_at


@compiled
def see_nodes(address, nodes, counts_labels):
    """Totals: of each node, and of those that are there, what they hold where that is more. With none, what all may
    promise. Root has that of the nodes without a label, where its scheduler counts labels apart."""
    live = memory_at(address)
    n_alive, n_plain = 0, 0
    for r in range(N_RESOURCES):
        live.clock["total"][0, r] = live.clock["root_total"][0, r] = 0
    live.clock["labels_apart"][0] = 0
    for row in range(live.counts[NODES]):
        if counts_labels and live.node["label"][row] != 0:
            live.clock["labels_apart"][0] = 1
    for i in range(nodes.shape[0]):
        row = live.row_of_node[nodes["node"][i]]
        is_plain = live.node["label"][row] == 0 or live.clock["labels_apart"][0] == 0
        n_alive += nodes["alive"][i]
        n_plain += nodes["alive"][i] and is_plain
        for r in range(N_RESOURCES):
            live.node["total"][row, r] = nodes["total"][i, r]
            if nodes["alive"][i]:
                promised = max(nodes["total"][i, r], nodes["allocated"][i, r])
                live.clock["total"][0, r] += promised
                live.clock["root_total"][0, r] += promised if is_plain else 0
    for r in range(N_RESOURCES):
        if n_alive == 0:
            live.clock["total"][0, r] = live.clock["allowance"][0, r]
        if n_plain == 0:
            for row in range(live.counts[NODES]):
                if live.node["label"][row] == 0 or live.clock["labels_apart"][0] == 0:
                    live.clock["root_total"][0, r] += live.node["allowance"][row, r]


@compiled
def _use_that_counts(live, row, nodes, i):
    """What is used of a machine that one node has for itself, as far as it counts against what the node may promise.

    Memory that the operator has set aside, by promising less than the machine has, is there for others: it counts
    only what they use beyond it. Cores are counted in the node's vcores, as many as stand for the whole machine.
    """
    machine_mb = np.int64(0)
    if nodes["memory_share"][i] > 0:  # NaN is not
        machine_mb = np.int64(np.rint(nodes["used_memory_mb"][i] / nodes["memory_share"][i]))
    aside_mb = max(0, machine_mb - live.node["allowance"][row, MEMORY])
    others_mb = max(0, nodes["used_memory_mb"][i] - nodes["containers_memory_mb"][i])
    live.node["used"][row, MEMORY] = nodes["containers_memory_mb"][i] + max(0, others_mb - aside_mb)
    if np.isnan(nodes["cpu_share"][i]):
        live.node["used"][row, VCORES] = np.int64(np.rint(MILLI * nodes["physical_cores_used"][i]))
    else:
        share = np.int64(np.rint(nodes["cpu_share"][i] * live.node["allowance"][row, VCORES]))
        live.node["used"][row, VCORES] = max(live.node["containers_used"][row, VCORES], share)


@compiled
def report(address, nodes, rows, reports, at_ms, events):
    """These rows of `nodes` have reported their use, each so many times."""
    live = memory_at(address)
    for k in range(rows.shape[0]):
        i = rows[k]
        row = live.row_of_node[nodes["node"][i]]
        # The NM counts its containers' CPU in vcores as last told to it, which resizing changes: back to hardware.
        share = nodes["container_vcores_used"][i] * 1000 / max(1, nodes["total"][i, VCORES])
        live.node["containers_used"][row, MEMORY] = nodes["containers_memory_mb"][i]
        live.node["containers_used"][row, VCORES] = np.int64(np.rint(share * live.node["capacity"][row, VCORES]))
        if nodes["shares_host"][i]:
            for r in range(N_RESOURCES):
                live.node["used"][row, r] = live.node["containers_used"][row, r]
        else:
            _use_that_counts(live, row, nodes, i)
        live.node["reported_at_ms"][row] = at_ms
        live.node_reports[row] += reports[k]
        write_event(events, k, row, NOTHING, NOTHING, reports[k])


@compiled
def set_alive(address, names, alive, events):
    """These nodes, by the numbers of their names, are lost or have returned."""
    live = memory_at(address)
    for k in range(names.shape[0]):
        row = live.row_of_node[names[k]]
        live.node["alive"][row] = alive
        write_event(events, k, row, NOTHING, NOTHING, 0)
