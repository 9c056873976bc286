"""An AM looks at its early stages: it asks for more of their tasks, for less, or ends some for maps that starve."""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.view import JOB_FINISHED
from heddle.sim.books import count_waiting, end_later, next_am, order_endings
from heddle.sim.codes import END_PREEMPTED, FOREVER, LAUNCHING, TIMER_ASK, TIMER_LOOK, WAIT_NONE
from heddle.sim.containers.early_stages import asked_of, early_stage, is_open
from heddle.sim.containers.listeners import listen
from heddle.sim.containers.reduce_demand import GIVE_WAY, reduce_demand
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.asking import ask_again, rekey_later
from heddle.sim.scheduling.choosing import wait
from heddle.sim.scheduling.lone import leave_line
from heddle.sim.scheduling.reservations import free_nodes_of
from heddle.sim.timeline import timer_push


@inlined
def _ask_for_more(sim, stage, count):
    """The AM has just spoken to the scheduler: what it finds now goes with its next heartbeat."""
    job, now = sim.shown.stage_spec["job"][stage], sim.shown.clock["now_ms"][0]
    sim.stage_run["pending"][stage] -= count
    sim.stage_run["to_ask"][stage] += count
    if sim.setting["am_heartbeat_ms"][0] == 0 or sim.shown.job_spec["has_am"][job] == 0:
        ask_again(sim, stage)
    else:
        timer_push(sim, next_am(sim, job, now + 1), TIMER_ASK, stage)


@compiled
def _ask_for_less(sim, stage, count):
    """So many of the stage's tasks, which the scheduler knows of, wait no more."""
    view, job = sim.shown, sim.shown.stage_spec["job"][stage]
    sim.stage_run["pending"][stage] += count
    view.stage["waiting"][stage] -= count
    count_waiting(sim, job, stage, -count)
    if view.stage["waiting"][stage] == 0:
        leave_line(sim, stage)
        free_nodes_of(sim, stage)
        wait(sim, stage, WAIT_NONE)
    if sim.setting["key_changes"][0]:
        rekey_later(sim, job)
    sim.control["news"][0] = 1  # who stood behind it may go
    sim.control["epoch"][0] += 1


@inlined
def _goes_before(sim, s, other):
    """Whether slot s has made less progress than the other: not started, or allocated before it."""
    launching, other_launching = sim.slot["phase"][s] == LAUNCHING, sim.slot["phase"][other] == LAUNCHING
    if launching != other_launching:
        return launching
    at_ms = sim.shown.container["allocated_at_ms"]
    if at_ms[s] != at_ms[other]:
        return at_ms[s] < at_ms[other]
    return sim.slot["task"][s] < sim.slot["task"][other]


@compiled
def _sink(sim, size, i):
    """Moves entry i of the heap in scratch down to where those below it go after it."""
    heap = sim.scratch
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and _goes_before(sim, heap[child + 1], heap[child]):
            child += 1
        if not _goes_before(sim, heap[child], heap[i]):
            break
        heap[i], heap[child] = heap[child], heap[i]
        i = child


@compiled
def _end_least_progress(sim, stage, count):
    """Ends so many containers of the stage, those of least progress; how many that were."""
    heap, size = sim.scratch, 0
    s = sim.job_run["first_slot"][sim.shown.stage_spec["job"][stage]]
    while s >= 0:
        if sim.shown.container["stage"][s] == stage and sim.slot["doomed"][s] == 0:
            heap[size] = s
            size += 1
        s = sim.slot["next_of_job"][s]
    for i in range(size // 2 - 1, -1, -1):
        _sink(sim, size, i)
    ended = 0
    first = sim.control["n_endings"][0]
    while ended < count and size > 0:
        end_later(sim, heap[0], END_PREEMPTED)
        ended += 1
        size -= 1
        heap[0] = heap[size]
        _sink(sim, size, 0)
    order_endings(sim, first)
    return ended


@inlined
def _look_at(sim, stage):
    """Whether anything came of it."""
    change = reduce_demand(sim, stage, sim.shown.clock["now_ms"][0])
    if change >= GIVE_WAY:
        sim.stage_run["gave_way"][stage] = 1
        asked = asked_of(sim, stage)
        if asked > 0:
            _ask_for_less(sim, stage, asked)
        return _end_least_progress(sim, stage, change - GIVE_WAY) + asked > 0
    if change > 0:
        _ask_for_more(sim, stage, change)
    elif change < 0:
        _ask_for_less(sim, stage, -change)
    return change != 0


@compiled
def _alarm(sim, stage):
    """When maps that ask, none of which has a container, will have waited long enough for something; or never."""
    view, setting = sim.shown, sim.setting
    now = view.clock["now_ms"][0]
    asked, first_ms = False, FOREVER
    first = view.stage_spec["first_after"][stage]
    for i in range(first, first + view.stage_spec["n_after"][stage]):
        before = sim.after[i]
        if view.stage["held"][before] > 0:
            return FOREVER
        ended = sim.stage_run["last_end_ms"][before] + setting["node_heartbeat_ms"][0] + 1
        first_ms = min(first_ms, ended) if ended > now else first_ms
        if view.stage["waiting"][before] > 0:
            asked = True
            since = sim.stage_run["waits_since_ms"][before]
            for delay_ms in (setting["no_headroom_delay_ms"][0], setting["unconditional_delay_ms"][0]):
                hangs = since + delay_ms + 1
                first_ms = min(first_ms, hangs) if delay_ms > 0 and hangs > now else first_ms
    return first_ms if asked else FOREVER


@inlined
def _set_alarm(sim, job):
    """The AM looks when maps will have waited long enough; what it had set before is forgotten."""
    first_ms = FOREVER
    for i in range(sim.looks["n_stages"][job]):
        stage = early_stage(sim, job, i)
        if is_open(sim, stage):
            first_ms = min(first_ms, _alarm(sim, stage))
    if first_ms < FOREVER:
        first_ms = next_am(sim, job, first_ms)
        if first_ms != sim.looks["alarm_ms"][job]:
            timer_push(sim, first_ms, TIMER_LOOK, job)
    sim.looks["alarm_ms"][job] = first_ms


@inlined
def _begins(sim, job, now):
    """Whether the AM looks now, and has not begun to. Its loss took due looks along."""
    looks = sim.looks
    if looks["next_ms"][job] != now and looks["alarm_ms"][job] != now:
        return False
    if looks["next_ms"][job] == now:
        looks["next_ms"][job] = FOREVER
    if looks["alarm_ms"][job] == now:
        looks["alarm_ms"][job] = FOREVER
    looks["last_ms"][job] = now
    return True


@unit
def look(sim, job):
    """The job's AM looks at one of its early stages and, when all is done that follows from it, at the next."""
    control, looks = sim.control, sim.looks
    now = sim.shown.clock["now_ms"][0]
    i = looks["at_stage"][job]
    if i == 0 and not _begins(sim, job, now):
        return 0
    if sim.job_run["begun"][job] == 0 or sim.shown.job["state"][job] >= JOB_FINISHED:
        looks["at_stage"][job] = 0
        return 0
    control["looker"][0] = job
    stage = early_stage(sim, job, i)
    if is_open(sim, stage) and _look_at(sim, stage):
        control["idle"][0] = 0
        control["last_progress_ms"][0] = now
    if i + 1 < looks["n_stages"][job]:
        looks["at_stage"][job] = i + 1
        timer_push(sim, now, TIMER_LOOK, job)
    else:
        looks["at_stage"][job] = 0
        _set_alarm(sim, job)
        listen(sim, job)
    return 0
