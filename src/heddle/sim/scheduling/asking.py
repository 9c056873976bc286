"""What a stage asks for, and where its request waits until the scheduler looks at it."""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.view import JOB_FINISHED
from heddle.model.workload import AM, EXECUTORS, INNER
from heddle.sim.books import count_waiting, next_am
from heddle.sim.codes import RETURNING, TIMER_ASK, TIMER_WAKE
from heddle.sim.numba import hooks
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.busy_queues import next_busy
from heddle.sim.scheduling.events import look_again
from heddle.sim.scheduling.lone import leave_line, stand_in_line
from heddle.sim.scheduling.newcomers import begin_to_wait, never_asked
from heddle.sim.scheduling.requests import bucket_of, insert, rekey, rekey_bucket, remove
from heddle.sim.scheduling.reservations import free_nodes_of, starvation_may_show
from heddle.sim.timeline import timer_push


@inlined
def ask_now(sim, stage):
    """Puts the stage on the list of those that look at what they may ask for."""
    sim.asks[sim.control["n_asks"][0]] = stage
    sim.control["n_asks"][0] += 1


@inlined
def ask_again(sim, stage):
    """The same for what came back alone: nobody looks at what else the stage may ask for by now."""
    ask_now(sim, ~stage)


@inlined
def ask_soon(sim, stage, at_ms):
    """The stage asks at the first AM heartbeat from at_ms on."""
    at = at_ms
    if sim.setting["am_heartbeat_ms"][0] > 0:
        at = next_am(sim, sim.shown.stage_spec["job"][stage], at_ms)
    spec = sim.shown.stage_spec
    # How many a changing set of executors asks for depends on what else happens now: it waits for its phase.
    if at == sim.shown.clock["now_ms"][0] and spec["idle_timeout_ms"][stage] == 0:
        ask_now(sim, stage)
    else:
        timer_push(sim, at, TIMER_ASK, stage)


@compiled
def waiting_inner(view, stage_run, job):
    """How many inner tasks of the job wait for a slot."""
    first = view.job_spec["first_stage"][job]
    total = 0
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        if view.stage_spec["kind"][stage] == INNER:
            total += stage_run["to_ask"][stage]
    return total


@inlined
def _may_newly_ask(sim, stage):
    """How many fresh containers the stage asks for now."""
    view, stage_run = sim.shown, sim.stage_run
    n_tasks = view.stage_spec["n_tasks"][stage]
    if view.stage_spec["kind"][stage] == EXECUTORS and view.stage_spec["idle_timeout_ms"][stage] > 0:
        slots = view.stage_spec["slots"][stage]
        inner = waiting_inner(view, stage_run, view.stage_spec["job"][stage])
        alive = view.stage["held"][stage]
        coming = view.stage["waiting"][stage] + stage_run["to_ask"][stage]
        first = view.stage_spec["first_task"][stage]
        for k in range(first, first + n_tasks):
            coming += sim.task["state"][k] == RETURNING
        return max(0, min(n_tasks, alive + (inner + slots - 1) // slots) - alive - coming)
    return n_tasks - stage_run["asked"][stage]  # of an early stage all are, as far as this goes: looking.py


@unit
def stage_asks(sim, noted):
    """Makes a stage's request visible to the scheduler: what it newly may ask for, and what came back. `noted`: as it
    is on the list."""
    view, stage_run = sim.shown, sim.stage_run
    stage = max(noted, ~noted)
    job = view.stage_spec["job"][stage]
    kind = view.stage_spec["kind"][stage]
    if (
        (sim.job_run["begun"][job] == 0 and kind != AM)
        or view.job["state"][job] >= JOB_FINISHED
        or stage_run["runnable"][stage] == 0
    ):
        return 0
    fresh = _may_newly_ask(sim, stage) if noted >= 0 else 0
    # Executors that were released are asked for again, so more may be asked for in all than there are.
    stage_run["asked"][stage] = min(view.stage_spec["n_tasks"][stage], stage_run["asked"][stage] + fresh)
    count = fresh + stage_run["to_ask"][stage]
    stage_run["to_ask"][stage] = 0
    if count == 0:
        return 0
    if view.stage["asked_at_ms"][stage] < 0:
        view.stage["asked_at_ms"][stage] = view.clock["now_ms"][0]
        if sim.setting["veto_ms"][0] > 0:
            timer_push(sim, view.clock["now_ms"][0] + sim.setting["veto_ms"][0], TIMER_WAKE, 0)
            timer_push(sim, view.clock["now_ms"][0] + 2 * sim.setting["veto_ms"][0], TIMER_WAKE, 0)
    if view.stage["waiting"][stage] == 0:
        begin_to_wait(sim, stage)
    is_lone = sim.setting["lone_goes_at_once"][0] and count == 1 and sim.control["waiting"][0] == 0
    view.stage["waiting"][stage] += count
    count_waiting(sim, job, stage, count)
    if is_lone:
        sim.control["lone_stage"][0] = stage
        sim.control["news"][0] = 1
        return 0
    if sim.control["lone_stage"][0] >= 0:
        stand_in_line(sim)
    if stage_run["bucket"][stage] < 0:
        key = hooks.key(sim, stage)
        # A new head is news for every node: behind one that blocks or was refused there was no telling what fits.
        if insert(sim, bucket_of(sim, stage), stage, key) or sim.setting["heads_differ"][0]:
            sim.control["epoch"][0] += 1
        sim.control["news"][0] = 1
    starvation_may_show(sim)  # a task may have come back whose input is near
    if sim.setting["key_changes"][0]:
        rekey_later(sim, job)
    return 0


@inlined
def rekey_later(sim, job):
    sim.rekeys[sim.control["n_rekeys"][0]] = job
    sim.control["n_rekeys"][0] += 1


@unit
def rekey_job(sim, job):
    """The job's requests take the place that their keys, and its admission, give them now."""
    view, stage_run = sim.shown, sim.stage_run
    first = view.job_spec["first_stage"][job]
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        at = stage_run["bucket"][stage]
        if at >= 0:
            key = hooks.key(sim, stage)
            wanted = bucket_of(sim, stage)
            if wanted == at:
                rekey(sim, stage, key)
            else:
                remove(sim, stage)
                insert(sim, wanted, stage, key)
            if wanted != at or sim.setting["heads_differ"][0] or sim.setting["blocking"][0]:
                sim.control["epoch"][0] += 1
                sim.control["news"][0] = 1
    return 0


@unit
def rekey_all(sim):
    """The ordering takes back all keys it gave: every request that waits takes the place that its key gives it now."""
    q = 0
    while q >= 0:
        lane = sim.queue_run["first_lane"][q]
        while lane >= 0:
            b = sim.lane["first"][lane]
            while b >= 0:
                rekey_bucket(sim, b)
                b = sim.bucket["next"][b]
            lane = sim.lane["next"][lane]
        q = next_busy(sim, q)
    look_again(sim)
    return 0


@unit
def withdraw(sim, job):
    """Takes back everything the job asks for."""
    view, stage_run = sim.shown, sim.stage_run
    first = view.job_spec["first_stage"][job]
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        if stage_run["bucket"][stage] >= 0 or sim.control["lone_stage"][0] == stage:
            leave_line(sim, stage)
        never_asked(sim, stage)
        count_waiting(sim, job, stage, -view.stage["waiting"][stage])
        view.stage["waiting"][stage] = 0
        stage_run["to_ask"][stage] = 0
        free_nodes_of(sim, stage)
    sim.control["news"][0] = 1
    sim.control["epoch"][0] += 1
    return 0
