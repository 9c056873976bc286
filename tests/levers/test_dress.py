"""DRESS: phases, predicted release and Alg. 3 with the arithmetic next to each number."""

from __future__ import annotations

import pytest

from heddle.model.resources import ONE, VCORES
from heddle.model.view import EVENT_FINISHED, EVENT_TICK, JOB_FAILED, JOB_FINISHED
from heddle.policy.lever import Question, State
from heddle.policy.levers import dress_phases as phases
from heddle.policy.levers.partition import LARGE, SMALL
from heddle.policy.parse import parse_policy
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from levers.hand_made import HandMade, nodes

WINDOW_MS = 10_000


class Phases:
    """One job's containers, each of share 100."""

    def __init__(self, t_s: int = 5, t_e: int = 5) -> None:
        self.t_s, self.t_e = t_s, t_e
        self.row = State(job=phases.PHASES).zeroed("job", 1, n_resources=2)[0]

    def start(self, *at_ms: int) -> list[int]:
        return [int(phases.starts(self.row, 100, at, WINDOW_MS, self.t_s)) for at in at_ms]

    def end(self, *at_ms: int, phase: int = 1) -> None:
        for at in at_ms:
            phases.ends(self.row, phase, 100, at, WINDOW_MS, self.t_e)

    def of(self, phase: int, column: str) -> int:
        return int(self.row[column][phase])

    def release(self, now_ms: int, literal: bool = False) -> int:
        return int(phases.job_release(self.row, now_ms, WINDOW_MS, literal))


def test_algorithm_1_finds_the_start_variation() -> None:
    job = Phases()
    assert job.start(1000, 2000, 3000, 4000, 5000) == [1] * 5
    assert not job.row["seen"]  # 5 are not more than t_s = 5
    job.start(8000)
    assert job.row["seen"]
    assert job.of(phases.NEWEST, "last") - job.of(phases.NEWEST, "first") == 7000  # d_ps = 8 - 1 s
    assert job.start(17_999, 27_999) == [1, 2]  # none for a whole window: another phase


def test_starts_that_are_too_far_apart_are_not_seen() -> None:
    job = Phases()
    job.start(0, 2000, 4000, 6000, 8000, 10_000)  # the first of the six lies a whole window back
    assert not job.row["seen"]
    job.start(11_999)  # six within 2 to 12 s
    assert job.row["seen"]


def test_algorithm_2_leaves_out_heading_tasks() -> None:
    job = Phases()
    job.start(*range(0, 8000, 1000))  # 8 containers, d_ps = 7 s
    job.end(20_000)  # a heading task
    assert job.of(phases.NEWEST, "gamma") == phases.NOT_YET
    job.end(40_000, 41_000, 42_000, 43_000, 44_000)  # only five within a window
    assert job.of(phases.NEWEST, "gamma") == phases.NOT_YET
    job.end(45_000)
    assert job.of(phases.NEWEST, "gamma") == 40_000  # the first of the six


def test_thresholds_are_parameters() -> None:
    job = Phases(t_s=2, t_e=3)
    job.start(0, 1000)
    assert not job.row["seen"]
    job.start(2000, 3000, 4000)
    assert job.row["seen"]  # 3 are more than t_s = 2
    job.end(20_000, 21_000, 22_000)
    assert job.of(phases.NEWEST, "gamma") == phases.NOT_YET
    job.end(23_000)  # 4 are more than t_e = 3
    assert job.of(phases.NEWEST, "gamma") == 20_000


def test_equation_3_as_a_frequency_and_as_printed() -> None:
    job = Phases()
    job.start(*range(0, 16_000, 2000), 15_000, 16_000)  # 10 containers, c = 1000, d_ps = 16 s
    job.end(40_000, 40_000, 40_000, 40_000, 40_000, 41_000)  # gamma = 40 s; 600 are released
    # At t = 45 s: 5/16 of 1000 = 312 by now and 6/16 = 375 by 46 s: 63 within the second.
    assert (job.release(45_000), job.release(45_000, literal=True)) == (63, 375)
    # At t = 51 s: 687 and 750.
    assert (job.release(51_000), job.release(51_000, literal=True)) == (63, 750)
    assert (job.release(56_000), job.release(56_000, literal=True)) == (0, 1000)  # gamma + d_ps: all of it is due
    assert job.release(56_001, literal=True) == 0  # and nothing after
    job.end(*[51_000] * 4)
    assert job.release(51_000) == 0  # nothing is left


def test_no_more_is_predicted_than_is_left() -> None:
    job = Phases()
    job.start(*[0] * 9, 2000)  # c = 1000, d_ps = 2 s
    job.end(*[40_000] * 8)  # 200 are left; half of 1000 would come within each second
    assert [job.release(at) for at in (40_000, 41_000, 42_000)] == [200, 200, 0]


def test_nothing_is_predicted_while_containers_still_start() -> None:
    job = Phases()
    job.start(*range(0, 10_000, 1000))
    job.end(*[9000] * 6)
    assert job.release(18_999) == 0
    job.end(19_000)
    assert job.release(19_000) == 0  # gamma + d_ps = 18 s: over


def test_a_phase_too_small_to_see_releases_from_its_first_end() -> None:
    job = Phases()
    job.start(0, 4000, 8000)  # c = 300, d_ps = 8 s
    job.end(30_000)
    # At 31 s: 1/8 of 300 = 37 by now, 2/8 = 75 by 32 s. At 34 s: 150 and 187.
    assert [job.release(at) for at in (31_000, 34_000)] == [38, 37]


def test_a_small_group_joins_the_next_phase() -> None:
    job = Phases()
    job.start(0, 1000)
    assert job.start(30_000) == [2]
    assert (job.of(phases.NEWEST, "amount"), job.of(phases.NEWEST, "count")) == (300, 3)
    assert job.of(phases.NEWEST, "first") == 30_000
    job.end(31_000, phase=1)  # one of the first two: it counts to the phase that they joined
    assert (job.of(phases.NEWEST, "left"), job.of(phases.NEWEST, "released")) == (2, 100)


def test_trailing_tasks_count_to_the_next_phase() -> None:
    job = Phases()
    job.start(*[0] * 8)
    job.end(*[10_000] * 6)  # two trail
    job.start(*[12_000] * 6)  # ends lie within the window: the first phase is still a phase of its own
    assert (job.of(phases.OLDER, "left"), job.of(phases.NEWEST, "left")) == (2, 6)
    phases.count_trailing(job.row, 19_999, WINDOW_MS)
    assert job.of(phases.OLDER, "left") == 2
    phases.count_trailing(job.row, 20_000, WINDOW_MS)
    assert (job.of(phases.OLDER, "left"), job.of(phases.NEWEST, "left")) == (0, 8)
    job.end(21_000, phase=1)
    assert job.of(phases.NEWEST, "left") == 7


# Alg. 3. 128 containers of (10, 125) fit 8 nodes of (160, 2000); delta is told in containers.


def job(name: str, containers: int, submit_at_ms: int = 0, shape: tuple[int, int] = (10, 125)) -> JobSpec:
    return JobSpec(name, submit_at_ms, [StageSpec("t", shape, [TaskSpec(60_000)] * containers)])


def pools(*demands: int | JobSpec, delta: float = 0.125, held: tuple[int, int] = (0, 0), more: str = "") -> HandMade:
    """Jobs that wait for so many containers; what each pool holds, (large, small), in containers."""
    made = HandMade(
        f"dress(initial_share={delta}{more})",
        Question.PARTITION,
        [one if isinstance(one, JobSpec) else job(f"j{i}", one) for i, one in enumerate(demands)],
        nodes(8, 160, 2),
    )
    for number in range(len(demands)):
        made.view.job["pool"][number] = made.ask("pool", number)
        made.arrive(number)
    for pool, containers in enumerate(held):
        made.view.pool["allocated"][pool] = (10 * containers, 125 * containers)
    return made


def delta_after_a_round(made: HandMade) -> float:
    made.at(made.view.clock["now_ms"][0] + 1000)
    made.tell(EVENT_TICK)
    return 128 * int(made.state.table["delta"][0]) / ONE


def test_what_no_event_tells_of_jobs_that_wait() -> None:
    """A live cluster tells the pool of a job after it has come, and nobody tells that a waiting one was killed."""
    made = HandMade("dress", Question.PARTITION, [job("a", 3), job("b", 5), job("c", 7)], nodes(8, 160, 2))

    def wanted_after_a_round() -> list[int]:
        """Containers that large and small jobs still want."""
        made.tell(EVENT_TICK)
        return [int(made.state.table["wanted"][0, VCORES, pool]) // 125 for pool in (LARGE, SMALL)]

    for number in range(3):
        made.arrive(number)
    assert wanted_after_a_round() == [3 + 5 + 7, 0]
    made.view.job["pool"][1:] = SMALL
    assert wanted_after_a_round() == [3, 5 + 7]
    made.allocate(made.stage(0, 0), 0)
    assert wanted_after_a_round() == [2, 5 + 7]
    made.view.job["state"][1] = JOB_FAILED
    assert wanted_after_a_round() == [2, 7]
    made.view.job["state"][0] = JOB_FINISHED
    assert wanted_after_a_round() == [0, 7]


def test_a_job_is_small_if_it_asks_for_theta_of_the_containers() -> None:
    assert [pools(n).ask("pool", 0) for n in (12, 13)] == [SMALL, LARGE]  # theta = 12.8
    made = HandMade("dress(basis=available)", Question.PARTITION, [job("a", 7), job("b", 6)], nodes(8, 160, 2))
    made.view.node["allocated"][:4] = (160, 2000)  # 64 are available
    assert [made.ask("pool", n) for n in (0, 1)] == [LARGE, SMALL]


def test_line_8_gives_large_jobs_what_small_ones_do_not_need() -> None:
    # Ac1 = 16, P1 = 4; Ac2 = 112, P2 = 117, so 5 are lacking: delta 16 -> 11.
    assert delta_after_a_round(pools(4, 117)) == 11
    # No small job waits, and large ones lack nothing: literally delta would fall to 0.
    assert delta_after_a_round(pools(50)) == 16


def test_small_jobs_that_have_just_what_they_ask_for_together_get_no_more() -> None:
    # Of memory 8 and 4, of vcores 4 and 8: each of the two jobs wants 8, both together 12, and Ac1 = 12 (4 are held).
    made = pools(job("a", 4, shape=(20, 125)), job("b", 4, shape=(10, 250)), 117, held=(0, 4))
    assert delta_after_a_round(made) == 16
    assert delta_after_a_round(pools(8, 8, 8, 8, 100, more=", alg3=literal")) == 16  # 2 x Ac1 = 32 = P1


def test_line_11_gives_small_jobs_what_large_ones_do_not_need() -> None:
    # P1 = 5 x 8 = 40, Ac1 = 16: 24 are lacking. Ac2 = 112, P2 = 100: 12 are to spare.
    assert delta_after_a_round(pools(8, 8, 8, 8, 8, 100)) == 28
    assert delta_after_a_round(pools(8, 8, 8, 100)) == 24  # 8 are lacking


def test_lines_13_to_24_lend_what_large_jobs_cannot_use() -> None:
    # Small jobs hold 16, large ones 82: 30 are free. delta = 16, so Ac1 = 0, Ac2 = 30. P1 = 19, P2 = 105.
    # The large job of 20 fits, the one of 85 does not: 10 are left. Of the small ones 4 and 5 fit, 10 does not.
    assert delta_after_a_round(pools(10, 4, 5, 20, 85, held=(82, 16))) == 25


def test_an_exact_fit_fits_and_a_loan_uses_what_small_jobs_have_left() -> None:
    # 12 free: Ac1 = 2 (delta 16, 14 held), Ac2 = 10. Nothing large fits. 5 = 2 of their own + 3 lent; 7 = 7 lent.
    assert delta_after_a_round(pools(5, 7, 8, 100, held=(102, 14))) == 26


def test_delta_starts_from_what_small_jobs_hold() -> None:
    # They hold 36 although delta is 16: Ac1 = 0. 16 are free, 9 are wanted, and nothing large waits.
    assert delta_after_a_round(pools(9, held=(76, 36))) == 45
    assert delta_after_a_round(pools(9, held=(76, 36), delta=0.9)) == 52  # not more than there is


def test_limits_are_shares_of_the_cluster() -> None:
    made = pools(delta=0.25)
    limits = [[made.ask("limit", pool, r) for r in (0, 1)] for pool in (LARGE, SMALL)]
    assert limits == [[960, 12_000], [320, 4000]]


def test_predicted_release_is_counted() -> None:
    # A large job holds all 128. They started at 0 to 6 s and began to end at 20 s: at 21 s 10 have. Within the next
    # second 1/6 of 128 = 21.3 will. So small jobs that want 10, 20 or 21 may count on as many; of 22 on 21.3.
    made = pools(128, 10)
    for i in range(128):
        made.at(6000 * i // 127)
        made.allocate(made.stage(0, 0), i // 16, i)
    for i in range(10):
        made.at(20_000 + 100 * i)
        made.view.stage["done"][made.stage(0, 0)] += 1
        made.release(EVENT_FINISHED, made.stage(0, 0), i // 16, i)
    made.view.pool["allocated"][LARGE] = (1280, 16_000)  # what it released another has got
    for wanted, delta in ((10, 10), (20, 20), (21, 21), (22, 128 / 6)):
        made.view.stage_spec["n_tasks"][made.stage(1, 0)] = made.view.job["waiting"][1] = wanted
        made.state.table["delta"][0] = 0
        made.at(20_000)
        assert delta_after_a_round(made) == pytest.approx(delta, abs=1e-3)


def with_three_containers(threshold: str) -> HandMade:
    made = pools(3, more=f", {threshold}")
    for i in range(3):
        made.allocate(made.stage(0, 0), 0, i)
    return made


@pytest.mark.parametrize(("t_s", "is_seen"), [(2, 1), (3, 0)])
def test_a_phase_is_seen_when_more_than_t_s_containers_start(t_s: int, is_seen: int) -> None:
    made = with_three_containers(f"t_s={t_s}")
    assert made.state.job["seen"][0] == is_seen


@pytest.mark.parametrize(("t_e", "begins_ms"), [(2, phases.NOT_YET), (3, 9000)])
def test_a_phase_of_more_than_t_e_containers_does_not_release_with_its_first_end(t_e: int, begins_ms: int) -> None:
    made = with_three_containers(f"t_e={t_e}")
    made.at(9000)
    made.release(EVENT_FINISHED, made.stage(0, 0), 0)
    assert made.state.job["gamma"][0][phases.NEWEST] == begins_ms


def test_one_demand_counts_what_a_job_has_not_asked_for_yet() -> None:
    # P1 = 8: the small job will want them, though it has asked for none yet. Large ones lack 5 of what is theirs.
    made = pools(8, 125)
    assert delta_after_a_round(made) == 8  # Ac1 = 16, P1 = 8; P2 = 125 of 112: 8 of the 13 that are lacking
    # By what was asked for, nobody wants anything: delta stays.
    assert delta_after_a_round(pools(8, 125, more=", demand=asked")) == 16


def test_a_job_that_holds_its_containers_wants_no_more() -> None:
    made = pools(8, 117)
    for i in range(8):
        made.allocate(made.stage(0, 0), 0, i)
    # Small jobs hold 8 of 16 and want nothing: Ac1 = 8. Large ones lack 117 - 112 = 5 of those.
    assert delta_after_a_round(made) == 11


def test_algorithm_3_as_printed() -> None:
    # Line 8: Ac1 counts twice. Ac1 = 16, P1 = 4: 16 - (32 - 4) = -12, which is 0.
    assert delta_after_a_round(pools(4, 117, more=", alg3=literal")) == 0
    # Line 11: P1 = 40 > 32. Ac2 = 112, P2 = 100: 16 + (224 - 100), which is all there is.
    assert delta_after_a_round(pools(8, 8, 8, 8, 8, 100, more=", alg3=literal")) == 128
    # Lines 13 to 24: 30 are free, none of them small jobs'. 4 and 5 are passed over and raise delta, whatever large
    # ones leave; 10 is the last, and left out.
    assert delta_after_a_round(pools(10, 4, 5, 20, 85, held=(82, 16), more=", alg3=literal")) == 25
    assert delta_after_a_round(pools(10, 4, 5, 30, 85, held=(82, 16), more=", alg3=literal")) == 25
    assert delta_after_a_round(pools(10, 4, 5, 30, 85, held=(82, 16))) == 16


def test_the_preset_orders_too_and_the_right_most_wins() -> None:
    assert str(parse_policy("dress")) == (
        "one-leaf+smallest-first(demand=whole)+admit-all+reservation+dress-pools+most-free"
    )
    with_drf = "drf+leaf-order(default=drf)+fair-am-share(shares=dominant)+reservation+dress-pools(theta=0.2)+most-free"
    assert str(parse_policy("dress(theta=0.2)+drf")) == with_drf


def test_whole_jobs_start_only_if_all_they_want_fits() -> None:
    """Room for 10: the first job has 6, the second wants 5 and waits for its end, the third wants 4 and goes first."""
    jobs = [job(name, n, at) for name, n, at in (("a", 6, 0), ("b", 5, 1000), ("c", 4, 2000))]
    workload, cluster = build("whole", jobs), nodes(1, 100, 2)
    ends = {
        policy: simulate(workload, cluster, policy, record=True).jobs["started_at_ms"].to_list()
        for policy in ("smallest-first(demand=whole)", "smallest-first(demand=whole)+whole-jobs")
    }
    assert ends == {
        "smallest-first(demand=whole)": [0, 1000, 60_000],  # the second starts with 4 of its 5
        "smallest-first(demand=whole)+whole-jobs": [0, 60_000, 2000],
    }


@pytest.mark.parametrize("policy", ["dress", "dress-pools+fifo", "dress(basis=available)", "dress+whole-jobs"])
def test_small_jobs_come_sooner_in_a_congested_cluster(policy: str) -> None:
    jobs = [job(f"large{i}", 150, 1000 * i) for i in range(4)] + [job(f"small{i}", 8, 20_000 + i) for i in range(3)]
    workload, cluster = build("congested", jobs), nodes(8, 160, 2)
    waits = {
        name: simulate(workload, cluster, name, record=True).jobs.filter(name="small2")["ended_at_ms"].item()
        for name in ("fifo", policy)
    }
    assert waits[policy] < waits["fifo"]
