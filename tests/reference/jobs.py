"""The life of jobs, stages and tasks: what is asked for when, and what an ending container causes."""

from __future__ import annotations

from collections.abc import Mapping

from heddle.model.draw import STREAM_TASK_FAULT, draw
from heddle.model.reasons import JobOutcome, Outcome
from heddle.model.resources import MEMORY
from heddle.model.workload import AM, EXECUTORS, INNER, TASKS

from . import physics
from .network import Network
from .orderings import Ordering
from .partitions import Partition
from .placements import Placement
from .sizings import Sizing
from .state import Job, Node, Run, Stage, Task, World
from .trace import Attempt, Running


class StalledRunError(Exception):
    """The run cannot go on; the argument is the reason."""


class Lives:
    """All changes of jobs and of what runs; phases and offers call these."""

    def __init__(
        self,
        world: World,
        sizing: Sizing,
        partition: Partition,
        ordering: Ordering,
        placement: Placement,
        network: Network,
    ) -> None:
        self.world, self.partition, self.placement, self.network = world, partition, placement, network
        self.listening: tuple[Sizing | Partition | Ordering | Placement, ...] = (sizing, partition, ordering, placement)
        self.wakes: set[int] = set()  # instants at which there is an ideal pass although nothing else happens

    # Arrival and begin

    def arrive(self, job: Job) -> None:
        world = self.world
        job.arrived = True
        if any(before.outcome == JobOutcome.FAILED for before in job.after):
            job.failed_at_arrival = True
            self._end_job(job, JobOutcome.FAILED)
            return
        job.pool = self.partition.pool_of(world, job)
        self.placement.on_arrival(world, job)
        if job.has_am:
            job.stages[0].tasks[0].ask_at = world.now
        else:
            self._begin(job)

    def begin_with(self, running: Mapping[int, Running]) -> None:
        """Containers that have been there since before the run."""
        for job in self.world.jobs:
            tasks = [task for task in job.tasks() if task.number in running]
            if not tasks:
                continue
            job.arrived = job.admitted = True
            job.pool = self.partition.pool_of(self.world, job)
            self.placement.on_arrival(self.world, job)
            for task in tasks:
                self._goes_on(task, running[task.number])
            if not job.has_am:
                self._begin(job)

    def _goes_on(self, task: Task, since: Running) -> None:
        stage = task.stage
        run = self._new_run(task, self.world.nodes[since.node], None, 0)
        run.record.allocated_at_ms = run.record.started_at_ms = since.started_at_ms
        for lever in self.listening:
            lever.on_allocation(self.world, run)
        if stage.kind == AM:
            run.ready_at = max(0, since.started_at_ms + self.world.cluster.timing.am_start_ms)
        elif stage.kind == EXECUTORS:
            run.idle_since = 0
        elif stage.is_early:
            run.holding = not all(before.done for before in stage.after)
        if physics.is_working(run):
            physics.begin(run, 0)
            done = -since.started_at_ms * 1000 * run.rate >> 20
            run.work_us = min(done, physics.total_work_us(task))
            if run.fail_at_us is not None and run.fail_at_us <= run.work_us:
                run.fail_at_us = None
            physics.set_due(run, 0)
        run.memory_before = physics.use(self.world, run)[MEMORY]

    def am_ready(self, run: Run) -> None:
        run.ready_at = None
        self._begin(run.task.job)

    def _begin(self, job: Job) -> None:
        now = self.world.now
        job.begun, again, job.began_before = True, job.began_before, True
        for stage in job.stages:  # what an AM before this one had already opened
            stage.gave_way = False
            if stage.kind != AM and stage.opened:
                for task in stage.tasks:
                    self._ask(task, now)
        for stage in job.stages:
            if stage.kind == EXECUTORS and stage.idle_timeout_ms == 0 and not stage.opened:
                stage.opened = True
                for task in stage.tasks:
                    self._ask(task, self.world.next_am(job, now))
        self.world.looks_soon(job)
        self._open_stages(job)
        self.place_inner(job)
        if again:
            self._look_for_executors(job, now)
        self._finish_if_done(job)

    def _ask(self, task: Task, at: int) -> None:
        """The task shall be waiting from an instant on. The AM keeps inner tasks itself: no ask is on its way."""
        if task.finished or task.run is not None:
            return
        if task.stage.kind == INNER and at <= self.world.now:
            self.make_visible(task)
        else:
            task.ask_at = at

    def make_visible(self, task: Task) -> None:
        if task.stage.kind != INNER and not task.stage.waiting():
            task.stage.waits_since = self.world.now
            if self.world.newcomer_at is None:
                self.world.newcomer_at = self.world.now
        task.ask_at, task.asked = None, True
        if task.stage.asked_at is None:
            task.stage.asked_at = self.world.now
            wait_ms = self.placement.wait_ms
            if wait_ms > 0 and task.stage.kind != INNER:
                self.wakes.update((self.world.now + wait_ms, self.world.now + 2 * wait_ms))

    def _open_stages(self, job: Job) -> None:
        now = self.world.now
        for stage in job.stages:
            if stage.kind not in (TASKS, INNER) or stage.opened or stage.is_early:
                continue
            if all(before.done for before in stage.after):
                stage.opened = True
                for task in stage.tasks:
                    self._ask(task, now if stage.kind == INNER else self.world.next_am(job, now))

    def _early_after(self, stage: Stage) -> list[Stage]:
        return [later for later in stage.job.stages if later.is_early and stage in later.after]

    def _holding(self, job: Job) -> list[Run]:
        return [run for run in self.world.runs_of(job) if run.holding]

    # Containers and inner tasks begin

    def allocate(self, task: Task, node: Node) -> None:
        """A container for the task, in an offer."""
        world, job = self.world, task.job
        launch = world.cluster.timing.launch_ms
        starts_at = world.now + launch
        if task.stage.kind != AM and job.has_am and world.cluster.timing.am_heartbeat_ms > 0:
            starts_at = world.next_am(job, world.now + 1) + launch
        job.admitted = True
        world.allocations += 1
        run = self._new_run(task, node, None, starts_at)
        for lever in self.listening:
            lever.on_allocation(world, run)
        if run.starts_at == world.now:
            self.start(run)
        for later in self._early_after(task.stage):
            later.gave_way = False

    def _new_run(self, task: Task, node: Node, executor: Run | None, starts_at: int) -> Run:
        record = Attempt(task.number, task.attempts, node.number, self.world.now)
        run = Run(task, node, executor, starts_at, record, self._fault_at_us(task), node.reports)
        task.asked, task.run = False, run
        task.attempts += 1
        self.world.attempts.append(record)
        self.world.runs.append(run)
        if executor is None:
            task.job.last_node = task.stage.last_node = node
            self.world.changed()
        return run

    def _fault_at_us(self, task: Task) -> int | None:
        if task.stage.kind != TASKS:
            return None
        index, seed = task.number * 64 + min(task.attempts, 63), self.world.seed
        if draw(seed, STREAM_TASK_FAULT, index) % 10000 >= self.world.cluster.faults.task_failure_permyriad:
            return None
        permyriad = int(draw(seed, STREAM_TASK_FAULT, 2**40 + index)) % 9999 + 1
        return physics.total_work_us(task) * permyriad // 10000

    def start(self, run: Run) -> None:
        now, stage = self.world.now, run.task.stage
        run.record.started_at_ms = run.since = now
        if stage.kind == AM:
            run.ready_at = now + self.world.cluster.timing.am_start_ms
        elif stage.kind == EXECUTORS:
            run.idle_since = now
            self.place_inner(stage.job)
        elif stage.is_early:
            run.holding = not all(before.done for before in stage.after)
        if physics.is_working(run):
            self._begin_task(run)
        self.check_limit(run)

    def _begin_task(self, run: Run) -> None:
        """It fetches, or works at once."""
        if self.network.sources(run):
            run.fetching = True
            self.network.waiting.append(run)
        else:
            physics.begin(run, self.world.now)

    def fetched(self, run: Run) -> None:
        """The last of its input has come."""
        run.fetching, run.due = False, None
        run.has_fetched = True
        physics.begin(run, self.world.now)
        self.check_limit(run)

    def check_limit(self, run: Run) -> None:
        """A task above its own reservation is killed, where the cluster does that."""
        above = physics.use(self.world, run)[MEMORY] > run.task.stage.shape[MEMORY]
        if self.world.cluster.physics.pmem_check and run.kind == TASKS and run.live and above:
            self.fail(run, Outcome.LIMIT_KILLED)

    def place_inner(self, job: Job) -> None:
        for task in self._waiting_inner(job):
            free = [
                run
                for run in self.world.runs_of(job)
                if run.kind == EXECUTORS and run.started and len(self.world.inner_of(run)) < run.task.stage.slots
            ]
            if not free:
                self._look_for_executors(job, self.world.next_am(job, self.world.now))
                return
            executor = free[0]
            executor.idle_since = None
            self.start(self._new_run(task, executor.node, executor, self.world.now))

    def _waiting_inner(self, job: Job) -> list[Task]:
        return [task for task in job.tasks() if task.stage.kind == INNER and task.asked]

    def _look_for_executors(self, job: Job, at: int) -> None:
        for stage in job.stages:
            if stage.kind == EXECUTORS and stage.idle_timeout_ms > 0:
                stage.look_at.add(at)

    def ask_executors(self, job: Job) -> None:
        """More executors with an idle timeout, because inner tasks wait."""
        waiting = len(self._waiting_inner(job))
        for stage in job.stages:
            if stage.kind != EXECUTORS or stage.idle_timeout_ms == 0 or waiting == 0:
                continue
            alive = sum(task.run is not None for task in stage.tasks)
            idle = [task for task in stage.tasks if task.run is None and not task.asked and task.ask_at is None]
            wanted = min(len(stage.tasks), alive + -(-waiting // stage.slots))
            missing = wanted - (len(stage.tasks) - len(idle))
            for task in idle[: max(0, missing)]:
                self.make_visible(task)

    # Containers and inner tasks end

    def _end_run(self, run: Run, outcome: Outcome) -> None:
        """The run is over, and with it, if it is an executor, its inner tasks."""
        for inner in self.world.inner_of(run):
            self._end_run(inner, outcome)
        self.network.drop(run)
        run.live = False
        run.record.ended_at_ms, run.record.outcome = self.world.now, outcome
        run.task.run = None
        self.world.runs.remove(run)
        if run.executor is None:
            self.world.untold.add(run.node.number)
            run.task.stage.last_end = self.world.now
            self.world.changed()
            for lever in self.listening:
                lever.on_end(self.world, run)
        elif not self.world.inner_of(run.executor):
            run.executor.idle_since = self.world.now

    def finish(self, run: Run) -> None:
        task, stage, job = run.task, run.task.stage, run.task.job
        assert run.record.started_at_ms is not None
        self._end_run(run, Outcome.FINISHED)
        task.finished, task.ran_ms = True, self.world.now - run.record.started_at_ms
        task.finished_on = run.node
        for other in self.world.tasks:
            other.crashes = 0
        for later in self._early_after(stage):
            if all(before.done for before in later.after):
                for held in [run for run in self._holding(job) if run.task.stage is later]:
                    held.holding = False
                    self._begin_task(held)
                    self.check_limit(held)
        self._open_stages(job)
        self.place_inner(job)
        self._finish_if_done(job)

    def release_idle(self, executor: Run) -> None:
        self._end_run(executor, Outcome.RELEASED)

    def fail(self, run: Run, outcome: Outcome) -> None:
        """A failed or limit-killed task: it is tried again, or it was once too often."""
        self._end_run(run, outcome)
        run.task.failures += 1
        if run.task.failures >= self.world.cluster.physics.max_attempts:
            self._fail_job(run.task.job)
        else:
            self._retry(run.task)

    def end_and_retry(self, run: Run, outcome: Outcome) -> None:
        self._end_run(run, outcome)
        self._retry(run.task)

    def crash(self, victims: list[Run]) -> None:
        lost = self._end_with_inner(victims, Outcome.CRASHED)
        for task in lost:
            task.crashes += 1
        self._come_back(lost)
        if any(task.crashes >= self.world.cluster.physics.livelock_crashes for task in lost):
            raise StalledRunError("livelock")

    def preempt(self, containers: list[Run]) -> None:
        """These give way to other queues, all at once."""
        self._come_back(self._end_with_inner(containers, Outcome.PREEMPTED))

    def lose_node(self, node: Node) -> None:
        node.reserved_for = None
        lost = self._end_with_inner(self.world.containers(node), Outcome.NODE_LOST)
        for task in lost:
            if task.stage.kind == AM:
                task.failures += 1
        self._come_back(lost)

    def _end_with_inner(self, containers: list[Run], outcome: Outcome) -> list[Task]:
        ended = []
        for run in containers:
            ended += [run.task, *(inner.task for inner in self.world.inner_of(run))]
            self._end_run(run, outcome)
        return ended

    def _come_back(self, lost: list[Task]) -> None:
        for task in lost:
            self._retry(task)
        for task in lost:
            if task.stage.kind != AM:
                continue
            if task.failures >= self.world.cluster.physics.am_max_attempts:
                self._fail_job(task.job)
            else:
                self._lose_am(task)

    def _retry(self, task: Task) -> None:
        back_at = self.world.next_am(task.job, self.world.now + self.world.cluster.timing.retry_ms)
        if task.stage.is_early:
            task.back_at = back_at
        else:
            task.ask_at = back_at
        if back_at > self.world.now and any(stage.is_early for stage in task.job.stages):
            task.job.look_at.add(back_at)
        else:
            self.world.looks_soon(task.job)

    def _lose_am(self, am: Task) -> None:
        job = am.job
        job.begun = False
        self._end_all(job, Outcome.AM_LOST)
        self._withdraw(job)
        self._retry(am)

    def _withdraw(self, job: Job) -> None:
        for task in job.tasks():
            task.asked, task.ask_at, task.back_at = False, None, None
        job.look_at.clear()
        job.alarms.clear()
        for stage in job.stages:
            self.world.drop_reservations(stage)

    def _end_all(self, job: Job, outcome: Outcome) -> None:
        for run in self.world.runs_of(job):
            if run.live:  # an inner task may have ended with its executor
                self._end_run(run, outcome)

    # Jobs end

    def _finish_if_done(self, job: Job) -> None:
        if not job.ended and all(stage.done for stage in job.stages if stage.kind in (TASKS, INNER)):
            self._end_all(job, Outcome.RELEASED)
            self._end_job(job, JobOutcome.FINISHED)

    def _fail_job(self, job: Job) -> None:
        self._end_all(job, Outcome.JOB_FAILED)
        self._end_job(job, JobOutcome.FAILED)

    def _end_job(self, job: Job, outcome: JobOutcome) -> None:
        self._withdraw(job)
        job.outcome, job.ended_at = outcome, self.world.now
