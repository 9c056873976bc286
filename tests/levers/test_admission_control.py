"""Admission control: the third paper's equations with the arithmetic next to each number, and the holes it leaves."""

from __future__ import annotations

import numpy as np
import pytest

from heddle.model.reasons import Reason
from heddle.model.resources import VCORES
from heddle.model.view import EVENT_FINISHED, EVENT_STOPPED, EVENT_TICK, JOB_FAILED, JOB_FINISHED
from heddle.policy.lever import Question
from heddle.policy.levers.admission_reserve import capacity_of, most_filled, reserve
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from levers.hand_made import HandMade, nodes


def job(name: str, am: int, task: int, tasks: int = 1, submit_at_ms: int = 0) -> JobSpec:
    """Sizes in vcores; memory does not matter."""
    maps = StageSpec("map", (1, 1000 * task), [TaskSpec(10_000)] * tasks)
    return JobSpec(name, submit_at_ms, [maps], am=(1, 1000 * am))


def asked(policy: str, jobs: list[JobSpec], vcores: int = 27, count: int = 1) -> HandMade:
    made = HandMade(policy, Question.ADMISSION, jobs, nodes(count, 1000, vcores))
    for number in range(len(jobs)):
        made.arrive(number)
    return made


def kept(made: HandMade, number: int) -> int:
    """RRP's reserve of vcores, in thousandths, when this job asks."""
    capacity = capacity_of(made.view, made.state, made.named_params, number, VCORES)
    return int(reserve(made.view, made.state, made.named_params, number, VCORES, capacity))


def test_equation_1_is_the_task_to_am_ratio_of_the_capacity() -> None:
    # C = 64, AM of 1 and tasks of 3 vcores: R = 64 * 3 / (1 + 3) = 48. Nothing runs: the sizes are the job's own.
    assert kept(asked("admission-control", [job("a", am=1, task=3)], vcores=64), 0) == 48_000


def test_equation_2_takes_the_averages_of_what_runs() -> None:
    # AMs of 1 and 3 run, avgAMC = 2; tasks of 2, 2 and 4, avgTC = 8 / 3 -> 2.666: R = 60 * 2.666 / 4.666 = 34.282.
    jobs = [job("a", 1, 2, tasks=2), job("b", 3, 4), job("c", 4, 1)]
    made = asked("admission-control", jobs, vcores=60)
    for number, tasks in ((0, 2), (1, 1)):
        made.allocate(made.stage(number, 0), 0)
        for _ in range(tasks):
            made.allocate(made.stage(number, 1), 0)
    assert kept(made, 2) == 60_000 * 2666 // 4666 == 34_282


def test_equation_3_asks_for_more_in_the_next_period_while_ams_hold_too_much() -> None:
    # AMs hold 20 of 40, avgAMC = 10, avgTC = 20: R = 26.666. R + 20 > 40, so R = 26.666 * 46.666 / 40 = 31.1.
    jobs = [job("a", 10, 20), job("b", 10, 20), job("c", 3, 20)]
    made = asked("admission-control-scaled(rule=literal)", jobs, vcores=40)
    for number in (0, 1):
        made.allocate(made.stage(number, 0), 0)
    made.allocate(made.stage(0, 1), 0)
    assert kept(made, 2) == 26_666
    assert made.tell(EVENT_TICK) == 0
    assert made.state.table["scaled"][0, VCORES] == 26_666 * 46_666 // 40_000 == 31_109
    # An AM goes: 40 - 10 - 3 are left. By (2) that is enough; by (3), until the next period, not.
    made.view.job["state"][1] = JOB_FINISHED
    made.release(EVENT_FINISHED, made.stage(1, 0), 0)
    assert made.ask("admits", 2) == Reason.NOT_ADMITTED
    assert made.tell(EVENT_TICK) == 1
    assert made.ask("admits", 2) == 0


@pytest.mark.parametrize("seed", range(20))
def test_equation_3_decides_nothing_where_it_is_computed_whenever_somebody_asks(seed: int) -> None:
    """Where R + totalAMC > C no AM of any size may start: a larger R refuses nobody else."""
    random = np.random.default_rng(seed)
    capacity, am, task, held, own = (int(x) for x in random.integers(1, 64, 5))
    by_2 = capacity * task // (am + task)
    by_3 = by_2 * (by_2 + held) // capacity if by_2 + held > capacity else by_2
    assert (capacity - held - own >= by_2) == (capacity - held - own >= by_3)


def test_usable_capacity_leaves_out_what_no_container_can_fill() -> None:
    assert [most_filled(8, am, task) for am, task in ((3, 3), (4, 3), (2, 3), (1, 3), (0, 3), (3, 0))] == [
        6, 8, 8, 8, 6, 8,
    ]  # fmt: skip
    # 8 nodes of 8 vcores, AMs and tasks of 3: 48 of 64 can be filled, half of which is for tasks.
    jobs = [job("a", 3, 3), job("b", 3, 3), job("c", 1, 1)]
    made = asked("admission-control(capacity=usable)", jobs, vcores=8, count=8)
    assert kept(made, 0) == 24_000
    made.allocate(made.stage(0, 0), 0)
    assert kept(made, 1) == 24_000
    # With a job of 1 vcore among them all 64 can: R = 64 * 3 / (3 + 3), by the averages of what runs.
    made.allocate(made.stage(0, 1), 0)
    assert kept(made, 2) == 32_000


def test_figure_3() -> None:
    # 27 vcores. job1 and job2 hold AMs of 3; tasks of 10.5 run: R = 27 * 10.5 / 13.5 = 21, so AMs may hold 6. They do.
    jobs = [JobSpec(f"job{i}", 0, [StageSpec("t", (1, 10_500), [TaskSpec(1)])], am=(1, 3000)) for i in (1, 2, 3)]
    made = asked("admission-control(rule=literal)", jobs)
    assert made.ask("admits", 0) == 0
    made.allocate(made.stage(0, 0), 0)
    assert made.ask("admits", 1) == 0  # 27 - 3 - 3 = 21 >= R: exactly enough
    made.allocate(made.stage(1, 0), 0)
    made.allocate(made.stage(0, 1), 0)
    assert kept(made, 2) == 21_000
    assert made.ask("admits", 2) == Reason.NOT_ADMITTED
    made.view.job["state"][0] = JOB_FINISHED
    for place, kind in ((1, EVENT_FINISHED), (0, EVENT_STOPPED)):
        made.release(kind, made.stage(0, place), 0)
    assert made.ask("admits", 2) == 0


def test_without_a_cold_start_a_burst_starts_all_its_ams() -> None:
    jobs = [job(f"j{i}", 3, 3) for i in range(9)]
    for cold_start, lets_in in (("none", 9), ("declared", 4)):  # declared: R = 13.5, so 13.5 / 3 = 4 AMs
        made = asked(f"admission-control(rule=literal, cold_start={cold_start})", jobs)
        for number in range(9):
            if made.ask("admits", number) == 0:
                made.allocate(made.stage(number, 0), 0)
        assert made.view.clock["am_allocated"][0, VCORES] == 3000 * lets_in


def test_with_a_bounded_backlog_a_few_jobs_that_have_tasks_enough_are_enough() -> None:
    # 12 vcores, AMs and tasks of 1: R = 6, so that six AMs could run. With backlog=0.5 the tasks in hand, six for each
    # job, may be 1.5 times what AMs leave: 6 <= 1.5 * 10 and 12 <= 1.5 * 9, but 18 > 1.5 * 8.
    jobs = [job(f"j{i}", am=1, task=1, tasks=6) for i in range(6)]
    made = asked("admission-control(backlog=0.5)", jobs, vcores=12)
    for number in range(3):
        assert made.ask("admits", number) == 0
        made.allocate(made.stage(number, 0), 0)
    assert made.ask("admits", 3) == Reason.NOT_ADMITTED
    of_first = made.view.stage[made.stage(0, 1)]
    for waiting, done, answer in ((6, 0, Reason.NOT_ADMITTED), (1, 5, Reason.NOT_ADMITTED), (0, 6, 0)):  # 12 <= 12
        of_first["waiting"], of_first["done"] = waiting, done
        assert made.ask("admits", 3) == answer


def test_a_job_of_which_no_task_is_known_counts_as_much_as_others_do() -> None:
    # As above, but jobs 1 and 2 have not said what they want, as live: nothing is let in until somebody has asked.
    # Job 0 had 6 tasks, of which 1 waits: each of the others counts 6.
    jobs = [job(f"j{i}", am=1, task=1, tasks=6 if i == 0 else 0) for i in range(4)]
    made = asked("admission-control(backlog=0.5)", jobs, vcores=12)
    assert made.ask("admits", 1) == 0
    made.allocate(made.stage(1, 0), 0)
    assert made.ask("admits", 2) == Reason.NOT_ADMITTED
    made.allocate(made.stage(0, 0), 0)
    of_first = made.view.stage[made.stage(0, 1)]
    of_first["waiting"], of_first["done"] = 1, 5
    assert made.ask("admits", 2) == 0  # 1 + 6 <= 1.5 * 9
    made.allocate(made.stage(2, 0), 0)
    assert made.ask("admits", 3) == Reason.NOT_ADMITTED  # 1 + 6 + 6 > 1.5 * 8


def test_literal_counts_room_that_no_node_has() -> None:
    # 4 nodes of 4. AMs of 2, tasks of 3: R = 16 * 3 / 5 = 9.6, so three AMs fit by the sum. With one AM on each of
    # three nodes, only the fourth can hold a task: a third AM that goes there would leave room for none.
    jobs = [job(f"j{i}", 2, 3) for i in range(4)]
    for rule, answer in (("literal", 0), ("placeable", Reason.NOT_ADMITTED)):
        made = asked(f"admission-control(rule={rule})", jobs, vcores=4, count=4)
        for number in (0, 1):
            assert made.ask("admits", number) == 0
            made.allocate(made.stage(number, 0), node=number)
        made.view.node["alive"][2] = 0
        assert made.ask("admits", 2) == answer


def test_a_job_that_could_never_keep_the_reserve_may_start_alone() -> None:
    # AM and task of 4 on two nodes of 3 and 4 vcores: R = 3.5 > 7 - 4. Literally it waits for ever.
    made = asked("admission-control", [job("a", 4, 4)], vcores=6)
    assert made.ask("admits", 0) == 0
    assert asked("admission-control(rule=literal)", [job("a", 4, 4)], vcores=6).ask("admits", 0) == Reason.NOT_ADMITTED


def test_a_small_am_does_not_pass_a_large_one_that_waits() -> None:
    # 40 vcores, AMs of 1 and tasks of 4: R = 40 * 4 / 5 = 32. The first one that waits wants 8: 40 - 1 - 8 < 32.
    # One of 1 would do, 40 - 1 - 1 >= 32, but not beside the one of 8, 40 - 1 - 8 - 1 < 32. Nor would it ever end.
    jobs = [job("runs", 1, 4), job("large", 8, 4), job("small", 1, 4)]
    made = asked("admission-control", jobs, vcores=40)
    made.allocate(made.stage(0, 0), 0)
    assert [made.ask("admits", number) for number in (1, 2)] == [Reason.NOT_ADMITTED] * 2
    made.view.job["state"][1] = JOB_FINISHED  # nobody is ahead any more
    assert made.ask("admits", 2) == 0


def test_a_lost_am_keeps_its_place() -> None:
    jobs = [job("a", 10, 10), job("b", 10, 10)]
    made = asked("admission-control", jobs, vcores=30)
    made.allocate(made.stage(0, 0), 0)
    made.release(EVENT_STOPPED, made.stage(0, 0), 0)
    assert made.ask("admits", 1) == Reason.NOT_ADMITTED  # 30 - 10 - 10 < 15
    made.view.job["state"][0] = JOB_FAILED  # it will not be back after all
    assert made.ask("admits", 1) == 0


def test_a_lost_am_may_come_back_to_any_node_with_room_for_a_task() -> None:
    # 4 nodes of 4, AMs of 2, tasks of 3. One AM runs on node 0, another was lost and will be back: with the one that
    # asks, two are to come, which may take the room for a task from two nodes. Three have it, or, without node 3, two.
    made = asked("admission-control", [job(f"j{i}", 2, 3) for i in range(3)], vcores=4, count=4)
    for number in (0, 1):
        made.allocate(made.stage(number, 0), node=number)
    made.release(EVENT_STOPPED, made.stage(1, 0), 1)
    assert made.ask("admits", 2) == 0
    made.view.node["alive"][3] = 0
    assert made.ask("admits", 2) == Reason.NOT_ADMITTED


@pytest.mark.parametrize("ordering", ["fifo", "fair", "capacity", "smallest-first", "ffd-dp"])
def test_a_burst_that_deadlocks_without_it_finishes(ordering: str) -> None:
    workload = build("burst", [job(f"j{i}", 2, 2, tasks=3) for i in range(72)])
    cluster = nodes(8, 12_288, 8)
    stuck = simulate(workload, cluster, f"{ordering}+admit-all")
    assert stuck.manifest["outcome"] == "stalled"
    assert simulate(workload, cluster, f"{ordering}+admission-control").manifest["outcome"] == "finished"
