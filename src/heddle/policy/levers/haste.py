"""HaSTE and HaSTE-A (the second paper): the request that suits the node best and that its job needs most.

For the requests that fit a node, each term made a number from 0 to 1:
    preference = fitness + urgency                                  HaSTE
    preference = fitness + urgency + g * alignment                  HaSTE-A
AMs go first; a node of a cluster without tasks first gets what its knapsack holds (haste_initial.py).

Fitness is the dot product of what the request wants and what the node has free (FFD-DP).

Urgency is in haste_urgency.py.

Alignment, ours by the paper's description: 0 for jobs that are not iterative, 1 - 1 / (i + 2) in iteration i of
the others, so that they go earlier from the start and more so the further they are. g is `aggressiveness`, or by
itself the part of jobs so far that are not iterative; none when nearly all are.
"""

from __future__ import annotations

from dataclasses import replace

from heddle.model.compilable import callable_too
from heddle.model.resources import ONE
from heddle.model.view import EVENT_ALLOCATED, EVENT_ARRIVED, EVENT_FINISHED, EVENT_STOPPED
from heddle.model.workload import AM
from heddle.policy.lever import Form, Ordering, Parameter
from heddle.policy.levers.haste_initial import (
    NODE_PLANS,
    PLANS,
    is_planned,
    plan_offer,
    room_for_plans,
    task_came,
    task_went,
)
from heddle.policy.levers.haste_urgency import ALIGNMENT_BITS, NO_URGENCY, least_urgency, urgency_of
from heddle.policy.levers.packing import alignment as dot_product
from heddle.policy.shares import submission_rank

NEARLY_ALL = 900  # iterative jobs per mille from which on alignment means nothing
AM_FIRST = -(1 << 61)  # the keys of AMs lie around it, all others far above
AMS_BELOW = -(3 << 59)
PLANNED = 1 << 40  # added to the fit of a request in the node's plan; no fit is so large


@callable_too
def alignment_counts(state):
    """Whether not nearly all jobs so far are iterative."""
    return state.table["iterative"][0] * 1000 < NEARLY_ALL * state.table["jobs"][0]


@callable_too
def alignment_of(view, state, stage):
    if view.job_spec["iterative"][view.stage_spec["job"][stage]] == 0 or not alignment_counts(state):
        return 0
    return ONE - ONE // (view.stage_spec["iteration"][stage] + 2)


def urgency_key(view, state, params, stage):
    if view.stage_spec["kind"][stage] == AM:
        return AM_FIRST + submission_rank(view, stage)
    return -urgency_of(view, params, stage)


def alignment_key(view, state, params, stage):
    """Among requests of one size the most aligned goes first, then the most urgent."""
    if view.stage_spec["kind"][stage] == AM:
        return AM_FIRST + submission_rank(view, stage)
    aligned = alignment_of(view, state, stage) if params.aggressiveness != 0 else 0
    return -(aligned << ALIGNMENT_BITS) - urgency_of(view, params, stage)


def urgency(view, state, params, stage):
    return urgency_of(view, params, stage)


def fit(view, state, params, node, stage):
    value = dot_product(view, state, params, node, stage) if params.fitness != 0 else 0
    return value + PLANNED if is_planned(view, state, node, stage) else value


def offer(view, state, params, node):
    state.table["least_urgency"][0] = least_urgency(view, state, params, node) if params.urgency != NO_URGENCY else 0
    if params.initial != 0:
        plan_offer(view, state, node)
    return 0


@callable_too
def between(value, least, most):
    """Where a value lies between the least and the most, from 0 to ONE."""
    return (value - least) * ONE // (most - least) if most > least else 0


@callable_too
def preference(state, key, fit, term, min_fit, max_fit, max_term, aligned):
    if key < AMS_BELOW:
        return -key
    if fit >= PLANNED:
        return PLANNED
    return between(fit, min_fit, max_fit) + between(term, state.table["least_urgency"][0], max_term) + aligned


@callable_too
def alignment_weight(state, params):
    """In thousandths; by itself the part of jobs that are not iterative."""
    if params.aggressiveness >= 0:
        return params.aggressiveness
    return 1000 - 1000 * state.table["iterative"][0] // max(1, state.table["jobs"][0])


def fitness_and_urgency(
    view, state, params, key, fit, term, n, sum_key, sum_fit, min_key, max_key, min_fit, max_fit, min_term, max_term
):
    return preference(state, key, fit, term, min_fit, max_fit, max_term, 0)


def with_alignment(
    view, state, params, key, fit, term, n, sum_key, sum_fit, min_key, max_key, min_fit, max_fit, min_term, max_term
):
    milli = alignment_weight(state, params)
    # Alignment stands first in a key, so that the extremes of keys have the extremes of alignment (no AM among them).
    least, most = -max_key >> ALIGNMENT_BITS, -min_key >> ALIGNMENT_BITS
    aligned = milli * between(-key >> ALIGNMENT_BITS, least, most) // 1000
    return preference(state, key, fit, term, min_fit, max_fit, max_term, aligned)


def observe(view, state, params, kind, node, stage, container, value):
    if kind == EVENT_ARRIVED:
        job = view.stage_spec["job"][stage]
        state.table["last_job"][0] = max(state.table["last_job"][0], job)
        counted = alignment_counts(state)
        state.table["jobs"][0] += 1
        state.table["iterative"][0] += view.job_spec["iterative"][job] != 0
        return 1 if alignment_counts(state) != counted else 0
    if view.stage_spec["kind"][stage] != AM:
        if kind == EVENT_ALLOCATED:
            task_came(view, state, node, stage)
        else:
            task_went(state)
    return 0


PARAMETERS = (
    Parameter(
        "urgency",
        "running",
        "from what a job holds now, from all it was ever assigned, or not at all",
        choices=("running", "assigned", "none"),
    ),
    Parameter("fitness", True, "false leaves out how well a request suits the node"),
    Parameter("initial", True, "false leaves out the knapsack of a cluster without tasks"),
    Parameter("progress", "assigned", "of maps: those assigned so far, or finished", choices=("assigned", "finished")),
    Parameter("hold_reduces", False, "reduces are not urgent while maps of their job wait; not in the paper"),
)

HASTE = Ordering(
    name="haste",
    summary="the request that suits the node best and that its job needs most: idle reduces make maps urgent",
    key=urgency_key, term=urgency, fit=fit, combine=fitness_and_urgency, offer=offer, on_event=observe,
    parameters=PARAMETERS,
    state=replace(PLANS, table=(*PLANS.table, "jobs", "iterative", "least_urgency")),
    listens=(EVENT_ARRIVED, EVENT_ALLOCATED, EVENT_FINISHED, EVENT_STOPPED),
    prepare=room_for_plans,
    depends_on="allocations",
    form=Form("scaled", fitness="fitness", ahead_below=AMS_BELOW, plans=NODE_PLANS),
)  # fmt: skip

HASTE_A = replace(
    HASTE,
    name="haste-a",
    summary="haste, with iterative jobs earlier the further they have come",
    key=alignment_key,
    combine=with_alignment,
    form=Form("aligned", fitness="fitness", ahead_below=AMS_BELOW, weight=alignment_weight, plans=NODE_PLANS),
    parameters=(
        *PARAMETERS,
        Parameter(
            "aggressiveness",
            "auto",
            "weight of alignment against fitness and urgency; auto: the part of jobs that are not iterative",
            low=0,
            high=10,
            choices=("auto",),
        ),
    ),
)
