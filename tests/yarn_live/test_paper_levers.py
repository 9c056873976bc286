"""The papers' levers on a live cluster: the same functions, fed by polls."""

from collections.abc import Callable

import pytest

from heddle.model.errors import RunRefused
from heddle.model.reasons import Reason
from heddle.policy.parse import parse_policy
from heddle.yarn.live.controller import Controller
from heddle.yarn.live.levers import charging_young, young_reports

from .conftest import Clock
from .fake_rm import FakeRm

# 1/128 of the cluster's memory and vcores; two nodes hold 64 each
MEMORY_MB, VCORES = 1024, 1


def test_dress_moves_its_pools_as_time_passes(rm: FakeRm, control: Callable[..., Controller], clock: Clock) -> None:
    for name in ("a:1", "b:1"):
        rm.add_node(name, 64 * MEMORY_MB, 64 * VCORES)
    controller = control("dress(initial_share=0.125)", shadow=True)
    small, large = rm.add_app(), rm.add_app()
    for app, wants in ((small, 4), (large, 117)):
        rm.start_am(app, "a:1", 1, 0)
        app.state = "RUNNING"
        app.asks = [(20, MEMORY_MB, VCORES, wants)]
    first = controller.step().plan
    assert first.job_pools == {0: 1, 1: 0}
    assert first.pool_limits is not None
    assert first.pool_limits[1].tolist() == [16 * MEMORY_MB, 16_000]
    clock.now_ms = 999
    assert controller.step().plan.pool_limits[1].tolist() == [16 * MEMORY_MB, 16_000]  # type: ignore[index]
    # Small jobs want 4 of their 16, large ones lack 5 of 117: as in the simulator, but for the AMs' 2 MB.
    clock.now_ms = 1000
    moved = controller.step().plan.pool_limits[1].tolist()  # type: ignore[index]
    assert moved[1] in (10_999, 11_000)


def test_admission_control_holds_a_burst_back(rm: FakeRm, control: Callable[..., Controller], clock: Clock) -> None:
    # No task size is known: the AM's stands in, so half of 8 GB is kept. One AM of 4 GB leaves that; two would not, and
    # the first counts from the moment in which it may start.
    rm.add_node("a:1", 8192, 8)
    controller = control("fifo+admission-control(rule=literal)", shadow=True)
    apps = [rm.add_app() for _ in range(3)]
    for app in apps:
        app.asks = [(0, 4096, 1, 1)]
    admission = controller.step().plan.admission
    assert admission == {0: Reason.NONE, 1: Reason.NOT_ADMITTED, 2: Reason.NOT_ADMITTED}
    rm.start_am(apps[0], "a:1", 4096, 1)
    apps[0].asks = []
    clock.now_ms = 1000
    assert controller.step().plan.admission == {1: Reason.NOT_ADMITTED, 2: Reason.NOT_ADMITTED}


def test_haste_gives_keys(rm: FakeRm, control: Callable[..., Controller], clock: Clock) -> None:
    rm.add_node("a:1", 8192, 8)
    controller = control("haste", shadow=True)
    further, behind = rm.add_app(), rm.add_app()
    for app, tasks in ((further, 2), (behind, 1)):
        rm.start_am(app, "a:1", 1, 0)
        app.state = "RUNNING"
        for _ in range(tasks):
            rm.allocate(app, "a:1", 1024, 1)
        app.asks = [(20, 1024, 1, 2)]
    controller.step()
    clock.now_ms = 1000
    keys = controller.step().plan.request_keys
    assert keys is not None
    first, second = (keys[stage] for stage in sorted(keys))
    assert first < second < 0  # more of it runs


def test_what_only_a_simulator_tells_is_refused(control: Callable[..., Controller]) -> None:
    with pytest.raises(RunRefused, match="use of each container"):
        control("usage-feedback(forget=true)")


def test_young_containers_are_charged_for_as_long_as_the_policy_says_or_longer() -> None:
    assert "young_reports=10" in str(charging_young(parse_policy("usage-feedback"), 10_000, 1000))
    for said, charged in ((0, 10), (2, 10), (30, 30)):
        policy = charging_young(parse_policy(f"usage-feedback(young_reports={said})"), 10_000, 1000)
        assert young_reports(policy) == charged
    assert young_reports(charging_young(parse_policy("weave"), 10_000, 1000)) == 10
    assert young_reports(charging_young(parse_policy("weave"), 0, 1000)) == 2
    assert charging_young(parse_policy("drf"), 10_000, 1000) == parse_policy("drf")
