"""Events to the levers that listen to them, one at a time, in the order in which they happen."""

from __future__ import annotations

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
