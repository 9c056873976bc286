"""Events to the levers that listen to them, one at a time, in the order in which they happen."""

from __future__ import annotations

from heddle.sim.units import unit


@unit
def tell_levers(sim, kind, node, stage, container, value):  # type: ignore[no-untyped-def]
    setting = sim.setting
    if setting["admission_listens"][0] >> kind & 1:
        sim.call_admission_event(
            sim.known, sim.admission_state, sim.admission_params, kind, node, stage, container, value
        )
    if setting["sizing_listens"][0] >> kind & 1:
        sim.call_sizing_event(sim.known, sim.sizing_state, sim.sizing_params, kind, node, stage, container, value)
    if setting["partition_listens"][0] >> kind & 1:
        sim.call_partition_event(
            sim.known, sim.partition_state, sim.partition_params, kind, node, stage, container, value
        )
    if setting["ordering_listens"][0] >> kind & 1:
        sim.call_ordering_event(sim.known, sim.ordering_state, sim.ordering_params, kind, node, stage, container, value)
    if setting["placement_listens"][0] >> kind & 1:
        sim.call_placement_event(
            sim.known, sim.placement_state, sim.placement_params, kind, node, stage, container, value
        )
    return 0
