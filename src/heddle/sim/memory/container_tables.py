"""Tables of what runs: containers, tasks, stages, jobs."""

from __future__ import annotations

from heddle.sim.codes import FOREVER, NEVER
from heddle.sim.memory.declaring import Int8, Int16, Int32, Int64, Row, UInt16, Vector, free_chain, of_run


class Slot(Row):
    """A container (or an inner task) while it lives."""

    use: Vector  # true use now
    seen: Vector  # what a report says of it
    used_ms: Vector  # integral of use until integrated_at_ms
    integrated_at_ms: Int64
    work_us: Int64
    since_ms: Int64  # work_us is as of then
    rate: Int64
    mark_us: Int64  # work at which something happens next
    end_us: Int64
    shuffle_us: Int64
    fail_us: Int64  # work at which a fault strikes; -1: none
    rise_at_ms: Int64  # last rise of its memory use
    reports_before: Int64  # of its node, when it was allocated
    inner_memory: Int64  # EXECUTOR: memory used by its inner tasks
    asked_at_ms: Int64
    allocated_place: Int64  # this and the other places: if a log is kept
    started_place: Int64
    fetched_at_ms: Int64 = NEVER  # NEVER: it has not fetched
    fetched_place: Int64
    fetching_since_ms: Int64
    fetched_bytes: Int64  # by flows that have ended
    cross_rack_bytes: Int64  # of these
    local_bytes: Int64  # what it reads on its own node
    first_flow: Int32  # FETCHING: its flows; -1: none
    task: Int32
    job: Int32
    segment: Int32
    host: Int32 = -1  # slot of its executor; -1: a container of its own
    next_executor: Int32
    next_of_job: Int32  # this and the next: the slots of its job
    previous_of_job: Int32
    next_free: Int32 = free_chain("free_slot", "n_free")
    inner: Int16  # EXECUTOR: tasks in it
    phase: Int8
    doomed: Int8
    listed: Int8  # FETCHING: its flows have not begun yet


class Called(Row):
    """A container that rounds of preemption call for."""

    since_ms: Int64  # the first of the rounds that have called for it one after another
    next_round_ms: Int64  # after the last one: who is not called for then is called for anew
    job_key: Int64  # of its job, as of this round
    next_of_leaf: Int32  # the slots of its leaf, as of this round


class TaskRun(Row):
    started_at_ms: Int64 = NEVER
    ended_at_ms: Int64 = -1
    node: Int32 = -1
    link: Int32 = -1  # next task in its stage's list of returned ones
    crashes: Int16  # in a row, while no task of any job finished
    finished_before: UInt16  # tasks finished by all jobs before its last crash, modulo 2**16
    attempts: Int16
    failures: Int8
    state: Int8


class StageRun(Row):
    next_fresh: Int32  # tasks before it were allocated at least once
    asked: Int32 = of_run(lambda run: run.early.tasks)  # fresh tasks asked for so far, allocated ones included
    to_ask: Int32  # newly asked for, on their way into the index
    pending: Int32 = of_run(lambda run: run.early.tasks)  # of an early stage: tasks that its AM has yet to ask for
    returned: Int32 = -1  # first of its returned tasks, by number; -1: none
    bucket: Int32 = -1  # where its request waits; -1: nowhere
    served: Int64 = -1  # the offer in which it last got a container (choosing.py)
    waits_since_ms: Int64  # when its request last began to wait
    last_end_ms: Int64 = NEVER  # of a container of it
    after_left: Int16 = of_run(lambda run: run.workload.stages["n_after"])  # stages it comes after that are not done
    runnable: Int8
    gave_way: Int8  # an early stage that made room for maps, none of which has got a container since
    named: Int8  # by somebody outside


class Keeping(Row):
    """The nodes that are kept for a stage (scheduling/reservations.py)."""

    first_node: Int32 = -1
    count: Int32


class JobRun(Row):
    started_at_ms: Int64 = -1  # first task or executor running
    am_started_at_ms: Int64 = -1
    ended_at_ms: Int64 = -1
    first_executor: Int32 = -1  # slot; executors of the job by number
    after_left: Int32 = of_run(lambda run: run.workload.jobs["n_after"])  # jobs it comes after that have not finished
    stages_left: Int32 = of_run(lambda run: run.stages_with_work)
    first_slot: Int32 = -1  # of all that it holds, inner tasks included, the newest first
    stages_before: Int32 = of_run(lambda run: run.numbers.stages_before)  # rows + this: numbers of its stages
    tasks_before: Int32 = of_run(lambda run: run.numbers.tasks_before)  # and of its tasks
    stopped: Int64  # the walk in which one of its requests keeps back the later ones
    am_losses: Int8
    begun: Int8  # its AM is ready, or it has none and has arrived
    submitted: Int8
    after_failed: Int8


class Looks(Row):
    """When the AM of a job looks at its early stages (containers/early_stages.py)."""

    next_ms: Int64 = FOREVER
    alarm_ms: Int64 = FOREVER  # when it looks because maps have waited long enough
    last_ms: Int64 = -1
    n_stages: Int32 = of_run(lambda run: run.early.in_job)
    at_stage: Int32  # while it looks: how many of them it has looked at
    needs_mb: Int64  # so much must be free before a look could do anything
    place: Int32 = -1  # in the heap of listeners; -1: it is not there
