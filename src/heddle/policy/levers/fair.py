"""YARN's Fair scheduler: queues that have least go first; of memory, or of their dominant resource (DRF)."""

from __future__ import annotations

from heddle.model.resources import MEMORY, ONE
from heddle.policy.lever import Queues
from heddle.policy.queues import above_maximum

SATISFIED = 1 << 60  # queues that have their minimum share come after all that do not


def fair_key(view, state, params, queue):
    used, due = view.queue["allocated"][queue, MEMORY], view.queue["min_share"][queue, MEMORY]
    if used < due:
        return used * ONE // due
    return SATISFIED + used * 1000 // view.queue["weight_milli"][queue]


def drf_key(view, state, params, queue):
    share, dominant = -1, 0
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.clock["total"][0, r] > 0:
            mine = view.queue["allocated"][queue, r] * ONE // view.clock["total"][0, r]
            if mine > share:
                share, dominant = mine, r
    used, due = view.queue["allocated"][queue, dominant], view.queue["min_share"][queue, dominant]
    if used < due:
        return used * ONE // due
    return SATISFIED + max(share, 0) * 1000 // view.queue["weight_milli"][queue]


def limits(view, state, params, stage):
    return above_maximum(view, stage)


FAIR = Queues(
    name="fair",
    summary="YARN's Fair scheduler: the queue with the least memory per weight first",
    key=fair_key,
    allows=limits,
    dues="fair-share",
    settings_fixed=True,
    dues_in="memory",
    of_yarn=True,
)

DRF = Queues(
    name="drf",
    summary="dominant resource fairness: the queue with the smallest dominant share per weight first",
    key=drf_key,
    allows=limits,
    dues="fair-share",
    settings_fixed=True,
    of_yarn=True,
)
