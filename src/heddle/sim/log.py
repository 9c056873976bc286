"""The log of a run, if one is kept: what happened to jobs and nodes, and the life of every attempt.

An attempt is one row, written when it ends: its slot remembers what came before. What happened in which order within
one instant is told by places, which count everything.
"""

from __future__ import annotations

from heddle.model.compiled import inlined
from heddle.sim.codes import LAUNCHING, NEVER
from heddle.sim.numba.units import unit


@inlined
def next_place(sim):
    """A number for something that happens now, higher than those of all that happened before."""
    place = sim.control["n_places"][0]
    sim.control["n_places"][0] = place + 1
    return place


@unit
def note(sim, kind, code, job, stage, node, value):
    """Writes a row to the log. Ask `sim.setting["logging"][0]` first: most runs keep none."""
    i = sim.control["n_log"][0]
    sim.control["n_log"][0] = i + 1
    sim.log["place"][i] = next_place(sim)
    sim.log["at_ms"][i] = sim.shown.clock["now_ms"][0]
    sim.log["kind"][i] = kind
    sim.log["code"][i] = code
    sim.log["job"][i] = job
    sim.log["stage"][i] = stage
    sim.log["node"][i] = node
    sim.log["value"][i] = value
    return 0


@unit
def keep_attempt(sim, s, outcome):
    """Slot s ends now: writes down its attempt. Ask `sim.setting["logging"][0]` first."""
    attempt, slot, container = sim.attempt, sim.slot, sim.shown.container
    i = sim.control["n_attempts"][0]
    sim.control["n_attempts"][0] = i + 1
    task = slot["task"][s]
    started = slot["phase"][s] != LAUNCHING
    for r in range(sim.shown.shape["demand"].shape[1]):
        attempt["used_ms"][i, r] = slot["used_ms"][s, r]
    attempt["asked_at_ms"][i] = slot["asked_at_ms"][s]
    attempt["allocated_at_ms"][i] = container["allocated_at_ms"][s]
    attempt["allocated_place"][i] = slot["allocated_place"][s]
    attempt["started_at_ms"][i] = container["started_at_ms"][s] if started else NEVER
    attempt["started_place"][i] = slot["started_place"][s]
    attempt["fetched_at_ms"][i] = slot["fetched_at_ms"][s]
    if slot["fetched_at_ms"][s] != NEVER:
        attempt["fetched_place"][i] = slot["fetched_place"][s]
        attempt["fetch_ms"][i] = slot["fetched_at_ms"][s] - slot["fetching_since_ms"][s]
        attempt["fetched_bytes"][i] = slot["fetched_bytes"][s]
        attempt["cross_rack_bytes"][i] = slot["cross_rack_bytes"][s]
    attempt["ended_at_ms"][i] = sim.shown.clock["now_ms"][0]
    attempt["ended_place"][i] = next_place(sim)
    attempt["task"][i] = task
    attempt["stage"][i] = container["stage"][s]
    attempt["node"][i] = container["node"][s]
    attempt["attempt"][i] = sim.task["attempts"][task] - started
    attempt["outcome"][i] = outcome
    return 0
