"""Steering through the bridge against a fake ResourceManager: what tables say, and when there are none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.schemas import valid
from heddle.cli.main import run
from heddle.model.errors import RunRefused
from heddle.policy.lever import Ordering
from heddle.policy.levers.packing import FFD_DP
from heddle.policy.parse import parse_policy
from heddle.policy.policy import Policy
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.yarn.live.applying.seen import Limits
from heddle.yarn.live.applying.table_knob import BridgeKnob
from heddle.yarn.live.applying.turn import Verdict
from heddle.yarn.live.applying.wanted import without_knob
from heddle.yarn.live.bridge.checking import addresses, check, switch_off, switch_on
from heddle.yarn.live.bridge.endpoint import PATH, BridgeEndpoint
from heddle.yarn.live.bridge.leaves import ORDERING
from heddle.yarn.live.bridge.table import Table
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.controller import Settings, Step
from heddle.yarn.live.declared_data import DeclaredData, declared_by_name
from heddle.yarn.live.steering import session as session_module
from heddle.yarn.live.steering.bridging import leaves_to_decide
from heddle.yarn.live.steering.decisions import changes_in_words, decision_of
from heddle.yarn.live.steering.desk import Desk, desk_of
from heddle.yarn.live.steering.session import Session, Terms
from heddle.yarn.live.wire import YarnError
from yarn_live.fake_cluster import FakeApp
from yarn_live.fake_rm import FakeRm

from .driver import run_core, table_lines

LIVE = Settings(shadow=False)
STATE = {
    "bridge": 1, "build": "here", "instance": "x", "active": True, "needs_secret": True, "last_version": 4,
    "table": None, "off": "",
}  # fmt: skip
CAPACITY = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler"


class FakeKnob:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.tables: list[Table | None] = []  # None: dropped
        self.refuses = False

    def put(self, table: Table) -> int:
        if self.refuses:
            raise YarnError("the bridge", "no", 403)
        self.tables.append(table)
        return len(self.tables)

    def drop(self) -> None:
        self.tables.append(None)


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(session_module, "start_watchdog", lambda desk, lease_s: None)
    monkeypatch.setattr(session_module, "watchdog_lives", lambda desk: True)


def running(rm: FakeRm, queue: str, *asks: tuple[int, int, int, int]) -> FakeApp:
    app = rm.add_app(queue)
    rm.start_am(app, "a:1", 512, 1)
    app.asks = list(asks)
    return app


@pytest.fixture
def rm() -> Iterator[FakeRm]:
    with FakeRm() as rm:
        for name in ("a:1", "b:1"):
            rm.add_node(name, 8192, 8)
        running(rm, "default", (20, 1024, 1, 5), (10, 2048, 2, 3))
        running(rm, "batch", (20, 4096, 4, 2))
        rm.add_app().asks = [(0, 512, 1, 1)]
        rm.configured["yarn.resourcemanager.scheduler.class"] = CAPACITY
        rm.instead["/info"] = (200, json.dumps({"clusterInfo": {"hadoopVersion": "3.4.2"}}))
        yield rm


@pytest.fixture
def client(rm: FakeRm) -> Iterator[RmClient]:
    with RmClient(rm.address, timeout_s=60) as client:
        yield client


@pytest.fixture
def desk(client: RmClient) -> Desk:
    return desk_of(client.address)


def session(
    client: RmClient,
    desk: Desk,
    knob: FakeKnob,
    policy: str,
    settings: Settings = LIVE,
    declared: DeclaredData | None = None,
) -> Session:
    terms = Terms(accept_sizes=True)
    return Session(client, parse_policy(policy), settings, desk, terms, lambda _: None, knob, (), declared)


def one_step(working: Session) -> Step:
    step = working.step()
    assert step is not None
    return step


@pytest.mark.parametrize(("every_s", "lease_s"), [(5.0, 15.0), (0.1, 2.0), (20.0, 30.0)])
def test_a_table_lasts_three_steps_and_never_longer_than_the_session(every_s: float, lease_s: float) -> None:
    knob = BridgeKnob.for_steps(BridgeEndpoint(RmClient("nobody:8088")), frozenset(), every_s, 30.0)
    assert (knob.lease_ms, knob.hold_ms) == (1000 * lease_s, 1500 * every_s)


def test_declared_data_becomes_vetoes_in_the_table(rm: FakeRm, client: RmClient, desk: Desk) -> None:
    maps = StageSpec("map", (1024, 1000), [TaskSpec(1000, prefers="b", input_bytes=10**6)] * 5)
    reduces = StageSpec("reduce", (2048, 2000), [TaskSpec(1000)] * 3, after=("map",), after_bytes=(10**6,))
    declared = declared_by_name(build("declared", [JobSpec("sort", 0, [maps, reduces])]), None)
    app = next(iter(rm.apps.values()))
    app.name, app.kind = "sort", "MAPREDUCE"
    knob = FakeKnob()
    with session(client, desk, knob, "network-aware", declared=declared).at_work() as working:
        one_step(working)
    table = knob.tables[0]
    assert table is not None
    vetoed = {(row.app, row.priority): row.vetoed for row in table.requests}
    assert vetoed.pop((app.id, 20)) == {"a:1"}  # the input of all maps lies on b; nothing of the reduces' anywhere yet
    assert len(vetoed) == 3
    assert set(vetoed.values()) == {frozenset()}


def test_a_table_each_step_instead_of_priorities_and_none_at_the_end(rm: FakeRm, client: RmClient, desk: Desk) -> None:
    knob = FakeKnob()
    with session(client, desk, knob, "haste").at_work() as working:
        step = one_step(working)
        one_step(working)
        assert len(knob.tables) == 2
    assert knob.tables[2:] == [None]
    assert step.of("priorities") == []
    assert {app.priority for app in rm.apps.values()} == {0}
    table = knob.tables[0]
    assert table is not None
    assert (table.kind, table.leaves, dict(table.nodes)) == (
        "scaled", ("root.default", "root.batch"), {"a:1": (8192, 8000), "b:1": (8192, 8000)},
    )  # fmt: skip
    rows = {(row.app[-1], row.priority, row.allocation, row.leaf, row.size, row.ahead) for row in table.requests}
    assert rows == {
        ("1", 20, -1, "root.default", (1024, 1000), False),
        ("1", 10, -1, "root.default", (2048, 2000), False),
        ("2", 20, -1, "root.batch", (4096, 4000), False),
        ("3", 0, -1, "root.default", (512, 1000), True),
    }
    # No task runs: each node has a knapsack, and twice 4096 MB and 4 vcores fill one. The AMs are on a:1.
    assert table.plans["b:1"] in ({(4096, 4000): 1, (2048, 2000): 2}, {(4096, 4000): 2})
    assert set(table.plans) == {"a:1", "b:1"}


def test_the_core_takes_from_a_live_table_what_haste_wants(rm: FakeRm, client: RmClient, desk: Desk) -> None:
    knob = FakeKnob()
    with session(client, desk, knob, "haste(initial=false)").at_work() as working:
        one_step(working)
    table = knob.tables[0]
    assert table is not None
    assert table.plans == {}
    (_, chosen) = run_core([*table_lines(table.text(1, 1000)), "choose b:1 root.default 8192 8000 4"])
    asks = [tuple(one.split()[1:2]) for one in chosen.split("; ")]
    assert asks == [("0",), ("10",), ("20",), ()]  # the AM, then what fits best; then there is nothing left


def test_paused_there_is_no_table(client: RmClient, desk: Desk) -> None:
    knob = FakeKnob()
    with session(client, desk, knob, "ffd-dp").at_work() as working:
        one_step(working)
        desk.pause(True)
        assert [turn.verdict for turn in one_step(working).of("table")] == [Verdict.SHADOW]
        assert [table is None for table in knob.tables] == [False, True]
        desk.pause(False)
        one_step(working)
        assert [table is None for table in knob.tables] == [False, True, False]


def test_in_shadow_mode_there_is_none_and_one_that_is_refused_is_said(client: RmClient, desk: Desk) -> None:
    knob = FakeKnob()
    with session(client, desk, knob, "ffd-dp", replace(LIVE, shadow=True)).at_work() as working:
        assert decision_of(one_step(working), "ffd-dp", "shadow", 0)["table"]["verdict"] == "shadow"
    assert knob.tables == []
    knob.refuses = True
    with session(client, desk, knob, "ffd-dp").at_work() as working:
        decision = decision_of(one_step(working), "ffd-dp", "live", 0)
    assert decision["table"]["verdict"] == "failed"
    assert any("the bridge took no table" in line for line in changes_in_words(decision))


def test_only_what_may_be_steered_is_in_it(client: RmClient, desk: Desk) -> None:
    knob = FakeKnob()
    limits = Limits(queues=frozenset({"root.batch"}))
    with session(client, desk, knob, "ffd-dp", replace(LIVE, limits=limits)).at_work() as working:
        one_step(working)
    table = knob.tables[0]
    assert table is not None
    assert table.leaves == ("root.batch",)
    assert {row.leaf for row in table.requests} == {"root.batch"}


def own_fit(view: Any, state: Any, params: Any, node: int, stage: int) -> int:
    return 1


def test_a_lever_with_code_of_its_own_is_refused_by_name() -> None:
    own = replace(FFD_DP, name="mine", fit=own_fit)
    levers = tuple(own if isinstance(one, Ordering) else one for one in parse_policy("fifo").levers)
    missing = without_knob(Policy("mine", levers), bridge=True)
    assert missing == ["mine has code of its own for fit or combine, which no ResourceManager can run"]
    assert without_knob(parse_policy("haste"), bridge=True) == []
    assert len(without_knob(parse_policy("haste"))) == 1
    assert len(without_knob(parse_policy("tetris"), bridge=True)) == 1


def said(rm: FakeRm, client: RmClient, policy: str, **state: Any) -> tuple[frozenset[str], str]:
    lines: list[str] = []
    if state:
        rm.instead[PATH] = (200, json.dumps(STATE | state))
    leaves = leaves_to_decide(client, BridgeEndpoint(client), parse_policy(policy), True, lines.append)
    return leaves, "; ".join(lines)


def test_what_steer_says_of_the_bridge(rm: FakeRm, client: RmClient) -> None:
    assert said(rm, client, "usage-feedback") == (frozenset(), "")
    assert "with the bridge in the ResourceManager, heddle could act on: haste" in said(rm, client, "haste")[1]
    assert "no leaf uses it" in said(rm, client, "haste", off="")[1]
    rm.settings["yarn.scheduler.capacity.root.batch.ordering-policy"] = ORDERING
    assert "turned itself off (10 errors)" in said(rm, client, "haste", off="10 errors")[1]
    assert said(rm, client, "haste", off="") == (
        frozenset({"root.batch"}), "deciding through the bridge in root.batch",
    )  # fmt: skip
    with pytest.raises(RunRefused, match="--bridge-secret"):
        leaves_to_decide(client, BridgeEndpoint(client), parse_policy("haste"), False, lambda _: None)


def test_no_leaf_is_switched_before_every_resourcemanager_has_the_jar(rm: FakeRm, client: RmClient) -> None:
    rm.configured |= {
        "yarn.scheduler.configuration.store.class": "zk",
        "yarn.resourcemanager.ha.enabled": "true",
        "yarn.resourcemanager.ha.rm-ids": "rm1, rm2",
        "yarn.resourcemanager.webapp.address.rm1": rm.address.removeprefix("http://"),
    }
    with pytest.raises(RunRefused, match="rm2, but no setting says where"):
        addresses(client)
    with FakeRm() as standby:
        rm.configured["yarn.resourcemanager.webapp.address.rm2"] = standby.address.removeprefix("http://")
        rm.instead[PATH] = (200, json.dumps(STATE))
        with pytest.raises(RunRefused, match=f"{standby.address} does not have the bridge"):
            switch_on(client, check(client, None, "here"), ["root.batch"])
        standby.instead[PATH] = (200, json.dumps(STATE | {"build": "older", "active": False}))
        with pytest.raises(RunRefused, match=f"{standby.address} has build older of the bridge, not here"):
            switch_on(client, check(client, None, "here"), ["root.batch"])
        assert rm.settings == {}
        standby.instead[PATH] = (200, json.dumps(STATE | {"active": False}))
        rm.settings["yarn.scheduler.capacity.root.batch.ordering-policy"] = "fair"
        switch_on(client, check(client, None, "here"), ["root.batch"])
        order = "yarn.scheduler.capacity.root.batch.ordering-policy"
        assert rm.settings == {order: ORDERING, f"{order}.stock": "fair"}
        checked = check(client, None, "here")
        assert (checked.leaves, checked.keeps_switches) == (frozenset({"root.batch"}), True)
        switch_off(client, checked, ["root.batch"])
        assert rm.settings[order] == "fair"


def test_what_cannot_work_is_said(rm: FakeRm, client: RmClient) -> None:
    rm.instead[PATH] = (200, json.dumps(STATE))
    checked = check(client, None, "here")
    assert (checked.missing, checked.keeps_switches) == ([], None)
    with pytest.raises(RunRefused, match=r"is file: leaves cannot be switched live"):
        switch_on(client, checked, ["root.batch"])
    rm.instead["/info"] = (200, json.dumps({"clusterInfo": {"hadoopVersion": "3.3.6"}}))
    assert check(client, None, "here").missing == [
        "Hadoop 3.3.6 asks our classes only for applications that name them themselves; 3.4 does for all"
    ]
    rm.configured["yarn.resourcemanager.scheduler.class"] = "fair.FairScheduler"
    assert check(client, None, "here").missing == [
        "FairScheduler never asks our classes: only the Capacity scheduler does"
    ]


def test_what_check_says_as_a_document(rm: FakeRm, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a bridge, and with one of another build: neither is this heddle's."""
    for state in (None, STATE):
        if state is not None:
            rm.instead[PATH] = 200, json.dumps(state)
        assert run(["yarn", "bridge", "check", "--rm", rm.address, "--json"]) == 1
        found = valid("yarn bridge check", json.loads(capsys.readouterr().out))
        assert found["missing"]
        assert (found["resource_managers"][0]["bridge"] is None) == (state is None)


def test_what_steer_says_of_tables_as_a_document(
    rm: FakeRm, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A shadow needs no bridge that answers long polls."""
    del rm.instead["/info"]
    rm.instead[PATH] = 200, json.dumps(STATE)
    rm.settings["yarn.scheduler.capacity.root.batch.ordering-policy"] = ORDERING
    secret = tmp_path / "secret"
    secret.write_text("0" * 64)
    secret.chmod(0o600)
    words = ["--policy", "haste", "--for", "1", "--bridge-secret", str(secret), "--best-effort"]
    assert run(["yarn", "steer", "--rm", rm.address, *words, "--json"]) == 0
    last = valid("yarn steer", json.loads(capsys.readouterr().out.splitlines()[-1]))
    assert last["table"].pop("requests") > 0
    assert last["table"] == {"verdict": "shadow", "problem": "", "tables_between": 0}
