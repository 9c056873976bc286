"""When MapReduce asks for reduces: what an AM does with its early stages when it looks."""

from __future__ import annotations

from heddle.model.reasons import Outcome
from heddle.model.resources import MEMORY, VCORES

from .headroom import headroom
from .jobs import Lives
from .partitions import Partition
from .queues import Queues
from .state import Job, Run, Stage, Task, Vector, World, add


class EarlyStages:
    def __init__(self, world: World, lives: Lives, queues: Queues, partition: Partition) -> None:
        self.world, self.lives, self.queues, self.partition = world, lives, queues, partition
        self.settings = world.cluster.map_reduce
        self.looked_at = [r for r in (MEMORY, VCORES) if r in world.counting]

    def looks(self) -> bool:
        """All looks that are due now; whether one of them did anything."""
        now, acted = self.world.now, False
        for job in self.world.jobs:
            if any(at <= now for at in job.look_at | job.alarms):
                job.look_at = {at for at in job.look_at if at > now}
                job.alarms = set()
                acted |= self._look(job)
        return acted

    def _look(self, job: Job) -> bool:
        acted = False
        for stage in job.stages:
            if job.begun and not job.ended and stage.is_early and not stage.done and _is_open(stage):
                acted |= Look(self, stage).act()
        return acted


def _is_open(stage: Stage) -> bool:
    return all(first.done for maps in stage.after for first in maps.after)


def is_asked(task: Task) -> bool:
    """It waits, or will when its ask has come to the scheduler."""
    return task.asked or task.ask_at is not None


class Look:
    """One look at one stage; amounts are named as on the page."""

    def __init__(self, early: EarlyStages, stage: Stage) -> None:
        self.world, self.lives, self.settings, self.stage = early.world, early.lives, early.settings, stage
        self.resources = early.looked_at
        self.maps = [task for before in stage.after for task in before.tasks]
        self.asked = [task for task in stage.tasks if is_asked(task)]
        self.pending = [task for task in stage.eligible() if not is_asked(task)]
        self.runs = [task.run for task in stage.tasks if task.run is not None]
        others = [other for other in stage.job.stages if other.is_early and other is not stage]
        of_others = self._sum([task for other in others for task in other.tasks if is_asked(task)])
        self.room = {
            r: max(0, headroom(self.world, early.queues, early.partition, stage, r) - of_others[r])
            for r in self.resources
        }

    def act(self) -> bool:
        asked = [before for before in self.stage.after if before.waiting()]
        if asked and not any(task.run for task in self.maps):
            self._look_again(asked)
            if self._maps_starve() and (hanging := self._hanging(asked)):
                return self._give_way(asked[0].shape, hanging)
        return self._ask_or_withdraw()

    def _sum(self, tasks: list[Task]) -> Vector:
        total = self.world.zero
        for task in tasks:
            total = add(total, task.stage.shape)
        return total

    # Giving way

    def _last_end(self) -> int | None:
        return max((before.last_end for before in self.stage.after if before.last_end is not None), default=None)

    def _maps_starve(self) -> bool:
        """Given that some are asked for and none is allocated."""
        last = self._last_end()
        return last is None or self.world.now > last + self.world.cluster.timing.node_heartbeat_ms

    def _look_again(self, asked: list[Stage]) -> None:
        """When one of the waits is over."""
        delays = self.settings.unconditional_delay_ms, self.settings.no_headroom_delay_ms
        times = [before.waits_since + delay + 1 for before in asked for delay in delays if delay > 0]
        last = self._last_end()
        if last is not None:
            times.append(last + self.world.cluster.timing.node_heartbeat_ms + 1)
        job = self.stage.job
        job.alarms.update(self.world.next_am(job, at) for at in times if at > self.world.now)

    def _hanging(self, asked: list[Stage]) -> list[Stage]:
        """The requests of maps for whose sake the stage gives way; none: it does not."""

        def for_more_than(delay: int) -> list[Stage]:
            return [before for before in asked if delay == 0 or self.world.now - before.waits_since > delay]

        found = for_more_than(self.settings.unconditional_delay_ms)
        own, one = self._sum(self.asked), asked[0].shape
        has_room = all(self.room[r] - own[r] >= one[r] for r in self.resources if one[r] > 0)
        return found if found or has_room else for_more_than(self.settings.no_headroom_delay_ms)

    def _give_way(self, one: Vector, hanging: list[Stage]) -> bool:
        self.stage.gave_way = True
        self._withdraw(self.asked)
        held = self.world.sum_shapes(self.runs)
        permille = self.settings.preemption_limit_permille
        limit = {r: (self.room[r] + held[r]) * permille // 1000 for r in self.resources}
        wanted = self._sum([task for before in hanging for task in before.waiting()])

        def containers(amount: Vector | dict[int, int]) -> int:
            shape = self.stage.shape
            return max((-(-amount[r] // shape[r]) for r in self.resources if shape[r] > 0), default=0)

        most = min(max(containers(one), containers(limit)), containers(wanted))
        for run in sorted(self.runs, key=_progress)[:most]:
            self.lives.end_and_retry(run, Outcome.PREEMPTED)
        return bool(self.asked) or bool(self.runs and most)

    # Asking and withdrawing

    def _ask_or_withdraw(self) -> bool:
        total, done = len(self.maps), sum(task.finished for task in self.maps)
        if self.stage.gave_way or not self.pending or done * 1000 < self.stage.slow_start_permille * total:
            return False
        n = len(self.pending)
        if any(not task.finished and task.run is None for task in self.maps):
            n = self._how_many_more(total, done)
        if n > 0:
            self._ask(self.pending[:n])
        elif n < 0 and self.asked:
            self._withdraw(self.asked[n:])
        return n > 0 or (n < 0 and bool(self.asked))

    def _how_many_more(self, total: int, done: int) -> int:
        """n of the page; maps wait."""
        of_maps = self._sum([task for task in self.maps if not task.finished])
        held_maps, held = self._sum([task for task in self.maps if task.run]), self.world.sum_shapes(self.runs)
        limit = {r: self.room[r] + held_maps[r] + held[r] for r in self.resources}
        ideal = {r: min(x * done // total, x * self.settings.ramp_up_limit_permille // 1000) for r, x in limit.items()}
        if all(limit[r] - ideal[r] >= of_maps[r] for r in self.resources if of_maps[r] > 0):
            final = {r: limit[r] - of_maps[r] for r in self.resources}
        else:
            final = ideal
        has = add(held, self._sum(self.asked))
        more = [
            _towards_zero(final[r] - has[r], self.stage.shape[r]) for r in self.resources if self.stage.shape[r] > 0
        ]
        return min(more, default=len(self.pending))

    def _ask(self, tasks: list[Task]) -> None:
        job, now = self.stage.job, self.world.now
        for task in tasks:
            if job.has_am and self.world.cluster.timing.am_heartbeat_ms > 0:
                task.ask_at = self.world.next_am(job, now + 1)
            else:
                self.lives.make_visible(task)

    def _withdraw(self, tasks: list[Task]) -> None:
        for task in tasks:
            task.asked, task.ask_at = False, None
        if not self.stage.waiting():
            self.world.drop_reservations(self.stage)


def _progress(run: Run) -> tuple[bool, int, int]:
    """Least first: what has not started, then what was allocated first."""
    return run.started, run.record.allocated_at_ms, run.task.number


def _towards_zero(amount: int, part: int) -> int:
    return amount // part if amount >= 0 else -(-amount // part)
