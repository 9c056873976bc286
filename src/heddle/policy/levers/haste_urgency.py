"""HaSTE's urgency: how much a job needs its next task.

Our copy of the paper lost the formula, not its three rules: more map progress makes maps more urgent (R1), so
do more resources held by the job's reduces (R2), and reduces are more urgent than maps iff their part of what the
job holds is below map progress (R3). With p = assigned / all maps, O_m and O_r what maps and reduces hold
(demands as parts of the cluster, summed over resources), O_r not below one reduce:
    U_m = p * (O_m + O_r)          U_r = U_m * p * (O_m + O_r) / O_r
`urgency=assigned` has all that were ever assigned in U_m, in place of what is held now; `progress=finished` counts in p
only maps that have finished. Reduces are the stages that may start early; maps are all others of the same iteration.

The paper scales each term between its least and its most among all requests that fit. Here requests of one size are
compared by the most urgent of them alone, and the least of these is not the least of all, so that it is looked for
among all requests.

`hold_reduces` is not in the paper: reduces are not urgent while maps of their own job wait, because they would only
hold their containers idle. By R3 they are, as long as they hold less than their part.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.resources import ONE
from heddle.model.workload import AM, EXECUTORS, INNER, TASKS
from heddle.policy.labels import may_go_to
from heddle.policy.levers.haste_initial import skip_ended

RUNNING, ASSIGNED, NO_URGENCY = 0, 1000, 2000
FINISHED = 1000  # of `progress`
ALIGNMENT_BITS = 40  # in a key, alignment stands above urgency
MOST_URGENT = (1 << ALIGNMENT_BITS) - 1


@callable_too
def normalised(view, stage):
    """What one container of the stage wants, as parts of the cluster, summed over the resources that count."""
    total = 0
    shape = view.stage_spec["shape"][stage]
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.clock["allowance"][0, r] > 0:
            total += view.shape["demand"][shape, r] * ONE // view.clock["allowance"][0, r]
    return total


@callable_too
def urgency_of(view, params, stage):
    """U_m or U_r of the stage; 0 for AMs."""
    form = params.urgency
    if form == NO_URGENCY or view.stage_spec["kind"][stage] == AM:
        return 0
    job, iteration = view.stage_spec["job"][stage], view.stage_spec["iteration"][stage]
    maps, maps_passed, maps_waiting, of_maps, of_reduces, ever = 0, 0, 0, 0, 0, 0
    first = view.job_spec["first_stage"][job]
    for other in range(first, first + view.job_spec["n_stages"][job]):
        kind = view.stage_spec["kind"][other]
        if kind in (AM, INNER) or view.stage_spec["iteration"][other] != iteration:
            continue
        held, done, one = view.stage["held"][other], view.stage["done"][other], normalised(view, other)
        ever += (held + done) * one
        if view.stage_spec["slow_start_permille"][other] < 0:
            maps += view.stage_spec["n_tasks"][other]
            maps_passed += done if params.progress == FINISHED else held + done
            maps_waiting += view.stage["waiting"][other]
            of_maps += held * one
        else:
            of_reduces += held * one
    progress = maps_passed * ONE // max(1, maps)
    due = progress * (of_maps + of_reduces) // ONE  # what reduces would hold if their part were the maps' progress
    of_map = progress * ever // ONE if form == ASSIGNED else due  # U_m
    if view.stage_spec["slow_start_permille"][stage] < 0:
        return min(of_map, MOST_URGENT)
    if params.hold_reduces != 0 and maps_waiting > 0:
        return 0
    of_reduce = of_map * due // max(1, max(of_reduces, normalised(view, stage)))  # U_r
    return min(of_reduce, MOST_URGENT)


@callable_too
def could_go(view, node, stage):
    """A task's request that the node could take, by label and by what is free."""
    label = view.stage_spec["label"][stage]
    if view.stage["waiting"][stage] == 0 or view.stage_spec["kind"][stage] not in (TASKS, EXECUTORS):
        return False
    if not may_go_to(view, label, node):
        return False
    shape = view.stage_spec["shape"][stage]
    for r in range(view.shape["demand"].shape[1]):
        free = view.node["total"][node, r] - view.node["allocated"][node, r]
        if view.clock["counts"][0, r] and view.shape["demand"][shape, r] > free:
            return False
    return True


@callable_too
def least_urgency(view, state, params, node):
    """Of all requests that the node could take; the newest jobs first, of which one has mostly begun with nothing."""
    least = -1
    skip_ended(view, state)
    for job in range(state.table["last_job"][0], state.table["first_job"][0] - 1, -1):
        if view.job["waiting"][job] > 0:
            first = view.job_spec["first_stage"][job]
            for stage in range(first, first + view.job_spec["n_stages"][job]):
                if could_go(view, node, stage):
                    urgent = urgency_of(view, params, stage)
                    least = urgent if least < 0 else min(least, urgent)
        if least == 0:
            break
    return max(0, least)
