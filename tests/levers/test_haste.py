"""HaSTE: rules of urgency, fitness, preference, alignment and the knapsack, with the arithmetic next to each number."""

from __future__ import annotations

import pytest

from heddle.model.resources import ONE
from heddle.policy.lever import Question
from heddle.policy.levers.haste import AM_FIRST, PLANNED
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from levers.hand_made import HandMade, nodes

MAP, REDUCE = 1, 2  # places of stages; 0 is the AM


def map_reduce(name: str = "mr", maps: int = 8, reduces: int = 4) -> JobSpec:
    """Maps of 1/64 and reduces of 2/64 of each resource of 8 nodes of 8 GB and 8 vcores."""
    stages = [
        StageSpec("map", (1024, 1000), [TaskSpec(10_000)] * maps),
        StageSpec("reduce", (2048, 2000), [TaskSpec(10_000)] * reduces, after=("map",), slow_start_permille=0),
    ]
    return JobSpec(name, 0, stages, am=(1024, 1000))


def plain(name: str, *shapes: tuple[int, int], tasks: int = 1, iterative: bool = False) -> JobSpec:
    stages = [StageSpec(f"s{i}", s, [TaskSpec(1000)] * tasks, iteration=i) for i, s in enumerate(shapes)]
    return JobSpec(name, 0, stages, iterative=iterative)


def asked(policy: str, *jobs: JobSpec, cluster: tuple[int, int, int] = (8, 8192, 8)) -> HandMade:
    made = HandMade(policy, Question.ORDERING, list(jobs), nodes(*cluster))
    for number in range(len(jobs)):
        made.arrive(number)
    return made


def progress(made: HandMade, maps: tuple[int, int], reduces: tuple[int, int]) -> tuple[int, int]:
    """U_m and U_r with so many (held, done) of each."""
    for place, (held, done) in ((MAP, maps), (REDUCE, reduces)):
        made.view.stage["held"][place], made.view.stage["done"][place] = held, done
    return made.ask("term", MAP), made.ask("term", REDUCE)


# A map is n = 2/64 (memory and vcores added up), a reduce 4/64, in units of ONE / 64 below.


def test_urgency_from_what_the_job_holds() -> None:
    made = asked("haste", map_reduce())
    # p = (2 + 2) / 8 = 1/2, O_m = 4, O_r = 4: U_m = 1/2 * 8 = 4; U_r = 4 * 1/2 * 8 / 4 = 4.
    assert progress(made, (2, 2), (1, 0)) == (4 * ONE // 64, 4 * ONE // 64)
    # p = 1/4, O_m = 4, O_r = 0, taken as one reduce, 4: U_m = 1; U_r = 1 * 1/4 * 4 / 4 = 1/4.
    assert progress(made, (2, 0), (0, 0)) == (ONE // 64, ONE // 64 // 4)


def test_urgency_from_what_the_job_was_assigned() -> None:
    made = asked("haste(urgency=assigned)", map_reduce())
    # Nothing runs, 4 of 8 maps and 1 reduce are done: A_m R_m = 8, A_r R_r = 4: U_m = 1/2 * 12 = 6. Reduces hold
    # nothing of nothing: U_r = 6 * 1/2 * 0 / 4 = 0. With 2 maps more: U_m = 3/4 * 16 = 12; U_r = 12 * 3/4 * 4 / 4.
    assert progress(made, (0, 4), (0, 1)) == (6 * ONE // 64, 0)
    assert progress(made, (2, 4), (0, 1)) == (12 * ONE // 64, 9 * ONE // 64)
    assert progress(asked("haste", map_reduce()), (0, 4), (0, 1)) == (0, 0)  # by what it holds, nothing is urgent


def test_progress_may_count_finished_maps_alone() -> None:
    # As in the first case above but p = 2/8: U_m = 1/4 * 8 = 2; U_r = 2 * 1/4 * 8 / 4 = 1.
    made = asked("haste(progress=finished)", map_reduce())
    assert progress(made, (2, 2), (1, 0)) == (2 * ONE // 64, ONE // 64)


@pytest.mark.parametrize("form", ["running", "assigned"])
@pytest.mark.parametrize("counted", ["assigned", "finished"])
def test_the_three_rules(form: str, counted: str) -> None:
    made = asked(f"haste(urgency={form},progress={counted})", map_reduce(maps=20, reduces=10))
    for held in range(1, 6):
        for done in range(1, 10):
            map_progress = (done if counted == "finished" else held + done) / 20
            for reduces in range(1, 6):
                of_map, of_reduce = progress(made, (held, done), (reduces, 0))
                assert progress(made, (held, done + 1), (reduces, 0))[0] > of_map  # R1
                assert progress(made, (held, done), (reduces + 1, 0))[0] > of_map  # R2
                part = 4 * reduces / (2 * held + 4 * reduces)
                if abs(part - map_progress) > 0.001:
                    assert (of_reduce > of_map) == (part < map_progress)  # R3


def test_fitness_is_the_dot_product() -> None:
    # Of 8 GB and 8 vcores 4 GB and 2 vcores are free. (2 GB, 1): 1/4 * 1/2 + 1/8 * 1/4 = 5/32; (1, 2): 1/8.
    made = asked("haste", plain("a", (2048, 1000)), plain("b", (1024, 2000)))
    made.view.node["allocated"][0] = (4096, 6000)
    assert [made.ask("fit", 0, stage) for stage in (0, 1)] == [5 * ONE // 32, ONE // 8]
    assert asked("haste(fitness=false)", plain("a", (2048, 1000))).ask("fit", 0, 0) == 0


def combined(made: HandMade, key: int, fit: int, term: int) -> int:
    """Among candidates with fits from 10 to 30 and urgencies from 100 to 500."""
    return made.ask("combine", key, fit, term, 2, 0, 0, 0, 0, 10, 30, 100, 500)


def test_preference_adds_fitness_and_urgency_each_between_its_extremes() -> None:
    made = asked("haste", map_reduce())
    assert combined(made, -200, 25, 200) == 3 * ONE // 4 + 2 * ONE // 5
    assert combined(made, -500, 10, 500) == ONE
    assert made.ask("combine", 0, 7, 0, 1, 0, 0, 0, 0, 7, 7, 0, 0) == 0  # alone, and nothing is urgent
    made.state.table["least_urgency"] = 100  # of all requests, of which the candidates are the most urgent of a size
    assert combined(made, -200, 25, 200) == 3 * ONE // 4 + ONE // 4
    assert combined(made, -100, 10, 100) == 0


def least_of(made: HandMade, waiting: dict[int, int]) -> int:
    """The least urgency when so many containers of these stages wait."""
    made.view.stage["waiting"][:] = made.view.job["waiting"][:] = 0
    for stage, count in waiting.items():
        made.view.stage["waiting"][stage] = count
        made.view.job["waiting"][made.view.stage_spec["job"][stage]] += count
    made.ask("offer", 0)
    return int(made.state.table["least_urgency"][0])


def test_the_least_urgent_is_looked_for_among_all_requests_that_the_node_could_take() -> None:
    made = asked("haste(initial=false)", map_reduce("a"), map_reduce("b"))
    for job, held in ((0, 2), (1, 4)):
        made.view.stage["held"][made.stage(job, MAP)] = held
    # p = 2/8 and 4/8 of what they hold, 2 and 4 maps of 2: 1 and 4.
    maps = [made.stage(job, MAP) for job in (0, 1)]
    assert least_of(made, {maps[0]: 3, maps[1]: 3}) == ONE // 64
    assert least_of(made, {maps[1]: 3}) == 4 * ONE // 64
    assert least_of(made, {maps[0]: 0, maps[1]: 3, made.stage(1, 0): 1}) == 4 * ONE // 64  # AMs do not count
    made.view.node["allocated"][0] = (7168, 7000)  # room for a map, of 1 GB and 1 vcore, and for no reduce
    assert least_of(made, {maps[1]: 3, made.stage(0, REDUCE): 1}) == 4 * ONE // 64
    made.view.node["allocated"][0] = (8192, 8000)
    assert least_of(made, {maps[1]: 3}) == 0
    assert least_of(asked("haste(urgency=none)", map_reduce()), {MAP: 3}) == 0


def test_held_back_reduces_are_not_urgent_while_maps_wait() -> None:
    made = asked("haste(hold_reduces=true)", map_reduce())
    made.view.stage["waiting"][MAP] = 1
    assert progress(made, (2, 2), (1, 0)) == (4 * ONE // 64, 0)
    made.view.stage["waiting"][MAP] = 0
    assert progress(made, (2, 2), (1, 0)) == (4 * ONE // 64, 4 * ONE // 64)


def test_ams_go_first_and_among_them_the_first() -> None:
    made = asked("haste", map_reduce("a"), map_reduce("b"))
    keys = [made.ask("key", made.stage(job, 0)) for job in (0, 1)]
    assert keys == [AM_FIRST, AM_FIRST + 1]
    assert combined(made, keys[0], 10, 0) > combined(made, keys[1], 30, 0) > combined(made, -500, PLANNED + 30, 500)
    assert combined(made, 0, PLANNED, 100) > combined(made, -500, 30, 500)


def test_iterative_jobs_go_earlier_and_more_so_the_further_they_are() -> None:
    small = (1024, 1000)
    made = asked("haste-a", plain("plain", small), plain("loop", small, small, small, iterative=True))
    keys = [made.ask("key", stage) for stage in range(4)]
    assert keys == sorted(keys, reverse=True)
    # Alignment in iteration 0, 1, 2 is 1/2, 2/3, 3/4; of plain jobs 0. Between the least and the most that is
    # 2/3, 8/9, 1 and 0. One of two jobs is iterative: g = 1/2.
    values = [made.ask("combine", key, 10, 0, 4, 0, 0, keys[3], keys[0], 10, 30, 0, 500) for key in keys]
    assert values == pytest.approx([0, ONE / 3, ONE * 4 / 9, ONE / 2], abs=2)
    made = asked("haste-a(aggressiveness=2)", plain("plain", small), plain("loop", small, iterative=True))
    assert made.ask("combine", keys[1], 10, 0, 2, 0, 0, keys[1], 0, 10, 30, 0, 500) == 2 * ONE


@pytest.mark.parametrize(("iterative", "counts"), [(8, True), (9, False), (10, False)])
def test_alignment_is_ignored_when_nearly_all_jobs_are_iterative(iterative: int, counts: bool) -> None:
    jobs = [plain(f"j{i}", (1024, 1000), iterative=i < iterative) for i in range(10)]
    made = asked("haste-a(aggressiveness=1)", *jobs)
    assert (made.ask("key", 0) < 0) is counts


def test_when_alignment_ceases_to_count_keys_are_asked_for_again() -> None:
    jobs = [plain("plain", (1024, 1000))] + [plain(f"j{i}", (1024, 1000), iterative=True) for i in range(10)]
    made = HandMade("haste-a", Question.ORDERING, jobs, nodes(1, 8192, 8))
    # Nothing counts before the first job; 9 of 10 are iterative when the tenth arrives.
    assert [made.arrive(number) for number in range(11)] == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]


# The knapsack of an empty node: 8 GB and 8 vcores, in units of 1 GB and 1 vcore.


def planned(*waiting: tuple[tuple[int, int], int], busy: tuple[int, int] = (0, 0)) -> list[int]:
    """How many of each class the node's plan has, in the order given."""
    jobs = [plain(f"j{i}", shape, tasks=count) for i, (shape, count) in enumerate(waiting)]
    made = asked("haste", *jobs, cluster=(1, 8192, 8))
    made.view.node["allocated"][0] = busy
    for stage, (_, count) in enumerate(waiting):
        made.view.stage["waiting"][stage] = made.view.job["waiting"][stage] = count
    made.ask("offer", 0)
    shapes = [int(made.view.stage_spec["shape"][stage]) for stage in range(len(waiting))]
    return [int(made.state.plan[shape]) for shape in shapes]


def test_the_knapsack_fills_both_resources() -> None:
    # (1 GB, 3) twice and (3 GB, 1) twice use all 8 GB and 8 vcores. No other choice does.
    assert planned(((1024, 3000), 9), ((3072, 1000), 9)) == [2, 2]


def test_the_knapsack_takes_no_more_than_waits() -> None:
    assert planned(((1024, 3000), 1), ((3072, 1000), 9)) == [1, 2]  # 7 GB + 5 vcores beat 6 + 2 and 8 + ...


def test_the_knapsack_has_up_to_4096_cells() -> None:
    def units(memory_mb: int) -> list[int]:
        jobs = plain("a", (1024, 1000)), plain("b", (2048, 3000))
        made = asked("haste", *jobs, cluster=(1, memory_mb, 63))
        return [int(unit) for unit in made.state.table["unit"][0, :2]]

    assert units(63 * 1024) == [1024, 1000]  # 64 x 64, with none of either
    assert units(64 * 1024) == [2048, 1000]  # 65 x 64 would be too many


def test_the_knapsack_is_of_what_is_free() -> None:
    # 5 GB and 5 vcores are free: (2, 2) twice is worth 8/8; (3, 3) and (2, 2) 10/8.
    assert planned(((2048, 2000), 9), ((3072, 3000), 9), busy=(3072, 3000)) == [1, 1]


def test_a_node_that_holds_more_than_it_may_promise_gets_no_plan() -> None:
    # As a live one does that was shrunk. (Run 2799 of the engine storm: the process ended.)
    assert planned(((1024, 1000), 4), busy=(9216, 4000)) == [0]


def test_greedy_would_take_the_largest_first() -> None:
    # One of 5 GB and 5 vcores leaves room for one of 3; two of 4 are as good; the fewest of the first class win ties.
    assert planned(((3072, 3000), 9), ((4096, 4000), 9), ((5120, 5000), 9)) == [0, 2, 0]


def test_the_plan_goes_first_and_is_used_up() -> None:
    jobs = [plain("a", (1024, 3000), tasks=9), plain("b", (3072, 1000), tasks=9), plain("c", (3072, 3000), tasks=9)]
    trace = simulate(build("plan", jobs), nodes(1, 8192, 8), "haste", record=True).attempts
    first = trace.filter(allocated_at_ms=0)
    taken = {name: first.filter(job=number).height for number, name in enumerate("abc")}
    assert taken == {"a": 2, "b": 2, "c": 0}
    greedy = simulate(build("plan", jobs), nodes(1, 8192, 8), "ffd-dp", record=True).attempts.filter(allocated_at_ms=0)
    assert {name: greedy.filter(job=number).height for number, name in enumerate("abc")} != taken


def test_of_two_jobs_the_one_whose_reduces_hold_idle_goes_first() -> None:
    made = asked("haste", map_reduce("later"), map_reduce("sooner"))
    for job in (0, 1):
        made.view.stage["held"][made.stage(job, MAP)] = 4
    made.view.stage["held"][made.stage(1, REDUCE)] = 2
    assert made.ask("key", made.stage(1, MAP)) < made.ask("key", made.stage(0, MAP))
