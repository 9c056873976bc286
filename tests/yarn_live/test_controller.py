"""Usage feedback on a live cluster, by hand-worked numbers; and what the controller does and leaves alone."""

from collections.abc import Callable

import pytest

from heddle.model.errors import RunRefused
from heddle.model.view import EVENT_NODE_LOST, EVENT_NODE_RETURNED, EVENT_STOPPED
from heddle.yarn.live.applying.turn import Verdict
from heddle.yarn.live.controller import Controller, Step
from heddle.yarn.live.wire import YarnError

from .conftest import Clock
from .fake_rm import FakeRm

HALF = "usage-feedback(damping=0.5)"


def use(rm: FakeRm, node: str, memory_mb: int, cores: float) -> None:
    rm.nodes[node].used_memory_mb, rm.nodes[node].used_cores = memory_mb, cores


def wanted(step: Step) -> list[tuple[int, int]]:
    return [resize.wanted for resize in step.of("sizes")]


def test_usage_feedback_by_hand(rm: FakeRm, control: Callable[..., Controller], clock: Clock) -> None:
    rm.add_node("a:1", 8192, 8)
    controller = control(HALF)

    use(rm, "a:1", 1000, 0.5)  # E rises to what is used: 8192 - 1000; 8 - 0.5 vcores, whole ones
    assert wanted(controller.step()) == [(7192, 7000)]

    app = rm.add_app()
    am = rm.start_am(app, "a:1", 2048, 1)  # E = 1000 + 2048; total = 2048 + 8192 - 3048
    clock.now_ms = 1000
    assert wanted(controller.step()) == [(7192, 7000)]

    task = rm.allocate(app, "a:1", 1024, 1)  # E = 1200 + (3048 - 1200) / 2 + 1024 = 3148; total = 3072 + 8192 - 3148
    use(rm, "a:1", 1200, 0.75)
    clock.now_ms = 2000
    assert wanted(controller.step()) == [(8116, 7000)]

    clock.now_ms = 3000  # E = 1200 + (3148 - 1200) / 2 = 2174; cores: 0.75 + (2.125 - 0.75) / 2 = 1.4375
    assert wanted(controller.step()) == [(9090, 8000)]

    rm.end_container(task)  # half of it was left after one report: E = 2174 - 512 = 1662, then 1100 + (1662 - 1100) / 2
    use(rm, "a:1", 1100, 0.75)
    clock.now_ms = 4000
    assert wanted(controller.step()) == [(2048 + 8192 - 1381, 8000)]

    assert am in app.containers
    assert [body["resource"] for _, body in rm.posts] == [
        {"memory": 7192, "vCores": 7},
        {"memory": 8116, "vCores": 7},
        {"memory": 9090, "vCores": 8},
        {"memory": 8859, "vCores": 8},
    ]
    assert {path for path, _ in rm.posts} == {"/nodes/a:1/resource"}
    assert {body["overCommitTimeout"] for _, body in rm.posts} == {-1}


def test_a_second_poll_within_a_report_interval_applies_no_report(
    rm: FakeRm, control: Callable[..., Controller], clock: Clock
) -> None:
    rm.add_node("a:1", 8192, 8)
    controller = control(HALF)
    use(rm, "a:1", 1000, 0)
    controller.step()
    use(rm, "a:1", 3000, 0)
    clock.now_ms = 999
    assert wanted(controller.step()) == [(7192, 8000)]
    clock.now_ms = 1000
    assert wanted(controller.step()) == [(5192, 8000)]


def test_shadow_posts_nothing(rm: FakeRm, control: Callable[..., Controller]) -> None:
    rm.add_node("a:1", 8192, 8)
    use(rm, "a:1", 1000, 0.5)
    controller = control(HALF, shadow=True)
    step = controller.step()
    assert [(resize.wanted, resize.verdict) for resize in step.of("sizes")] == [((7192, 7000), Verdict.SHADOW)]
    assert rm.posts == []


def test_dead_band(rm: FakeRm, control: Callable[..., Controller], clock: Clock) -> None:
    rm.add_node("a:1", 8192, 8)
    use(rm, "a:1", 255, 0)
    controller = control(HALF, dead_band=(256, 1000))
    assert [resize.verdict for resize in controller.step().of("sizes")] == [Verdict.DEAD_BAND]
    use(rm, "a:1", 256, 0)
    clock.now_ms = 1000
    assert [resize.verdict for resize in controller.step().of("sizes")] == [Verdict.POSTED]
    clock.now_ms = 2000
    assert [resize.verdict for resize in controller.step().of("sizes")] == [Verdict.UNCHANGED]


def test_dead_band_of_vcores(rm: FakeRm, control: Callable[..., Controller], clock: Clock) -> None:
    rm.add_node("a:1", 8192, 8)
    use(rm, "a:1", 0, 1)
    controller = control(HALF, dead_band=(256, 2000))
    assert [resize.verdict for resize in controller.step().of("sizes")] == [Verdict.DEAD_BAND]
    use(rm, "a:1", 0, 2)
    clock.now_ms = 1000
    assert [resize.verdict for resize in controller.step().of("sizes")] == [Verdict.POSTED]


def test_never_below_what_is_allocated(rm: FakeRm, control: Callable[..., Controller]) -> None:
    rm.add_node("a:1", 8192, 8)
    app = rm.add_app()
    rm.start_am(app, "a:1", 6000, 6)
    use(rm, "a:1", 8000, 8)  # E = 8000 + 6000
    assert wanted(control(HALF).step()) == [(6000, 6000)]


def test_allocated_by_the_rm_though_not_listed(rm: FakeRm, control: Callable[..., Controller]) -> None:
    """An application whose containers cannot be listed any more still holds the node's memory."""
    rm.add_node("a:1", 8192, 8)
    app = rm.add_app()
    rm.start_am(app, "a:1", 6000, 6)
    rm.instead[f"/apps/{app.id}/appattempts/{app.attempt_id}/containers"] = (404, "gone")
    use(rm, "a:1", 8000, 8)
    assert wanted(control(HALF).step()) == [(6000, 6000)]


def test_a_node_lost_and_returned(rm: FakeRm, control: Callable[..., Controller], clock: Clock) -> None:
    rm.add_node("a:1", 8192, 8)
    rm.add_node("b:1", 8192, 8)
    app = rm.add_app()
    rm.start_am(app, "a:1", 1024, 1)
    rm.allocate(app, "b:1", 2048, 1)
    controller = control(HALF)
    controller.step()
    assert controller.live.view.node["allocated"][1].tolist() == [2048, 1000]

    rm.lose("b:1")
    clock.now_ms = 1000
    step = controller.step()
    told = [(change.kind, change.node) for change in step.changes if change.node == "b:1"]
    assert told == [(EVENT_NODE_LOST, "b:1"), (EVENT_STOPPED, "b:1")]
    view = controller.live.view
    assert view.node["alive"].tolist() == [1, 0]
    assert view.node["allocated"][1].tolist() == [0, 0]
    assert view.node["first_container"][1] == -1
    assert [resize.verdict for resize in step.of("sizes")][1] is Verdict.AWAY

    rm.nodes["b:1"].lost = False
    use(rm, "b:1", 500, 0)
    clock.now_ms = 2000
    step = controller.step()
    assert (EVENT_NODE_RETURNED, "b:1") in [(change.kind, change.node) for change in step.changes]
    assert controller.live.node_row == {"a:1": 0, "b:1": 1}
    assert controller.live.view.node["alive"].tolist() == [1, 1]
    # The container ended one report before its whole reservation had faded: E = 2048 - 2048, then up to 500.
    assert wanted(step)[1] == (8192 - 500, 8000)


def test_a_node_that_vanishes_before_the_post_does_not_stop_the_others(
    rm: FakeRm, control: Callable[..., Controller]
) -> None:
    rm.add_node("a:1", 8192, 8)
    rm.add_node("b:1", 8192, 8)
    use(rm, "a:1", 1000, 0)
    use(rm, "b:1", 1000, 0)
    rm.instead["/nodes/a:1/resource"] = (404, "no such node")
    step = control(HALF).step()
    assert [resize.verdict for resize in step.of("sizes")] == [Verdict.FAILED, Verdict.POSTED]
    assert "/nodes/a:1/resource: HTTP 404: no such node" in step.of("sizes")[0].problem


def test_a_decommissioning_node_is_left_to_the_rm(rm: FakeRm, control: Callable[..., Controller]) -> None:
    rm.add_node("a:1", 8192, 8)
    rm.nodes["a:1"].state = "DECOMMISSIONING"
    use(rm, "a:1", 1000, 0)
    assert [resize.verdict for resize in control(HALF).step().of("sizes")] == [Verdict.AWAY]
    assert rm.posts == []


def test_a_decommissioning_node_counts_with_what_the_rm_has_shrunk_it_to(
    rm: FakeRm, control: Callable[..., Controller], clock: Clock
) -> None:
    rm.add_node("a:1", 8192, 8)
    rm.add_node("b:1", 8192, 8)
    use(rm, "a:1", 1000, 0)
    rm.allocate(rm.add_app(), "a:1", 2048, 1)
    controller = control(HALF)
    controller.step()
    view = controller.live.view
    assert view.clock["total"][0].tolist() == [16384, 16000]
    rm.nodes["a:1"].state, rm.nodes["a:1"].memory_mb, rm.nodes["a:1"].vcores = "DECOMMISSIONING", 2048, 1
    clock.now_ms = 1000
    controller.step()
    view = controller.live.view
    assert view.clock["total"][0].tolist() == [2048 + 8192, 1000 + 8000]
    default = controller.live.leaves()["root.default"]  # three quarters of it
    assert view.queue["guarantee"][default].tolist() == [(2048 + 8192) * 3 // 4, 9000 * 3 // 4]


def test_a_failed_poll_changes_nothing(rm: FakeRm, control: Callable[..., Controller], clock: Clock) -> None:
    rm.add_node("a:1", 8192, 8)
    use(rm, "a:1", 1000, 0)
    controller = control(HALF)
    controller.step()
    rm.instead["/apps"] = (500, "standby")
    clock.now_ms = 1000
    with pytest.raises(YarnError, match="HTTP 500: standby"):
        controller.step()
    del rm.instead["/apps"]
    use(rm, "a:1", 3000, 0)
    clock.now_ms = 2000
    assert wanted(controller.step()) == [(5192, 8000)]


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        ("srpt", "srpt needs to know the future"),
        ("oracle", "oracle needs to know the future"),
        ("percentile", "percentile looks at the use of each container"),
    ],
)
def test_levers_that_a_live_cluster_cannot_serve_are_refused(
    policy: str, why: str, control: Callable[..., Controller]
) -> None:
    with pytest.raises(RunRefused, match=why):
        control(policy)


@pytest.mark.parametrize("settings", [{"report_ms": 0}, {"increment": (1, 500)}])
def test_settings_that_cannot_work_are_refused(settings: dict[str, object], control: Callable[..., Controller]) -> None:
    with pytest.raises(RunRefused):
        control("fifo", **settings)
