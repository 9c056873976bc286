"""From ask to end: how tasks are asked for, start, pass the marks of their work, end, and what that sets in motion.

Things that follow from others are put on lists (endings, starts, asks, rekeys) and served one after another by
`settle`, so that each rule stands in one place.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.draw import STREAM_TASK_FAULT, draw
from heddle.model.reasons import Outcome
from heddle.model.resources import MEMORY
from heddle.model.view import (
    EVENT_ARRIVED,
    EVENT_FINISHED,
    EVENT_STARTED,
    EVENT_STOPPED,
    JOB_ADMITTED,
    JOB_ARRIVED,
    JOB_FAILED,
    JOB_FINISHED,
)
from heddle.model.workload import AM, EXECUTORS, INNER, PERMYRIAD, TASKS
from heddle.sim import hooks
from heddle.sim.arrays import (
    AM_STARTING,
    ASKED,
    DONE,
    EXECUTOR,
    FREE,
    HELD,
    HOLDING,
    LAUNCHING,
    LIVELOCK,
    LOG_ARRIVED,
    LOG_ENDED,
    LOG_JOB_ENDED,
    LOG_STARTED,
    LOG_USED,
    RETURNING,
    TIMER_ARRIVE,
    TIMER_ASK,
    TIMER_RETRY,
    TIMER_STARVED,
    TIMER_WAKE,
    UNASKED,
    WORKING,
)
from heddle.sim.books import (
    count_allocated,
    count_waiting,
    end_later,
    give_back,
    next_am,
    note,
    return_unfinished,
    start_later,
    take_task,
)
from heddle.sim.events import tell_levers
from heddle.sim.physics import change_use, full_rate, next_mark, set_due
from heddle.sim.reports import mark_gained, node_changed, reports_made, reports_until, resize, settle_reports
from heddle.sim.requests import insert, rekey, remove
from heddle.sim.timeline import due_clear, due_set, timer_push
from heddle.sim.units import unit

FINISHED = int(Outcome.FINISHED)
OUT_CRASHED = int(Outcome.CRASHED)
LIMIT_KILLED = int(Outcome.LIMIT_KILLED)
OUT_FAILED = int(Outcome.FAILED)
NODE_LOST = int(Outcome.NODE_LOST)
PREEMPTED = int(Outcome.PREEMPTED)
AM_LOST = int(Outcome.AM_LOST)
OUT_JOB_FAILED = int(Outcome.JOB_FAILED)
RELEASED = int(Outcome.RELEASED)


@inlined
def ask_now(sim, stage):  # type: ignore[no-untyped-def]
    """Puts the stage on the list of those that look at what they may ask for."""
    sim.asks[sim.control["n_asks"][0]] = stage
    sim.control["n_asks"][0] += 1


@inlined
def ask_soon(sim, stage, at_ms):  # type: ignore[no-untyped-def]
    """The stage asks at the first AM heartbeat from at_ms on."""
    at = at_ms
    if sim.setting["am_heartbeat_ms"][0] > 0:
        at = next_am(sim, sim.shown.stage_spec["job"][stage], at_ms)
    spec = sim.shown.stage_spec
    # How much an early stage or a changing set of executors asks for depends on what else happens now: it waits for
    # its phase.
    depends = spec["slow_start_permille"][stage] >= 0 or spec["idle_timeout_ms"][stage] > 0
    if at == sim.shown.clock["now_ms"][0] and not depends:
        ask_now(sim, stage)
    else:
        timer_push(sim, at, TIMER_ASK, stage)


@compiled
def early_waiting(sim, stage):  # type: ignore[no-untyped-def]
    """How many tasks of the stages that an early stage comes after are neither done nor allocated."""
    view = sim.shown
    waiting = 0
    first = view.stage_spec["first_after"][stage]
    for i in range(first, first + view.stage_spec["n_after"][stage]):
        before = sim.after[i]
        waiting += view.stage_spec["n_tasks"][before] - view.stage["done"][before] - view.stage["held"][before]
    return waiting


@unit
def early_limit(sim, stage):  # type: ignore[no-untyped-def]
    """How many tasks of an early stage may be asked for while stages it comes after still run."""
    view = sim.shown
    total, done, held = 0, 0, view.stage["held"][stage] * _memory_of(view, stage)
    first = view.stage_spec["first_after"][stage]
    for i in range(first, first + view.stage_spec["n_after"][stage]):
        before = sim.after[i]
        total += view.stage_spec["n_tasks"][before]
        done += view.stage["done"][before]
        held += view.stage["held"][before] * _memory_of(view, before)
    n_tasks = view.stage_spec["n_tasks"][stage]
    if done * 1000 < view.stage_spec["slow_start_permille"][stage] * total:
        return 0
    if early_waiting(sim, stage) == 0 or _memory_of(view, stage) == 0:
        return n_tasks
    share = min(done * 1000 // total, sim.setting["ramp_up_limit_permille"][0])
    return min(n_tasks, share * held // 1000 // _memory_of(view, stage))


@inlined
def _memory_of(view, stage):  # type: ignore[no-untyped-def]
    return view.shape["demand"][view.stage_spec["shape"][stage], MEMORY]


@inlined
def is_early(sim, stage):  # type: ignore[no-untyped-def]
    return sim.shown.stage_spec["slow_start_permille"][stage] >= 0 and sim.stage_run["after_left"][stage] > 0


@compiled
def waiting_inner(view, stage_run, job):  # type: ignore[no-untyped-def]
    """How many inner tasks of the job wait for a slot."""
    first = view.job_spec["first_stage"][job]
    total = 0
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        if view.stage_spec["kind"][stage] == INNER:
            total += stage_run["to_ask"][stage]
    return total


@inlined
def _may_newly_ask(sim, stage):  # type: ignore[no-untyped-def]
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
    if is_early(sim, stage):
        return max(0, early_limit(sim, stage) - stage_run["asked"][stage])
    return n_tasks - stage_run["asked"][stage]


@inlined
def bucket_of(sim, stage):  # type: ignore[no-untyped-def]
    """Where the stage's request waits: apart by pool, and by whether its job is admitted."""
    job = sim.shown.stage_spec["job"][stage]
    gated = 1 if sim.setting["has_gate"][0] and sim.shown.job["state"][job] == JOB_ARRIVED else 0
    combos = sim.setting["n_combos"][0]
    return (sim.shown.job["pool"][job] * combos + sim.stage_combo[stage]) * 2 + gated


@unit
def stage_asks(sim, stage):  # type: ignore[no-untyped-def]
    """Makes the stage's request visible to the scheduler: what it newly may ask for, and what came back."""
    view, stage_run = sim.shown, sim.stage_run
    job = view.stage_spec["job"][stage]
    kind = view.stage_spec["kind"][stage]
    if (
        (sim.job_run["begun"][job] == 0 and kind != AM)
        or view.job["state"][job] >= JOB_FINISHED
        or stage_run["runnable"][stage] == 0
    ):
        return 0
    fresh = _may_newly_ask(sim, stage)
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
    view.stage["waiting"][stage] += count
    count_waiting(sim, job, count)
    if stage_run["bucket"][stage] < 0:
        key = hooks.key(sim, stage)
        if insert(sim, bucket_of(sim, stage), stage, key) or sim.setting["heads_differ"][0]:
            sim.control["epoch"][0] += 1
        sim.control["news"][0] = 1
    if sim.setting["key_changes"][0]:
        rekey_later(sim, job)
    return 0


@inlined
def rekey_later(sim, job):  # type: ignore[no-untyped-def]
    sim.rekeys[sim.control["n_rekeys"][0]] = job
    sim.control["n_rekeys"][0] += 1


@unit
def rekey_job(sim, job):  # type: ignore[no-untyped-def]
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
            if wanted != at or sim.setting["heads_differ"][0]:
                sim.control["epoch"][0] += 1
                sim.control["news"][0] = 1
    return 0


@unit
def withdraw(sim, job):  # type: ignore[no-untyped-def]
    """Takes back everything the job asks for."""
    view, stage_run = sim.shown, sim.stage_run
    first = view.job_spec["first_stage"][job]
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        if stage_run["bucket"][stage] >= 0:
            remove(sim, stage)
        count_waiting(sim, job, -view.stage["waiting"][stage])
        view.stage["waiting"][stage] = 0
        stage_run["to_ask"][stage] = 0
    sim.control["news"][0] = 1
    sim.control["epoch"][0] += 1
    return 0


@inlined
def new_slot(sim, task, stage, n, host):  # type: ignore[no-untyped-def]
    """A row for a container (or inner task) of this task on node n, linked before the node's others."""
    view, slot, container = sim.shown, sim.slot, sim.shown.container
    s = sim.control["free_slot"][0]
    sim.control["free_slot"][0] = slot["next_free"][s]
    sim.control["n_free"][0] -= 1
    now = view.clock["now_ms"][0]
    container["stage"][s] = stage
    container["node"][s] = n
    container["allocated_at_ms"][s] = now
    container["started_at_ms"][s] = -1
    newest = view.node["first_container"][n]
    container["next"][s] = newest
    container["previous"][s] = -1
    if newest >= 0:
        container["previous"][newest] = s
    view.node["first_container"][n] = s
    for r in range(view.shape["demand"].shape[1]):
        container["used"][s, r] = 0
        slot["use"][s, r] = 0
        slot["seen"][s, r] = 0
        slot["used_ms"][s, r] = 0
    for i in range(sim.sizing_container.shape[1]):
        sim.sizing_container[s, i] = 0
    slot["integrated_at_ms"][s] = now
    slot["rise_at_ms"][s] = -1
    slot["inner_memory"][s] = 0
    slot["inner"][s] = 0
    slot["task"][s] = task
    slot["job"][s] = view.stage_spec["job"][stage]
    slot["host"][s] = host
    slot["doomed"][s] = 0
    slot["phase"][s] = LAUNCHING
    sim.task["state"][task] = HELD
    sim.task["node"][task] = n
    return s


@inlined
def _drop_slot(sim, s):  # type: ignore[no-untyped-def]
    """Unlinks the row of slot s and frees it."""
    view, slot, container = sim.shown, sim.slot, sim.shown.container
    if sim.due_place[s] >= 0:
        due_clear(sim, s)
    before, after = container["previous"][s], container["next"][s]
    if before >= 0:
        container["next"][before] = after
    else:
        view.node["first_container"][container["node"][s]] = after
    if after >= 0:
        container["previous"][after] = before
    slot["phase"][s] = FREE
    container["stage"][s] = -1
    slot["next_free"][s] = sim.control["free_slot"][0]
    sim.control["free_slot"][0] = s
    sim.control["n_free"][0] += 1


@unit
def fill_executors(sim, job):  # type: ignore[no-untyped-def]
    """Puts waiting inner tasks, by number, into free slots of the job's executors, by number."""
    view, slot, stage_run = sim.shown, sim.slot, sim.stage_run
    executor = sim.job_run["first_executor"][job]
    first = view.job_spec["first_stage"][job]
    executors = -1
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        if view.stage_spec["kind"][stage] == EXECUTORS:
            executors = stage
        if view.stage_spec["kind"][stage] != INNER or stage_run["runnable"][stage] == 0:
            continue
        while stage_run["to_ask"][stage] > 0:
            while executor >= 0 and (
                slot["doomed"][executor]
                or slot["inner"][executor] >= view.stage_spec["slots"][view.container["stage"][executor]]
            ):
                executor = slot["next_executor"][executor]
            if executor < 0:
                break
            task = take_task(stage_run, sim.task, view.stage_spec, stage)
            stage_run["to_ask"][stage] -= 1
            due_clear(sim, executor)  # not idle any more
            slot["inner"][executor] += 1
            view.stage["held"][stage] += 1
            s = new_slot(sim, task, stage, view.container["node"][executor], executor)
            start_later(sim, s)
    if executors >= 0 and view.stage_spec["idle_timeout_ms"][executors] > 0 and waiting_inner(view, stage_run, job) > 0:
        ask_soon(sim, executors, view.clock["now_ms"][0])
    return 0


@inlined
def make_runnable(sim, stage):  # type: ignore[no-untyped-def]
    """The stage's predecessors are done (or it may begin early) and its AM is there."""
    sim.stage_run["runnable"][stage] = 1
    if sim.shown.stage_spec["kind"][stage] == INNER:
        n_new = sim.shown.stage_spec["n_tasks"][stage] - sim.stage_run["asked"][stage]
        sim.stage_run["asked"][stage] += n_new
        sim.stage_run["to_ask"][stage] += n_new
        fill_executors(sim, sim.shown.stage_spec["job"][stage])
    else:
        ask_soon(sim, stage, sim.shown.clock["now_ms"][0])


@unit
def begin_job(sim, job):  # type: ignore[no-untyped-def]
    """The job's AM is ready, for the first time or again; or it has none and has arrived."""
    view, stage_run = sim.shown, sim.stage_run
    sim.job_run["begun"][job] = 1
    first = view.job_spec["first_stage"][job]
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        kind = view.stage_spec["kind"][stage]
        if kind == AM:
            continue
        early = view.stage_spec["slow_start_permille"][stage] >= 0
        if stage_run["runnable"][stage]:
            stage_run["to_ask"][stage] = return_unfinished(stage_run, sim.task, view.stage_spec, stage)
            stage_run["to_ask"][stage] += stage_run["asked"][stage] - stage_run["next_fresh"][stage]
            if kind == EXECUTORS and view.stage_spec["idle_timeout_ms"][stage] > 0:
                stage_run["to_ask"][stage] = 0
            if kind != INNER:
                ask_now(sim, stage)
        elif stage_run["after_left"][stage] == 0 or early or kind == EXECUTORS:
            make_runnable(sim, stage)
    if sim.setting["has_executors"][0]:
        fill_executors(sim, job)
    if sim.job_run["stages_left"][job] == 0:
        finish_job(sim, job, JOB_FINISHED)
    return 0


@inlined
def arrive(sim, job):  # type: ignore[no-untyped-def]
    """The job is here: it asks for its AM, or begins."""
    view = sim.shown
    view.job["state"][job] = JOB_ARRIVED
    view.job["arrived_at_ms"][job] = view.clock["now_ms"][0]
    first = view.job_spec["first_stage"][job]
    if sim.setting["logging"][0]:
        note(sim, LOG_ARRIVED, 0, job, -1, -1, -1, 0, 0)
    if sim.job_run["after_failed"][job]:
        finish_job(sim, job, JOB_FAILED)
        return
    if sim.setting["has_pools"][0]:
        view.job["pool"][job] = hooks.pool(sim, job)
    if sim.setting["listens"][0] >> EVENT_ARRIVED & 1:
        tell_levers(sim, EVENT_ARRIVED, -1, first, -1, 0)
    if view.job_spec["has_am"][job]:
        sim.stage_run["runnable"][first] = 1
        ask_now(sim, first)
    else:
        begin_job(sim, job)


@unit
def finish_job(sim, job, state):  # type: ignore[no-untyped-def]
    """The job is finished or has failed: what it holds or asks for is taken back, and its followers hear of it."""
    view, slot = sim.shown, sim.slot
    if view.job["state"][job] >= JOB_FINISHED:
        return 0
    if view.job["state"][job] == JOB_ADMITTED:
        view.clock["running_jobs"][0] -= 1
        view.queue["running_jobs"][view.job["queue"][job]] -= 1
    if view.job["waiting"][job] > 0:
        withdraw(sim, job)
    view.job["state"][job] = state
    sim.job_run["ended_at_ms"][job] = view.clock["now_ms"][0]
    sim.control["jobs_left"][0] -= 1
    if state == JOB_FAILED:
        sim.control["failed_jobs"][0] += 1
    if sim.setting["logging"][0]:
        note(sim, LOG_JOB_ENDED, state, job, -1, -1, -1, 0, 0)
    if view.job["held"][job] > 0:
        for s in range(slot.shape[0]):
            if slot["phase"][s] != FREE and slot["job"][s] == job and slot["doomed"][s] == 0:
                end_later(sim, s, RELEASED if state == JOB_FINISHED else OUT_JOB_FAILED)
    if sim.setting["has_job_dag"][0]:
        for i in range(sim.job_before_first[job], sim.job_before_first[job + 1]):
            follower = sim.job_before[i]
            sim.job_run["after_left"][follower] -= 1
            if state == JOB_FAILED:
                sim.job_run["after_failed"][follower] = 1
            if sim.job_run["submitted"][follower] and (sim.job_run["after_left"][follower] == 0 or state == JOB_FAILED):
                sim.job_run["submitted"][follower] = 0  # it arrives once
                timer_push(sim, view.clock["now_ms"][0], TIMER_ARRIVE, follower)
    return 0


@inlined
def stage_done(sim, stage):  # type: ignore[no-untyped-def]
    """All tasks of the stage have finished: stages behind it may run, and the job may be finished."""
    view, slot, stage_run = sim.shown, sim.slot, sim.stage_run
    job = view.stage_spec["job"][stage]
    if sim.setting["has_dag"][0]:
        for i in range(sim.before_first[stage], sim.before_first[stage + 1]):
            follower = sim.before[i]
            stage_run["after_left"][follower] -= 1
            if stage_run["after_left"][follower] > 0:
                continue
            if stage_run["runnable"][follower]:  # an early stage: what it holds begins to work
                for s in range(slot.shape[0]):
                    if (
                        slot["phase"][s] == HOLDING
                        and view.container["stage"][s] == follower
                        and slot["doomed"][s] == 0
                    ):
                        begin_work(sim, s)
                ask_soon(sim, follower, view.clock["now_ms"][0])
            else:
                make_runnable(sim, follower)
    sim.job_run["stages_left"][job] -= 1
    if sim.job_run["stages_left"][job] == 0:
        finish_job(sim, job, JOB_FINISHED)


@inlined
def _am_lost(sim, job, outcome):  # type: ignore[no-untyped-def]
    """The job's AM is gone: so are its other containers; then it tries again, or gives up."""
    view, slot = sim.shown, sim.slot
    sim.job_run["begun"][job] = 0
    if outcome == NODE_LOST:
        sim.job_run["am_losses"][job] += 1
        if sim.job_run["am_losses"][job] >= sim.setting["am_max_attempts"][0]:
            finish_job(sim, job, JOB_FAILED)
            return
    withdraw(sim, job)
    for s in range(slot.shape[0]):
        if slot["phase"][s] != FREE and slot["job"][s] == job and slot["doomed"][s] == 0:
            end_later(sim, s, AM_LOST)
    am_task = view.stage_spec["first_task"][view.job_spec["first_stage"][job]]
    _retry(sim, job, am_task)


@inlined
def _retry(sim, job, task):  # type: ignore[no-untyped-def]
    sim.task["state"][task] = RETURNING
    sim.control["retried"][0] += 1
    at = next_am(sim, job, sim.shown.clock["now_ms"][0] + sim.setting["retry_ms"][0])
    timer_push(sim, at, TIMER_RETRY, task)


@unit
def come_back(sim, task, stage):  # type: ignore[no-untyped-def]
    """A retry is due: the task waits again, unless its job has ended or has no AM now (the next will ask for it)."""
    view = sim.shown
    job = view.stage_spec["job"][stage]
    kind = view.stage_spec["kind"][stage]
    if sim.task["state"][task] != RETURNING or view.job["state"][job] >= JOB_FINISHED:
        return 0
    if kind != AM and sim.job_run["begun"][job] == 0:
        return 0
    sim.task["state"][task] = ASKED
    sim.task["ended_at_ms"][task] = view.clock["now_ms"][0]
    give_back(sim.stage_run, sim.task, stage, task)
    sim.stage_run["to_ask"][stage] += 1
    if kind == INNER:
        fill_executors(sim, job)
    else:
        ask_now(sim, stage)
    return 0


@unit
def maps_starve(sim, stage):  # type: ignore[no-untyped-def]
    """Whether tasks of the stages before an early stage wait, none is held, and the early stage holds idle ones."""
    view = sim.shown
    if sim.stage_run["after_left"][stage] == 0 or view.stage["held"][stage] == 0:
        return 0
    held = 0
    first = view.stage_spec["first_after"][stage]
    for i in range(first, first + view.stage_spec["n_after"][stage]):
        held += view.stage["held"][sim.after[i]]
    return 1 if held == 0 and early_waiting(sim, stage) > 0 else 0


@inlined
def _look_for_starvation(sim, stage):  # type: ignore[no-untyped-def]
    """A container of an early stage started, or one before it ended: do its maps starve from now on?"""
    if sim.stage_run["starvation_watched"][stage] == 0 and maps_starve(sim, stage) != 0:
        sim.stage_run["starvation_watched"][stage] = 1
        timer_push(sim, sim.shown.clock["now_ms"][0] + sim.setting["starved_ms"][0], TIMER_STARVED, stage)


@unit
def begin_work(sim, s):  # type: ignore[no-untyped-def]
    """Slot s starts to work (an early reduce may have held its container for a while)."""
    view, slot = sim.shown, sim.slot
    n = view.container["node"][s]
    task = slot["task"][s]
    stage = view.container["stage"][s]
    slot["phase"][s] = WORKING
    slot["shuffle_us"][s] = 1000 * view.stage_spec["shuffle_ms"][stage]
    slot["end_us"][s] = slot["shuffle_us"][s] + 1000 * sim.task_spec["duration_ms"][task]
    slot["work_us"][s] = 0
    slot["since_ms"][s] = view.clock["now_ms"][0]
    slot["rate"][s] = full_rate(sim, n)
    slot["segment"][s] = sim.task_spec["first_segment"][task]
    slot["fail_us"][s] = -1
    chance = sim.setting["task_failure_permyriad"][0]
    if chance > 0 and slot["host"][s] < 0:
        index = task * 64 + min(sim.task["attempts"][task] - 1, 63)
        seed = sim.setting["seed"][0]
        if draw(seed, STREAM_TASK_FAULT, index) % PERMYRIAD < chance:
            part = draw(seed, STREAM_TASK_FAULT, (1 << 40) + index) % (PERMYRIAD - 1) + 1
            slot["fail_us"][s] = slot["end_us"][s] * part // PERMYRIAD
    if slot["shuffle_us"][s] == 0:
        _skip_empty_segments(sim, s)
    if sim.setting["has_use"][0]:
        change_use(sim, s, slot["segment"][s], True, slot["shuffle_us"][s] == 0)
        _check_limit(sim, s)
    slot["mark_us"][s] = next_mark(slot, sim.segment, sim.task_spec, s)
    set_due(sim, s)
    return 0


@inlined
def _skip_empty_segments(sim, s):  # type: ignore[no-untyped-def]
    """Moves on to the segment that holds after the work done so far."""
    slot = sim.slot
    duration_us = slot["end_us"][s] - slot["shuffle_us"][s]
    while slot["segment"][s] >= 0 and sim.segment["last"][slot["segment"][s]] == 0:
        until = slot["shuffle_us"][s] + duration_us * sim.segment["until_permyriad"][slot["segment"][s]] // PERMYRIAD
        if until > slot["work_us"][s]:
            return
        slot["segment"][s] += 1


@inlined
def _check_limit(sim, s):  # type: ignore[no-untyped-def]
    """A task above its own reservation is killed, where the cluster does that."""
    if sim.setting["pmem_check"][0] and sim.slot["host"][s] < 0:
        stage = sim.shown.container["stage"][s]
        if sim.slot["use"][s, MEMORY] > _memory_of(sim.shown, stage) and sim.slot["doomed"][s] == 0:
            end_later(sim, s, LIMIT_KILLED)


@inlined
def pass_mark(sim, s):  # type: ignore[no-untyped-def]
    """Slot s reached its mark: a fault, the end, or another level of use."""
    slot = sim.slot
    slot["work_us"][s] = slot["mark_us"][s]
    slot["since_ms"][s] = sim.shown.clock["now_ms"][0]
    if slot["work_us"][s] == slot["fail_us"][s]:
        end_later(sim, s, OUT_FAILED)
    elif slot["work_us"][s] >= slot["end_us"][s]:
        end_later(sim, s, FINISHED)
    else:
        _skip_empty_segments(sim, s)
        change_use(sim, s, slot["segment"][s], True, True)
        _check_limit(sim, s)
        slot["mark_us"][s] = next_mark(slot, sim.segment, sim.task_spec, s)
        set_due(sim, s)


@unit
def start_slot(sim, s):  # type: ignore[no-untyped-def]
    """Slot s begins to run."""
    view, slot = sim.shown, sim.slot
    now = view.clock["now_ms"][0]
    stage = view.container["stage"][s]
    job = slot["job"][s]
    task = slot["task"][s]
    kind = view.stage_spec["kind"][stage]
    if sim.setting["reports_matter"][0]:
        settle_reports(sim, view.container["node"][s])
    view.container["started_at_ms"][s] = now
    sim.task["started_at_ms"][task] = now
    sim.task["attempts"][task] += 1
    if sim.setting["logging"][0]:
        note(sim, LOG_STARTED, 0, job, stage, task, view.container["node"][s], sim.task["attempts"][task] - 1, 0)
    if kind == AM:
        sim.job_run["am_started_at_ms"][job] = now
        slot["phase"][s] = AM_STARTING
        if sim.setting["has_use"][0]:
            change_use(sim, s, sim.task_spec["first_segment"][task], True, True)
        due_set(sim, s, now + sim.setting["am_start_ms"][0])
    else:
        if sim.job_run["started_at_ms"][job] < 0 and kind != INNER:
            sim.job_run["started_at_ms"][job] = now
        if kind == EXECUTORS:
            slot["phase"][s] = EXECUTOR
            if sim.setting["has_use"][0]:
                change_use(sim, s, sim.task_spec["first_segment"][task], True, True)
            _link_executor(sim, job, s)
            if view.stage_spec["idle_timeout_ms"][stage] > 0:
                due_set(sim, s, now + view.stage_spec["idle_timeout_ms"][stage])
            fill_executors(sim, job)
        elif kind == TASKS and is_early(sim, stage):
            slot["phase"][s] = HOLDING
            if sim.setting["has_use"][0]:
                change_use(sim, s, sim.task_spec["first_segment"][task], True, False)
                _check_limit(sim, s)
            _look_for_starvation(sim, stage)
        else:
            begin_work(sim, s)
    if sim.setting["sizing_changes"][0]:
        resize(sim, view.container["node"][s])
    if sim.setting["listens"][0] >> EVENT_STARTED & 1:
        tell_levers(sim, EVENT_STARTED, view.container["node"][s], stage, s, 0)
    return 0


@inlined
def _link_executor(sim, job, s):  # type: ignore[no-untyped-def]
    slot = sim.slot
    at = sim.job_run["first_executor"][job]
    if at < 0 or slot["task"][at] > slot["task"][s]:
        slot["next_executor"][s] = at
        sim.job_run["first_executor"][job] = s
        return
    while slot["next_executor"][at] >= 0 and slot["task"][slot["next_executor"][at]] < slot["task"][s]:
        at = slot["next_executor"][at]
    slot["next_executor"][s] = slot["next_executor"][at]
    slot["next_executor"][at] = s


@inlined
def _unlink_executor(sim, job, s):  # type: ignore[no-untyped-def]
    slot = sim.slot
    at = sim.job_run["first_executor"][job]
    if at == s:
        sim.job_run["first_executor"][job] = slot["next_executor"][s]
        return
    while at >= 0:
        if slot["next_executor"][at] == s:
            slot["next_executor"][at] = slot["next_executor"][s]
            return
        at = slot["next_executor"][at]


@inlined
def _tell_followers(sim, stage, at_ms):  # type: ignore[no-untyped-def]
    """Early stages behind this one look again at what they may ask for."""
    if sim.setting["has_dag"][0]:
        for i in range(sim.before_first[stage], sim.before_first[stage + 1]):
            follower = sim.before[i]
            if sim.stage_run["runnable"][follower] and is_early(sim, follower):
                ask_soon(sim, follower, at_ms)
                _look_for_starvation(sim, follower)


@unit
def end(sim, s, outcome):  # type: ignore[no-untyped-def]
    """Slot s ends, one way or another."""
    view, slot, task_run = sim.shown, sim.slot, sim.task
    now = view.clock["now_ms"][0]
    stage = view.container["stage"][s]
    n = view.container["node"][s]
    job = slot["job"][s]
    task = slot["task"][s]
    kind = view.stage_spec["kind"][stage]
    phase = slot["phase"][s]
    host = slot["host"][s]
    if sim.setting["reports_matter"][0]:
        settle_reports(sim, n)
    if phase == EXECUTOR:
        _unlink_executor(sim, job, s)
        if slot["inner"][s] > 0:
            for t in range(slot.shape[0]):
                if slot["phase"][t] != FREE and slot["host"][t] == s and slot["doomed"][t] == 0:
                    end_later(sim, t, outcome)
    if phase != LAUNCHING:
        if sim.setting["has_use"][0]:
            change_use(sim, s, -1, False, False)
        if sim.setting["logging"][0]:
            for r in range(view.shape["demand"].shape[1]):
                if sim.setting["logging"][0]:
                    note(sim, LOG_USED, r, job, stage, task, n, task_run["attempts"][task] - 1, slot["used_ms"][s, r])
    if sim.setting["logging"][0]:
        note(sim, LOG_ENDED, outcome, job, stage, task, n, task_run["attempts"][task] - (phase != LAUNCHING), 0)
    if phase == LAUNCHING:
        task_run["attempts"][task] += 1  # it was an attempt, though it never ran
    task_run["ended_at_ms"][task] = now
    if host < 0:
        age = reports_made(sim, n) - reports_until(
            sim.node_run["report_phase_ms"][n], sim.setting["report_ms"][0], view.container["allocated_at_ms"][s]
        )
        count_allocated(sim, job, stage, n, -1)
        if sim.setting["listens"][0] >> (EVENT_FINISHED if outcome == FINISHED else EVENT_STOPPED) & 1:
            tell_levers(sim, EVENT_FINISHED if outcome == FINISHED else EVENT_STOPPED, n, stage, s, max(0, age))
        if sim.setting["has_order_limits"][0] or sim.setting["has_pools"][0] or sim.setting["has_gate"][0]:
            sim.control["news"][0] = 1
            sim.control["epoch"][0] += 1
        if sim.setting["key_changes"][0]:
            rekey_later(sim, job)
    else:
        view.stage["held"][stage] -= 1
        if outcome == FINISHED:
            slot["inner"][host] -= 1
            timeout = view.stage_spec["idle_timeout_ms"][view.container["stage"][host]]
            if slot["inner"][host] == 0 and timeout > 0 and slot["doomed"][host] == 0:
                due_set(sim, host, now + timeout)
    _drop_slot(sim, s)
    if host < 0:
        if sim.setting["sizing_changes"][0]:
            resize(sim, n)
        node_changed(sim, n)
        mark_gained(sim, n)
    over = view.job["state"][job] >= JOB_FINISHED
    if outcome == FINISHED:
        task_run["state"][task] = DONE
        view.stage["done"][stage] += 1
        sim.control["last_progress_ms"][0] = now
        sim.control["finished"][0] += 1
        if view.stage["done"][stage] == view.stage_spec["n_tasks"][stage]:
            stage_done(sim, stage)
        if view.job["state"][job] < JOB_FINISHED:
            _tell_followers(sim, stage, now)
        if host >= 0 and view.job["state"][job] < JOB_FINISHED:
            fill_executors(sim, job)
        return 0
    if outcome == RELEASED:
        if kind == EXECUTORS and not over:
            task_run["state"][task] = UNASKED
            give_back(sim.stage_run, task_run, stage, task)
        else:
            task_run["state"][task] = DONE
        return 0
    if outcome == OUT_CRASHED:
        sim.control["crashed"][0] += 1
        _count_crash(sim, task)
    elif outcome == LIMIT_KILLED:
        sim.control["killed"][0] += 1
    elif outcome == PREEMPTED:
        sim.control["preempted"][0] += 1
    if over:
        task_run["state"][task] = UNASKED
        return 0
    if kind == AM:
        _am_lost(sim, job, outcome)
        return 0
    if outcome == AM_LOST:
        task_run["state"][task] = RETURNING  # the next AM asks for it
        return 0
    if outcome in (LIMIT_KILLED, OUT_FAILED):
        task_run["failures"][task] += 1
        if task_run["failures"][task] >= sim.setting["max_attempts"][0]:
            finish_job(sim, job, JOB_FAILED)
            return 0
    _retry(sim, job, task)
    _tell_followers(sim, stage, now)
    return 0


@inlined
def _count_crash(sim, task):  # type: ignore[no-untyped-def]
    """Many crashes of one task while no task of any job finishes: the run leads nowhere."""
    finished = sim.control["finished"][0] & 0xFFFF
    if sim.task["finished_before"][task] != finished:
        sim.task["finished_before"][task] = finished
        sim.task["crashes"][task] = 0
    sim.task["crashes"][task] += 1
    if sim.task["crashes"][task] >= sim.setting["livelock_crashes"][0]:
        sim.control["broken"][0] = LIVELOCK


@inlined
def settle(sim):  # type: ignore[no-untyped-def]
    """Serves everything that follows from what just happened, endings first."""
    control = sim.control
    if control["n_endings"][0] + control["n_starts"][0] + control["n_asks"][0] + control["n_rekeys"][0] == 0:
        return
    ending, start, ask, rekeyed = 0, 0, 0, 0
    while True:
        if ending < control["n_endings"][0]:
            s, outcome = sim.endings[2 * ending], sim.endings[2 * ending + 1]
            ending += 1
            end(sim, s, outcome)
        elif start < control["n_starts"][0]:
            s = sim.starts[start]
            start += 1
            if sim.slot["phase"][s] != FREE:
                start_slot(sim, s)
        elif ask < control["n_asks"][0]:
            stage = sim.asks[ask]
            ask += 1
            stage_asks(sim, stage)
        elif rekeyed < control["n_rekeys"][0]:
            job = sim.rekeys[rekeyed]
            rekeyed += 1
            rekey_job(sim, job)
        else:
            break
    control["n_endings"][0] = 0
    control["n_starts"][0] = 0
    control["n_asks"][0] = 0
    control["n_rekeys"][0] = 0
