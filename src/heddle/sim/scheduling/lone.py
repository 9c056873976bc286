"""A request for one container that comes while nothing waits: it need not stand in line to be the first.

On a cluster with room that is nearly every request. It is remembered (control["lone_stage"]) until offers are made, or
until another one comes; what finds no room then waits as all others do. Only where nothing but room decides who goes
(setting["lone_goes_at_once"]).
"""

from __future__ import annotations

from heddle.model.compiled import inlined
from heddle.sim.numba import hooks
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.requests import bucket_of, insert, remove
from heddle.sim.scheduling.room import find_node

NONE = -1


@unit
def stand_in_line(sim):
    """The lone request waits like any other from now on."""
    stage = sim.control["lone_stage"][0]
    sim.control["lone_stage"][0] = NONE
    insert(sim, bucket_of(sim, stage), stage, hooks.key(sim, stage))
    return 0


@unit
def node_for_lone(sim):
    """Where the lone request goes; -1: there is no room, and it stands in line."""
    stage = sim.control["lone_stage"][0]
    n = find_node(sim, stage, sim.bucket["want"][bucket_of(sim, stage)])
    if n < 0:
        stand_in_line(sim)
        return -1
    return n


@inlined
def leave_line(sim, stage):
    """The stage, which waits, does so no more."""
    if sim.control["lone_stage"][0] == stage:
        sim.control["lone_stage"][0] = NONE
    else:
        remove(sim, stage)
