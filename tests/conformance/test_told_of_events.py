"""The reference's table of what on_event gets is what both hosts tell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from heddle.experiments.conformance import cases
from heddle.experiments.onlooker import Onlooker
from heddle.model.cluster import Faults
from heddle.model.view import EVENT_FETCHED, EVENT_NAMES, EVENT_TICK
from heddle.policy.delivery import ARGUMENTS, OF_TRUTH
from heddle.policy.hooks import RUNS_AS_PYTHON
from heddle.policy.lever import Sizing
from heddle.policy.parse import parse_policy
from heddle.policy.policy import Policy
from heddle.sim.run import run_engine
from heddle.traces.align import in_resources_of
from heddle.yarn.live.differ import OBSERVABLE

Event = dict[str, int]


def listening(listens: tuple[int, ...]) -> tuple[Policy, list[Event]]:
    """FIFO with a sizing lever that writes down what it is told."""
    told: list[Event] = []

    def on_event(*given: Any) -> int:
        told.append(dict(zip(("kind", "node", "stage", "container", "value"), given[3:], strict=True)))
        return 0

    def total(view: Any, state: Any, params: Any, node: int, r: int) -> int:
        return int(view.node["allowance"][node, r])

    for hook in (on_event, total):
        setattr(hook, RUNS_AS_PYTHON, True)
    lever = Sizing(name="told", summary="", total=total, on_event=on_event, listens=listens, every_ms=1000)
    fifo = parse_policy("fifo")
    return replace(fifo, levers=tuple(lever if isinstance(one, Sizing) else one for one in fifo.levers)), told


def disagreeing(told: list[Event]) -> list[Event]:
    def agrees(event: Event) -> bool:
        given = ARGUMENTS[event["kind"]]
        named = all((event[one] >= 0) == (one in given.names) for one in ("node", "stage", "container"))
        return named and (given.value != "" or event["value"] == 0)

    return [event for event in told if not agrees(event)]


def test_the_table_says_what_hosts_tell() -> None:
    case = next(case for case in cases(0) if case.name.startswith("heartbeats"))
    cluster = replace(case.cluster, faults=Faults(node_mtbf_s=60, node_repair_s=20))
    workload = in_resources_of(case.workload(), cluster)
    kinds = {*range(len(EVENT_NAMES))} - OF_TRUTH - {EVENT_FETCHED}  # which need executors, and a network
    policy, native = listening(tuple(sorted(kinds)))
    onlooking, live = listening(tuple(sorted(OBSERVABLE)))
    run_engine(workload, cluster, policy, 0, False, outside=Onlooker(onlooking, workload, cluster))
    assert {event["kind"] for event in native} == kinds
    assert {event["kind"] for event in live} >= OBSERVABLE - {EVENT_TICK}
    assert disagreeing(native) == []
    assert disagreeing(live) == []


def test_the_table_leaves_no_event_out() -> None:
    assert set(ARGUMENTS) == {*range(len(EVENT_NAMES))}
