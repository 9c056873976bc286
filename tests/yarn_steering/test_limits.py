"""What a controller may do to a node, whatever its levers say: guards on their own and in their order."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

from heddle.yarn.live.applying.guards import GUARDS, keep_one_large
from heddle.yarn.live.applying.ownership import FOREIGN_LOOKS, Ownership
from heddle.yarn.live.applying.seen import Limits, Seen
from heddle.yarn.live.applying.standing import Standing
from heddle.yarn.live.applying.turn import Cause, Turn, Verdict
from heddle.yarn.live.metrics_age import MetricsAge
from heddle.yarn.live.things_seen import NodeSeen, Size

OWN = (8192, 8000)
NODE = NodeSeen("a:1", "a", "/r", "RUNNING", "", OWN, (4096, 2000), 3000, 0.5, 1000, 1.0, memory_share=0.3)


def judge(decided: Size, limits: Limits | None = None, node: NodeSeen = NODE, **more: Any) -> tuple[Size, Cause]:
    """What all guards make of one node."""
    seen = Seen(limits or Limits(), {node.id: node}, {node.id: OWN}, **{"ages_ms": {node.id: 0}, **more})
    turns: tuple[Turn, ...] = (Turn("sizes", node.id, node.total, decided),)
    for guard in GUARDS:
        turns = guard(turns, seen)
    return turns[0].wanted, turns[0].cause


def test_no_limits_leave_what_levers_say() -> None:
    assert judge((99_999, 99_000)) == ((99_999, 99_000), Cause.LEVER)


def test_never_below_what_is_allocated() -> None:
    assert judge((100, 1000)) == ((4096, 2000), Cause.LEVER)


def test_cap_and_rise() -> None:
    assert judge((20_000, 9000), Limits(overcommit=1.5)) == ((12_288, 9000), Cause.CAP)
    assert judge((20_000, 9000), Limits(rise=0.25)) == ((10_240, 9000), Cause.RISE)
    # Growing by whole vcores only, and never taking back what is allocated.
    full = replace(NODE, allocated=(16_384, 8000))
    assert judge((20_000, 9000), Limits(overcommit=1.1), full) == ((16_384, 8000), Cause.CAP)


def test_metrics_that_stand_still_are_not_believed() -> None:
    ages, limits = MetricsAge(), Limits(stale_ms=5000)
    for now_ms, cause in ((0, Cause.LEVER), (5000, Cause.LEVER), (5001, Cause.STALE)):
        assert judge((9000, 8000), limits, ages_ms=ages.look([NODE], now_ms))[1] is cause
    assert judge((9000, 8000), limits, ages_ms=ages.look([NODE], 5001)) == (OWN, Cause.STALE)
    moved = replace(NODE, physical_cores_used=0.6)
    assert judge((9000, 8000), limits, moved, ages_ms=ages.look([moved], 6000))[1] is Cause.LEVER


def test_a_full_machine_is_promised_nothing_more() -> None:
    limits = Limits(pressure=0.9)
    assert judge((9000, 8000), limits, replace(NODE, memory_share=0.95)) == ((4096, 2000), Cause.PRESSURE)
    assert judge((9000, 8000), limits, replace(NODE, containers_memory_mb=7800))[1] is Cause.PRESSURE
    assert judge((9000, 8000), limits, replace(NODE, memory_share=None))[1] is Cause.LEVER


def test_what_is_not_known_outweighs_pressure_and_pressure_outweighs_levers() -> None:
    limits, full = Limits(pressure=0.9, stale_ms=5000, rise=0.1), replace(NODE, memory_share=0.95, total=(5000, 8000))
    assert judge((9000, 8000), limits, full)[1] is Cause.PRESSURE
    assert judge((9000, 8000), limits, full, ages_ms={"a:1": 6000}) == (OWN, Cause.STALE)  # however far it rises


def test_canary() -> None:
    assert judge((9000, 8000), Limits(only=frozenset({"b:1"}))) == (OWN, Cause.OUTSIDE)


def test_somebody_elses_size_is_left_alone_once_it_is_certain() -> None:
    ownership = Ownership()
    ownership.find(Standing(sizes={"a:1": OWN}))
    made = [(8500 + number, 8000) for number in range(60)]  # so many that its own is none of where we had it lately
    for before, wanted in pairwise([OWN, *made]):
        ownership.asking(Turn("sizes", "a:1", before, wanted))
        ownership.accepted(Turn("sizes", "a:1", before, wanted))

    def cause(total: Size) -> Cause:
        ownership.look(Standing(sizes={"a:1": total}))
        return judge((9500, 8000), node=replace(NODE, total=total), ownership=ownership)[1]

    for total in (OWN, made[-1]):  # before and after the RM has come round to it; a NodeManager that starts anew
        assert [cause(total) for _ in range(FOREIGN_LOOKS)] == [Cause.LEVER] * FOREIGN_LOOKS
    theirs = (6000, 8000)
    assert [cause(theirs) for _ in range(FOREIGN_LOOKS)] == [Cause.STRANGE] * (FOREIGN_LOOKS - 1) + [Cause.FOREIGN]
    assert cause(OWN) is Cause.FOREIGN  # from then on


def test_a_strange_size_that_was_ours_after_all() -> None:
    """What was asked for twice may come true one after the other; what was refused leaves what was there."""
    ownership = Ownership()
    ownership.find(Standing(sizes={"a:1": OWN}))
    for wanted in ((9000, 8000), (9500, 8000)):
        ownership.asking(Turn("sizes", "a:1", OWN, wanted))
    for wanted in ((10_000 + more, 8000) for more in range(8)):
        ownership.look(Standing(sizes={"a:1": (9500, 8000)}))
        assert ("sizes", "a:1", "") not in ownership.strange_lately
        ownership.asking(Turn("sizes", "a:1", (9500, 8000), wanted))
    ownership.accepted(Turn("sizes", "a:1", (9500, 8000), wanted))
    ownership.look(Standing(sizes={"a:1": (9500, 8000)}))
    assert ("sizes", "a:1", "") not in ownership.strange_lately
    ownership.look(Standing(sizes={"a:1": (9001, 8000)}))
    assert ("sizes", "a:1", "") in ownership.strange_lately


def lifted(wanted: dict[str, Size], own: dict[str, Size], theirs: frozenset[str] = frozenset()) -> dict[str, Size]:
    """What keep_one_large changes. `theirs`: nodes that are not ours to change."""
    turns = tuple(
        turn.left_alone(Cause.FOREIGN) if turn.name in theirs else turn
        for turn in (Turn("sizes", name, size, size) for name, size in wanted.items())
    )
    after = keep_one_large(turns, Seen(Limits(keep_largest=True), own=own))
    assert all(turn.verdict is Verdict.LEFT_ALONE for turn in after if turn.name in theirs)
    return {turn.name: turn.wanted for turn in after if turn.cause is Cause.LARGEST}


def test_the_largest_request_stays_possible() -> None:
    own = {"a": (8192, 8000), "b": (8192, 8000), "c": (4096, 4000)}
    assert lifted({"a": (7000, 8000), "b": (8192, 8000), "c": (5000, 4000)}, own) == {}
    assert lifted({"a": (7000, 8000), "b": (7500, 6000), "c": (5000, 4000)}, own) == {"b": (8192, 8000)}
    assert lifted({}, {}) == {}


def test_what_is_somebody_elses_is_not_made_large_again_by_us() -> None:
    own = {"a": (8192, 8000), "b": (8192, 8000)}
    assert lifted({"a": (7000, 8000), "b": (7500, 6000)}, own, frozenset({"b"})) == {"a": (8192, 8000)}
    assert lifted({"a": (7000, 8000), "b": (7500, 6000)}, own, frozenset({"a", "b"})) == {}
