"""Usage feedback: the first paper's equations and the options, with the arithmetic next to each number.

One node of 1000 MB capacity and 800 MB allowance, damping 1/2, reports every second; a container reserves 400 MB.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from heddle.model.cluster import Cluster, Node
from heddle.model.view import EVENT_FINISHED, EVENT_NODE_LOST, EVENT_REPORTED, EVENT_STOPPED
from heddle.policy.lever import Question
from heddle.policy.parse import parse_policy
from heddle.traces.build import JobSpec, StageSpec, TaskSpec
from heddle.yarn.live.levers import unfit
from levers.hand_made import HandMade

MEMORY = 0


class OneNode(HandMade):
    def __init__(self, **options: object) -> None:
        words = ", ".join(f"{name}={value}" for name, value in {"damping": 0.5, **options}.items())
        job = JobSpec("j", 0, [StageSpec("t", (400, 0), [TaskSpec(1000)] * 9)])
        cluster = Cluster((Node("n", (1000, 1000), (800, 1000)),))
        cluster = replace(cluster, timing=replace(cluster.timing, usage_report_ms=1000))
        super().__init__(f"usage-feedback({words})", Question.SIZING, [job], cluster)
        self.ages: dict[int, int] = {}

    def begin(self, container: int = 0) -> None:
        self.view.container["stage"][container] = 0
        self.view.container["next"][container] = self.view.node["first_container"][0]
        self.view.node["first_container"][0] = container
        self.ages[container] = 0
        self.allocate(0, 0, container)

    def report(self, used: int, times: int = 1, of_container: int | None = None) -> None:
        """Containers use all of it, each the same, unless it is said what each uses."""
        self.view.node["used"][0, MEMORY] = self.view.node["containers_used"][0, MEMORY] = used
        for container in self.ages:
            self.view.container["used"][container, MEMORY] = used if of_container is None else of_container
            self.ages[container] += times
        self.tell(EVENT_REPORTED, 0, value=times)

    def end(self, container: int = 0, kind: int = EVENT_FINISHED) -> None:
        """Of one container only: the last that began."""
        self.release(kind, 0, 0, container, self.ages.pop(container))
        self.view.node["first_container"][0] = self.view.container["next"][container]

    def come_and_go(self, times: int, kind: int = EVENT_FINISHED) -> None:
        """Containers that begin and end between two reports: they leave nothing in E."""
        for _ in range(times):
            self.begin(8)
            self.end(8, kind)

    def set_parameter(self, name: str, value: int) -> None:
        place = [parameter.name for parameter in self.lever.parameters].index(name)
        self.params[place] = 1000 * value

    @property
    def available(self) -> int:
        return self.ask("total", 0, MEMORY) - int(self.view.node["allocated"][0, MEMORY])


def test_equations_1_and_2() -> None:
    node = OneNode()
    node.begin()
    assert node.available == 400  # E = 400
    node.report(100)
    assert node.available == 550  # E = 400 / 2 + 100 / 2 = 250
    node.report(100, times=2)
    assert node.available == 663  # 175, then 137 (whole MB)


def test_equation_3() -> None:
    node = OneNode()
    node.report(300)
    assert node.available == 500  # E = 0 / 2 + 300 / 2 = 150 < U = 300


def test_equation_4_leaves_smoothed_use() -> None:
    node = OneNode()
    node.begin()
    node.report(100, times=2)  # E = 175 = 400 / 4 + 75
    node.end()
    assert node.available == 725  # 175 - 400 / 4: the smoothed use, 75, stays
    node.report(0)
    assert node.available == 763  # and decays: 37


def test_forgetting_takes_smoothed_use_out_at_once() -> None:
    node = OneNode(forget="true")
    node.begin()
    node.report(100, times=2)
    node.report(60)  # E = 175 / 2 + 30 = 117; of it 400 / 8 = 50 reserved, and of its own use 75 / 2 + 30 = 67
    node.end()
    assert node.available == 800


def test_the_prototype_looks_at_containers_and_hardware() -> None:
    node = OneNode(headroom="prototype")
    node.begin()
    node.report(100)  # E = 250. (5) 800 - 100 = 700; (6) 1000 - 250 = 750
    assert node.available == 700
    node.begin(1)  # E = 650. (5) 700; (6) 350
    assert node.available == 350


@pytest.mark.parametrize("batches", [(1, 1, 1, 1), (4,), (1, 3), (3, 1)])
def test_a_young_container_counts_in_full_for_some_reports(batches: tuple[int, ...]) -> None:
    # Two reports in full beside E, which follows the use of 100 alone: 100 and 100. Then E = 500, 300, 200.
    node = OneNode(young_reports=2)
    node.begin()
    assert node.available == 400
    for times in batches:
        node.report(100, times=times)
    assert node.available == 600  # 800 - 200
    node.end()
    assert node.available == 700  # 200 - 400 / 4: it was charged two reports ago


def test_a_young_container_that_ends_leaves_nothing_of_its_reservation() -> None:
    node = OneNode(young_reports=5)
    node.begin()
    node.report(100, times=2)
    assert node.available == 400  # 800 - 400: what it uses by now is not counted twice
    node.end()
    assert node.available == 700


def test_a_young_container_that_uses_more_than_it_reserves_counts_with_what_it_uses() -> None:
    node = OneNode(young_reports=3)
    node.begin()
    node.report(900)
    assert node.available == -100  # 800 - 900, and not 800 - 900 - 400


@pytest.mark.parametrize("batches", [(1, 1, 1), (3,), (1, 2), (2, 1)])
def test_at_the_workers_side_the_last_report_but_one_counts(batches: tuple[int, ...]) -> None:
    node = OneNode(side="worker")
    node.begin()
    assert node.available == 400  # nothing was told yet: the allowance
    for times in batches:
        node.report(100, times=times)
    # E was 250, 175, 137: the master knows 175.
    assert node.available == 800 - 175
    node.begin(1)
    assert node.available == 800 - 175 - 400  # the master has 400 less to give
    node.end(1)
    assert node.available == 800 - 175 - 400  # of an end a report must tell first
    node.report(100)  # E was 137 and 400 came and went: it is 118 now; the master knows 137, and of no end
    assert node.available == 800 - 137 - 400
    node.report(100)
    assert node.available == 800 - 118
    node.tell(EVENT_NODE_LOST, 0)
    assert node.available == 400  # as at first, until it has told twice again


def test_the_gain_to_expect() -> None:
    # N tasks of D = 30 reports, use half of what they reserve, damping 1/8: the estimate of one over its life is
    # on average u + R g, g = (1 - (1-a)^D) / (a D) = 0.262: 0.762 of its reservation. So the gain is 24 %.
    node = OneNode(damping=0.125)
    node.begin()
    seen = 0
    for _ in range(30):
        seen += 800 - node.available
        node.report(200)
    mean_of_own = seen / 30 / 400
    # The use that stays in E after the end is smoothed in before: the same area, later.
    after = 0
    node.end()
    for _ in range(100):
        after += 800 - node.available
        node.report(0)
    assert mean_of_own + after / 30 / 400 == pytest.approx(0.762, abs=0.01)


def test_how_long_containers_are_young_may_change_while_they_are() -> None:
    node = OneNode(young_reports=5)
    node.begin()
    node.report(100, times=2)
    node.set_parameter("young_reports", 3)
    node.report(100)
    assert node.available == 400  # charged now: E = 100 + 400, of which no more counts than it reserves
    node.set_parameter("young_reports", 9)  # too late for this one: E = 300 after a report
    node.report(100)
    assert node.available == 500
    node.end()
    assert node.available == 700  # 300 - 400 / 2: one report after it was charged


def test_shortened_below_what_a_container_has_seen_it_is_charged_at_its_next_report() -> None:
    node = OneNode(young_reports=9)
    node.begin()
    node.report(100, times=4)
    node.set_parameter("young_reports", 2)
    node.report(100, times=2)  # 500 after the first, 300 after the second
    assert node.available == 500


def test_damping_rises_with_what_may_fail_and_falls_with_what_failed() -> None:
    node = OneNode(damping=0.25, target_failures=5)
    node.come_and_go(5)  # 5 * 5 % of a failure are a quarter of one: 0.25 * sqrt(2) = 0.354 from now on
    assert node.state.node["step"][0] == 1
    node.come_and_go(1, EVENT_STOPPED)  # owes 0.95 of a failure: four steps down to 0.25 / sqrt(8) = 0.088, 0.05 left
    assert (node.state.node["step"][0], node.state.node["balance"][0]) == (-3, 5000)
    node.begin()
    node.report(0)
    assert node.available == 800 - 364  # 400 * (1 - 0.0884)
    node.end()
    node.come_and_go(3)  # 0.05 + 4 * 0.05
    assert node.state.node["step"][0] == -2


@pytest.mark.parametrize("forget", ["false", "true"])
def test_what_faded_by_the_old_damping_stays_faded(forget: str) -> None:
    node = OneNode(target_failures=25, forget=forget)
    node.begin()
    node.report(100, times=2)  # E = 175: a quarter of 400, and 75 of use
    node.come_and_go(1)  # damping 0.707 from now on
    assert node.available == 800 - 175
    node.report(100)
    # 100 + 75 * 0.293 = 121; of the reservation are left 100 * 0.293 = 29, of its own use 100 - 25 * 0.293 = 93.
    assert node.available == 800 - 121
    node.end()
    assert node.available == (800 - (121 - 29) if forget == "false" else 800)


def test_damping_stays_between_a_sixteenth_and_1_and_what_lies_beyond_is_forgotten() -> None:
    node = OneNode(damping=0.25, target_failures=25)
    node.come_and_go(30)
    assert node.state.node["step"][0] == 4  # 0.25 * 2^2 = 1
    node.begin()
    node.report(100)
    assert node.available == 700
    node.end()
    node.come_and_go(9, EVENT_STOPPED)
    assert node.state.node["step"][0] == -8
    node.come_and_go(1)
    assert node.state.node["step"][0] == -7


def test_no_damping_is_not_turned_into_any() -> None:
    node = OneNode(damping=0, target_failures=25)
    node.come_and_go(30)
    node.come_and_go(9, EVENT_STOPPED)
    node.begin()
    node.report(100)
    assert node.state.node["step"][0] == 0
    assert node.available == 400  # all that it reserves counts for ever


def test_what_ends_with_its_node_is_no_failure() -> None:
    node = OneNode(target_failures=1)
    node.view.node["alive"][0] = 0
    node.come_and_go(3, EVENT_STOPPED)
    assert node.state.node["step"][0] == 0


def test_without_a_budget_nothing_moves_the_damping() -> None:
    node = OneNode()
    node.come_and_go(9, EVENT_STOPPED)
    assert node.state.node["step"][0] == 0


def test_a_live_cluster_does_not_tell_failures() -> None:
    assert unfit(parse_policy("usage-feedback")) == []
    assert "counts failed containers" in unfit(parse_policy("usage-feedback(target_failures=0.5)"))[0]
