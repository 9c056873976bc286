"""What a controller may do to a node, whatever its levers say."""

from dataclasses import replace

from heddle.yarn.live.snapshot import NodeSeen
from heddle.yarn.live.steering.limits import FOREIGN_POLLS, Cause, Guards, Limits, keep_one_large

OWN = (8192, 8000)
NODE = NodeSeen("a:1", "a", "/r", "RUNNING", "", OWN, (4096, 2000), 3000, 0.5, 1000, 1.0, memory_share=0.3)


def test_no_limits_leave_what_levers_say() -> None:
    assert Guards(Limits()).judge(NODE, (99_999, 99_000), OWN, 0) == ((99_999, 99_000), Cause.LEVER)


def test_never_below_what_is_allocated() -> None:
    assert Guards(Limits()).judge(NODE, (100, 1000), OWN, 0) == ((4096, 2000), Cause.LEVER)


def test_cap_and_rise() -> None:
    assert Guards(Limits(overcommit=1.5)).judge(NODE, (20_000, 9000), OWN, 0) == ((12_288, 9000), Cause.CAP)
    assert Guards(Limits(rise=0.25)).judge(NODE, (20_000, 9000), OWN, 0) == ((10_240, 9000), Cause.RISE)
    # Growing by whole vcores only, and never taking back what is allocated.
    full = replace(NODE, allocated=(16_384, 8000))
    assert Guards(Limits(overcommit=1.1)).judge(full, (20_000, 9000), OWN, 0) == ((16_384, 8000), Cause.CAP)


def test_metrics_that_stand_still_are_not_believed() -> None:
    guards = Guards(Limits(stale_ms=5000))
    assert guards.judge(NODE, (9000, 8000), OWN, 0)[1] is Cause.LEVER
    assert guards.judge(NODE, (9000, 8000), OWN, 5000)[1] is Cause.LEVER
    assert guards.judge(NODE, (9000, 8000), OWN, 5001) == (OWN, Cause.STALE)
    moved = replace(NODE, physical_cores_used=0.6)
    assert guards.judge(moved, (9000, 8000), OWN, 6000)[1] is Cause.LEVER


def test_a_full_machine_is_promised_nothing_more() -> None:
    guards = Guards(Limits(pressure=0.9))
    assert guards.judge(replace(NODE, memory_share=0.95), (9000, 8000), OWN, 0) == ((4096, 2000), Cause.PRESSURE)
    assert guards.judge(replace(NODE, containers_memory_mb=7800), (9000, 8000), OWN, 0)[1] is Cause.PRESSURE
    assert guards.judge(replace(NODE, memory_share=None), (9000, 8000), OWN, 0)[1] is Cause.LEVER


def test_canary() -> None:
    assert Guards(Limits(only=frozenset({"b:1"}))).judge(NODE, (9000, 8000), OWN, 0) == (OWN, Cause.OUTSIDE)


def test_somebody_elses_size_is_left_alone_once_it_is_certain() -> None:
    guards = Guards(Limits())
    guards.posting("a:1", (9000, 8000))
    for total in (OWN, (9000, 8000)):  # before and after the RM has come round to it
        assert guards.judge(replace(NODE, total=total), (9500, 8000), OWN, 0)[1] is Cause.LEVER
    theirs = replace(NODE, total=(6000, 8000))
    causes = [guards.judge(theirs, (9500, 8000), OWN, 0)[1] for _ in range(FOREIGN_POLLS)]
    assert causes == [Cause.STRANGE] * (FOREIGN_POLLS - 1) + [Cause.FOREIGN]


def test_the_largest_request_stays_possible() -> None:
    own = {"a": (8192, 8000), "b": (8192, 8000), "c": (4096, 4000)}
    assert keep_one_large({"a": (7000, 8000), "b": (8192, 8000), "c": (5000, 4000)}, own) == {}
    assert keep_one_large({"a": (7000, 8000), "b": (7500, 6000), "c": (5000, 4000)}, own) == {"b": (8192, 8000)}
    assert keep_one_large({}, {}) == {}
