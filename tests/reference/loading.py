"""From workload and cluster to the objects of state.py."""

from __future__ import annotations

from dataclasses import replace

from heddle.model.cluster import Cluster, LabelShare, Queue
from heddle.model.workload import NO_PREFERENCE, NO_SEGMENTS, Workload

from .state import Job, QueueState, Stage, Task, Vector, World


def load(workload: Workload, cluster: Cluster, seed: int, *, counts_partitions: bool) -> World:
    world = World(cluster, seed)
    world.queues = _queues(world, workload)
    if counts_partitions:
        world.partitions = list(workload.labels)
        default = list(world.queues)
        for label in workload.labels[1:]:
            world.queues += _tree_of(label, default, len(world.queues))
    world.shapes = [tuple(int(x) for x in shape) for shape in workload.shapes]
    world.jobs = _jobs(world, workload)
    _add_stages(world, workload)
    assert all(task.number == position for position, task in enumerate(world.tasks))
    return world


def _queues(world: World, workload: Workload) -> list[QueueState]:
    queues: dict[str, QueueState] = {}
    specs = list(world.cluster.queues)
    parents = {spec.name: spec.name.rpartition(".")[0] for spec in specs}
    for name in workload.queues:
        if name not in parents:
            specs.append(Queue(name))
            parents[name] = specs[0].name
    for number, spec in enumerate(specs):
        parent = queues.get(parents[spec.name])
        queues[spec.name] = QueueState(number, spec, parent)
        if parent is not None:
            parent.children.append(queues[spec.name])
    return list(queues.values())


def _tree_of(label: str, default: list[QueueState], first: int) -> list[QueueState]:
    """The queues of the default partition once more, for the nodes with a label."""
    for original in default:
        parent = original.parent.copies[label] if original.parent else None
        copy = QueueState(first + original.number, _spec_in(label, original), parent, label=label)
        original.copies[label] = copy
        if parent is not None:
            parent.children.append(copy)
    return [original.copies[label] for original in default]


def _spec_in(label: str, queue: QueueState) -> Queue:
    siblings = queue.parent.children if queue.parent else []
    if not any(share.label == label for sibling in siblings for share in sibling.spec.labels):
        return queue.spec
    said = [share for share in queue.spec.labels if share.label == label] or [LabelShare(label)]
    shares = {"guarantee_permille": said[0].guarantee_permille, "maximum_permille": said[0].maximum_permille}
    return replace(queue.spec, guarantee=(), maximum=(), **shares)


def _jobs(world: World, workload: Workload) -> list[Job]:
    queue_of = {queue.spec.name: queue for queue in world.queues if queue.label == ""}
    jobs = []
    for number, row in enumerate(workload.jobs):
        queue = queue_of[workload.queues[int(row["queue"])]]
        submit_at, user, priority = int(row["submit_at_ms"]), int(row["user"]), int(row["priority"])
        jobs.append(Job(number, submit_at, queue, user, priority, bool(row["has_am"]), bool(row["iterative"])))
    for job, row in zip(jobs, workload.jobs, strict=True):
        first, n = int(row["first_after"]), int(row["n_after"])
        job.after = [jobs[int(i)] for i in workload.job_after[first : first + n]]
    return jobs


def _add_stages(world: World, workload: Workload) -> None:
    for number, row in enumerate(workload.stages):
        stage = Stage(
            number,
            world.jobs[int(row["job"])],
            int(row["kind"]),
            shape=tuple(int(x) for x in workload.shapes[int(row["shape"])]),
            shuffle_ms=int(row["shuffle_ms"]),
            idle_timeout_ms=int(row["idle_timeout_ms"]),
            slow_start_permille=int(row["slow_start_permille"]),
            slots=int(row["slots"]),
            label=workload.labels[int(row["label"])],
            iteration=int(row["iteration"]),
        )
        stage.job.stages.append(stage)
        world.stages.append(stage)
        first, n = int(row["first_task"]), int(row["n_tasks"])
        stage.tasks = [_task(world, workload, stage, task_number) for task_number in range(first, first + n)]
        world.tasks += stage.tasks
    for stage, row in zip(world.stages, workload.stages, strict=True):
        first, n = int(row["first_after"]), int(row["n_after"])
        stage.after = [world.stages[int(i)] for i in workload.stage_after[first : first + n]]
        sizes = [0] * n if workload.edge_bytes is None else workload.edge_bytes[first : first + n].tolist()
        stage.after_bytes = sizes


def _task(world: World, workload: Workload, stage: Stage, number: int) -> Task:
    row = workload.tasks[number]
    host = NO_PREFERENCE if workload.prefers is None else int(workload.prefers[number])
    node_of = {node.spec.name: node for node in world.nodes}
    prefers = None if host == NO_PREFERENCE else node_of.get(workload.hosts[host])
    profile = _profile(workload, int(row["first_segment"]))
    input_bytes = 0 if workload.input_bytes is None else int(workload.input_bytes[number])
    return Task(number, stage, int(row["duration_ms"]), profile, prefers, input_bytes)


def _profile(workload: Workload, first: int) -> list[tuple[int, Vector]] | None:
    if first == NO_SEGMENTS:
        return None
    profile = []
    for row in workload.segments[first:]:
        profile.append((int(row["until_permyriad"]), tuple(int(x) for x in row["use"])))
        if row["last"]:
            break
    return profile
