"""Where YARN preempts, or may: nothing that is changed makes it take a container away."""

import pytest

from heddle.model.errors import RunRefused
from heddle.policy.parse import parse_policy
from heddle.yarn.live.applying.preemption import keep_guarantees, leave_pools, leave_priorities
from heddle.yarn.live.applying.rm_knobs import may_preempt
from heddle.yarn.live.applying.seen import Seen
from heddle.yarn.live.applying.turn import Cause, Turn, Verdict
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.controller import Controller, Settings
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.things_seen import NodeSeen, QueueSeen, Size
from heddle.yarn.live.wire import YarnError
from yarn_live.fake_rm import FakeRm

from .test_turning import moved, no_watchdog, session  # noqa: F401  # a fixture

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


SHARES = Turn("queues", "root.pool-0", {"capacity": "90"}, {"capacity": "80"})
WITH_AMS = Turn(
    "queues", "root.pool-0", {"capacity": "90", "maximum-am-resource-percent": "0.1"},
    {"capacity": "80", "maximum-am-resource-percent": "0.2"},
)  # fmt: skip
MOVE = Turn("leaves", "app-1", "root.pool-1", "root.pool-0")
AMS = Turn("queues", "root.pool-0", {"maximum-am-resource-percent": "0.1"}, {"maximum-am-resource-percent": "0.2"})


def test_pools_stay_as_they_are_where_yarn_may_preempt() -> None:
    asked = []
    handed_back = (turn._replace(cause=Cause.HANDOVER) for turn in (SHARES, WITH_AMS))
    turns = (SHARES, WITH_AMS, MOVE, AMS, *handed_back)
    held = leave_pools(turns, Seen(may_preempt=lambda: asked.append(1) is None))
    alone = [(turn.verdict, turn.cause) for turn in held]
    left = Verdict.LEFT_ALONE, Cause.PREEMPTION
    assert alone == [left, (None, Cause.LEVER), left, (None, Cause.LEVER), left, (None, Cause.HANDOVER)]
    assert held[1][2:4] == held[5][2:4] == (AMS.before, AMS.wanted)  # an AM share moves nobody
    assert leave_pools(turns, Seen(may_preempt=lambda: False)) == turns
    assert len(asked) == 1


def test_where_no_pool_moves_nobody_is_asked() -> None:
    settled = SHARES._replace(wanted=SHARES.before), MOVE._replace(verdict=Verdict.AWAY), AMS
    assert leave_pools(settled, Seen(may_preempt=lambda: pytest.fail("asked"))) == settled


def test_priorities_stay_as_they_are_where_yarn_preempts_by_them() -> None:
    queues = QueueSeen("root.a", 500, 1000, preempts_within=True), QueueSeen("root.b", 500, 1000)
    seen = Seen(queues=queues, queue_of={"app-1": "root.a", "app-2": "root.b", "app-3": "root.a"})
    turns = tuple(Turn("priorities", app, 0, 5) for app in ("app-1", "app-2"))
    held = leave_priorities((*turns, Turn("priorities", "app-3", 5, 5)), seen)
    assert [turn.verdict for turn in held] == [Verdict.LEFT_ALONE, None, None]  # the last one changes nothing


@pytest.fixture
def pools(rm: FakeRm) -> FakeRm:
    """A job that asks for most of the cluster, in the pool of small ones."""
    rm.leaves, rm.am_share = {"pool-0": (90.0, 100.0), "pool-1": (10.0, 100.0)}, 0.9
    rm.configured["yarn.cluster.max-application-priority"] = "10"
    (app,) = rm.apps.values()
    app.queue, app.asks = "pool-1", [(20, 1024, 1, 100)]
    return rm


POOLS = "capacity+smallest-first+small-pool(share=0.2, theta=0.2)"


def test_pools_are_refused_on_a_yarn_that_preempts(pools: FakeRm, client: RmClient, desk: Desk) -> None:
    pools.configured[MONITOR] = "true"
    with pytest.raises(RunRefused, match=f"kill containers.*{MONITOR}"), session(client, desk, POOLS).at_work():
        pass
    assert not pools.settings


def test_preemption_that_is_switched_on_later_stops_pools_and_the_end_puts_them_back(
    pools: FakeRm, client: RmClient, desk: Desk
) -> None:
    (app,) = pools.apps.values()
    with session(client, desk, POOLS).at_work() as working:
        assert {turn.what for turn in moved(working.step())} >= {"queues", "leaves"}
        assert app.queue == "root.pool-0"
        pools.settings[MONITOR] = "true"
        another = pools.add_app(queue="pool-1")
        pools.start_am(another, "a:1", 1024, 1)
        another.asks = [(20, 1024, 1, 100)]
        for _ in range(2):
            step = working.step()
            assert step is not None
            held = {turn.name for turn in step.of("leaves") if turn.cause is Cause.PREEMPTION}
            assert held == {another.id}
        assert another.queue == "pool-1"
    assert app.queue.rpartition(".")[2] == "pool-1"
    assert pools.settings == {MONITOR: "true"}


@pytest.mark.parametrize("preempts", [False, True])
def test_priorities_are_not_changed_in_a_leaf_that_preempts(
    preempts: bool, rm: FakeRm, client: RmClient, desk: Desk
) -> None:
    rm.configured["yarn.cluster.max-application-priority"] = "10"
    rm.preempts_within = preempts
    rm.add_app().asks = [(0, 1024, 1, 1)]
    with session(client, desk, "smallest-first").at_work() as working:
        working.step()
        assert any(app.priority for app in rm.apps.values()) is not preempts
