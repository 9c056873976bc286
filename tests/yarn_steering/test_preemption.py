"""Where YARN preempts, or may: nodes do not shrink below what queues hold of their guarantees."""

import pytest

from heddle.policy.parse import parse_policy
from heddle.yarn.live.applying.preemption import keep_guarantees
from heddle.yarn.live.applying.rm_knobs import may_preempt
from heddle.yarn.live.applying.seen import Seen
from heddle.yarn.live.applying.turn import Cause, Turn
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.controller import Controller, Settings
from heddle.yarn.live.things_seen import NodeSeen, QueueSeen, Size
from heddle.yarn.live.wire import YarnError
from yarn_live.fake_rm import FakeRm

MONITOR = "yarn.resourcemanager.scheduler.monitor.enable"
NODES = {name: NodeSeen(name, name, "", "RUNNING", "", (8192, 8000), (0, 0), 0, 0.0, 0, 0.0) for name in ("a", "b")}


def queue(name: str, guaranteed: float, memory_mb: int, vcores: int = 0) -> QueueSeen:
    return QueueSeen(f"root.{name}", 0, 0, guaranteed=guaranteed, used=(memory_mb, 1000 * vcores))


def after(wanted: dict[str, Size], *queues: QueueSeen, causes: dict[str, Cause] | None = None) -> dict[str, Size]:
    turns = tuple(
        Turn("sizes", name, NODES[name].total, size, (causes or {}).get(name, Cause.LEVER))
        for name, size in wanted.items()
    )
    seen = Seen(nodes=NODES, queues=(QueueSeen("root", 1000, 1000), *queues), may_preempt=lambda: True)
    return {turn.name: turn.wanted for turn in keep_guarantees(turns, seen)}


def test_nodes_shrink_as_far_as_every_guarantee_covers_its_queue() -> None:
    wanted = {"a": (4096, 8000), "b": (8192, 8000)}  # 12288 MB of 16384 are left: a quarter of them is 3072
    assert after(wanted, queue("q", 0.25, 3072)) == wanted
    assert after(wanted, queue("q", 0.25, 3073)) == {"a": (8192, 8000), "b": (8192, 8000)}
    assert after(wanted, queue("q", 0.25, 5000)) == {"a": (8192, 8000), "b": (8192, 8000)}  # beyond it already
    assert after(wanted, queue("q", 0.25, 0), queue("p", 0.75, 9217)) == {"a": (8192, 8000), "b": (8192, 8000)}


def test_vcores_count_as_memory_does() -> None:
    assert after({"a": (8192, 4000)}, queue("q", 0.5, 0, vcores=6)) == {"a": (8192, 4000)}
    assert after({"a": (8192, 4000)}, queue("q", 0.5, 0, vcores=7)) == {"a": (8192, 8000)}


def test_what_grows_is_not_counted_on() -> None:
    wanted = {"a": (4096, 8000), "b": (16_384, 8000)}
    assert after(wanted, queue("q", 0.25, 4000)) == {"a": (8192, 8000), "b": (16_384, 8000)}


def test_levers_give_way_before_a_full_machine_does() -> None:
    wanted, full = {"a": (4096, 8000), "b": (6000, 8000)}, {"a": Cause.PRESSURE}
    assert after(wanted, queue("q", 0.25, 3072), causes=full) == {"a": (4096, 8000), "b": (8192, 8000)}
    assert after(wanted, queue("q", 0.25, 3073), causes=full) == {"a": (8192, 8000), "b": (8192, 8000)}


def test_queues_that_cannot_be_read_may_hold_anything() -> None:
    assert after({"a": (4096, 8000)}) == {"a": (8192, 8000)}  # the Fair scheduler's are not read
    unknown = QueueSeen("root.q", 250, 1000, guaranteed=0.25)
    assert after({"a": (4096, 8000)}, unknown) == {"a": (8192, 8000)}


@pytest.fixture
def controller(rm: FakeRm, client: RmClient) -> Controller:
    """A policy that shrinks both nodes. The queue `batch` is due a quarter of them, and nearly holds it."""
    (app,) = rm.apps.values()
    app.queue = "batch"
    for node in rm.nodes.values():
        node.used_memory_mb = 5000
    for container in app.containers.values():
        container.memory_mb = 2000
    settings = Settings(shadow=False, dead_band=(1, 1000))
    return Controller(client, parse_policy("usage-feedback(damping=1)"), lambda node: node.total, settings)


@pytest.mark.parametrize("preempts", ["true", "false"])
def test_no_node_shrinks_below_what_queues_hold(rm: FakeRm, controller: Controller, preempts: str) -> None:
    rm.configured[MONITOR] = preempts
    turns = controller.step().of("sizes")
    memory_mb = sum(node.memory_mb for node in rm.nodes.values())
    if preempts == "true":
        assert {str(turn.cause) for turn in turns} == {"preemption"}
        assert memory_mb * 0.25 >= 4000
    else:
        assert memory_mb * 0.25 < 4000  # what YARN would preempt for


def test_what_is_not_told_counts_as_preemption(rm: FakeRm, client: RmClient) -> None:
    assert not may_preempt(client)
    del rm.configured[MONITOR]
    assert may_preempt(client)
    rm.instead["/conf"] = (403, "no")
    assert may_preempt(client)
    rm.instead["/conf"] = (200, "not JSON")
    assert may_preempt(client)


def test_preemption_that_was_switched_on_live(rm: FakeRm, client: RmClient) -> None:
    rm.settings[MONITOR] = "true"
    assert may_preempt(client)
    rm.settings.clear()
    rm.instead["/scheduler-conf"] = (400, "Configuration change only supported by a mutable provider")
    assert not may_preempt(client)


def test_the_fair_schedulers_preemption(rm: FakeRm, client: RmClient) -> None:
    rm.configured["yarn.scheduler.fair.preemption"] = "true"
    assert may_preempt(client)


def test_an_rm_that_is_away_answers_nothing(rm: FakeRm) -> None:
    rm.delay_s = 1.0
    with RmClient(rm.address, timeout_s=0.2) as hasty, pytest.raises(YarnError):
        may_preempt(hasty)
