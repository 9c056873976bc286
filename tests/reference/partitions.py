"""Partition: which pool a job draws on, and how much a pool may hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from heddle.model.resources import ONE
from heddle.model.workload import AM, EXECUTORS, INNER, TASKS

from .state import Job, Node, Run, Vector, World, add

ASKED_FOR = (TASKS, EXECUTORS)


class Partition:
    """`shared`: one pool without limit."""

    every_ms = 0  # how often on_tick is called while requests wait; 0: never

    def pool_of(self, world: World, job: Job) -> int:
        return self.pool_for(world, wants(job))

    def pool_for(self, world: World, wanted: list[tuple[Vector, int]]) -> int:
        """The pool of a job that wants so many containers of these shapes."""
        return 0

    def limit(self, world: World, pool: int) -> Vector | None:
        return None

    def on_allocation(self, world: World, run: Run) -> None:
        """Pools that never move do not listen."""

    def on_end(self, world: World, run: Run) -> None:
        """Likewise."""

    def on_tick(self, world: World) -> bool:
        """Whether limits have changed."""
        return False

    def allows(self, world: World, job: Job, shape: Vector) -> bool:
        limit = self.limit(world, job.pool)
        if limit is None:
            return True
        allocated = world.allocated_pool(job.pool)
        return all(allocated[r] + shape[r] <= limit[r] for r in world.counting)


def wants(job: Job) -> list[tuple[Vector, int]]:
    """How many containers of which shapes."""
    return [(stage.shape, len(stage.tasks)) for stage in job.stages if stage.kind in ASKED_FOR]


def is_small(world: World, wanted: list[tuple[Vector, int]], theta: float, rooms: list[Vector]) -> int:
    """1 if a job wants at most theta of the containers of its largest shape that these rooms hold."""
    if not wanted:
        return 1
    # max() keeps the first of equals: the smaller stage number
    largest = max((shape for shape, _ in wanted), key=world.share)
    counting = [r for r in world.counting if largest[r] > 0]
    if not counting:
        return 1
    slots = sum(min(room[r] // largest[r] for r in counting) for room in rooms)
    return 1 if sum(count for _, count in wanted) * 1000 <= round(1000 * theta) * slots else 0


class SmallPool(Partition):
    def __init__(self, share: float = 0.1, theta: float = 0.1) -> None:
        self.permille, self.theta = round(1000 * share), theta

    def pool_for(self, world: World, wanted: list[tuple[Vector, int]]) -> int:
        return is_small(world, wanted, self.theta, [node.spec.allowance for node in world.nodes])

    def limit(self, world: World, pool: int) -> Vector | None:
        small = tuple(x * self.permille // 1000 for x in world.total_sum)
        return small if pool == 1 else tuple(x - y for x, y in zip(world.total_sum, small, strict=True))


@dataclass(eq=False)
class Phase:
    first: int
    last: int
    gamma: int | None = None
    runs: list[Run] = field(default_factory=list)  # all that count to it, ended ones too
    ended: list[Run] = field(default_factory=list)
    seen: bool = False

    def rest(self) -> list[Run]:
        return [run for run in self.runs if run not in self.ended]


@dataclass(eq=False)
class History:
    """What is known of a job's containers."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    newest: Phase | None = None
    older: Phase | None = None


def share_rounded_up(world: World, amount: Vector) -> int:
    """The dominant share of what may be promised now, each division rounded up."""
    return max((-(-amount[r] * ONE // world.total_sum[r]) for r in world.counting if world.total_sum[r]), default=0)


def tightest(world: World) -> int:
    """What may be promised now, in shares of the allowances, in the resource that is shortest."""
    parts = [world.total_sum[r] * ONE // world.capacity_sum[r] for r in world.counting if world.capacity_sum[r]]
    return max(1, min(parts, default=ONE))


class DressPools(Partition):
    every_ms = 1000

    def __init__(
        self,
        theta: float = 0.1,
        basis: str = "total",
        initial_share: float = 0.1,
        window_s: float = 10,
        t_s: int = 5,
        t_e: int = 5,
        demand: str = "whole",
        release: str = "increment",
        alg3: str = "mended",
    ) -> None:
        self.theta, self.basis, self.t_s, self.t_e = theta, basis, t_s, t_e
        self.whole, self.increment, self.mended = demand == "whole", release == "increment", alg3 == "mended"
        self.delta, self.window_ms = round(ONE * initial_share), round(1000 * window_s)
        self.arrived: list[Job] = []
        self.of: dict[Job, History] = {}

    def pool_of(self, world: World, job: Job) -> int:
        self.arrived.append(job)
        rooms = [node.spec.allowance for node in world.nodes]
        if self.basis == "available":
            rooms = [self._free(world, node) for node in world.nodes if node.alive]
        return is_small(world, wants(job), self.theta, rooms)

    def limit(self, world: World, pool: int) -> Vector | None:
        small = tuple(x * self.delta // ONE for x in world.total_sum)
        return small if pool == 1 else tuple(x - y for x, y in zip(world.total_sum, small, strict=True))

    @staticmethod
    def _free(world: World, node: Node) -> Vector:
        allocated = world.allocated_node(node)
        return tuple(max(0, x - y) for x, y in zip(node.spec.allowance, allocated, strict=True))

    # Phases

    def _trails(self, world: World, history: History, phase: Phase) -> bool:
        return phase.gamma is not None and not any(at > world.now - self.window_ms for at in history.ends)

    def on_allocation(self, world: World, run: Run) -> None:
        if run.kind == AM:
            return
        now, history = world.now, self.of.setdefault(run.task.job, History())
        newest = history.newest
        if newest is None:
            history.newest = Phase(now, now)
        elif newest.last <= now - self.window_ms:
            history.newest = Phase(now, now)
            if newest.seen and not self._trails(world, history, newest):
                newest.runs += history.older.rest() if history.older else []
                history.older = newest
            else:
                history.newest.runs = newest.rest()
        phase = history.newest
        assert phase is not None
        if len(history.starts) >= self.t_s and history.starts[-self.t_s] > now - self.window_ms:
            phase.seen = True
        history.starts.append(now)
        phase.last = now
        phase.runs.append(run)

    def on_end(self, world: World, run: Run) -> None:
        if run.kind == AM:
            return
        history = self.of[run.task.job]
        phase = history.older if history.older and run in history.older.rest() else history.newest
        assert phase is not None
        if phase.gamma is None:
            if len(phase.runs) <= self.t_e:
                phase.gamma = world.now
            elif len(history.ends) >= self.t_e and history.ends[-self.t_e] > world.now - self.window_ms:
                phase.gamma = history.ends[-self.t_e]
        history.ends.append(world.now)
        phase.ended.append(run)

    def _release(self, world: World, phase: Phase | None) -> int:
        if phase is None or not phase.rest() or phase.gamma is None:
            return 0
        span = max(1000, phase.last - phase.first)
        if world.now > phase.gamma + span:
            return 0
        amount = sum(world.share(run.task.stage.shape) for run in phase.runs)
        released = sum(world.share(run.task.stage.shape) for run in phase.ended)
        now, then = (amount * min(span, at - phase.gamma) // span for at in (world.now, world.now + 1000))
        return min(then - now, amount - released) if self.increment else then

    def _releases(self, world: World, pool: int) -> int:
        total = 0
        for job, history in self.of.items():
            if job.pool == pool:
                total += self._release(world, history.older)
                if history.newest and history.newest.last <= world.now - self.window_ms:
                    total += self._release(world, history.newest)
        return total * ONE // tightest(world)

    # Alg. 3

    def _demand(self, world: World, jobs: list[Job]) -> Vector:
        total = world.zero
        for stage in (stage for job in jobs for stage in job.stages if stage.kind != INNER):
            whole = [task for task in stage.tasks if task.run is None and not task.finished]
            for _ in whole if self.whole else stage.waiting():
                total = add(total, stage.shape)
        return total

    def on_tick(self, world: World) -> bool:
        for job, history in self.of.items():
            # A job that holds nothing is not looked at: what it has left is nothing.
            older = history.older
            if not job.ended and older and older.rest() and self._trails(world, history, older):
                assert history.newest is not None
                history.newest.runs += older.rest()
                history.older = None
        before, self.delta = self.delta, max(0, min(ONE, self._adjusted(world)))
        return self.delta != before

    def _live(self, pool: int) -> list[Job]:
        return [job for job in self.arrived if not job.ended and job.pool == pool]

    def _adjusted(self, world: World) -> int:
        held, large = (share_rounded_up(world, world.allocated_pool(pool)) for pool in (1, 0))
        free = max(0, ONE - held - large)
        delta = max(held, min(held + free, self.delta))
        free_in = {1: delta - held, 0: held + free - delta}
        release = {k: self._releases(world, k) for k in (0, 1)}
        wanted = {k: share_rounded_up(world, self._demand(world, self._live(k))) for k in (0, 1)}
        live = [job for job in self.arrived if not job.ended]
        asking = [(d, job) for job in live if (d := share_rounded_up(world, self._demand(world, [job]))) > 0][:256]
        sorted_demands = {k: sorted(demand for demand, job in asking if job.pool == k) for k in (0, 1)}
        if not self.mended:
            return delta + self._as_printed(free_in, release, wanted, sorted_demands[1])
        room = {k: free_in[k] + release[k] for k in (0, 1)}
        lacks = {k: wanted[k] - room[k] for k in (0, 1)}
        if lacks[1] <= 0:
            return delta - min(-lacks[1], max(0, lacks[0]))
        if lacks[0] <= 0:
            return delta + min(-lacks[0], lacks[1])
        for demand in sorted_demands[0]:
            if demand > room[0]:
                break
            room[0] -= demand
        for demand in sorted_demands[1]:
            if demand > room[1] + room[0]:
                break
            room[1] -= demand
            if room[1] < 0:
                delta -= room[1]
                room[0] += room[1]
                room[1] = 0
        return delta

    @staticmethod
    def _as_printed(free: dict[int, int], release: dict[int, int], wanted: dict[int, int], small: list[int]) -> int:
        room = {k: 2 * free[k] + release[k] for k in (0, 1)}
        if room[1] >= wanted[1]:
            return wanted[1] - room[1]
        if room[0] >= wanted[0]:
            return room[0] - wanted[0]
        raised = 0
        for demand in small[:-1]:
            if demand < room[1]:
                room[1] -= demand
            else:
                raised += demand
        return raised


PARTITIONS: dict[str, type[Partition]] = {"shared": Partition, "small-pool": SmallPool, "dress-pools": DressPools}


def make_partition(name: str, parameters: dict[str, Any]) -> Partition:
    return PARTITIONS[name](**parameters)
