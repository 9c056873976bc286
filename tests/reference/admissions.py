"""Admission: which jobs may get their first container."""

from __future__ import annotations

from typing import Any

from .state import Job, World


class Admission:
    """`admit-all`."""

    admits_all = True

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

    def __init__(self, jobs: int) -> None:
        self.most = jobs

    def says_yes(self, world: World, job: Job) -> bool:
        return running(world) < self.most and leaf_has_place(world, job)


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
        allocated, am = world.allocated_queue(job.queue, only_ams=True), job.stages[0].shape
        return all(allocated[r] + am[r] <= permille * job.queue.maximum[r] // 1000 for r in world.counting)

    @staticmethod
    def _has_ams(world: World, job: Job) -> bool:
        leaf_jobs = [other for other in world.jobs if other.queue is job.queue and other.has_am]
        return any(other.stages[0].tasks[0].run is not None for other in leaf_jobs)


ADMISSIONS: dict[str, type[Admission]] = {"admit-all": Admission, "max-running": MaxRunning, "am-share": AmShare}


def make_admission(name: str, parameters: dict[str, Any]) -> Admission:
    return ADMISSIONS[name](**parameters)
