"""How long new containers count in full follows how long containers take to start on this cluster."""

from collections.abc import Callable

from heddle.policy.parse import parse_policy
from heddle.yarn.live.controller import Controller, Step
from heddle.yarn.live.levers import charging_young
from heddle.yarn.live.start_delay import MOST_MS, SETTLED_MS, WINDOW_MS

from .conftest import Clock
from .fake_rm import FakeRm

YOUNG_MS = 10_000
POLICY = "usage-feedback(damping=0.5, young_reports=10)"


class Watched:
    """A node of 4096 MB whose containers show what the test says, polled each second."""

    def __init__(
        self,
        rm: FakeRm,
        control: Callable[..., Controller],
        clock: Clock,
        policy: str = POLICY,
        others: tuple[str, ...] = (),
    ) -> None:
        self.rm, self.clock = rm, clock
        rm.add_node("a:1", 4096, 8)
        self.controller = control(policy, [parse_policy(one) for one in others], learn_starts=True)
        self.app = rm.add_app()
        self.step()
        rm.start_am(self.app, "a:1", 256, 1)
        self.step()  # it registers within one poll: a quick start
        self.show(100)
        self.wait(3)

    def show(self, memory_mb: int) -> None:
        node = self.rm.nodes["a:1"]
        node.used_memory_mb = node.containers_memory_mb = memory_mb

    def step(self) -> Step:
        done = self.controller.step()
        self.clock.now_ms += 1000
        return done

    def wait(self, seconds: int) -> Step:
        for _ in range(seconds):
            done = self.step()
        return done

    def promised_mb(self, step: Step) -> int:
        return step.of("sizes")[0].wanted[0]


def test_where_containers_start_at_once_the_least_holds(
    rm: FakeRm, control: Callable[..., Controller], clock: Clock
) -> None:
    cluster = Watched(rm, control, clock)
    rm.allocate(cluster.app, "a:1", 1024, 1)
    cluster.wait(4)
    cluster.show(1000)
    assert cluster.wait(3).in_full_ms == YOUNG_MS


def test_a_container_without_a_sign_counts_in_full(
    rm: FakeRm, control: Callable[..., Controller], clock: Clock
) -> None:
    """A node with 3072 MB in containers that show nothing for 40 s and then use nearly all of it."""
    cluster = Watched(rm, control, clock)
    for _ in range(3):
        rm.allocate(cluster.app, "a:1", 1024, 1)
    for _ in range(40):
        assert cluster.promised_mb(cluster.step()) <= 4096 + 156  # what the AM does not use, nothing else
    cluster.show(100 + 3 * 920)
    done = cluster.wait(60)
    assert cluster.promised_mb(done) <= 4096 + 3 * (1024 - 920) + 156
    assert done.in_full_ms == 2 * 40_000  # also for whatever comes next


def test_an_am_that_does_not_register_is_a_sign_too(
    rm: FakeRm, control: Callable[..., Controller], clock: Clock
) -> None:
    cluster = Watched(rm, control, clock)
    slow = rm.add_app()
    rm.start_am(slow, "a:1", 256, 1)
    slow.state = "ACCEPTED"
    cluster.wait(2)
    cluster.show(200)  # its memory shows soon
    assert cluster.wait(16).in_full_ms == 17_000
    slow.state = "RUNNING"
    assert cluster.wait(30).in_full_ms == 18_000  # that long it took


def test_memory_that_goes_on_rising_is_one_too(rm: FakeRm, control: Callable[..., Controller], clock: Clock) -> None:
    """A container fills its memory by and by: as long as it does, it counts in full."""
    cluster = Watched(rm, control, clock)
    rm.allocate(cluster.app, "a:1", 3072, 1)
    cluster.wait(3)
    for second in range(40):
        cluster.show(150 + 50 * second)
        done = cluster.step()
        assert cluster.promised_mb(done) <= 4096 + 156
    assert done.in_full_ms == 42_000 + SETTLED_MS
    cluster.wait(12)
    cluster.show(3000)  # grown, long after it has started
    assert cluster.wait(2).in_full_ms == 42_000 + SETTLED_MS


def test_old_signs_are_forgotten_and_those_that_never_come_are_limited(
    rm: FakeRm, control: Callable[..., Controller], clock: Clock
) -> None:
    cluster = Watched(rm, control, clock)
    silent = rm.allocate(cluster.app, "a:1", 1024, 1)
    cluster.step()
    clock.now_ms += 10 * MOST_MS
    assert cluster.step().in_full_ms == MOST_MS
    rm.end_container(silent)
    cluster.step()
    clock.now_ms += WINDOW_MS
    assert cluster.step().in_full_ms == YOUNG_MS


def test_a_container_that_was_there_before_the_controller_is_no_sign(
    rm: FakeRm, control: Callable[..., Controller], clock: Clock
) -> None:
    rm.add_node("a:1", 4096, 8)
    app = rm.add_app()
    rm.start_am(app, "a:1", 256, 1)
    rm.allocate(app, "a:1", 1024, 1)
    controller = control(POLICY, learn_starts=True)
    controller.step()
    clock.now_ms = 60_000
    assert controller.step().in_full_ms == YOUNG_MS


def test_weave_learns_as_usage_feedback_does(rm: FakeRm, control: Callable[..., Controller], clock: Clock) -> None:
    """What it says of new containers is the least: nothing is promised on those that show nothing."""
    steered = str(charging_young(parse_policy("weave"), YOUNG_MS, 1000))
    cluster = Watched(rm, control, clock, steered)
    for _ in range(3):
        rm.allocate(cluster.app, "a:1", 1024, 1)
    for _ in range(40):
        done = cluster.step()
        assert cluster.promised_mb(done) <= 4096 + 156
    assert (done.in_full_ms, done.start_reports) == (2 * 39_000, 2 * 39)


def test_each_of_several_policies_has_its_own_least(
    rm: FakeRm, control: Callable[..., Controller], clock: Clock
) -> None:
    others = ("capacity", "usage-feedback(young_reports=0)", "usage-feedback(young_reports=30)")
    cluster = Watched(rm, control, clock, "weave", others)
    rm.allocate(cluster.app, "a:1", 1024, 1)
    cluster.wait(11)
    counted = []
    for number in range(4):
        cluster.controller.put_in_force(number)
        counted.append(cluster.step().in_full_ms)
    assert counted == [22_000, None, None, 30_000]


def test_without_it_the_policy_says_how_long(rm: FakeRm, control: Callable[..., Controller]) -> None:
    rm.add_node("a:1", 4096, 8)
    assert control(POLICY).step().in_full_ms is None
