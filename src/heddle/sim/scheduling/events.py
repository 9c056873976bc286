"""Events to the levers that listen to them, one at a time, in the order in which they happen (policy/delivery.py)."""

from __future__ import annotations

from heddle.model.compiled import inlined
from heddle.model.view import EVENT_REPORTED, EVENT_TICK
from heddle.policy.delivery import DELIVERY, LOOK_AGAIN, NEW_KEYS
from heddle.policy.question import Question
from heddle.sim.books import note_in_pass
from heddle.sim.codes import ONLY_REPORTS
from heddle.sim.numba import hooks
from heddle.sim.numba.units import unit

OF_QUEUES = DELIVERY[Question.QUEUES].one_means
OF_ADMISSION = DELIVERY[Question.ADMISSION].one_means
OF_SIZING = DELIVERY[Question.SIZING].one_means
OF_PARTITION = DELIVERY[Question.PARTITION].one_means
OF_ORDERING = DELIVERY[Question.ORDERING].one_means
OF_PLACEMENT = DELIVERY[Question.PLACEMENT].one_means


@inlined
def look_again(sim):
    """Admission, a pool's limit or a veto may say something else by now: news for every node."""
    sim.control["news"][0] = 1
    sim.control["epoch"][0] += 1
    note_in_pass(sim)


@inlined
def _hears(sim, kind, listens, every_ms):
    return listens >> kind & 1 and (kind != EVENT_TICK or sim.shown.clock["now_ms"][0] % every_ms == 0)


@unit
def tell_levers(sim, kind, node, stage, container, value):
    """Tells all that listen. Not 0 if one of them takes back what it said before, or if keys depend on time."""
    setting = sim.setting
    changed = 0
    if _hears(sim, kind, setting["queues_listens"][0], setting["queues_every_ms"][0]):
        changed |= OF_QUEUES * (hooks.queues_event(sim, kind, node, stage, container, value) != 0)
    if _hears(sim, kind, setting["admission_listens"][0], setting["admission_every_ms"][0]):
        changed |= OF_ADMISSION * (hooks.admission_event(sim, kind, node, stage, container, value) != 0)
    if _hears(sim, kind, setting["sizing_listens"][0], setting["sizing_every_ms"][0]):
        changed |= OF_SIZING * (hooks.sizing_event(sim, kind, node, stage, container, value) != 0)
    if _hears(sim, kind, setting["partition_listens"][0], setting["partition_every_ms"][0]):
        changed |= OF_PARTITION * (hooks.partition_event(sim, kind, node, stage, container, value) != 0)
    if _hears(sim, kind, setting["ordering_listens"][0], setting["ordering_every_ms"][0]):
        changed |= OF_ORDERING * (hooks.ordering_event(sim, kind, node, stage, container, value) != 0)
    if _hears(sim, kind, setting["placement_listens"][0], setting["placement_every_ms"][0]):
        changed |= OF_PLACEMENT * (hooks.placement_event(sim, kind, node, stage, container, value) != 0)
    if setting["keys_with_time"][0] and kind == EVENT_TICK:
        changed |= NEW_KEYS * (sim.shown.clock["now_ms"][0] % setting["ordering_every_ms"][0] == 0)
    if changed & NEW_KEYS:
        sim.control["keys_changed"][0] = 1  # settle() asks for them anew
    if changed & LOOK_AGAIN:
        look_again(sim)
    return changed


@inlined
def tell_reported(sim, n, count):
    """Node n reported its use, so many times in a row the same.

    Only sizing and partition hear of it. They are told here, because reports are many and the others cost a look each.
    """
    if sim.control["idle"][0] == ONLY_REPORTS:
        sim.control["idle"][0] = 0
    if sim.setting["sizing_listens"][0] >> EVENT_REPORTED & 1:
        hooks.sizing_event(sim, EVENT_REPORTED, n, -1, -1, count)
    if (
        sim.setting["partition_listens"][0] >> EVENT_REPORTED & 1
        and hooks.partition_event(sim, EVENT_REPORTED, n, -1, -1, count) != 0
    ):
        look_again(sim)
