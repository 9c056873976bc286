"""How many AMs are of use (`backlog`, beyond the paper).

The reserve says how many AMs *may* run. Where AMs and tasks are of one size half of the cluster goes to AMs, though a
few jobs have tasks enough for all of it. With `backlog` a further job starts only while the tasks in hand - those that
run or wait, and those that starting jobs will ask for - are no more than what fits beside the AMs and this share of it
again: enough not to run dry while an AM starts, and no more.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.view import JOB_FINISHED
from heddle.model.workload import AM, INNER
from heddle.policy.levers.admission_reserve import am_demand, declared_tasks, lost_ams


@callable_too
def work_of(view, job, r, with_done):
    """What a job's tasks that run or wait reserve, and those that are done if wanted; -1: it has not asked yet."""
    first = view.job_spec["first_stage"][job]
    total, count = 0, 0
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        if view.stage_spec["kind"][stage] != AM and view.stage_spec["kind"][stage] != INNER:
            in_hand = view.stage["waiting"][stage] + view.stage["held"][stage]
            count += in_hand + view.stage["done"][stage]
            if with_done:
                in_hand += view.stage["done"][stage]
            total += in_hand * view.shape["demand"][view.stage_spec["shape"][stage], r]
    return total if count > 0 else -1


@callable_too
def more_is_wanted(view, state, params, job):
    """Whether the tasks in hand leave something to do for those of a further job, before or while its AM starts."""
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] == 0:
            continue
        in_hand, known, n_known, n_unknown = 0, 0, 0, 0
        other = state.table["newest"][0] - 1
        while other >= 0:
            if view.job["state"][other] < JOB_FINISHED:
                work = work_of(view, other, r, False)
                if work >= 0:
                    in_hand += work
                    known += work_of(view, other, r, True)
                    n_known += 1
                else:
                    work, n_tasks = declared_tasks(view, other, r)
                    in_hand += work
                    n_unknown += n_tasks == 0
            other = state.job["next"][other] - 1
        if n_unknown > 0 and n_known == 0:
            return False  # nobody can tell yet how much jobs ask for
        if n_known > 0:
            in_hand += n_unknown * (known // n_known)
        room = view.clock["allowance"][0, r] - view.clock["am_allocated"][0, r] - lost_ams(view, state, r)
        room -= am_demand(view, job, r)
        if in_hand > room + room * params.backlog // 1000:
            return False
    return True
