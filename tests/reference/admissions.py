"""Admission: which jobs may get their first container."""

from __future__ import annotations

from typing import Any

from heddle.model.resources import MEMORY
from heddle.model.workload import AM, EXECUTORS, INNER, TASKS

from .fair_shares import fair_share
from .partitions import Partition
from .state import Job, QueueState, Stage, Vector, World, add


class Admission:
    """`admit-all`."""

    admits_all = True
    partition = Partition()  # the pools that there are
    every_ms = 0  # how often on_tick is called while requests wait; 0: never

    def on_tick(self, world: World) -> bool:
        """Whether a no may have become a yes."""
        return False

    def says_yes(self, world: World, job: Job) -> bool:
        return True


def running(world: World, in_leaf_of: Job | None = None) -> int:
    """Admitted jobs that have not ended, in all queues or in one leaf."""
    return sum(
        job.admitted and not job.ended and (in_leaf_of is None or job.queue is in_leaf_of.queue) for job in world.jobs
    )


def leaf_has_place(world: World, job: Job) -> bool:
    most = job.queue.spec.max_running_jobs
    return most < 0 or running(world, in_leaf_of=job) < most


class MaxRunning(Admission):
    admits_all = False

    def __init__(self, jobs: int = 10) -> None:
        self.most = jobs

    def says_yes(self, world: World, job: Job) -> bool:
        return running(world) < self.most and leaf_has_place(world, job)


def current_limit(world: World, queue: QueueState) -> Vector:
    """l of the page: what the queue holds and what its parent has left."""
    if queue.parent is None:
        return queue.maximum  # T
    above, parent = current_limit(world, queue.parent), queue.parent
    held, held_by_all = world.allocated_queue(queue), world.allocated_queue(parent)
    return tuple(
        min(queue.maximum[r], min(above[r], parent.maximum[r]) - held_by_all[r] + held[r])
        for r in range(world.n_resources)
    )


class AmShare(Admission):
    admits_all = False

    def __init__(self, percent: float = 0.1) -> None:
        self.permille = round(1000 * percent)

    def says_yes(self, world: World, job: Job) -> bool:
        if not leaf_has_place(world, job):
            return False
        if not job.has_am or not self._has_ams(world, job):
            return True
        own = job.queue.spec.am_share_permille
        permille = self.permille if own == -1 else own
        base = self.base(world, job.queue)
        allocated, am = world.allocated_queue(job.queue, only_ams=True), job.stages[0].shape
        for r in world.counting:
            increment = world.cluster.increment[r]
            limit = -(-permille * base[r] // 1000)
            if allocated[r] + am[r] > -(-limit // increment) * increment:
                return False
        return True

    def base(self, world: World, leaf: QueueState) -> Vector:
        """U of the page."""
        limit = current_limit(world, leaf)
        return leaf.guarantee if any(leaf.guarantee[r] > limit[r] for r in world.counting) else limit

    @staticmethod
    def _has_ams(world: World, job: Job) -> bool:
        leaf_jobs = [other for other in world.jobs if other.queue is job.queue and other.has_am]
        return any(other.stages[0].tasks[0].run is not None for other in leaf_jobs)


class FairAmShare(Admission):
    admits_all = False

    def __init__(self, percent: float = 0.5, shares: str = "memory") -> None:
        self.permille, self.every_resource = round(1000 * percent), shares == "dominant"

    def says_yes(self, world: World, job: Job) -> bool:
        if not leaf_has_place(world, job):
            return False
        if not job.has_am:
            return True
        leaf, base = job.queue, self.base(world, job.queue)
        permille = self.permille if leaf.spec.am_share_permille == -1 else leaf.spec.am_share_permille
        wanted = add(world.allocated_queue(leaf, only_ams=True), job.stages[0].shape)
        return all(wanted[r] <= -(-permille * base[r] // 1000) for r in world.counting)

    def base(self, world: World, leaf: QueueState) -> Vector:
        """B of the page."""
        return tuple(self._base(world, leaf, r) for r in range(world.n_resources))

    def _base(self, world: World, leaf: QueueState, r: int) -> int:
        share = fair_share(world, leaf, r) if r == MEMORY or self.every_resource else 0
        root = world.queues[0]
        free = max(0, root.maximum[r] - world.allocated_queue(root)[r])
        return share or min(leaf.maximum[r], free)


class AdmissionControl(Admission):
    admits_all = False

    def __init__(
        self,
        rule: str = "placeable",
        cold_start: str = "declared",
        capacity: str = "allowance",
        backlog: float | str = "unbounded",
    ) -> None:
        self.placeable, self.declared = rule == "placeable", cold_start == "declared"
        self.usable = capacity == "usable"
        self.scaled: dict[int, int] = {}
        self.backlog_permille = None if isinstance(backlog, str) else round(1000 * backlog)

    def says_yes(self, world: World, job: Job) -> bool:
        if not leaf_has_place(world, job):
            return False
        if not job.has_am:
            return True
        ams = [run.task.stage.shape for run in world.containers() if run.kind == AM]
        lost = [other.stages[0].shape for other in self._running(world) if other.stages[0].tasks[0].run is None]
        if self.placeable and not ams and not lost:
            return True
        own, ahead = job.stages[0].shape, self._ahead(world, job)
        taken = self._sum(world, [*ams, *lost, own, *ahead])
        for r in world.counting:
            reserve = max(self._reserve(world, job, [*ams, *lost], r), self.scaled.get(r, 0))
            if self._capacity(world, job, r) - taken[r] < reserve:
                return False
        if self.placeable and not self._has_room(world, job, [own, *ahead, *lost]):
            return False
        left = [world.capacity_sum[r] - sum(shape[r] for shape in [*ams, *lost, own]) for r in range(world.n_resources)]
        return self.backlog_permille is None or all(
            self._is_wanted(world, r, left[r] + left[r] * self.backlog_permille // 1000) for r in world.counting
        )

    def _is_wanted(self, world: World, r: int, bound: int) -> bool:
        in_hand, known, unknown = 0, [], 0
        for job in self._running(world):
            stages = self._tasks(job)
            held = [run.task.stage for run in world.containers() if run.task.stage in stages]
            now = sum(len(stage.waiting()) * stage.shape[r] for stage in stages) + sum(stage.shape[r] for stage in held)
            done = [task.stage for stage in stages for task in stage.tasks if task.finished]
            declared = [stage.shape[r] for stage in stages for _ in stage.tasks]
            if held or done or any(stage.waiting() for stage in stages):
                known.append(now + sum(stage.shape[r] for stage in done))
                in_hand += now
            elif declared:
                in_hand += sum(declared)
            else:
                unknown += 1
        if unknown and not known:
            return False
        return in_hand + (unknown * (sum(known) // len(known)) if known else 0) <= bound

    @staticmethod
    def _sum(world: World, shapes: list[Vector]) -> Vector:
        total = world.zero
        for shape in shapes:
            total = add(total, shape)
        return total

    @staticmethod
    def _running(world: World) -> list[Job]:
        return [job for job in world.jobs if job.has_am and job.admitted and not job.ended]

    @staticmethod
    def _tasks(job: Job) -> list[Stage]:
        return [stage for stage in job.stages if stage.kind in (TASKS, EXECUTORS)]

    def _ahead(self, world: World, job: Job) -> list[Vector]:
        waiting = [o for o in world.jobs if o.has_am and o.arrived and not o.admitted and not o.ended]
        first, own = waiting[0].stages[0].shape, job.stages[0].shape
        return [first] if any(first[r] > own[r] for r in world.counting) else []

    def on_tick(self, world: World) -> bool:
        before, self.scaled = self.scaled, {}
        ams = [run.task.stage.shape for run in world.containers() if run.kind == AM]
        ams += [other.stages[0].shape for other in self._running(world) if other.stages[0].tasks[0].run is None]
        for r in range(world.n_resources):
            reserve, capacity = self._reserve(world, None, ams, r), self._capacity(world, None, r)
            total = sum(shape[r] for shape in ams)
            self.scaled[r] = reserve * (reserve + total) // capacity if reserve + total > capacity > 0 else 0
        return any(self.scaled[r] < before.get(r, 0) for r in self.scaled)

    def _capacity(self, world: World, job: Job | None, r: int) -> int:
        if not self.usable:
            return world.capacity_sum[r]
        jobs = self._running(world) + ([job] if job else [])
        ams = [one.stages[0].shape[r] for one in jobs if one.stages[0].shape[r]]
        tasks = [stage.shape[r] for one in jobs for stage in self._tasks(one) if stage.shape[r]]
        return sum(self._filled(node.spec.allowance[r], ams, tasks) for node in world.nodes)

    @staticmethod
    def _filled(room: int, ams: list[int], tasks: list[int]) -> int:
        if not tasks:
            return room
        task = min(tasks)
        by_ams = range(0, room + 1, min(ams)) if ams else [0]
        return max(held + (room - held) // task * task for held in by_ams)

    def _reserve(self, world: World, job: Job | None, ams: list[Vector], r: int) -> int:
        """Equations (1) and (2)."""
        total = sum(shape[r] for shape in ams)
        average_am = total // len(ams) if ams else job.stages[0].shape[r] if job else 0
        running = [run.task.stage.shape[r] for run in world.containers() if run.kind != AM]
        if not running and job and self.declared:
            running = [stage.shape[r] for stage in self._tasks(job) for _ in stage.tasks] or [job.stages[0].shape[r]]
        average_task = sum(running) // len(running) if running else 0
        return self._capacity(world, job, r) * average_task // (average_am + average_task) if average_task else 0

    def _has_room(self, world: World, job: Job, to_come: list[Vector]) -> bool:
        stages = [stage for other in (*self._running(world), job) for stage in self._tasks(other)]
        coming = self._sum(world, to_come)
        for label in {stage.label for stage in stages}:
            alike = [stage for stage in stages if stage.label == label]
            shapes = [stage.shape for stage in alike]
            largest = tuple(max(column) for column in zip(*shapes, strict=True))
            if not any(largest):
                continue
            rooms = []
            for node in world.nodes:
                if node.alive and world.may_go_to(alike[0], node):
                    held = world.sum_shapes([run for run in world.containers(node) if run.kind == AM])
                    rooms.append([node.spec.allowance[r] - held[r] - largest[r] for r in world.counting])
            whole = [coming[r] for r in world.counting]
            one_holds_all = any(all(x >= y for x, y in zip(room, whole, strict=True)) for room in rooms)
            if not one_holds_all and sum(min(room) >= 0 for room in rooms) <= len(to_come):
                return False
        return True


class ScaledAdmissionControl(AdmissionControl):
    every_ms = 1000


class WholeJobs(Admission):
    admits_all = False

    def says_yes(self, world: World, job: Job) -> bool:
        if not leaf_has_place(world, job):
            return False
        runs = [other for other in world.jobs if other.admitted and not other.ended and other.pool == job.pool]
        if not runs:
            return True
        limit = self.partition.limit(world, job.pool) or world.total_sum
        wanted = world.allocated_pool(job.pool)
        for stage in (stage for one in (*runs, job) for stage in one.stages if stage.kind != INNER):
            for task in stage.tasks:
                wanted = wanted if task.finished or task.run is not None else add(wanted, stage.shape)
        return all(wanted[r] <= min(limit[r], world.total_sum[r]) for r in world.counting)


ADMISSIONS: dict[str, type[Admission]] = {
    "admit-all": Admission,
    "max-running": MaxRunning,
    "am-share": AmShare,
    "fair-am-share": FairAmShare,
    "admission-control": AdmissionControl,
    "admission-control-scaled": ScaledAdmissionControl,
    "whole-jobs": WholeJobs,
}


def make_admission(name: str, parameters: dict[str, Any], partition: Partition) -> Admission:
    admission = ADMISSIONS[name](**parameters)
    admission.partition = partition
    return admission
