"""What a live controller and an observer survive on a real YARN. docs/yarn-faults.md lists faults, tests and guards.

After each: soon (`WITHIN_S`), counted from when the ResourceManager answers, nothing is left of what was
changed; no container and no application was killed; nothing recorded is lost.
"""

import getpass
import json
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from heddle.cli.main import run
from heddle.policy.parse import parse_policy
from heddle.record.files import read_record
from heddle.yarn.live.applying.turn import Verdict
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.controller import Settings
from heddle.yarn.live.levers import charging_young
from heddle.yarn.live.polling import take_snapshot
from heddle.yarn.live.steering.desk import Desk, desk_of
from heddle.yarn.live.steering.session import Session, Terms
from heddle.yarn.live.steering.watchdog import watchdog_lives
from heddle.yarn.testbed.local.cluster import HISTORY, LocalCluster
from heddle.yarn.testbed.local.configuration import write_node_configuration
from heddle.yarn.testbed.replay.master_jar import master_jar
from heddle.yarn.testbed.replay.plan import ReplayJob
from heddle.yarn.testbed.replay.submit import Submitter
from yarn_live.patience import patient_unless
from yarn_steering.watching import wait_for, watchdogs

from .conftest import NODE_MB
from .faulty_proxy import FAULTS, LATE_S, FaultyProxy
from .live import (
    HEDDLE,
    LEASE_S,
    PATIENT_S,
    SIZING,
    STALE_S,
    STARTS_S,
    WITHIN_S,
    answers,
    application,
    as_found,
    containers_of,
    over_reserved,
    pid_of,
    said_by,
    small,
    steering,
    stopped,
    totals,
)

DAY_S = 86_400


@pytest.fixture(scope="module")
def submit_more(
    cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[ReplayJob], str]]:
    """submit_more(job): a job that is ended with these tests, unless it ends before."""
    submitted: list[str] = []
    with RmClient(cluster.layout.rm, timeout_s=PATIENT_S, user=getpass.getuser()) as rm:
        submitter = Submitter(rm, tmp_path_factory.mktemp("staging"), master_jar(cluster.layout.hadoop))

        def submit(job: ReplayJob) -> str:
            submitted.append(submitter.submit(job, len(submitted)))
            return submitted[-1]

        yield submit
        for app_id in submitted:
            if not application(rm, app_id)["finishedTime"]:
                rm.kill(app_id)


@pytest.fixture(scope="module")
def job(
    cluster: LocalCluster, submit_more: Callable[[ReplayJob], str], tmp_path_factory: pytest.TempPathFactory
) -> str:
    """A job all of whose containers run, more than reservations allow: some controller has let them in."""
    app_id = submit_more(over_reserved(900))
    with (
        RmClient(cluster.layout.rm, timeout_s=PATIENT_S) as rm,
        steering(cluster.layout.rm, tmp_path_factory.mktemp("first") / "decisions.jsonl"),
    ):
        wait_for(lambda: len(containers_of(rm, app_id)) == 8, STARTS_S)
        time.sleep(4)  # the RM recovers containers that run, not those that were promised and not begun
    return app_id


@pytest.fixture
def desk(cluster: LocalCluster) -> Desk:
    return desk_of(cluster.layout.rm)


@pytest.fixture
def unharmed(rm: RmClient, job: str, desk: Desk) -> Iterator[None]:
    """What holds after every fault of a master or of the controller."""
    wait_for(lambda: len(containers_of(rm, job)) <= 8, PATIENT_S)  # YARN may give it more for a moment (test_steer.py)
    before = containers_of(rm, job)
    yield
    assert as_found(rm)
    assert desk.load() is None
    assert application(rm, job)["state"] == "RUNNING"
    assert before <= containers_of(rm, job)


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines() if line.endswith("}")]


def last_of(node: str, decisions: Path) -> dict[str, Any]:
    """What was last decided about a node; empty if it was not known."""
    steps = lines_of(decisions)
    return next((row for row in steps[-1]["nodes"] if row["node"] == node), {}) if steps else {}


def in_force(rm: RmClient, desk: Desk) -> bool:
    """Every node is larger than its own, by us."""
    return min(totals(rm).values()) > NODE_MB and desk.load() is not None


def test_kill_9_of_the_controller(
    cluster: LocalCluster, rm: RmClient, desk: Desk, unharmed: None, tmp_path: Path
) -> None:
    with steering(cluster.layout.rm, tmp_path / "decisions.jsonl") as controller:
        wait_for(lambda: in_force(rm, desk), STARTS_S)
        controller.kill()
        wait_for(lambda: as_found(rm), WITHIN_S)


def test_kill_9_of_the_watchdog(
    cluster: LocalCluster, rm: RmClient, desk: Desk, unharmed: None, tmp_path: Path
) -> None:
    with steering(cluster.layout.rm, tmp_path / "decisions.jsonl") as controller:
        wait_for(lambda: in_force(rm, desk), STARTS_S)
        first = watchdogs(desk)
        for watchdog in first:
            os.kill(watchdog, signal.SIGKILL)
        wait_for(lambda: bool(watchdogs(desk) - first), STARTS_S)
        wait_for(lambda: watchdog_lives(desk), STARTS_S)
        controller.kill()
        wait_for(lambda: as_found(rm), WITHIN_S)


@pytest.mark.parametrize("mended_by", ["restore", "the next start"])
def test_kill_9_of_both(
    cluster: LocalCluster, rm: RmClient, desk: Desk, unharmed: None, tmp_path: Path, mended_by: str
) -> None:
    with steering(cluster.layout.rm, tmp_path / "decisions.jsonl") as controller:
        wait_for(lambda: in_force(rm, desk), STARTS_S)
        controller.send_signal(signal.SIGSTOP)  # or it would start another
        for watchdog in watchdogs(desk):  # a slow one may not have heard yet that another is there
            os.kill(watchdog, signal.SIGKILL)
        controller.kill()
        controller.wait()
    assert in_force(rm, desk)  # nobody is left who would put it back
    if mended_by == "restore":
        assert run(["yarn", "restore", "--rm", cluster.layout.rm]) == 0
    else:
        # It sizes no nodes, so that theirs are put back only because they were left behind.
        with steering(cluster.layout.rm, tmp_path / "next.jsonl", "max-running(jobs=99)") as controller:
            wait_for(lambda: as_found(rm), STARTS_S)
            controller.send_signal(signal.SIGINT)
            assert controller.wait(STARTS_S) == 0


def test_kill_9_of_the_rm(
    cluster: LocalCluster,
    rm: RmClient,
    desk: Desk,
    unharmed: None,
    tmp_path: Path,
    submit_more: Callable[[ReplayJob], str],
) -> None:
    """It is away for longer than the lease; its nodes come back one by one, as we made them, and are put back first.

    Containers that it gives an application from then on it numbers from 1 again; 1 is the AM's number.
    """
    decisions = tmp_path / "decisions.jsonl"
    with steering(cluster.layout.rm, decisions) as controller:
        wait_for(lambda: in_force(rm, desk), STARTS_S)
        goes_on = submit_more(in_waves())
        wait_for(lambda: len(containers_of(rm, goes_on)) > 1, STARTS_S)
        os.kill(pid_of(cluster, "resourcemanager"), signal.SIGKILL)
        wait_for(lambda: not answers(rm), PATIENT_S)
        steps = len(lines_of(decisions))
        time.sleep(LEASE_S + 2)
        cluster.start_daemon("resourcemanager")
        wait_for(lambda: len(put_back_since(decisions, steps)) == 2, STARTS_S)
        wait_for(lambda: in_force(rm, desk), STARTS_S)
        numbered_1: set[tuple[str, bool]] = set()

        def is_numbered_anew() -> bool:
            seen = [one for one in take_snapshot(rm, 0).containers.values() if one.app == goes_on]
            numbered_1.update((one.id, one.is_am) for one in seen if one.id.endswith("_000001"))
            return len(numbered_1) == 2

        wait_for(is_numbered_anew, STARTS_S)
        assert {is_am for _, is_am in numbered_1} == {True, False}
        rm.kill(goes_on)
        controller.send_signal(signal.SIGINT)
        assert controller.wait(STARTS_S) == 0


def in_waves() -> ReplayJob:
    """A job that asks for more than it can have at once for longer than the ResourceManager is away."""
    lines = ("stage 256 1 -", *40 * ("task 0 12000 40:10:10000",))
    return replace(over_reserved(1), name="waves", tasks=40, lines=lines)


@pytest.mark.parametrize("hangs_s", [12, pytest.param(30, marks=pytest.mark.long)])
def test_an_rm_that_hangs(
    cluster: LocalCluster, rm: RmClient, desk: Desk, unharmed: None, tmp_path: Path, hangs_s: int
) -> None:
    decisions = tmp_path / "decisions.jsonl"
    with steering(cluster.layout.rm, decisions) as controller:
        wait_for(lambda: in_force(rm, desk), STARTS_S)
        with stopped(pid_of(cluster, "resourcemanager")):
            time.sleep(hangs_s)
            steps = len(lines_of(decisions))
        # What was asked before it hung may be answered now; after that, everything is put back before anything else.
        wait_for(lambda: len(put_back_since(decisions, steps)) == 2, WITHIN_S)
        assert "began anew" in said_by(decisions).read_text()
        wait_for(lambda: in_force(rm, desk), STARTS_S)
        controller.send_signal(signal.SIGINT)
        assert controller.wait(STARTS_S) == 0


def put_back_since(decisions: Path, steps: int) -> set[str]:
    """Nodes that had their own size when something was decided about them, after so many steps."""
    rows = [row for step in lines_of(decisions)[steps:] for row in step["nodes"]]
    return {row["node"] for row in rows if row["before"][0] == NODE_MB}


def test_kill_9_of_the_history_server(
    cluster: LocalCluster, rm: RmClient, desk: Desk, unharmed: None, tmp_path: Path
) -> None:
    """Nothing that steers asks it, nor does the observer."""
    os.kill(pid_of(cluster, HISTORY), signal.SIGKILL)
    try:
        with steering(cluster.layout.rm, tmp_path / "decisions.jsonl") as controller:
            wait_for(lambda: in_force(rm, desk), STARTS_S)
            assert run(["yarn", "observe", str(tmp_path / "seen"), "--rm", cluster.layout.rm, "--for", "1.5"]) == 0
            controller.send_signal(signal.SIGINT)
            assert controller.wait(STARTS_S) == 0
    finally:
        cluster.start_daemon(HISTORY)
    assert read_record(tmp_path / "seen" / "record").jobs.height == 1
    wait_for(cluster.is_healthy, STARTS_S)


@pytest.fixture
def proxy(cluster: LocalCluster) -> Iterator[FaultyProxy]:
    with FaultyProxy(cluster.layout.rm) as proxy:
        yield proxy


def session(client: RmClient, said: list[str], lease_s: float) -> Session:
    settings = Settings(shadow=False)
    policy = charging_young(parse_policy(SIZING), 2000, settings.report_ms)
    return Session(client, policy, settings, desk_of(client.address), Terms(lease_s, getpass.getuser()), said.append)


def test_answers_that_are_malformed_partial_slow_or_refusals(
    proxy: FaultyProxy, rm: RmClient, unharmed: None, tmp_path: Path
) -> None:
    said: list[str] = []
    lease_s = 30  # a busy machine may keep a step waiting, too
    hasty = patient_unless(lambda: proxy.fault == "late", LATE_S / 2)
    with (
        RmClient(proxy.address, user=getpass.getuser(), connect=hasty) as client,
        session(client, said, lease_s).at_work() as working,
    ):
        mine = desk_of(client.address)
        wait_for(lambda: working.step() is not None and in_force(rm, mine), STARTS_S)
        for fault in FAULTS:
            before = totals(rm)
            proxy.fault = fault
            assert working.step() is None, fault
            assert totals(rm) == before, fault
            proxy.fault = ""
            wait_for(lambda: working.step() is not None, lease_s)
        assert "began anew" not in said
        proxy.fault = "500"
        since_s = time.monotonic()
        while time.monotonic() - since_s < lease_s + 0.5:
            assert working.step() is None
            time.sleep(0.3)
        proxy.fault = ""
        step = working.step()
        assert step is not None
        assert "began anew" in said
        assert {resize.before[0] for resize in step.of("sizes") if resize.verdict is not Verdict.AWAY} == {NODE_MB}
    assert mine.load() is None


def test_a_change_that_is_made_and_then_denied_is_put_back(proxy: FaultyProxy, rm: RmClient, unharmed: None) -> None:
    proxy.denies = True
    with (
        RmClient(proxy.address, timeout_s=PATIENT_S, user=getpass.getuser()) as client,
        session(client, [], 30).at_work() as working,
    ):
        denied: set[Verdict] = set()

        def changed() -> bool:
            step = working.step()
            assert step is not None
            denied.update(resize.verdict for resize in step.of("sizes"))
            return not as_found(rm)

        wait_for(changed, STARTS_S)
        assert Verdict.FAILED in denied
        assert Verdict.POSTED not in denied
        proxy.denies = False
    assert desk_of(proxy.address).load() is None


def test_a_clock_that_jumps_and_a_controller_that_hangs(
    cluster: LocalCluster, rm: RmClient, desk: Desk, unharmed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock that people set goes a day ahead. The lease does not, nor does its end when the controller hangs."""
    decisions, jumped = tmp_path / "decisions.jsonl", tmp_path / "jumped"
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys, time\n"
        "real = time.time\n"
        "if 'steer' in getattr(sys, 'orig_argv', ()):\n"
        f"    time.time = lambda: real() + {DAY_S} * os.path.exists({str(jumped)!r})\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    lease_s = 30  # a busy machine may keep a controller waiting for longer than the other tests' lease
    with steering(cluster.layout.rm, decisions, SIZING, "--lease", str(lease_s)) as controller:
        wait_for(lambda: in_force(rm, desk), STARTS_S)
        jumped.touch()
        wait_for(lambda: any(step["at"] > time.time() + DAY_S / 2 for step in lines_of(decisions)), STARTS_S)
        steps = len(lines_of(decisions))
        wait_for(lambda: len(lines_of(decisions)) > steps + 1, STARTS_S)
        assert in_force(rm, desk)
        assert "anew" not in said_by(decisions).read_text()
        controller.send_signal(signal.SIGSTOP)
        wait_for(lambda: as_found(rm), lease_s + 5)
        controller.kill()


def test_a_full_disk(
    cluster: LocalCluster,
    rm: RmClient,
    desk: Desk,
    unharmed: None,
    submit_more: Callable[[ReplayJob], str],
    tmp_path: Path,
) -> None:
    """No file of the controller may grow: first beyond where the record is, then beyond what a baseline needs."""
    decisions = tmp_path / "decisions.jsonl"

    def shown() -> list[float]:
        lines = said_by(decisions).read_text().splitlines()
        return [json.loads(line)["at"] for line in lines if line.startswith("{") and line.endswith("}")]

    with steering(cluster.layout.rm, decisions, f"smallest-first+{SIZING}", "--json") as controller:
        wait_for(lambda: in_force(rm, desk) and decisions.stat().st_size > 0, STARTS_S)
        room = decisions.stat().st_size + 100
        no_growth(controller, room)
        wait_for(lambda: "cannot be written" in said_by(decisions).read_text(), STARTS_S)
        steps = len(shown())
        wait_for(lambda: len(shown()) > steps + 1, STARTS_S)
        assert decisions.stat().st_size <= room
        decided = shown()
        no_growth(controller, resource.RLIM_INFINITY)
        # Nothing is lost: every decision is there, once, also those that had no room for a while.
        wait_for(lambda: [step["at"] for step in lines_of(decisions)][: len(decided)] == decided, STARTS_S)
        no_growth(controller, 100)
        # It waits, so it gets a priority, and that it had none before must be written down first.
        waiting = submit_more(replace(small(1), am=(NODE_MB, 1)))
        assert controller.wait(STARTS_S) == 2
        assert "baseline.json: cannot be written" in said_by(decisions).read_text()
        assert application(rm, waiting)["priority"] == 0
        rm.kill(waiting)


def no_growth(process: subprocess.Popen[bytes], limit: int) -> None:
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


def test_kill_9_of_the_observer(
    cluster: LocalCluster, rm: RmClient, job: str, submit_more: Callable[[ReplayJob], str], tmp_path: Path
) -> None:
    """What ended meanwhile, what came and went meanwhile and what goes on are each in the record once."""
    folder = tmp_path / "seen"
    journal, observe = folder / "journal.jsonl", ["yarn", "observe", str(folder), "--rm", cluster.layout.rm]
    with steering(cluster.layout.rm, tmp_path / "decisions.jsonl"):  # or there would be no room for more jobs
        spanning = submit_more(small(8, "spanning"))
        with subprocess.Popen([*HEDDLE, *observe, "--every", "0.3"], stderr=subprocess.DEVNULL) as observer:
            try:
                wait_for(journal.exists, STARTS_S)
                wait_for(lambda: journal.read_text().count(f'"app":"{spanning}"') >= 2, STARTS_S)
            finally:
                observer.kill()
        meanwhile = submit_more(small(0.5, "meanwhile"))
        wait_for(lambda: all(application(rm, app)["finishedTime"] for app in (spanning, meanwhile)), STARTS_S)
    with journal.open("a") as file:
        file.write('{"what":"poll","at_')  # as if it had been killed within a line
    assert run([*observe, "--every", "0.3", "--for", "2"]) == 0
    jobs = read_record(folder / "record").jobs
    for name in ("spanning", "meanwhile", "over-reserved"):
        found = jobs.filter(jobs["name"] == name)
        assert found.height == 1, name
        assert (found["ended_at_ms"].item() is None) == (name == "over-reserved")
    assert read_record(folder / "record").attempts.height == 8 + 2


@pytest.mark.long
def test_a_node_is_added_resized_by_somebody_else_and_removed(
    cluster: LocalCluster, rm: RmClient, desk: Desk, unharmed: None, tmp_path: Path
) -> None:
    decisions, role = tmp_path / "decisions.jsonl", "nodemanager-2"
    added = f"localhost:{cluster.layout.node_port(2, 'node')}"
    write_node_configuration(cluster.folder, cluster.layout, 2)
    try:
        with steering(cluster.layout.rm, decisions) as controller:
            wait_for(lambda: in_force(rm, desk), STARTS_S)
            cluster.start_daemon(role)
            wait_for(lambda: last_of(added, decisions).get("cause") == "lever", STARTS_S)
            rm.resize_node(added, NODE_MB + 999, 3)
            wait_for(lambda: last_of(added, decisions)["cause"] == "foreign", PATIENT_S)
            assert totals(rm)[added] == NODE_MB + 999
            os.kill(pid_of(cluster, role), signal.SIGTERM)
            wait_for(lambda: last_of(added, decisions)["verdict"] == "away", 90)
            controller.send_signal(signal.SIGINT)
            assert controller.wait(STARTS_S) == 0
    finally:
        for process in cluster.processes():
            if process.role == role:
                os.kill(process.pid, signal.SIGKILL)


@pytest.mark.long
def test_kill_9_of_a_nodemanager(cluster: LocalCluster, rm: RmClient, job: str, desk: Desk, tmp_path: Path) -> None:
    """Its containers are lost, and that is all: the rest runs on, and it is steered again when it is back.

    The last of these tests, since the job is another after it.
    """
    decisions = tmp_path / "decisions.jsonl"
    master = next(c for c in sorted(containers_of(rm, job)) if c.endswith("_000001"))
    at = {c.id: c.node for c in take_snapshot(rm, 0).containers.values()}
    victim = next(node for node in totals(rm) if node != at[master])
    number = next(n for n in range(2) if victim.endswith(f":{cluster.layout.node_port(n, 'node')}"))
    elsewhere = {name for name in containers_of(rm, job) if at[name] != victim}

    def last() -> dict[str, Any]:
        return last_of(victim, decisions)

    with steering(cluster.layout.rm, decisions) as controller:
        wait_for(lambda: in_force(rm, desk), STARTS_S)
        os.kill(pid_of(cluster, f"nodemanager-{number}"), signal.SIGKILL)
        wait_for(lambda: last()["cause"] == "stale", STALE_S + PATIENT_S)
        wait_for(lambda: last()["promised_mb"] <= last()["reserved_mb"], PATIENT_S)
        cluster.start_daemon(f"nodemanager-{number}")
        wait_for(lambda: last()["cause"] == "lever" and last()["promised_mb"] > NODE_MB, STARTS_S)
        controller.send_signal(signal.SIGINT)
        assert controller.wait(STARTS_S) == 0
    assert as_found(rm)
    assert desk.load() is None
    assert elsewhere <= containers_of(rm, job)
    assert application(rm, job)["state"] == "RUNNING"
