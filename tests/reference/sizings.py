"""Sizing: what may be promised on a node. Each lever gives a prediction P; total = L + A - P."""

from __future__ import annotations

import math
from typing import Any

from heddle.model.reasons import Outcome
from heddle.model.resources import ONE
from heddle.model.workload import AM, EXECUTORS

from . import physics
from .state import Node, Run, Vector, World, add


class Sizing:
    """`reservation`: a container will use what it reserved."""

    reads_reports = False
    resizes = False  # the allowance is promised to the last unit; else totals are rounded down to the increment

    def prediction(self, world: World, node: Node) -> Vector:
        return world.allocated_node(node)

    def on_allocation(self, world: World, run: Run) -> None:
        """Some predictions follow allocations; this one is the allocation."""

    def on_end(self, world: World, run: Run) -> None:
        """Likewise."""

    def on_report(self, world: World, node: Node) -> None:
        """Called when the node has just reported (its number of reports already counts this one)."""

    def on_loss(self, node: Node) -> None:
        """Called when the node is seen to be lost."""

    def total(self, world: World, node: Node) -> Vector:
        allocated, promised = world.allocated_node(node), self.promised(world, node)
        total = []
        for r in range(world.n_resources):
            allowance, increment = node.spec.allowance[r], world.cluster.increment[r] if self.resizes else 1
            whole = promised[r] // increment * increment
            total.append(max(allocated[r], allowance if r in world.exclusive else whole))
        return tuple(total)

    def promised(self, world: World, node: Node) -> Vector:
        allocated, predicted = world.allocated_node(node), self.prediction(world, node)
        return tuple(a + b - p for a, b, p in zip(allocated, node.spec.allowance, predicted, strict=True))

    def free(self, world: World, node: Node) -> Vector:
        return tuple(t - a for t, a in zip(self.total(world, node), world.allocated_node(node), strict=True))


class BorgDefault(Sizing):
    reads_reports = resizes = True

    def __init__(self, fraction: float = 0.9) -> None:
        self.permille = round(1000 * fraction)

    def prediction(self, world: World, node: Node) -> Vector:
        scaled = tuple(self.permille * x // 1000 for x in world.allocated_node(node))
        return add(scaled, node.reported_background)


class UsageFeedback(Sizing):
    """Paper 1: the estimate decays from what was reserved towards what is reported."""

    reads_reports = resizes = True

    def __init__(
        self,
        damping: float = 0.125,
        headroom: str = "allowance",
        side: str = "master",
        young_reports: int = 0,
        forget: int = 0,
        target_failures: float = 0.0,
    ) -> None:
        self.target = round(1000 * target_failures)
        self.steps: dict[Node, int] = {}  # of the damping of a node
        self.balances: dict[Node, int] = {}
        self.kept: dict[Run, tuple[int, int]] = {}  # what is left of 2^30, since how many reports of the node
        self.damping, self.prototype, self.by_worker = damping, headroom == "prototype", side == "worker"
        self.young, self.forget = young_reports, bool(forget)
        self.states: dict[tuple[Node, int], tuple[int, int, int]] = {}  # (E0, U, k) of a node's resource
        self.smoothed: dict[tuple[Run, int], tuple[int, int, int]] = {}  # the same of a container's
        # Since the node was last lost: of each report what was available; of each allocation the reports so far, shape.
        self.said: dict[Node, list[Vector]] = {}
        self.given: dict[Node, list[tuple[int, Vector]]] = {}

    def power(self, world: World, node: Node, k: int) -> int:
        interval = world.cluster.timing.usage_report_ms
        damping = min(1.0, self.damping * 2 ** (self.steps.get(node, 0) / 2))
        return round(float(2**30 * (1 - damping) ** (k * interval / 1000)))

    def _estimate(self, world: World, node: Node, r: int) -> int:
        start, used, k = self.states.get((node, r), (0, 0, 0))
        return start if k == 0 else used + (max(0, start - used) * self.power(world, node, k) >> 30)

    def _set(self, node: Node, r: int, estimate: int) -> None:
        _, used, _ = self.states.get((node, r), (0, 0, 0))
        self.states[node, r] = (estimate, used, 0)

    def _is_young(self, run: Run) -> bool:
        return run.node.reports - run.reports_before < self.young

    def prediction(self, world: World, node: Node) -> Vector:
        young = world.sum_shapes([run for run in world.containers(node) if self._is_young(run)])
        expected = tuple(self._estimate(world, node, r) + young[r] for r in range(world.n_resources))
        if self.young == 0:
            return expected
        used = containers_use(world, node) if node.report else world.zero
        last = (self.states.get((node, r), (0, 0, 0))[1] for r in range(world.n_resources))
        reserved = world.allocated_node(node)
        return tuple(min(p, u + max(0, a - c)) for p, u, a, c in zip(expected, last, reserved, used, strict=True))

    def _available(self, world: World, node: Node) -> Vector:
        predicted = self.prediction(world, node)
        if not self.prototype:
            return tuple(a - p for a, p in zip(node.spec.allowance, predicted, strict=True))
        used = containers_use(world, node) if node.report else world.zero
        return tuple(
            min(a - u, c - p)
            for a, u, c, p in zip(node.spec.allowance, used, node.spec.capacity, predicted, strict=True)
        )

    def promised(self, world: World, node: Node) -> Vector:
        allocated = world.allocated_node(node)
        if not self.by_worker:
            return add(allocated, self._available(world, node))
        said = self.said.get(node, [])
        if len(said) < 2:
            return tuple(node.spec.allowance)
        since = [shape for reports, shape in self.given.get(node, []) if reports >= len(said) - 1]
        return tuple(
            a + s - sum(shape[r] for shape in since) for r, (a, s) in enumerate(zip(allocated, said[-2], strict=True))
        )

    def on_loss(self, node: Node) -> None:
        self.said.pop(node, None)
        self.given.pop(node, None)

    def on_allocation(self, world: World, run: Run) -> None:
        self.given.setdefault(run.node, []).append((len(self.said.get(run.node, [])), run.task.stage.shape))
        if self.young == 0:
            self._charge(world, run)

    def _charge(self, world: World, run: Run) -> None:
        for r, reserved in enumerate(run.task.stage.shape):
            self._set(run.node, r, self._estimate(world, run.node, r) + reserved)

    def on_end(self, world: World, run: Run) -> None:
        left, since = self._left(run)
        for r, reserved in enumerate(run.task.stage.shape):
            whole = reserved * left >> 30
            rest = 0 if self._is_young(run) else whole * self.power(world, run.node, run.node.reports - since) >> 30
            rest += self._own(world, run, r)
            self._set(run.node, r, max(0, self._estimate(world, run.node, r) - rest))
        if self.target:
            self._count(world, run)

    def _left(self, run: Run) -> tuple[int, int]:
        return self.kept.get(run, (2**30, run.reports_before + self.young))

    def _count(self, world: World, run: Run) -> None:
        node = run.node
        failed = run.record.outcome != Outcome.FINISHED and node.alive
        balance = self.balances.get(node, 0) + self.target - 100_000 * failed
        moved, self.balances[node] = divmod(balance, 25_000)
        highest = 0
        while 0 < self.damping * 2 ** (highest / 2) < 1:
            highest += 1
        step = self.steps.get(node, 0)
        new = max(-8, min(highest, step + moved))
        if new != step and self.damping > 0:
            self._retune(world, node, new)

    def _retune(self, world: World, node: Node, step: int) -> None:
        for r in range(world.n_resources):
            self._set(node, r, self._estimate(world, node, r))
        for run in world.containers(node):
            for r in range(world.n_resources if self.forget else 0):
                _, used, _ = self.smoothed.get((run, r), (0, 0, 0))
                self.smoothed[run, r] = (self._own(world, run, r), used, 0)
            if not self._is_young(run):
                left, since = self._left(run)
                self.kept[run] = (left * self.power(world, node, node.reports - since) >> 30, node.reports)
        self.steps[node] = step

    def on_report(self, world: World, node: Node) -> None:
        use = add(containers_use(world, node), node.reported_background)
        for r in range(world.n_resources):
            start, used, k = self.states.get((node, r), (0, 0, 0))
            if use[r] == used:
                self.states[node, r] = (start, used, k + 1)
            else:
                self.states[node, r] = (self._estimate(world, node, r), use[r], 1)
        for run in world.containers(node):
            if self.young > 0 and node.reports - run.reports_before == self.young:
                self._charge(world, run)
            if self.forget:
                self._smooth(world, run)
        self.said.setdefault(node, []).append(self._available(world, node))

    def _own(self, world: World, run: Run, r: int) -> int:
        """The container's smoothed use."""
        start, used, k = self.smoothed.get((run, r), (0, 0, 0))
        rest = abs(start - used) * self.power(world, run.node, k) >> 30
        return used + rest if start > used else used - rest

    def _smooth(self, world: World, run: Run) -> None:
        for r, use in enumerate(run.reported or world.zero):
            start, used, k = self.smoothed.get((run, r), (0, 0, 0))
            moved = (start, used, k + 1) if use == used else (self._own(world, run, r), use, 1)
            self.smoothed[run, r] = moved


class NSigma(Sizing):
    reads_reports = resizes = True

    def __init__(self, n: float = 5, samples: int = 24, every: int = 1) -> None:
        self.n, self.samples, self.every = n, samples, every
        self.rings: dict[tuple[Node, int], list[int]] = {}

    def on_report(self, world: World, node: Node) -> None:
        if node.reports % self.every:
            return
        used, allocated = containers_use(world, node), world.allocated_node(node)
        for r in range(world.n_resources):
            if allocated[r] > 0:
                ring = self.rings.setdefault((node, r), [])
                ring.append(min(2**20, used[r] * ONE // allocated[r]))
                del ring[: -self.samples]

    def prediction(self, world: World, node: Node) -> Vector:
        predicted = []
        for r, allocated in enumerate(world.allocated_node(node)):
            ring, ratio = self.rings.get((node, r), []), ONE
            if len(ring) == self.samples:
                mean = sum(ring) // self.samples
                variance = max(0, sum(x * x for x in ring) // self.samples - mean * mean)
                ratio = min(ONE, mean + round(1000 * self.n) * math.isqrt(variance) // 1000)
            predicted.append(ratio * allocated // ONE + node.reported_background[r])
        return tuple(predicted)


class Percentile(Sizing):
    reads_reports = resizes = True

    def __init__(self, percent: float = 95, samples: int = 24, every: int = 1) -> None:
        self.samples, self.every = samples, every
        self.rank = max(1, -(-round(1000 * percent) * samples // 100_000))
        self.rings: dict[tuple[Run, int], list[int]] = {}

    def on_report(self, world: World, node: Node) -> None:
        if node.reports % self.every:
            return
        for run in world.containers(node):
            used = run.reported or world.zero
            for r, reserved in enumerate(run.task.stage.shape):
                ring = self.rings.setdefault((run, r), [])
                ring.append(min(16 * ONE, used[r] * ONE // reserved) if reserved > 0 else 0)
                del ring[: -self.samples]

    def prediction(self, world: World, node: Node) -> Vector:
        predicted = list(node.reported_background)
        for run in world.containers(node):
            for r, reserved in enumerate(run.task.stage.shape):
                ring = self.rings.get((run, r), [])
                if len(ring) == self.samples:
                    predicted[r] += sorted(ring)[self.rank - 1] * reserved // ONE
                else:
                    predicted[r] += reserved
        return tuple(predicted)


class MaxPredictor(Sizing):
    reads_reports = resizes = True

    def __init__(self, n: float = 5, percent: float = 95, samples: int = 24, every: int = 1) -> None:
        self.both = (NSigma(n, samples, every), Percentile(percent, samples, every))

    def on_report(self, world: World, node: Node) -> None:
        for sizing in self.both:
            sizing.on_report(world, node)

    def prediction(self, world: World, node: Node) -> Vector:
        one, other = (sizing.prediction(world, node) for sizing in self.both)
        return tuple(max(x, y) for x, y in zip(one, other, strict=True))


class Oracle(Sizing):
    """Looks into the true future use of the containers that the node has."""

    resizes = True

    def prediction(self, world: World, node: Node) -> Vector:
        runs = [run for run in world.runs if run.node is node]
        # The sum only rises where a run starts or passes a breakpoint: the peak is at one of these instants.
        # Nothing happens between two milliseconds: it is looked at at whole ones.
        moments = {0}.union(-(-change // 1000) * 1000 for run in runs for change in _changes_us(world, run))
        peak = world.zero
        for moment in moments:
            total = world.zero
            for run in runs:
                total = add(total, _future_use(world, run, moment))
            peak = tuple(max(x, y) for x, y in zip(peak, total, strict=True))
        return add(peak, node.background)


def _delay_us(world: World, run: Run) -> int:
    """How long it is until the run starts."""
    return 0 if run.started else (run.starts_at - world.now) * 1000


def _work_now_us(world: World, run: Run) -> int:
    if not run.started or run.holding or run.fetching:
        return 0
    done = run.work_us + ((world.now - run.since) * 1000 * run.rate >> 20)
    return min(done, physics.next_breakpoint_us(run))


def _is_constant(run: Run) -> bool:
    """Uses its first segment for good: AMs, executors, reduces that hold."""
    return run.kind in (AM, EXECUTORS) or run.holding


def _changes_us(world: World, run: Run) -> set[int]:
    delay = _delay_us(world, run)
    if _is_constant(run) or run.task.profile is None:
        return {delay}
    work = _work_now_us(world, run)
    ends = [run.task.stage.shuffle_ms * 1000, *physics.segment_ends_us(run.task)]
    return {delay} | {delay + end - work for end in ends if end > work}


def _future_use(world: World, run: Run, moment_us: int) -> Vector:
    """What the run uses so many microseconds from now, if it runs on at full speed."""
    since_start = moment_us - _delay_us(world, run)
    if since_start < 0:
        return world.zero
    profile = run.task.profile
    unrecorded = world.zero if run.executor is not None else run.task.stage.shape
    if _is_constant(run):
        if profile is None:
            return unrecorded
        return physics.only_memory(profile[0][1]) if run.holding else profile[0][1]
    work = _work_now_us(world, run) + since_start
    if work >= physics.total_work_us(run.task):
        return world.zero
    return unrecorded if profile is None else physics.use_at(run.task, work)


def containers_use(world: World, node: Node) -> Vector:
    """Of all containers that the last seen report knows, ended or not."""
    total = world.zero
    assert node.report is not None
    for used in node.report.of_container.values():
        total = add(total, used)
    return total


SIZINGS: dict[str, type[Sizing]] = {
    "reservation": Sizing,
    "borg-default": BorgDefault,
    "usage-feedback": UsageFeedback,
    "n-sigma": NSigma,
    "percentile": Percentile,
    "max-predictor": MaxPredictor,
    "oracle": Oracle,
}


def make_sizing(name: str, parameters: dict[str, Any]) -> Sizing:
    return SIZINGS[name](**parameters)
