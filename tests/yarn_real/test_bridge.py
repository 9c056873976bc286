"""The bridge on a real YARN: a policy outside decides request by request inside a stock ResourceManager."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from heddle.cli.main import run
from heddle.yarn.live.bridge.endpoint import PATH, BridgeEndpoint, read_secret
from heddle.yarn.live.bridge.leaves import bridged_leaves
from heddle.yarn.live.bridge.table import MOST_BYTES, RequestRow, Table
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.rm_answers import read_apps, read_nodes
from heddle.yarn.live.wire import YarnError
from heddle.yarn.testbed.bridge.jar import RELEASE, build_id, sources
from heddle.yarn.testbed.bridge.settings import JAR_NAME, SECRET_NAME
from heddle.yarn.testbed.local.cluster import RM, LocalCluster, bring_up, take_down
from heddle.yarn.testbed.local.jars import lib_of
from heddle.yarn.testbed.local.layout import Layout
from heddle.yarn.testbed.local.own_jar import jar_of
from heddle.yarn.testbed.replay.master_jar import master_jar
from heddle.yarn.testbed.replay.plan import ReplayJob
from heddle.yarn.testbed.replay.submit import Submitter
from yarn_steering.watching import wait_for

from .conftest import NODE_MB, NODE_VCORES, free_port
from .live import PATIENT_S, STARTS_S, application, containers_of, pid_of, steering

LEAF = "root.default"
THROWING = Path(__file__).parents[1] / "yarn_bridge" / "throwing" / "Yarn.java"
NONE: frozenset[str] = frozenset()
EMPTY = Table("key", (), {}, (LEAF,))


@pytest.fixture(scope="module")
def bridged(hadoop: None, own_state: Path) -> Iterator[LocalCluster]:
    layout = Layout(nodes=2, node_memory_mb=NODE_MB, node_vcores=NODE_VCORES, port=free_port(), bridge=True)
    made = bring_up("bridged", layout, print)
    try:
        yield made
    finally:
        take_down("bridged")
        assert made.processes() == []


@pytest.fixture
def rm(bridged: LocalCluster) -> Iterator[RmClient]:
    with RmClient(bridged.layout.rm, timeout_s=60, user=getpass.getuser()) as client:
        yield client


@pytest.fixture
def secret(bridged: LocalCluster) -> str:
    return read_secret(bridged.bridge / SECRET_NAME)


@pytest.fixture
def endpoint(rm: RmClient, secret: str) -> BridgeEndpoint:
    return BridgeEndpoint(rm, secret)


def status_of(doing: Callable[[], Any]) -> tuple[int | None, str]:
    with pytest.raises(YarnError) as caught:
        doing()
    time.sleep(0.25)  # no more than five tables a second
    return caught.value.status, str(caught.value)


def test_only_signed_whole_and_new_tables_are_taken(rm: RmClient, endpoint: BridgeEndpoint, secret: str) -> None:
    state = endpoint.state()
    assert state is not None
    assert (state.build, state.active, state.needs_secret, state.table) == (build_id(), True, True, None)
    unsigned, guessed = BridgeEndpoint(rm), BridgeEndpoint(rm, "0" * 64)
    for other, why in ((unsigned, "it is not signed"), (guessed, "the signature is wrong")):
        status, said = status_of(lambda other=other: other.put(EMPTY, 1000))  # type: ignore[misc]
        assert (status, why in said) == (403, True)
    late = BridgeEndpoint(rm, secret, lambda: time.time() - 120)
    assert status_of(lambda: late.put(EMPTY, 1000))[0] == 403
    assert endpoint.state().table is None  # type: ignore[union-attr]

    version = endpoint.put(EMPTY, 60_000)
    assert endpoint.state().table == version  # type: ignore[union-attr]
    text = EMPTY.text(version + 1, 60_000)
    headers = endpoint.signed("PUT", "", version + 1, text)

    def send(body: str, signed: dict[str, str] = headers) -> dict[str, Any]:
        return rm.send("PUT", PATH, body, signed)

    assert status_of(lambda: send(text.replace("60000", "50000")))[0] == 403  # not what was signed
    send(text)
    assert status_of(lambda: send(text))[0] == 409  # replayed
    whole = EMPTY.text(version + 2, 60_000)
    cut = whole[: whole.index("end ")]  # at a line: nothing else is wrong with it
    assert status_of(lambda: send(cut, endpoint.signed("PUT", "", version + 2, cut)))[0] == 400
    large = "x" * (MOST_BYTES + 1)
    assert status_of(lambda: send(large, endpoint.signed("PUT", "", version + 3, large)))[0] == 413
    assert endpoint.state().table == version + 1  # type: ignore[union-attr]
    time.sleep(1)
    statuses, began_s = [], time.monotonic()
    for number in range(30):
        text = EMPTY.text(version + 4 + number, 1000)
        try:
            send(text, endpoint.signed("PUT", "", version + 4 + number, text))
            statuses.append(200)
        except YarnError as error:
            statuses.append(error.status or 0)
    took_s = time.monotonic() - began_s
    assert set(statuses) <= {200, 429}
    assert statuses[:2] == [200, 200]
    assert statuses.count(200) <= 5 * (took_s + 1)  # on a busy machine they may come slowly enough to be taken
    time.sleep(1)
    endpoint.state()
    endpoint.drop()
    assert endpoint.state().table is None  # type: ignore[union-attr]


def test_leaves_are_switched_live_and_the_jar_is_deleted_last(
    bridged: LocalCluster, rm: RmClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["--rm", bridged.layout.rm]
    assert run(["yarn", "bridge", "check", *at]) == 0
    told = capsys.readouterr().out
    assert "active, the jar is this heddle's" in told
    assert f"leaves that use it: {LEAF}" in told
    assert "forgets over a restart" in told  # its store is in memory
    assert run(["yarn", "bridge", "remove", *at]) == 0
    assert bridged_leaves(rm.scheduler(), "") == frozenset()
    assert run(["yarn", "bridge", "install", "--to", str(tmp_path)]) == 0
    assert (tmp_path / SECRET_NAME).stat().st_mode & 0o777 == 0o600
    assert run(["yarn", "bridge", "remove", "--from", str(tmp_path), *at]) == 2  # the ResourceManager still has it
    assert (tmp_path / JAR_NAME).exists()
    assert run(["yarn", "bridge", "install", "--leaf", LEAF, *at]) == 0
    assert bridged_leaves(rm.scheduler(), "") == {LEAF}


def requests_named(endpoint: BridgeEndpoint) -> int:
    state = endpoint.state()
    assert state is not None
    return int((state.told["table"] or {"requests": 0})["requests"])


def job(name: str, tasks: int, size: tuple[int, int], task_s: float) -> ReplayJob:
    line = f"task 0 {round(1000 * task_s)} 40:10:10000"
    return ReplayJob(name, 0, LEAF, 0, (256, 1), (), tasks, (f"stage {size[0]} {size[1]} -", *tasks * (line,)))


def test_haste_decides_and_stock_order_returns_after_kill_9(
    bridged: LocalCluster, rm: RmClient, endpoint: BridgeEndpoint, tmp_path: Path
) -> None:
    """A small and a large job wait behind one that fills both nodes. Stock gives the first, small one all there is.

    Without the knapsack, which would fill a node with small ones where two of them leave less of it idle.
    """
    submitter = Submitter(rm, tmp_path / "staging", master_jar(bridged.layout.hadoop))
    decisions = tmp_path / "decisions.jsonl"
    apps = [submitter.submit(job("blocker", 2, (1536, 1), 600), 0)]
    try:
        wait_for(lambda: len(containers_of(rm, apps[0])) == 3, STARTS_S)
        signed_with = "--bridge-secret", str(bridged.bridge / SECRET_NAME)
        with steering(bridged.layout.rm, decisions, "haste(initial=false)", *signed_with) as controller:
            small = submitter.submit(job("small", 8, (768, 1), 6), 1)
            large = submitter.submit(job("large", 6, (1024, 3), 6), 2)
            apps += [small, large]

            def given() -> list[dict[str, Any]]:
                return [one for one in endpoint.allocations_after(0) if one["app"] != apps[0] and one["priority"] > 0]

            wait_for(lambda: requests_named(endpoint) == 2 or controller.poll() is not None, STARTS_S)
            assert controller.poll() is None  # or it has said why it ended
            rm.kill(apps[0])
            wait_for(lambda: len({one["node"] for one in given()}) == 2, STARTS_S)
            controller.send_signal(signal.SIGKILL)
            wait_for(lambda: endpoint.state().table is None, STARTS_S)  # type: ignore[union-attr]
        first_on = {one["node"]: one for one in reversed(given())}
        assert [(one["app"], one["table"] > 0) for one in first_on.values()] == [(large, True)] * 2
        wait_for(lambda: len([one for one in given() if one["table"] == 0]) >= 3, STARTS_S)
        assert [one["app"] for one in given() if one["table"] == 0][:3] == [small] * 3
        assert all(application(rm, app)["state"] in ("RUNNING", "FINISHED") for app in apps[1:])
        state = endpoint.state()
        assert state is not None
        assert (state.told["errors"], state.off) == (0, "")
    finally:
        for app in apps:
            rm.kill(app)


def test_a_table_that_vetoes_everything_starves_nobody(
    bridged: LocalCluster, rm: RmClient, endpoint: BridgeEndpoint, tmp_path: Path
) -> None:
    submitter = Submitter(rm, tmp_path / "staging", master_jar(bridged.layout.hadoop))
    own = {node.id: node.total for node in read_nodes(rm.nodes(), "").values()}

    def vetoed() -> int:
        state = endpoint.state()
        assert state is not None
        return int(state.told["vetoed"])

    before, app = vetoed(), submitter.submit(job("vetoed", 2, (256, 1), 1), 0)

    def put_until_it_has_ended() -> bool:
        time.sleep(0.5)
        rows = [
            RequestRow(seen.id, ask.priority, one, LEAF, ask.size, 0, vetoed=frozenset(own) if seen.running else NONE)
            for seen in read_apps(rm.apps(), "").values()
            for ask in seen.asks
            for one in ask.allocations
        ]
        endpoint.put(Table("key", tuple(rows), own, (LEAF,)), 10_000, hold_ms=10_000, patience_ms=2000)
        return application(rm, app)["state"] == "FINISHED"

    wait_for(put_until_it_has_ended, STARTS_S)
    assert application(rm, app)["finalStatus"] == "SUCCEEDED"
    assert vetoed() > before
    endpoint.drop()


def test_whatever_the_bridge_throws_inside_yarn_jobs_go_on(
    bridged: LocalCluster, rm: RmClient, endpoint: BridgeEndpoint, tmp_path: Path
) -> None:
    """The ResourceManager is killed, and started again with a bridge that throws wherever it has to do with YARN."""
    submitter = Submitter(rm, tmp_path / "staging", master_jar(bridged.layout.hadoop))
    apps = [submitter.submit(job("before", 2, (256, 1), 30), 0)]
    wait_for(lambda: len(containers_of(rm, apps[0])) >= 2, STARTS_S)
    throwing = [path if path.name != THROWING.name else THROWING for path in sources()]
    class_path = f"{lib_of(bridged.home)}/*"
    jar = jar_of("throwing-bridge", throwing, bridged.layout.hadoop, class_path, RELEASE)
    shutil.copyfile(jar, bridged.bridge / JAR_NAME)
    os.kill(pid_of(bridged, RM), signal.SIGKILL)
    wait_for(lambda: RM not in {process.role for process in bridged.processes()}, PATIENT_S)
    bridged.start_daemon(RM)
    wait_for(bridged.is_healthy, STARTS_S)
    apps.append(submitter.submit(job("after", 4, (256, 1), 1), 1))

    def put_until_all_have_ended() -> bool:
        time.sleep(1)
        endpoint.put(EMPTY, 5000)
        return all(application(rm, app)["state"] == "FINISHED" for app in apps)

    wait_for(put_until_all_have_ended, STARTS_S)
    apps.append(submitter.submit(job("last", 1, (256, 1), 1), 2))  # by now it throws as applications come, too
    wait_for(put_until_all_have_ended, STARTS_S)
    assert [application(rm, app)["finalStatus"] for app in apps] == ["SUCCEEDED"] * 3
    state = endpoint.state()
    assert state is not None
    assert state.told["errors"] >= 10
    assert state.off.startswith("10 within a minute: errors")
    assert "thrown by a test" in state.told["last_error"]
    assert " FATAL " not in bridged.log(RM).read_text()
