"""The ordering of a simulated YARN that has the bridge: by the table that was put last, as Candidates.java weighs.

What the table does not name comes after all that it names, in stock order; AMs that it does not name come before.
Without a table everything is in stock order. (Who is held is told elsewhere: sim/scheduling/newcomers.py.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from heddle.model.compilable import callable_too
from heddle.model.view import EVENT_ALLOCATED
from heddle.model.workload import AM
from heddle.policy.lever import Ordering, State, several
from heddle.policy.levers.haste import PLANNED, between
from heddle.policy.levers.haste_initial import MOST_CLASSES
from heddle.policy.levers.haste_urgency import ALIGNMENT_BITS
from heddle.policy.levers.leaf_order import LEAF_ORDER
from heddle.policy.levers.leaf_order import key as stock_key
from heddle.policy.levers.packing import alignment as dot_product
from heddle.policy.policy import Setup

NOT_NAMED: Final = (1 << 63) - 1  # in place of a key
FAR: Final = 3 << 61  # so far below or above all keys of a table are those of requests that it does not name
KINDS: Final = ("", "key", "fit", "scaled", "aligned")  # by their number below; 0: there is no table
NO_TABLE, BY_KEY, BY_FIT, SCALED = range(4)


def _prepare(setup: Setup) -> dict[str, Any]:
    n_stages, n_shapes = len(setup.view.stage), len(setup.view.shape)
    return {
        "keys": np.full(n_stages, NOT_NAMED),
        "terms": np.zeros(n_stages, np.int64),
        "least_terms": np.full(n_shapes, NOT_NAMED),
    }


def _key(view, state, params, stage):  # type: ignore[no-untyped-def]
    if state.keys[stage] != NOT_NAMED:
        return state.keys[stage]
    stock = stock_key(view, state, params, stage)
    if state.table["kind"][0] == NO_TABLE:
        return stock
    return stock - FAR if view.stage_spec["kind"][stage] == AM else stock + FAR


def _term(view, state, params, stage):  # type: ignore[no-untyped-def]
    return state.terms[stage]


@callable_too
def _place_in_plan(view, state, node, stage):  # type: ignore[no-untyped-def]
    """Where in the node's plan the size of this request stands, if it has one and any are left of it; -1."""
    shape = view.stage_spec["shape"][stage]
    for i in range(state.node["n_planned"][node]):
        if state.node["planned_shape"][node, i] == shape and state.node["planned_left"][node, i] > 0:
            return i
    return -1


def _fit(view, state, params, node, stage):  # type: ignore[no-untyped-def]
    value = dot_product(view, state, params, node, stage) if state.table["fitness"][0] else 0
    return value + PLANNED if _place_in_plan(view, state, node, stage) >= 0 else value


@callable_too
def _has_room(view, node, shape):  # type: ignore[no-untyped-def]
    for r in range(view.shape["demand"].shape[1]):
        free = view.node["total"][node, r] - view.node["allocated"][node, r]
        if view.clock["counts"][0, r] and view.shape["demand"][shape, r] > free:
            return False
    return True


def _offer(view, state, params, node):  # type: ignore[no-untyped-def]
    """The least term of all that the table names, of any leaf, whose size fits now."""
    least = NOT_NAMED
    if state.table["kind"][0] >= SCALED:
        for shape in range(state.least_terms.shape[0]):
            if state.least_terms[shape] < least and _has_room(view, node, shape):
                least = state.least_terms[shape]
    state.table["least_term"][0] = least if least != NOT_NAMED else 0
    return 0


def _combine(  # type: ignore[no-untyped-def]
    view, state, params, key, fit, term, n, sum_key, sum_fit, min_key, max_key, min_fit, max_fit, min_term, max_term
):
    table = state.table
    kind = table["kind"][0]
    named = -(FAR >> 1) < key < FAR >> 1
    if not named or kind == NO_TABLE or key < table["ahead_below"][0]:
        return -key
    if fit >= PLANNED:
        return PLANNED
    if kind == BY_KEY:
        return 0
    if kind == BY_FIT:
        return fit
    value = between(fit, min_fit, max_fit) + between(term, table["least_term"][0], max_term)
    if kind == SCALED:
        return value
    # What the table does not name counts as not aligned.
    least, most = -max_key >> ALIGNMENT_BITS if max_key < FAR >> 1 else 0, -min_key >> ALIGNMENT_BITS
    return value + table["alignment_milli"][0] * between(-key >> ALIGNMENT_BITS, least, most) // 1000


def _allocated(view, state, params, kind, node, stage, container, value):  # type: ignore[no-untyped-def]
    """It may be one of a plan."""
    place = _place_in_plan(view, state, node, stage)
    if place >= 0:
        state.node["planned_left"][node, place] -= 1
    return 0


TABLED: Final = Ordering(
    name="tabled",
    summary="as the table in the bridge says",
    key=_key,
    term=_term,
    fit=_fit,
    combine=_combine,
    offer=_offer,
    on_event=_allocated,
    listens=(EVENT_ALLOCATED,),
    parameters=LEAF_ORDER.parameters,
    state=State(
        node=("n_planned", *several(MOST_CLASSES, "planned_shape", "planned_left")),
        table=("kind", "fitness", "alignment_milli", "ahead_below", "least_term"),
        lists=("keys", "terms", "least_terms"),
    ),
    prepare=_prepare,
    depends_on="allocations",
)
# Where nodes are offered all at once, who goes by keys alone may choose among them.
TABLED_BY_KEY: Final = replace(TABLED, name="tabled-by-key", fit=None, combine=None, term=None, offer=None)
