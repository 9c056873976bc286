"""Network-aware placement outside YARN: what a workload declares of data, met application by application."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from heddle.model.cluster import YARN, Cluster
from heddle.model.errors import BadInput, RunRefused
from heddle.model.plan import Plan
from heddle.model.workload import Workload
from heddle.policy.lever import Question
from heddle.policy.parse import parse_policy
from heddle.run import simulate
from heddle.sim.memory.network_tables import RATE_BITS, RATE_OF_MBPS
from heddle.stock_yarn import outside
from heddle.stock_yarn.mind import SimulatedMind
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.clusters import in_racks, uniform_cluster
from heddle.yarn.live.applying.wanted import WHOLE, without_knob
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.controller import Controller, Settings
from heddle.yarn.live.declared_data import DeclaredData, declared_by_name
from heddle.yarn.live.declared_rows import DeclaredRows
from heddle.yarn.live.levers import unfit
from heddle.yarn.live.live_view import LiveView
from heddle.yarn.live.mind import Mind
from heddle.yarn.live.names import Names
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.things_seen import NodeSeen

from .conftest import Clock
from .fake_rm import FakeRm

MB = 10**6
SIZE = (1024, 1000)
WRITES, READS = 1, 2  # priorities at which the replay asks for the stages below


def dag(name: str, at_ms: int = 0, read_mb: int = 40, input_on: tuple[str, ...] = ()) -> JobSpec:
    """Two writers, whose input lies on these nodes; two readers of all that they wrote."""
    tasks = [TaskSpec(8000, prefers=node, input_bytes=MB) for node in input_on] or [TaskSpec(8000)] * 2
    writes = StageSpec("w", SIZE, tasks)
    reads = StageSpec("r", SIZE, [TaskSpec(4000)] * 2, after=("w",), after_bytes=(read_mb * MB,))
    return JobSpec(name, at_ms, [writes, reads], am=SIZE)


def network(*names: str, mbps: int = 80) -> Cluster:
    cluster = uniform_cluster(len(names), 8192, 8)
    nodes = zip(cluster.nodes, names, strict=True)
    return replace(cluster, nodes=tuple(replace(node, name=name, bandwidth_mbps=mbps) for node, name in nodes))


# The same state, seen by the simulated controller and as a ResourceManager would show it


class BothMinds(SimulatedMind):
    """Decides twice: by the engine's numbers, and by what a ResourceManager calls things."""

    cluster: Cluster
    workload: Workload
    compared = vetoed = 0

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        policy = given[1]
        live = LiveView(
            lambda seen: seen.total, report_ms=1000, n_pools=1, calculator=policy.calculator(self.cluster.calculator),
            declared=declared_by_name(self.workload, self.cluster),
        )  # fmt: skip
        self._other, self._names = Mind(policy, live, WHOLE, 1000, True), Names()

    def decide(self, snapshot: Snapshot) -> Any:
        changes, plan = super().decide(snapshot)
        _, other = self._other.decide(self._as_told(snapshot))
        assert other.vetoes == plan.vetoes
        assert _scores(self._other) == _scores(self)
        type(self).compared += len(self.live.waiting_stages())
        type(self).vetoed += len(plan.vetoes or {})
        return changes, plan

    def _as_told(self, snapshot: Snapshot) -> Snapshot:
        apps = {
            name: replace(app, name=self.workload.job_name(number), type="HEDDLE")
            for name, app in snapshot.apps.items()
            for number in [int(name.rpartition("_")[2])]
        }
        return Snapshot.of(
            self._names, snapshot.at_ms, snapshot.nodes, apps, snapshot.containers, snapshot.queues, snapshot.ended
        )


def _scores(mind: Mind) -> list[list[int]]:
    view = mind.live.view
    nodes, stages = np.arange(len(view.node)), mind.live.waiting_stages()
    scores: list[list[int]] = mind.levers.pairs(Question.PLACEMENT, "score", view, nodes, stages).tolist()
    return scores


@pytest.mark.parametrize("by", ["load", "fetch"])
def test_the_live_host_scores_and_vetoes_as_the_simulated_one(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [
        dag("one", input_on=("node-0", "node-1")),
        dag("two", 3000, 200),
        dag("three", 7000, input_on=("node-3", "node-3", "node-2")),
    ]
    workload = build("dags", jobs)
    cluster = in_racks(uniform_cluster(4, 3072, 3, timing=YARN), 2, 80)
    monkeypatch.setattr(BothMinds, "cluster", cluster, raising=False)
    monkeypatch.setattr(BothMinds, "workload", workload, raising=False)
    monkeypatch.setattr(BothMinds, "compared", 0)
    monkeypatch.setattr(BothMinds, "vetoed", 0)
    monkeypatch.setattr(outside, "SimulatedMind", BothMinds)
    run = simulate(workload, cluster, f"capacity+network-aware(by={by})", executor="bridge")
    assert run.jobs["ended_at_ms"].is_not_null().all()
    assert BothMinds.compared > 10
    assert BothMinds.vetoed > 10


def test_through_the_simulated_bridge_tasks_run_where_their_data_lies() -> None:
    # Input of both writers lies on node-2, which has room for them, for the AM and for the readers after them. One ends
    # earlier: of what ended just now, a controller has not heard when the readers are asked for.
    tasks_of_w = [TaskSpec(duration_ms, prefers="node-2", input_bytes=MB) for duration_ms in (4000, 8000)]
    job = dag("one")
    workload = build("dags", [replace(job, stages=[replace(job.stages[0], tasks=tasks_of_w), job.stages[1]])])
    cluster = in_racks(uniform_cluster(4, 3072, 3, timing=YARN), 4, 80)
    run = simulate(workload, cluster, "capacity+network-aware", executor="bridge", record=True, check=True)
    tasks = run.attempts.filter(run.attempts["task"] > 0)  # without the AM's
    assert tasks["node"].to_list() == [2] * 4
    assert run.manifest["totals"]["moved_bytes"] == 0


# Worked out by hand, over HTTP


class Steered:
    """A controller with declared data, and an application of a declared job whose AM runs on c."""

    def __init__(self, rm: FakeRm, client: RmClient, clock: Clock, data: DeclaredData, policy: str) -> None:
        self.rm, self.clock = rm, clock
        self.controller = Controller(
            client, parse_policy(policy), lambda node: node.total, Settings(), clock=clock, declared=data
        )

    def app(self, name: str, kind: str = "HEDDLE") -> Any:
        app = self.rm.add_app()
        app.name, app.kind = name, kind
        self.rm.start_am(app, "c:1", *SIZE_OF_RM)
        return app

    def step(self, at_ms: int) -> Plan:
        self.clock.now_ms = at_ms
        return self.controller.step().plan

    def refused(self, plan: Plan, app: Any, priority: int) -> str:
        """The nodes where the request may not go, by their first letters."""
        live = self.controller.live
        stages = [s for s in live.waiting_stages().tolist() if live.priority_of(s) == priority]
        job = live.job_row[app.id]
        (stage,) = (s for s in stages if live.view.stage_spec["job"][s] == job)
        rows = {row: name[0] for name, row in live.node_row.items()}
        return "".join(sorted(rows[node] for refused, node in plan.vetoes or {} if refused == stage))


SIZE_OF_RM = (1024, 1)


@pytest.fixture
def steered(rm: FakeRm, client: RmClient, clock: Clock) -> Any:
    def make(*jobs: JobSpec, policy: str = "network-aware", nodes: str = "abc") -> Steered:
        for name in nodes:
            rm.add_node(f"{name}:1", 8192, 8)
        return Steered(rm, client, clock, declared_by_name(build("declared", jobs), network(*"abcd")), policy)

    return make


def _finish_writers(steered: Steered, app: Any) -> None:
    """Both run on a, from 0 on; at 2 s the readers are asked for."""
    writers = [steered.rm.allocate(app, "a:1", *SIZE_OF_RM, WRITES) for _ in range(2)]
    steered.step(0)
    for writer in writers:
        steered.rm.end_container(writer)
    app.asks = [(READS, *SIZE_OF_RM, 2)]


def _one_reads_on_b(steered: Steered) -> Any:
    """After 2 s, and the other one still waits."""
    app = steered.app("dag")
    _finish_writers(steered, app)
    steered.step(2000)
    steered.rm.allocate(app, "b:1", *SIZE_OF_RM, READS)
    app.asks = [(READS, *SIZE_OF_RM, 1)]
    return app


def test_readers_wait_for_the_node_that_holds_what_they_read(steered: Any) -> None:
    it = steered(dag("dag"))
    app = it.app("dag")
    _finish_writers(it, app)
    assert it.refused(it.step(2000), app, READS) == "bc"  # all that they read lies on a
    assert it.refused(it.step(4999), app, READS) == "bc"
    assert it.refused(it.step(5000), app, READS) == ""  # in the same rack, after 3 s


def test_where_the_path_is_loaded_nobody_goes_before_twice_the_wait(steered: Any) -> None:
    # 10 MB a second: a reader on b moves 60 MB of 120 in 6 s, which is more than busy_s.
    it = steered(dag("dag", read_mb=120))
    app = _one_reads_on_b(it)
    assert it.refused(it.step(3000), app, READS) == "abc"  # near is now b, by step 8, where no bandwidth is to spare
    assert it.refused(it.step(5000), app, READS) == "b"
    assert it.refused(it.step(8000), app, READS) == ""


def test_input_attracts_the_first_stage(steered: Any) -> None:
    it = steered(dag("dag", input_on=("b", "b")))
    app = it.app("dag")
    app.asks = [(WRITES, *SIZE_OF_RM, 2)]
    assert it.refused(it.step(0), app, WRITES) == "ac"


def test_of_other_applications_nothing_is_known(steered: Any) -> None:
    it = steered(dag("dag", input_on=("b", "b")))
    apps = [it.app("another"), it.app("dag", "SPARK")]
    for app in apps:
        app.asks = [(WRITES, *SIZE_OF_RM, 2)]
    plan = it.step(0)
    assert [it.refused(plan, app, WRITES) for app in apps] == ["", ""]


def test_an_application_may_ask_for_another_size_than_declared_and_come_again(steered: Any) -> None:
    it = steered(dag("dag", input_on=("b", "b")))
    first = it.app("dag")
    first.asks = [(WRITES, 2048, 1, 2)]
    assert it.refused(it.step(0), first, WRITES) == "ac"
    it.rm.end_app(first)
    again = it.app("dag")
    again.asks = [(WRITES, *SIZE_OF_RM, 2)]
    assert it.refused(it.step(1000), again, WRITES) == "ac"


def test_one_that_asks_for_many_other_kinds_is_not_what_was_declared(steered: Any) -> None:
    it = steered(dag("dag", input_on=("b", "b")))
    app = it.app("dag")
    app.asks = [(priority, *SIZE_OF_RM, 1) for priority in (WRITES, 11, 12, 13, 14, 15)]
    assert it.refused(it.step(0), app, WRITES) == ""


def test_a_node_that_comes_later_takes_part_and_what_was_learnt_stays(steered: Any) -> None:
    it = steered(dag("dag", read_mb=120))
    app = _one_reads_on_b(it)
    it.step(2500)
    it.rm.add_node("d:1", 8192, 8)
    assert it.refused(it.step(3000), app, READS) == "abcd"
    assert it.refused(it.step(5000), app, READS) == "b"  # to which 6 s of transfers are still assigned


def test_maps_and_reduces_of_mapreduce_are_recognised(steered: Any) -> None:
    it = steered(dag("sort", input_on=("b", "b")))
    app = it.app("sort", "MAPREDUCE")
    app.asks = [(20, *SIZE_OF_RM, 2)]
    assert it.refused(it.step(0), app, 20) == "ac"


# Refused, or told


def test_rates_of_single_pairs_are_the_paths() -> None:
    workload = build("declared", [dag("dag")])
    data = replace(declared_by_name(workload, network(*"ab")), pair_mbps_of=lambda one, other: 8)
    rows = DeclaredRows(data)
    for name in "ab":
        node = NodeSeen(f"{name}:1", name, "/rack", "RUNNING", "", (1, 1), (0, 0), 0, 0.0, 0, 0.0)
        rows.meet_node(node, 0)
    declared = rows.said(0).declared
    assert declared is not None
    assert declared.pairs.tolist() == [0, 1000, 1000, 0]
    assert declared.bandwidth.tolist() == [10_000, 10_000]
    assert declared.bandwidth.tolist() == [80 * RATE_OF_MBPS >> RATE_BITS] * 2  # as the engine's links


def test_without_data_or_bridge_it_is_refused_and_says_what_to_give() -> None:
    policy = parse_policy("network-aware")
    assert "`--declared WORKLOAD`" in unfit(policy)[0]
    assert unfit(policy, declared=True) == []
    assert "as it arrives" in unfit(parse_policy("network-aware(early=true)"), declared=True)[0]
    assert "without the bridge" in without_knob(policy)[0]
    assert without_knob(policy, bridge=True) == []
    with pytest.raises(BadInput, match="more than one job called 'dag'"):
        declared_by_name(build("twice", [dag("dag"), dag("dag")]), None)
    with pytest.raises(RunRefused, match="needs data sizes"):
        Mind(policy, LiveView(lambda n: n.total, report_ms=1000, n_pools=1, calculator="dominant"), WHOLE, 1000, True)
