"""The observer against a fake RM: what a restart, an absence or a short life must not spoil."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from heddle.analysis.measures.metrics import run_metrics
from heddle.analysis.waste.ledger import waste_ledger
from heddle.model.errors import BadInput
from heddle.record_workload import workload_of
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.wire import YarnError
from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.live_record import record_of
from heddle.yarn.observe.observer import Observer
from yarn_live.fake_cluster import CLUSTER_AT_MS
from yarn_live.fake_rm import FakeRm


@pytest.fixture
def rm() -> Iterator[FakeRm]:
    with FakeRm() as rm:
        rm.add_node("a:1", 4096, 4)
        yield rm


@pytest.fixture
def client(rm: FakeRm) -> Iterator[RmClient]:
    with RmClient(rm.address, timeout_s=60) as client:
        yield client


def test_a_restart_neither_loses_nor_doubles_a_job(rm: FakeRm, client: RmClient, tmp_path: Path) -> None:
    app = rm.add_app()
    rm.start_am(app, "a:1", 512, 1)
    task = rm.allocate(app, "a:1", 1024, 1)
    rm.now_ms = CLUSTER_AT_MS + 1000
    Observer(client, Journal(tmp_path / "j"), lambda: rm.now_ms).poll()
    rm.now_ms += 10_000
    second = Observer(client, Journal(tmp_path / "j"), lambda: rm.now_ms)
    second.poll()
    rm.end_container(task)
    rm.now_ms += 1000
    second.poll()
    rm.now_ms += 2000
    rm.end_app(app)
    third = Observer(client, Journal(tmp_path / "j"), lambda: rm.now_ms)
    third.poll()
    third.poll()
    run = record_of(third.seen, policy="stock", workload="w", started_by=["test"])
    assert run.jobs["outcome"].to_list() == ["finished"]
    assert run.attempts["kind"].to_list() == [1, 0]
    # It was there at 11 s and gone at 12 s: 11.5 s, less the second after which somebody began to look.
    assert run.attempts["ended_at_ms"].to_list()[1] == 10_500
    assert run.manifest["totals"]["allocations"] == 2


def test_an_application_between_two_polls_is_not_missed(rm: FakeRm, client: RmClient, tmp_path: Path) -> None:
    rm.now_ms = CLUSTER_AT_MS + 1000
    observer = Observer(client, Journal(tmp_path / "j"), lambda: rm.now_ms)
    observer.poll()
    app = rm.add_app()
    rm.end_app(app, "FAILED")
    rm.now_ms += 1000
    observer.poll()
    run = record_of(observer.seen, policy="stock", workload="w", started_by=["test"])
    assert run.jobs["outcome"].to_list() == ["failed"]
    assert run.attempts.height == 0


def test_what_ended_before_is_not_part_of_it(rm: FakeRm, client: RmClient, tmp_path: Path) -> None:
    rm.end_app(rm.add_app())
    rm.now_ms += 10_000
    observer = Observer(client, Journal(tmp_path / "j"), lambda: rm.now_ms)
    for _ in range(3):
        observer.poll()
        rm.now_ms += 1000
    assert observer.seen.apps == {}


@pytest.mark.parametrize("ahead_ms", [-3_600_000, 3_600_000])
def test_ends_are_seen_however_our_clock_differs_from_the_rms(
    rm: FakeRm, client: RmClient, tmp_path: Path, ahead_ms: int
) -> None:
    app = rm.add_app()
    rm.now_ms += 10_000
    observer = Observer(client, Journal(tmp_path / "j"), lambda: rm.now_ms + ahead_ms)
    observer.poll()
    assert observer.running() == {app.id}
    rm.now_ms += 1000
    rm.end_app(app)
    observer.poll()
    assert observer.running() == set()


def test_an_application_that_was_being_killed_when_somebody_began_to_look_has_ended(
    rm: FakeRm, client: RmClient, tmp_path: Path
) -> None:
    """Until its end is saved it counts as live; then it has ended when it was killed, before anybody looked."""
    app = rm.add_app()
    killed_ms = rm.now_ms = CLUSTER_AT_MS + 1000
    rm.now_ms += 5
    observer = Observer(client, Journal(tmp_path / "j"), lambda: rm.now_ms)
    observer.poll()
    assert observer.running() == {app.id}
    looked_ms, rm.now_ms = rm.now_ms, killed_ms
    rm.end_app(app, "KILLED")
    rm.now_ms = looked_ms + 1000
    observer.poll()
    assert observer.running() == set()
    assert observer.seen.apps[app.id].ended_at_ms == killed_ms
    run = record_of(observer.seen, policy="stock", workload="w", started_by=["test"])
    assert run_metrics(run)["outcome"] == "finished"


def test_an_rm_that_does_not_answer_costs_nothing(rm: FakeRm, client: RmClient, tmp_path: Path) -> None:
    app = rm.add_app()
    rm.start_am(app, "a:1", 512, 1)
    observer = Observer(client, Journal(tmp_path / "j"), lambda: rm.now_ms)
    observer.poll()
    before = (tmp_path / "j").read_bytes()
    rm.instead["/apps"] = (500, "down")
    with pytest.raises(YarnError):
        observer.poll()
    assert (tmp_path / "j").read_bytes() == before
    assert observer.running() == {app.id}


def test_a_resized_node_is_an_event(rm: FakeRm, client: RmClient, tmp_path: Path) -> None:
    rm.add_app()
    observer = Observer(client, Journal(tmp_path / "j"), lambda: rm.now_ms)
    observer.poll()
    rm.nodes["a:1"].memory_mb = 6144
    observer.poll()
    run = record_of(observer.seen, policy="stock", workload="w", started_by=["test"])
    assert run.events is not None
    sizes = run.events.filter(run.events["kind"].cast(str) == "size_memory_mb")
    assert sizes["value"].to_list() == [6144]


def test_an_am_that_outlives_its_application_holds_its_container(rm: FakeRm, client: RmClient, tmp_path: Path) -> None:
    """YARN goes on counting it, and so must the record."""
    app = rm.add_app()
    rm.start_am(app, "a:1", 512, 1)
    observer = Observer(client, Journal(tmp_path / "j"), lambda: rm.now_ms)
    observer.poll()
    rm.now_ms = CLUSTER_AT_MS + 10_000
    rm.end_app(app, lingering=True)
    rm.now_ms += 1000
    observer.poll()
    assert observer.running() == {app.id}
    app.containers, app.memory_mb_seconds = {}, 5888
    rm.now_ms += 1000
    observer.poll()
    assert observer.running() == set()
    run = record_of(observer.seen, policy="stock", workload="w", started_by=["test"])
    assert run.jobs["ended_at_ms"].to_list() == [9999]
    assert run.attempts["ended_at_ms"].to_list() == [11_499]  # between 11 and 12 s
    assert run.manifest["totals"]["yarn_reserved_by_job_ms"] == {"0": [5_888_000, 0]}


def test_what_an_absent_observer_did_not_see_end_ended_with_its_application(
    rm: FakeRm, client: RmClient, tmp_path: Path
) -> None:
    app = rm.add_app()
    rm.start_am(app, "a:1", 512, 1)
    rm.now_ms = CLUSTER_AT_MS + 1000
    Observer(client, Journal(tmp_path / "j"), lambda: rm.now_ms).poll()
    rm.now_ms = CLUSTER_AT_MS + 10_000
    rm.end_app(app)
    rm.now_ms = CLUSTER_AT_MS + 900_000
    observer = Observer(client, Journal(tmp_path / "j"), lambda: rm.now_ms)
    observer.poll()
    (am,) = observer.seen.containers.values()
    assert am.ended_between_ms == (CLUSTER_AT_MS + 10_000, CLUSTER_AT_MS + 15_000)


def test_a_container_that_comes_back_had_not_ended(rm: FakeRm, client: RmClient, tmp_path: Path) -> None:
    """A restarted RM hears of running containers one by one."""
    app = rm.add_app()
    am = rm.start_am(app, "a:1", 512, 1)
    observer = Observer(client, Journal(tmp_path / "j"), lambda: rm.now_ms)
    observer.poll()
    there, app.containers = app.containers, {}
    rm.now_ms += 1000
    observer.poll()
    assert observer.seen.containers[am].ended_at_ms is not None
    app.containers = there
    observer.poll()
    assert observer.seen.containers[am].ended_at_ms is None


def test_what_nobody_saw_does_not_keep_the_ledger_from_adding_up(rm: FakeRm, client: RmClient, tmp_path: Path) -> None:
    """One ended while the observer was away: YARN's own accounts tell that something is missing, and of whom."""
    app, missed, waiting = rm.add_app(), rm.add_app(), rm.add_app()
    rm.start_am(app, "a:1", 512, 1)
    rm.now_ms = CLUSTER_AT_MS + 1000
    observer = Observer(client, Journal(tmp_path / "j"), lambda: rm.now_ms)
    observer.poll()
    for one, memory_mb_seconds in ((app, 5120), (missed, 700), (waiting, 0)):
        rm.now_ms += 3000
        one.memory_mb_seconds = memory_mb_seconds
        rm.end_app(one)
    observer.poll()
    run = record_of(observer.seen, policy="stock", workload="w", started_by=["test"])
    ledger = waste_ledger(run)
    assert sum(line.amounts[0] for line in ledger.lines) == ledger.total[0]
    assert ledger.yarn is not None
    assert ledger.yarn.unseen == f"app {missed.number}"
    with pytest.raises(BadInput, match=f"YARN counted for app {missed.number}"):
        workload_of(run)


def test_a_record_begins_when_somebody_began_to_look(rm: FakeRm, client: RmClient, tmp_path: Path) -> None:
    """Capacity of the week in which an application ran unobserved is nobody's waste; its own times stay true."""
    app = rm.add_app()
    rm.start_am(app, "a:1", 512, 1)
    week_ms = 7 * 86_400_000
    rm.now_ms = CLUSTER_AT_MS + week_ms
    observer = Observer(client, Journal(tmp_path / "j"), lambda: rm.now_ms)
    observer.poll()
    rm.now_ms += 10_000
    rm.end_app(app)
    observer.poll()
    run = record_of(observer.seen, policy="stock", workload="w", started_by=["test"])
    (job,) = run.jobs.iter_rows(named=True)
    assert (job["submit_at_ms"], job["ended_at_ms"]) == (1 - week_ms, 10_000)
    ledger = waste_ledger(run)
    assert (ledger.begin_ms, ledger.end_ms) == (0, 10_000)
    assert ledger.reserved == ledger.reserved_by_engine == (5_120_000, 10_000_000)
    assert run_metrics(run)["utilisation"]["memory"]["reserved"] == 512 / 4096
    assert workload_of(run).jobs["submit_at_ms"].tolist() == [0]


def test_what_is_still_there_at_the_end_adds_up(rm: FakeRm, client: RmClient, tmp_path: Path) -> None:
    """The record ends with the last thing that is known, not with the last look (found by the storm)."""
    first, second = rm.add_app(), rm.add_app()
    rm.start_am(first, "a:1", 512, 1)
    rm.start_am(second, "a:1", 512, 1)
    observer = Observer(client, Journal(tmp_path / "j"), lambda: rm.now_ms)
    observer.poll()
    rm.now_ms += 10_000
    rm.end_app(first)
    observer.poll()
    rm.now_ms += 10_000
    observer.poll()
    ledger = waste_ledger(record_of(observer.seen, policy="stock", workload="w", started_by=["test"]))
    assert ledger.end_ms - ledger.begin_ms < 20_000
    assert ledger.reserved == ledger.reserved_by_engine


def test_an_answer_without_the_type_of_an_application_that_has_ended_doubles_nothing(
    rm: FakeRm, client: RmClient, tmp_path: Path
) -> None:
    """Nor does it take the type back (found by the storm)."""
    app = rm.add_app()
    observer = Observer(client, Journal(tmp_path / "j"), lambda: rm.now_ms)
    observer.poll()
    rm.now_ms += 1000
    rm.end_app(app)
    for kind in ("TEST", "", "TEST"):
        app.kind = kind
        observer.poll()
    ends = [entry for entry in Journal(tmp_path / "j").read() if entry["what"] == "app" and entry["ended_at_ms"]]
    assert [entry["kind"] for entry in ends] == ["TEST"]
