"""Histories of MapReduce jobs: read once, whatever the history server does, and put into what was seen."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from heddle.model.errors import BadInput
from heddle.model.reasons import Outcome
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.wire import YarnError
from heddle.yarn.observe import history as history_module
from heddle.yarn.observe.history import AWAY_S, History, history_address
from heddle.yarn.observe.journal import Journal, read_lines
from heddle.yarn.observe.live_record import export, record_of
from heddle.yarn.observe.observer import Observer
from yarn_live.fake_cluster import CLUSTER_AT_MS, FakeApp
from yarn_live.fake_rm import FakeRm
from yarn_observe.fake_history import FakeHistory

BEGAN = CLUSTER_AT_MS


class Site:
    """A fake RM, a fake history server, and observers that come and go."""

    def __init__(self, rm: FakeRm, server: FakeHistory, folder: Path) -> None:
        self.rm, self.server, self.journal = rm, server, folder / "journal"
        self.now_s = 0.0
        self.clients = RmClient(rm.address, timeout_s=60), RmClient(server.address, timeout_s=60)
        self.start()

    def start(self) -> None:
        """An observer, the first or a further one on the same journal."""
        journal = Journal(self.journal)
        self.observer = Observer(self.clients[0], journal, lambda: self.rm.now_ms)
        self.history = History(self.clients[1], journal, self.observer.seen, lambda: self.now_s)

    def pass_s(self, seconds: float) -> None:
        self.now_s += seconds
        self.rm.now_ms += round(1000 * seconds)

    def lines(self) -> list[str]:
        return [entry["app"] for entry in read_lines(self.journal) if entry["what"] == "history"]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with FakeRm() as rm, FakeHistory() as server:
        rm.add_node("a:1", 4096, 4)
        rm.nodes["a:1"].http = "a:8042"
        site = Site(rm, server, tmp_path)
        yield site
        for client in site.clients:
            client.close()


def run_a_job(site: Site, maps: int = 2) -> FakeApp:
    """A job that is seen alive and has ended; its maps finished 400 ms before a poll found them gone."""
    app = site.rm.add_app()
    app.kind = "MAPREDUCE"
    site.rm.start_am(app, "a:1", 512, 1)
    names = [site.rm.allocate(app, "a:1", 1024, 1) for _ in range(maps)]
    site.pass_s(1)
    site.observer.poll()
    site.pass_s(10)
    site.observer.poll()
    for number, name in enumerate(names):
        site.rm.end_container(name)
        site.server.add_attempt(app.id, f"1_0001_m_{number:06d}", name, "a:8042", BEGAN + 2000, BEGAN + 11_600)
    site.pass_s(1)
    site.observer.poll()
    site.rm.end_app(app)
    site.pass_s(1)
    site.observer.poll()
    return app


def test_a_history_narrows_what_the_polls_saw(site: Site) -> None:
    app = run_a_job(site)
    task = next(iter(site.server.jobs[app.id].values()))
    task[0] |= {"state": "FAILED", "diagnostics": "Container [pid=1] is running beyond the 'PHYSICAL' memory limit."}
    site.history.poll()
    assert site.history.missing() == []
    (job,) = export(site.observer.seen, {})["jobs"]
    assert job["counters"] == {"CPU_MILLISECONDS": 1234}
    maps = [container for container in job["containers"] if not container["is_am"]]
    assert [one["state"] for one in maps] == ["FAILED", "SUCCEEDED"]
    run = record_of(site.observer.seen, policy="stock", workload="w", started_by=["test"])
    assert run.attempts["outcome"].to_list() == [Outcome.RELEASED, Outcome.LIMIT_KILLED, Outcome.FINISHED]
    assert run.manifest["totals"]["killed_tasks"] == 1
    # Launched at 2 s; gone between 11.6 s (11 s: the last poll that showed them) and 12 s: 11.8 s, less the 1 ms of
    # the submission.
    assert run.attempts["started_at_ms"].to_list()[1:] == [1999, 1999]
    assert run.attempts["ended_at_ms"].to_list()[1:] == [11_799, 11_799]


@pytest.mark.parametrize("how", ["refuses", "hangs up"])
def test_a_server_that_is_away_loses_and_doubles_nothing(site: Site, how: str) -> None:
    app = run_a_job(site)
    site.server.status = 500
    site.server.hangs_up = how == "hangs up"
    with pytest.raises(YarnError):
        site.history.poll()
    site.history.poll()  # left alone for a while
    assert site.history.missing() == [app.id]
    site.server.status, site.server.hangs_up = 200, False
    site.start()  # the next observation
    asked = len(site.server.asked)
    for _ in range(3):
        site.history.poll()
        site.pass_s(AWAY_S + 1)
    assert site.lines() == [app.id]
    assert len(site.server.asked) == asked + 6  # the job, its AMs, its tasks, each of the two, the counters
    site.start()
    assert site.history.missing() == []


def test_a_job_that_is_not_known_yet_is_asked_for_again_and_keeps_nobody_waiting(site: Site) -> None:
    first, second = run_a_job(site), run_a_job(site)
    tasks = site.server.jobs.pop(first.id)
    site.history.poll()
    assert site.lines() == [second.id]
    asked = len(site.server.asked)
    site.history.poll()
    assert len(site.server.asked) == asked
    site.server.jobs[first.id] = tasks
    site.pass_s(2)
    site.history.poll()
    assert site.lines() == [second.id, first.id]


def test_a_job_of_many_tasks_is_read_over_several_polls(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_module, "CALLS_AT_ONCE", 3)
    app = run_a_job(site, maps=5)
    polls = 0
    while site.history.missing():
        before = len(site.server.asked)
        site.history.poll()
        assert len(site.server.asked) - before <= 3
        assert site.lines() == [] or not site.history.missing()
        polls += 1
    assert polls >= 3
    assert len(site.observer.seen.histories[app.id].attempts) == 5


def test_containers_that_no_poll_saw_come_from_the_history(site: Site) -> None:
    site.observer.poll()
    app = site.rm.add_app()
    app.kind = "MAPREDUCE"
    master, task = (site.rm.allocate(app, "a:1", 512, 1) for _ in range(2))
    for name in (master, task):
        site.rm.end_container(name)
    site.rm.end_app(app)
    site.pass_s(30)
    site.observer.poll()
    site.server.add_attempt(app.id, "1_0001_m_000000", task, "a:8042", BEGAN + 4000, BEGAN + 9000)
    site.server.masters[app.id] = [
        {"id": 1, "nodeId": "a:1", "nodeHttpAddress": "a:8042", "startTime": BEGAN + 1000, "containerId": master}
    ]
    site.history.poll()
    run = record_of(site.observer.seen, policy="stock", workload="w", started_by=["test"])
    assert run.manifest["complete_attempts"]
    assert run.stages["name"].to_list() == ["am", "map"]
    assert run.shapes["memory_mb"].to_list() == [512, 1024]
    assert run.attempts["allocated_at_ms"].to_list() == [999, 3999]
    assert run.attempts["ended_at_ms"].to_list()[1] == 9999


def test_what_is_no_history_is_said(site: Site) -> None:
    app = run_a_job(site)
    del next(iter(site.server.jobs[app.id].values()))[0]["finishTime"]
    fine = run_a_job(site)
    with pytest.raises(YarnError, match="finishTime"):
        site.history.poll()
    site.pass_s(1)
    site.history._away_until_s = 0
    site.history.poll()
    assert site.lines() == [fine.id]  # the other one does not stand in its way


def test_the_port_of_a_history_server() -> None:
    assert history_address("history.example") == "http://history.example:19888"
    assert history_address("https://history.example") == "https://history.example:19890"
    assert history_address("http://history.example:80") == "http://history.example:80"
    with pytest.raises(BadInput, match="no address"):
        history_address("history.example:web")
