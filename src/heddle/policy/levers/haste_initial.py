"""HaSTE's initial task assignment (the second paper): a knapsack for each node of a cluster that runs no task yet.

Of the tasks that wait, those are taken that use most of the node, resources weighted equally: a bounded knapsack over
memory and vcores by dynamic programming, with requests of one shape as one class of equal items. Memory and vcores are
counted in units of the greatest common divisor of all demands; where that makes too many cells, in coarser ones.
    best(i, m, v) = max over k of  k * value_i + best(i + 1, m - k * memory_i, v - k * vcores_i)
The fewest items on ties. The plan is for the offer that is being made: what another node's offer interrupts is dropped.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from heddle.model.compiled import callable_too
from heddle.model.resources import MEMORY, ONE, VCORES
from heddle.model.view import JOB_FINISHED
from heddle.model.workload import EXECUTORS, TASKS
from heddle.policy.policy import Setup

MOST_CELLS = 4096
MOST_CLASSES = 32
# state.table
N_TASKS, ROUND, PLANNED_NODE, FIRST_JOB, LAST_JOB, N_SHAPES, UNIT_MB, UNIT_MILLI = 0, 1, 2, 3, 4, 5, 6, 7
FREE_COLUMN = 8  # what others keep in the same table lies here, up to ...
CLASSES = 12  # shapes in the knapsack; then their counts, best(), the plan and the waiting ones of each shape
COUNTS = CLASSES + MOST_CLASSES
BEST = COUNTS + MOST_CLASSES
PLAN = BEST + (MOST_CLASSES + 1) * MOST_CELLS
PLANNED_IN = 0  # column of state.node: the round in which the node had its plan


def table_for(setup: Setup) -> npt.NDArray[np.int64]:
    """Round 1 has begun: no task runs, and no node has had its plan."""
    demand, view = setup.view.shape["demand"], setup.view
    table = np.zeros(PLAN + 2 * len(demand), np.int64)
    table[ROUND], table[LAST_JOB], table[N_SHAPES] = 1, -1, len(demand)
    most = view.node["allowance"].max(axis=0, initial=0) * (view.clock["counts"][0] != 0)
    units = [max(1, int(np.gcd.reduce(demand[:, r]))) for r in (MEMORY, VCORES)]
    while (most[MEMORY] // units[MEMORY] + 1) * (most[VCORES] // units[VCORES] + 1) > MOST_CELLS:
        units[MEMORY if most[MEMORY] // units[MEMORY] >= most[VCORES] // units[VCORES] else VCORES] *= 2
    table[UNIT_MB], table[UNIT_MILLI] = units
    return table


@callable_too
def count_waiting_shapes(view, state, node):
    """How many tasks of each shape wait that may go to this node and need nothing but memory and vcores."""
    table = state.table
    waiting = PLAN + table[N_SHAPES]
    for shape in range(table[N_SHAPES]):
        table[waiting + shape] = 0
    while table[FIRST_JOB] <= table[LAST_JOB] and view.job["state"][table[FIRST_JOB]] >= JOB_FINISHED:
        table[FIRST_JOB] += 1
    for job in range(table[FIRST_JOB], table[LAST_JOB] + 1):
        if view.job["waiting"][job] > 0:
            first = view.job_spec["first_stage"][job]
            for stage in range(first, first + view.job_spec["n_stages"][job]):
                kind, label = view.stage_spec["kind"][stage], view.stage_spec["label"][stage]
                if kind in (TASKS, EXECUTORS) and (label == 0 or view.node["label"][node] == label):
                    table[waiting + view.stage_spec["shape"][stage]] += view.stage["waiting"][stage]
    for shape in range(table[N_SHAPES]):
        wanted, other = 0, 0
        for r in range(view.shape["demand"].shape[1]):
            if view.clock["counts"][0, r] and r <= VCORES:
                wanted += view.shape["demand"][shape, r]
            elif view.clock["counts"][0, r]:
                other += view.shape["demand"][shape, r]
        if wanted == 0 or other > 0:
            table[waiting + shape] = 0


@callable_too
def in_units(view, state, shape, r):
    """What one item of a class takes of the knapsack."""
    if view.clock["counts"][0, r] == 0:
        return 0
    return -(-view.shape["demand"][shape, r] // state.table[UNIT_MB + r])


@callable_too
def room_in_units(view, state, node, r):
    if view.clock["counts"][0, r] == 0:
        return 0
    free = view.node["total"][node, r] - view.node["allocated"][node, r]
    return min(free, view.node["allowance"][node, r]) // state.table[UNIT_MB + r]


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
    most = state.table[COUNTS + place]
    if takes_memory > 0:
        most = min(most, memory // takes_memory)
    if takes_vcores > 0:
        most = min(most, vcores // takes_vcores)
    return most


@callable_too
def choose_items(view, state, node, n_classes):
    """The knapsack: writes the plan, how many of each class."""
    table = state.table
    memory, vcores = room_in_units(view, state, node, MEMORY), room_in_units(view, state, node, VCORES)
    width = vcores + 1
    for cell in range((memory + 1) * width):
        table[BEST + n_classes * MOST_CELLS + cell] = 0
    for i in range(n_classes - 1, -1, -1):
        shape = table[CLASSES + i]
        takes_memory, takes_vcores = in_units(view, state, shape, MEMORY), in_units(view, state, shape, VCORES)
        step, value = takes_memory * width + takes_vcores, value_of(view, node, shape)
        here, behind = BEST + i * MOST_CELLS, BEST + (i + 1) * MOST_CELLS
        for m in range(memory + 1):
            for v in range(width):
                cell = m * width + v
                best = table[behind + cell]
                for k in range(1, most_items(state, i, m, v, takes_memory, takes_vcores) + 1):
                    best = max(best, k * value + table[behind + cell - k * step])
                table[here + cell] = best
    for i in range(n_classes):
        shape = table[CLASSES + i]
        takes_memory, takes_vcores = in_units(view, state, shape, MEMORY), in_units(view, state, shape, VCORES)
        value, behind = value_of(view, node, shape), BEST + (i + 1) * MOST_CELLS
        best = table[BEST + i * MOST_CELLS + memory * width + vcores]
        k = 0
        while k * value + table[behind + memory * width + vcores] != best:
            k += 1
            memory -= takes_memory
            vcores -= takes_vcores
        table[PLAN + shape] = k


@callable_too
def plan_offer(view, state, node):
    """Something can go to the node: if it has had no plan in this round, now it has."""
    table = state.table
    if table[PLANNED_NODE] != node + 1:
        table[PLANNED_NODE] = 0
    if state.node[node, PLANNED_IN] == table[ROUND]:
        return
    state.node[node, PLANNED_IN] = table[ROUND]
    table[PLANNED_NODE] = node + 1
    count_waiting_shapes(view, state, node)
    n_classes = 0
    for shape in range(table[N_SHAPES]):
        table[PLAN + shape] = 0
        waiting = table[PLAN + table[N_SHAPES] + shape]
        if waiting > 0 and n_classes < MOST_CLASSES:
            table[CLASSES + n_classes], table[COUNTS + n_classes] = shape, waiting
            n_classes += 1
    choose_items(view, state, node, n_classes)


@callable_too
def is_planned(view, state, node, stage):
    shape = view.stage_spec["shape"][stage]
    kind = view.stage_spec["kind"][stage]
    if state.table[PLANNED_NODE] != node + 1 or kind not in (TASKS, EXECUTORS):
        return False
    return state.table[PLAN + shape] > 0


@callable_too
def task_came(view, state, node, stage):
    state.table[N_TASKS] += 1
    if is_planned(view, state, node, stage):
        state.table[PLAN + view.stage_spec["shape"][stage]] -= 1


@callable_too
def task_went(state):
    """When the last task is gone every node may have a plan again."""
    state.table[N_TASKS] -= 1
    if state.table[N_TASKS] == 0:
        state.table[ROUND] += 1
