"""What follows from the rows of jobs and nodes: settings of queues, and all sums."""

from __future__ import annotations

from heddle.model.compiled import compiled_live as compiled
from heddle.model.resources import MILLI
from heddle.model.view import JOB_ADMITTED
from heddle.yarn.live.live_memory import FIRST, LIVE_JOBS, MEMBERS, N_RESOURCES, POOLS, QUEUES, USED, memory_at


@compiled
def set_queues(address, queues):
    """Settings of the RM's queues, their shares of what root has now; what it does not list is whole."""
    live = memory_at(address)
    for row in range(live.counts[QUEUES]):
        for r in range(N_RESOURCES):
            live.queue["guarantee"][row, r] = live.queue["maximum"][row, r] = live.clock["root_total"][0, r]
    for i in range(queues.shape[0]):
        row = live.leaf_of_queue[queues["queue"][i]]
        for r in range(N_RESOURCES):
            total = live.clock["root_total"][0, r]
            told = queues["guarantee"][i, 0] >= 0
            live.queue["guarantee"][row, r] = (
                queues["guarantee"][i, r] if told else total * queues["guarantee_permille"][i] // MILLI
            )
            told = queues["maximum"][i, 0] >= 0
            live.queue["maximum"][row, r] = (
                queues["maximum"][i, r] if told else total * queues["maximum_permille"][i] // MILLI
            )
        live.queue["user_limit_percent"][row] = queues["user_limit_percent"][i]
        live.queue["user_limit_factor_milli"][row] = queues["user_limit_factor_milli"][i]
        live.queue["max_running_jobs"][row] = queues["max_running_jobs"][i]
        if live.queue["am_share_permille"][row] < 0:  # later it may be ours
            live.queue["am_share_permille"][row] = queues["am_share_permille"][i]
        if queues["found_permille"][i, 0] >= 0:
            for k in range(2):
                live.found_permille[row, k] = queues["found_permille"][i, k]


@compiled
def set_as_found(address):
    """Until the next look, guarantees and maxima are those that queues had before we set them."""
    live = memory_at(address)
    for row in range(live.counts[QUEUES]):
        if live.found_permille[row, 0] >= 0:
            for r in range(N_RESOURCES):
                total = live.clock["root_total"][0, r]
                live.queue["guarantee"][row, r] = total * live.found_permille[row, 0] // MILLI
                live.queue["maximum"][row, r] = total * live.found_permille[row, 1] // MILLI


@compiled
def add_up(address):
    """All sums over jobs, from their rows: anew, because jobs may change their queue and their pool."""
    live = memory_at(address)
    queue, member, pool, clock = live.queue, live.member, live.pool, live.clock
    for q in range(live.counts[QUEUES]):
        queue["running_jobs"][q] = queue["running_ams"][q] = queue["active_users"][q] = queue["waiting"][q] = 0
        for r in range(N_RESOURCES):
            queue["allocated"][q, r] = queue["am_allocated"][q, r] = 0
    for m in range(live.counts[MEMBERS]):
        member["waiting"][m] = 0
        for r in range(N_RESOURCES):
            member["allocated"][m, r] = 0
    for p in range(live.counts[POOLS]):
        for r in range(N_RESOURCES):
            pool["allocated"][p, r] = pool["waiting"][p, r] = 0
    clock["running_jobs"][0] = 0
    for r in range(N_RESOURCES):
        clock["am_allocated"][0, r] = 0
    for k in range(live.counts[LIVE_JOBS]):
        job = live.live_jobs[k]
        q, m, p = live.job["queue"][job], live.job["member"][job], live.job["pool"][job]
        runs = live.job["state"][job] == JOB_ADMITTED
        for r in range(N_RESOURCES):
            held, am_held = live.job["allocated"][job, r], live.am_held[job, r]
            pool["allocated"][p, r] += held
            if clock["labels_apart"][0]:  # of the nodes that root has
                held -= live.held_on_labels[job, r]
            queue["allocated"][q, r] += held
            member["allocated"][m, r] += held
            queue["am_allocated"][q, r] += am_held
            clock["am_allocated"][0, r] += am_held
        queue["running_jobs"][q] += runs
        clock["running_jobs"][0] += runs
        queue["running_ams"][q] += live.ams[job]
        queue["waiting"][q] += live.job["waiting"][job]
        member["waiting"][m] += live.job["waiting"][job]
        for row in range(live.block[job, FIRST], live.block[job, FIRST] + live.block[job, USED]):
            live.stage["queue"][row], live.stage["member"][row] = q, m
            waiting = live.stage["waiting"][row]
            if waiting:
                for r in range(N_RESOURCES):
                    pool["waiting"][p, r] += waiting * live.shape["demand"][live.stage_spec["shape"][row], r]
    for m in range(live.counts[MEMBERS]):
        queue["active_users"][member["queue"][m]] += member["waiting"][m] > 0
    for q in range(live.counts[QUEUES] - 1, 0, -1):
        above = queue["parent"][q]
        queue["waiting"][above] += queue["waiting"][q]
        for r in range(N_RESOURCES):
            queue["allocated"][above, r] += queue["allocated"][q, r]
