"""The rivals answer the same question: strict FIFO, first-fit by node number, ends before starts at one instant."""

import pytest

from benchmarks import accasim_fifo, heapq_fifo, plain_heapq, rival, simpy_fifo, workload

SMALL = rival.Nodes(number=3, vcores=6, memory_mb=12288)
needs_simpy = pytest.mark.skipif(simpy_fifo.why_not() is not None, reason=str(simpy_fifo.why_not()))
needs_accasim = pytest.mark.skipif(accasim_fifo.why_not() is not None, reason=str(accasim_fifo.why_not()))


def brute_force(tasks: rival.Tasks, nodes: rival.Nodes) -> list[int]:
    """Each task at the first candidate instant at which some node, its use summed up anew, has room."""
    placed: list[tuple[int, int, int, int, int]] = []  # node, start, end, vcores, memory
    earliest_ms = 0
    for submit_ms, duration_ms, vcores, memory_mb in zip(
        tasks.submit_ms, tasks.duration_ms, tasks.vcores, tasks.memory_mb, strict=True
    ):
        earliest_ms = max(earliest_ms, submit_ms)
        instants = sorted({earliest_ms, *(end for _, _, end, _, _ in placed if end > earliest_ms)})
        start_ms, node = next(
            (instant, node)
            for instant in instants
            for node in range(nodes.number)
            if has_room(placed, node, instant, vcores, memory_mb, nodes)
        )
        placed.append((node, start_ms, start_ms + duration_ms, vcores, memory_mb))
        earliest_ms = start_ms
    return [start for _, start, _, _, _ in placed]


def has_room(
    placed: list[tuple[int, int, int, int, int]],
    node: int,
    instant: int,
    vcores: int,
    memory_mb: int,
    nodes: rival.Nodes,
) -> bool:
    here = [(v, mb) for n, start, end, v, mb in placed if n == node and start <= instant < end]
    return sum(v for v, _ in here) + vcores <= nodes.vcores and sum(mb for _, mb in here) + memory_mb <= nodes.memory_mb


def small_tasks(load: float, seed: int, grid_ms: int = 1, count: int = 120) -> rival.Tasks:
    """A coarse grid makes many ends and arrivals fall on the same instant, where the order of things matters."""
    made = workload.make(count, load, seed, SMALL)
    submit_ms = [ms // grid_ms * grid_ms for ms in made.submit_ms]
    duration_ms = [ms // grid_ms * grid_ms + grid_ms for ms in made.duration_ms]
    return rival.Tasks(submit_ms, duration_ms, made.vcores, made.memory_mb)


@pytest.mark.parametrize("grid_ms", [1, 50_000])
@pytest.mark.parametrize("load", [0.8, 1.5])
@pytest.mark.parametrize("seed", range(5))
def test_heapq_starts_every_task_when_brute_force_does(load: float, seed: int, grid_ms: int) -> None:
    tasks = small_tasks(load, seed, grid_ms)
    expected = brute_force(tasks, SMALL)
    assert heapq_fifo.run(tasks, SMALL).started_at_ms == expected
    assert plain_heapq.run(tasks, SMALL).started_at_ms == expected


@needs_simpy
@pytest.mark.parametrize("grid_ms", [1, 50_000])
@pytest.mark.parametrize("load", [0.8, 1.5])
@pytest.mark.parametrize("seed", range(5))
def test_simpy_starts_every_task_when_heapq_does(load: float, seed: int, grid_ms: int) -> None:
    tasks = small_tasks(load, seed, grid_ms)
    of_heapq, of_simpy = heapq_fifo.run(tasks, SMALL), simpy_fifo.run(tasks, SMALL)
    assert of_simpy is not None
    assert of_simpy.started_at_ms == of_heapq.started_at_ms
    assert of_simpy.makespan_ms == of_heapq.makespan_ms


@needs_accasim
@pytest.mark.parametrize("grid_ms", [1, 50_000])
@pytest.mark.parametrize("load", [0.8, 1.5])
def test_accasim_has_the_makespan_of_heapq(load: float, grid_ms: int) -> None:
    tasks = small_tasks(load, seed=1, grid_ms=grid_ms)
    of_accasim = accasim_fifo.run(tasks, SMALL)
    assert of_accasim is not None
    assert of_accasim.makespan_ms == pytest.approx(heapq_fifo.run(tasks, SMALL).makespan_ms, rel=0.01)


def test_a_blocked_head_holds_back_those_behind_it_and_makespan_counts_from_the_first_submission() -> None:
    # 6 vcores: the second task (4) waits for the first (4) to end at 110; the third (2) would fit at once but may not.
    tasks = rival.Tasks([10, 20, 30], [100, 50, 5], [4, 4, 2], [1024, 1024, 1024])
    outcome = heapq_fifo.run(tasks, rival.Nodes(1, 6, 12288))
    assert outcome.started_at_ms == [10, 110, 110]
    assert outcome.makespan_ms == 150


def test_workload_asks_for_the_given_load_of_the_scarcer_resource() -> None:
    tasks = workload.make(50_000, 0.8, seed=3)
    nodes = workload.NODES
    asked_ms = sum(map(int.__mul__, tasks.duration_ms, tasks.vcores)) / (nodes.number * nodes.vcores)
    assert asked_ms / tasks.submit_ms[-1] == pytest.approx(0.8, rel=0.02)
    assert min(tasks.duration_ms) == 10_000
    assert max(tasks.duration_ms) == 1_000_000
    assert sorted(tasks.duration_ms)[25_000] == pytest.approx(100_000, rel=0.03)
    assert set(tasks.memory_mb) == {1024, 2048, 4096, 8192}


@pytest.mark.parametrize(
    "tasks",
    [
        rival.Tasks([5, 4], [1, 1], [1, 1], [1, 1]),
        rival.Tasks([0], [0], [1], [1]),
        rival.Tasks([0], [1], [7], [1]),
        rival.Tasks([0], [1], [1], [1, 1]),
        rival.Tasks([], [], [], []),
    ],
)
def test_what_no_rival_can_simulate_is_refused(tasks: rival.Tasks) -> None:
    with pytest.raises(ValueError, match=r"must|larger"):
        heapq_fifo.run(tasks, SMALL)
