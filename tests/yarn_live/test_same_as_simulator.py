"""The point of the slice: one lever, fed by the simulator's kind of calls and by HTTP, decides the same."""

import random
from collections.abc import Callable

import pytest

from heddle.model.view import VIEW_VERSION
from heddle.yarn.live.controller import Controller

from .conftest import Clock
from .direct import SIZES, DirectSizing
from .fake_rm import FakeRm

NODES = ("a:1", "b:1", "c:1")
MEMORY_MB, VCORES = 16384, 16


@pytest.mark.parametrize("reports_per_poll", [1, 3])
@pytest.mark.parametrize(
    "policy",
    [
        "usage-feedback",
        "usage-feedback(damping=0.5)",
        "usage-feedback(headroom=prototype, young_reports=4)",
        "usage-feedback(side=worker)",
        "n-sigma(samples=3)",
        "borg-default",
    ],
)
def test_same_events_same_totals(
    policy: str, reports_per_poll: int, rm: FakeRm, control: Callable[..., Controller], clock: Clock
) -> None:
    chance = random.Random(f"{policy} {reports_per_poll}")
    direct = DirectSizing(policy, len(NODES), MEMORY_MB, VCORES, report_ms=1000)
    for name in NODES:
        rm.add_node(name, MEMORY_MB, VCORES)
    app = rm.add_app()
    app.state = "RUNNING"
    controller = control(f"fifo+{policy}")
    resized = 0
    for poll in range(25):
        ended = [name for name in app.containers if chance.random() < 0.2]
        for name in ended:
            rm.end_container(name)
            direct.end(name)
        for n, name in enumerate(NODES):
            memory_mb, quarters, ours = chance.choice((500, 2000, 7000)), chance.randrange(1, 8), chance.choice((1, 2))
            node = rm.nodes[name]
            node.used_memory_mb, node.used_cores = memory_mb, quarters / 4
            node.containers_memory_mb = memory_mb // ours
            # As a NodeManager counts it: cores over the machine's cores, times the vcores it has been told.
            node.containers_vcores = quarters / 4 / ours / VCORES * node.vcores
            used, of_containers = (memory_mb, 250 * quarters), (memory_mb // ours, round(250 * quarters / ours))
            direct.report(n, used, of_containers, 1 if poll == 0 else reports_per_poll)
        for _ in range(chance.randrange(3)):
            stage, n = chance.randrange(len(SIZES)), chance.randrange(len(NODES))
            memory_mb, millicores = SIZES[stage]
            priority = 20 if app.next_container > 1 else 0
            direct.allocate(rm.allocate(app, NODES[n], memory_mb, millicores // 1000, priority), n, stage)
        clock.now_ms = 1000 * reports_per_poll * poll
        step = controller.step()
        assert step.plan.node_totals is not None
        assert step.plan.node_totals.tolist() == direct.totals(), f"poll {poll}"
        assert [[node.memory_mb, 1000 * node.vcores] for node in rm.nodes.values()] == direct.totals()
        resized += sum(resize.before != resize.wanted for resize in step.of("sizes"))
    assert resized > 0


def test_the_view_is_the_simulators_version() -> None:
    """Whoever changes the view must look at the live one too, then raise this number."""
    assert VIEW_VERSION == 5
