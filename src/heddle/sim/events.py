"""Events to the levers that listen to them, one at a time, in the order in which they happen."""

from __future__ import annotations

from heddle.model.compiled import inlined
from heddle.model.view import EVENT_REPORTED
from heddle.sim import hooks
from heddle.sim.units import unit


@unit
def tell_levers(sim, kind, node, stage, container, value):  # type: ignore[no-untyped-def]
    setting = sim.setting
    if setting["admission_listens"][0] >> kind & 1:
        hooks.admission_event(sim, kind, node, stage, container, value)
    if setting["sizing_listens"][0] >> kind & 1:
        hooks.sizing_event(sim, kind, node, stage, container, value)
    if setting["partition_listens"][0] >> kind & 1:
        hooks.partition_event(sim, kind, node, stage, container, value)
    if setting["ordering_listens"][0] >> kind & 1:
        hooks.ordering_event(sim, kind, node, stage, container, value)
    if setting["placement_listens"][0] >> kind & 1:
        hooks.placement_event(sim, kind, node, stage, container, value)
    return 0


@inlined
def tell_reported(sim, n, count):  # type: ignore[no-untyped-def]
    """Node n reported its use, so many times in a row the same. Only sizing and partition hear of it."""
    if sim.setting["sizing_listens"][0] >> EVENT_REPORTED & 1:
        hooks.sizing_event(sim, EVENT_REPORTED, n, -1, -1, count)
    if sim.setting["partition_listens"][0] >> EVENT_REPORTED & 1:
        hooks.partition_event(sim, EVENT_REPORTED, n, -1, -1, count)
