"""Memory, its growth and what compiled code sees of it follow from one declaration."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import TypingError

import heddle.sim
from heddle.model.cluster import Cluster, Network, Node, Timing
from heddle.model.view import View
from heddle.model.workload import Workload
from heddle.policy.parse import parse_policy
from heddle.policy.question import Question
from heddle.sim import codes
from heddle.sim.memory.declaring import Int64, OfRun, Row, Table, of_run, rows
from heddle.sim.memory.making import lengthened, made
from heddle.sim.memory.run_inputs import RunInputs
from heddle.sim.memory.setup import build_sim, with_more_flows, with_more_slots
from heddle.sim.memory.shown import SHOWN
from heddle.sim.memory.sizes import Sizes
from heddle.sim.memory.tables import OWN, Sim
from heddle.sim.numba import compile as _all_units  # noqa: F401  (declares them)
from heddle.sim.numba.sim_type import SimType
from heddle.sim.numba.units import unit, unit_names
from heddle.sim.run import run_engine
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

CLUSTER = Cluster(
    tuple(Node(f"n{i}", (16, 16_000), (16, 16_000), rack=f"r{i % 2}", bandwidth_mbps=8) for i in range(4)),
    timing=Timing(node_heartbeat_ms=300, am_heartbeat_ms=500),
    network=Network(rack_uplink_mbps=4),
)


def shuffling(n_jobs: int) -> Workload:
    """Jobs of many small tasks, whose reduces fetch from all nodes."""
    tasks = [TaskSpec(1000 + 70 * i) for i in range(16)]
    return build(
        "shuffling",
        [
            JobSpec(
                f"job {i}",
                400 * i,
                [
                    StageSpec("map", (1, 1000), tasks),
                    StageSpec("reduce", (1, 1000), tasks[:8], after=("map",), after_bytes=(400_000,)),
                ],
                am=(1, 500),
            )
            for i in range(n_jobs)
        ],
    )


def inputs(policy: str = "usage-feedback") -> RunInputs:
    return RunInputs(shuffling(3), CLUSTER, parse_policy(policy), 1, True)


def test_the_view_is_declared_in_its_order_and_no_name_twice() -> None:
    """Hooks find the view's arrays by their place, compiled code of the engine every array by its name."""
    assert tuple(SHOWN) == View._fields
    assert not set(OWN) & (set(SHOWN) | {f"{question}_container" for question in Question} | {"shown", "levers"})


def test_new_rows_hold_what_rows_hold_at_the_start() -> None:
    run = inputs()
    sim, first = build_sim(run), Sizes.at_start(run)
    grown = with_more_flows(with_more_slots(sim, run), run)
    fresh = made(SHOWN | OWN, first.more_slots().more_flows())
    longer = {name for name, array in (grown.own | grown.shown._asdict()).items() if len(array) > len(_all(sim)[name])}
    assert {"slot", "container", "due_place", "timer", "asks", "flow", "route", "reached_routes"} <= longer
    chained = {"slot": "next_free", "flow": "next", "route": "first_flow"}
    for name in longer:
        before, now = _all(sim)[name], _all(grown)[name]
        for column in now.dtype.names or ("",):
            if chained.get(name) != column:
                old, new, wanted = (array[column] if column else array for array in (before, now, fresh[name]))
                assert np.array_equal(new[: len(old)], old)
                assert np.array_equal(new[len(old) :], wanted[len(old) :]), f"{name}.{column}"
    assert len(grown.levers[Question.SIZING].containers) == len(grown.slot)
    assert grown.setting["log_margin"][0] == first.more_slots().log_margin > first.log_margin


def _all(sim: Sim) -> dict[str, np.ndarray]:
    return sim.own | sim.shown._asdict()


@pytest.mark.parametrize(
    ("table", "link", "first", "count"),
    [
        ("slot", "next_free", "free_slot", "n_free"),
        ("flow", "next", "free_flow", "n_free_flows"),
        ("route", "first_flow", "free_route", "n_free_routes"),
    ],
)
def test_free_rows_are_chained_those_that_were_free_included(table: str, link: str, first: str, count: str) -> None:
    run = inputs()
    sim = build_sim(run)
    for _ in range(3):  # as the engine takes them
        sim.control[first] = sim.own[table][link][sim.control[first][0]]
        sim.control[count] -= 1
    before = len(sim.own[table])
    sim = with_more_flows(with_more_slots(sim, run), run)
    free, at = [], int(sim.control[first][0])
    for _ in range(int(sim.control[count][0])):
        free.append(at)
        at = int(sim.own[table][link][at])
    assert sorted(free) == list(range(3, len(sim.own[table])))
    assert len(sim.own[table]) >= 2 * before


def test_a_run_that_grows_does_what_one_with_room_does(monkeypatch: pytest.MonkeyPatch) -> None:
    workload, policy = shuffling(12), parse_policy("fifo+usage-feedback")
    ample = run_engine(workload, CLUSTER, policy, 1, True)
    narrow = replace(Sizes.at_start(RunInputs(workload, CLUSTER, policy, 1, True)), slots=9, flows=5)
    narrow = replace(narrow, timers=narrow.timer_margin)
    monkeypatch.setattr(Sizes, "at_start", lambda run: replace(narrow, run=run))
    grown = run_engine(workload, CLUSTER, policy, 1, True)
    assert ample.status == grown.status == codes.FINISHED
    assert len(grown.sim.slot) > narrow.slots
    assert len(grown.sim.timer) > narrow.timers
    assert len(grown.sim.flow) > narrow.flows
    assert np.array_equal(ample.attempts, grown.attempts)
    assert np.array_equal(np.concatenate(ample.logs), np.concatenate(grown.logs))


def test_a_table_that_grows_says_what_new_rows_hold() -> None:
    class Odd(Row):
        number: Int64 = of_run(lambda run: run.seed)

    odd: dict[str, Table] = {"odd": rows(Odd, lambda n: n.slots)}
    sizes = Sizes.at_start(inputs())
    assert isinstance(odd["odd"].initial["number"], OfRun)
    with pytest.raises(TypeError, match="odd grows"):
        lengthened(odd, made(odd, sizes), sizes.more_slots())


def test_compiled_code_cannot_write_what_is_fixed() -> None:
    def changes(sim):  # type: ignore[no-untyped-def]
        sim.control["news"][0] = 1

    def tampers(sim):  # type: ignore[no-untyped-def]
        sim.setting["seed"][0] = 1

    njit(types.void(SimType(2)), _nrt=False)(changes)
    with pytest.raises(TypingError):
        njit(types.void(SimType(2)), _nrt=False)(tampers)


def test_every_unit_is_known_before_any_is_compiled() -> None:
    """Their numbers are part of compiled code: whoever compiles has imported all of them, and no more can come."""
    declared = {
        node.name
        for path in Path(heddle.sim.__file__).parent.rglob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(mark, ast.Name) and mark.id == "unit" for mark in node.decorator_list)
    }
    ask = "from heddle.sim.numba import compile, units; print(*units.unit_names())"
    known = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout.split()
    assert known == sorted(declared)
    assert unit_names() == tuple(known)
    with pytest.raises(TypeError, match="one_more"):

        @unit
        def one_more(sim):  # type: ignore[no-untyped-def]
            return 0
