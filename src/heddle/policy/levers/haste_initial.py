"""HaSTE's initial task assignment (the second paper): a knapsack for each node of a cluster that runs no task yet.

Of the tasks that wait, those are taken that use most of the node, resources weighted equally: a bounded knapsack over
memory and vcores by dynamic programming, with requests of one shape as one class of equal items. Memory and vcores are
counted in units of the greatest common divisor of all demands; where that makes too many cells, in coarser ones.
    best(i, m, v) = max over k of  k * value_i + best(i + 1, m - k * memory_i, v - k * vcores_i)
The fewest items on ties. The plan is for the offer that is being made: what another node's offer interrupts is dropped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from heddle.model.compilable import callable_too
from heddle.model.resources import MEMORY, ONE, VCORES
from heddle.model.view import JOB_FINISHED
from heddle.model.workload import EXECUTORS, TASKS
from heddle.policy.form import NodePlans
from heddle.policy.labels import may_go_to
from heddle.policy.lever import Column, State
from heddle.policy.policy import Setup

MOST_CELLS = 4096
MOST_CLASSES = 32
# What all functions here keep: a knapsack, with shapes as its classes, and the plan. Round 1 has begun at first: no
# task runs, and no node has had its plan.
PLANS = State(
    node="planned_in",  # the round in which the node had its plan
    table=("n_tasks", "round", "planned_node", "first_job", "last_job", Column("unit", per_resource=True)),
    lists=("classes", "counts", "best", "plan", "waiting"),  # plan and waiting: of each shape
    spans=(("first_job", "last_job"),),
)


def room_for_plans(setup: Setup) -> dict[str, Any]:
    demand, view, table = setup.view.shape["demand"], setup.view, setup.state.table
    table["round"], table["last_job"] = 1, -1
    most = view.node["allowance"].max(axis=0, initial=0) * (view.clock["counts"][0] != 0)
    units = [max(1, int(np.gcd.reduce(demand[:, r]))) for r in (MEMORY, VCORES)]
    while (most[MEMORY] // units[MEMORY] + 1) * (most[VCORES] // units[VCORES] + 1) > MOST_CELLS:
        units[MEMORY if most[MEMORY] // units[MEMORY] >= most[VCORES] // units[VCORES] else VCORES] *= 2
    table["unit"][0, :2] = units
    lengths = {"best": (MOST_CLASSES + 1) * MOST_CELLS, "plan": len(demand), "waiting": len(demand)}
    return {name: np.zeros(lengths.get(name, MOST_CLASSES)) for name in PLANS.lists}


def _due(state: Any) -> bool:
    return bool(state.table["n_tasks"][0] == 0)


def _begin(state: Any, n_jobs: int) -> None:
    state.table["last_job"] = n_jobs - 1


def _planned(state: Any, node: int) -> list[int]:
    return [int(count) for count in state.plan] if state.table["planned_node"][0] == node + 1 else []


NODE_PLANS = NodePlans(_due, _begin, _planned)


@callable_too
def skip_ended(view, state):
    """The first job that has not ended."""
    table = state.table
    while table["first_job"][0] <= table["last_job"][0] and view.job["state"][table["first_job"][0]] >= JOB_FINISHED:
        table["first_job"][0] += 1


@callable_too
def count_waiting_shapes(view, state, node):
    """How many tasks of each shape wait that may go to this node and need nothing but memory and vcores."""
    table, waiting = state.table, state.waiting
    for shape in range(waiting.shape[0]):
        waiting[shape] = 0
    skip_ended(view, state)
    for job in range(table["first_job"][0], table["last_job"][0] + 1):
        if view.job["waiting"][job] > 0:
            first = view.job_spec["first_stage"][job]
            for stage in range(first, first + view.job_spec["n_stages"][job]):
                kind, label = view.stage_spec["kind"][stage], view.stage_spec["label"][stage]
                if kind in (TASKS, EXECUTORS) and may_go_to(view, label, node):
                    waiting[view.stage_spec["shape"][stage]] += view.stage["waiting"][stage]
    for shape in range(state.plan.shape[0]):
        wanted, other = 0, 0
        for r in range(view.shape["demand"].shape[1]):
            if view.clock["counts"][0, r] and r <= VCORES:
                wanted += view.shape["demand"][shape, r]
            elif view.clock["counts"][0, r]:
                other += view.shape["demand"][shape, r]
        if wanted == 0 or other > 0:
            waiting[shape] = 0


@callable_too
def in_units(view, state, shape, r):
    """What one item of a class takes of the knapsack."""
    if view.clock["counts"][0, r] == 0:
        return 0
    return -(-view.shape["demand"][shape, r] // state.table["unit"][0, r])


@callable_too
def room_in_units(view, state, node, r):
    if view.clock["counts"][0, r] == 0:
        return 0
    free = view.node["total"][node, r] - view.node["allocated"][node, r]  # less than nothing after a node was shrunk
    return max(0, min(free, view.node["allowance"][node, r])) // state.table["unit"][0, r]


@callable_too
def value_of(view, node, shape):
    """The part of the node that one item uses, all resources weighted equally."""
    value = 0
    for r in (MEMORY, VCORES):
        if view.clock["counts"][0, r] and view.node["allowance"][node, r] > 0:
            value += view.shape["demand"][shape, r] * ONE // view.node["allowance"][node, r]
    return value


@callable_too
def most_items(state, place, memory, vcores, takes_memory, takes_vcores):
    """How many items of a class fit, and there are."""
    most = state.counts[place]
    if takes_memory > 0:
        most = min(most, memory // takes_memory)
    if takes_vcores > 0:
        most = min(most, vcores // takes_vcores)
    return most


@callable_too
def choose_items(view, state, node, n_classes):
    """The knapsack: writes the plan, how many of each class."""
    best_of = state.best
    memory, vcores = room_in_units(view, state, node, MEMORY), room_in_units(view, state, node, VCORES)
    width = vcores + 1
    for cell in range((memory + 1) * width):
        best_of[n_classes * MOST_CELLS + cell] = 0
    for i in range(n_classes - 1, -1, -1):
        shape = state.classes[i]
        takes_memory, takes_vcores = in_units(view, state, shape, MEMORY), in_units(view, state, shape, VCORES)
        step, value = takes_memory * width + takes_vcores, value_of(view, node, shape)
        here, behind = i * MOST_CELLS, (i + 1) * MOST_CELLS
        for m in range(memory + 1):
            for v in range(width):
                cell = m * width + v
                best = best_of[behind + cell]
                for k in range(1, most_items(state, i, m, v, takes_memory, takes_vcores) + 1):
                    best = max(best, k * value + best_of[behind + cell - k * step])
                best_of[here + cell] = best
    for i in range(n_classes):
        shape = state.classes[i]
        takes_memory, takes_vcores = in_units(view, state, shape, MEMORY), in_units(view, state, shape, VCORES)
        value, behind = value_of(view, node, shape), (i + 1) * MOST_CELLS
        best = best_of[i * MOST_CELLS + memory * width + vcores]
        k = 0
        while k * value + best_of[behind + memory * width + vcores] != best:
            k += 1
            memory -= takes_memory
            vcores -= takes_vcores
        state.plan[shape] = k


@callable_too
def plan_offer(view, state, node):
    """Something can go to the node: if it has had no plan in this round, now it has."""
    table = state.table
    if table["planned_node"][0] != node + 1:
        table["planned_node"][0] = 0
    if state.node["planned_in"][node] == table["round"][0]:
        return
    state.node["planned_in"][node] = table["round"][0]
    table["planned_node"][0] = node + 1
    count_waiting_shapes(view, state, node)
    n_classes = 0
    for shape in range(state.plan.shape[0]):
        state.plan[shape] = 0
        waiting = state.waiting[shape]
        if waiting > 0 and n_classes < MOST_CLASSES:
            state.classes[n_classes], state.counts[n_classes] = shape, waiting
            n_classes += 1
    choose_items(view, state, node, n_classes)


@callable_too
def is_planned(view, state, node, stage):
    shape = view.stage_spec["shape"][stage]
    kind = view.stage_spec["kind"][stage]
    if state.table["planned_node"][0] != node + 1 or kind not in (TASKS, EXECUTORS):
        return False
    return state.plan[shape] > 0


@callable_too
def task_came(view, state, node, stage):
    state.table["n_tasks"][0] += 1
    if is_planned(view, state, node, stage):
        state.plan[view.stage_spec["shape"][stage]] -= 1


@callable_too
def task_went(state):
    """When the last task is gone every node may have a plan again."""
    state.table["n_tasks"][0] -= 1
    if state.table["n_tasks"][0] == 0:
        state.table["round"][0] += 1
