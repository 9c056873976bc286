"""What really happens on a node: use, CPU rates, progress, and the choice of who crashes."""

from __future__ import annotations

from heddle.model.resources import MEMORY, ONE, VCORES
from heddle.model.workload import AM, EXECUTORS, INNER

from .state import Node, Run, Task, Vector, World, add


def total_work_us(task: Task) -> int:
    return task.stage.shuffle_ms * 1000 + task.duration_ms * 1000


def segment_ends_us(task: Task) -> list[int]:
    """The amounts of work at which the segments of a recorded use end."""
    assert task.profile is not None
    shuffle_us = task.stage.shuffle_ms * 1000
    return [shuffle_us + task.duration_ms * 1000 * until // 10000 for until, _ in task.profile]


def use_at(task: Task, work_us: int) -> Vector:
    """The recorded use of a task when so much of its work is done."""
    assert task.profile is not None
    if work_us < task.stage.shuffle_ms * 1000:
        return only_memory(task.profile[0][1])
    for end_us, (_, use) in zip(segment_ends_us(task), task.profile, strict=True):
        if work_us < end_us:
            return use
    return task.profile[-1][1]


def only_memory(use: Vector) -> Vector:
    return tuple(x if r == MEMORY else 0 for r, x in enumerate(use))


def use(world: World, run: Run) -> Vector:
    """What a run uses now, its own only; nothing where nothing was recorded."""
    profile = run.task.profile
    if not run.started or profile is None:
        return world.zero
    if run.kind in (AM, EXECUTORS):
        return profile[0][1]
    if run.holding or run.fetching:
        return only_memory(profile[0][1])
    return use_at(run.task, run.work_us)


def container_use(world: World, container: Run) -> Vector:
    """What a container uses, its inner tasks included."""
    total = use(world, container)
    for inner in world.inner_of(container):
        total = add(total, use(world, inner))
    return total


def reported_use(world: World, container: Run) -> Vector:
    """What a usage report says of a container: an unrecorded use counts at the reservation, inner tasks included."""
    if container.started and container.task.profile is None:
        return container.task.stage.shape
    return container_use(world, container)


def node_memory(world: World, node: Node) -> int:
    own = sum(container_use(world, run)[MEMORY] for run in world.containers(node))
    return own + node.background[MEMORY]


def crash_victims(world: World, node: Node) -> list[Run]:
    """Who crashes first on a node whose memory is oversold and on which something runs."""
    running = [run for run in world.containers(node) if run.started]
    rule = world.cluster.physics.oom
    newest = max(running, key=lambda run: run.newness)
    if rule == "all":
        return running
    if rule == "newest":
        return [newest]
    if rule == "largest":
        return [max(running, key=lambda run: (container_use(world, run)[MEMORY], run.newness))]
    risen = [run for run in running if any(_rose(world, part) for part in [run, *world.inner_of(run)])]
    return risen or [newest]


def _rose(world: World, run: Run) -> bool:
    return use(world, run)[MEMORY] > run.memory_before


def next_breakpoint_us(run: Run) -> int:
    """The amount of work at which something happens to a working run next."""
    total = total_work_us(run.task)
    ends = [total]
    ends.append(run.task.stage.shuffle_ms * 1000)
    if run.task.profile is not None:
        ends += segment_ends_us(run.task)
    ends = [end for end in ends if end > run.work_us]
    if run.fail_at_us is not None:
        ends.append(run.fail_at_us)
    return min(ends, default=total)


def bring_forward(run: Run, now: int) -> None:
    done = run.work_us + ((now - run.since) * 1000 * run.rate >> 20)
    run.work_us = min(done, next_breakpoint_us(run))
    run.since = now


def is_working(run: Run) -> bool:
    return run.started and run.kind not in (AM, EXECUTORS) and not run.holding and not run.fetching


def begin(run: Run, now: int) -> None:
    """The run begins to work, at full speed until phase 8 looks at it."""
    run.since, run.rate = now, ONE * run.node.speed_permille // 1000
    set_due(run, now)


def set_due(run: Run, now: int) -> None:
    """When the next breakpoint is reached at the present rate."""
    run.timed = True
    missing_us = next_breakpoint_us(run) - run.work_us
    if missing_us <= 0:
        run.due = now
    elif run.rate == 0:
        run.due = None
    else:
        run.due = now + -(-missing_us * ONE // (1000 * run.rate))


def set_rates(world: World, node: Node) -> None:
    """Phase 8: the new rate of every run of the node, and when its next breakpoint is due."""
    for run, rate in _rates(world, node):
        if not is_working(run) or (run.timed and run.rate == rate):
            continue
        bring_forward(run, world.now)
        run.rate = rate
        set_due(run, world.now)


def _rates(world: World, node: Node) -> list[tuple[Run, int]]:
    started = [run for run in world.runs if run.node is node and run.started]
    runs = sorted(started, key=lambda run: run.task.number)
    demand = {run: use(world, run)[VCORES] for run in runs}
    capacity, background, speed = node.spec.capacity[VCORES], node.background[VCORES], node.speed_permille
    if world.cluster.physics.cpu == "proportional":
        wanted = sum(demand.values()) + background
        full = ONE * speed // 1000
        slowed = full if wanted <= capacity else ONE * capacity * speed // (1000 * wanted)
        return [(run, slowed if demand[run] > 0 else full) for run in runs]
    given = _given(world, runs, demand, capacity, background)
    return [
        (run, ONE * given[run] * speed // (1000 * demand[run]) if demand[run] > 0 else ONE * speed // 1000)
        for run in runs
    ]


def _given(world: World, runs: list[Run], demand: dict[Run, int], capacity: int, background: int) -> dict[Run, int]:
    """Millicores for each run by the rules cap, shares and paper."""
    rule = world.cluster.physics.cpu
    given: dict[Run, int] = {}
    if rule == "cap":
        capped = {run: min(demand[run], reserved_vcores(run)) for run in runs}
        total = sum(capped.values()) + background
        return {run: c if total <= capacity else c * capacity // total for run, c in capped.items()}
    rest = max(0, capacity - background)
    if rule == "shares":
        weight = {run: max(1, reserved_vcores(run)) for run in runs}
        unserved = sorted(runs, key=lambda run: (demand[run] * ONE // weight[run], run.task.number))
        while unserved:
            run = unserved[0]
            given[run] = min(demand[run], rest * weight[run] // sum(weight[other] for other in unserved))
            rest -= given[run]
            unserved = unserved[1:]
        return given
    for run in sorted(runs, key=lambda run: run.newness):
        given[run] = min(demand[run], rest)
        rest -= given[run]
    return given


def reserved_vcores(run: Run) -> int:
    if run.kind == INNER:
        assert run.executor is not None
        executors = run.executor.task.stage
        return executors.shape[VCORES] // executors.slots
    return run.task.stage.shape[VCORES]
