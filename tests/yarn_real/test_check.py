"""`heddle check` on a real YARN whose past is a MapReduce job and two that were replayed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from heddle.cli.main import run
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.rm_answers import read_apps, read_containers, read_nodes
from heddle.yarn.live.things_seen import AppSeen, Size
from heddle.yarn.observe.node_containers import NodeContainers
from heddle.yarn.observe.past_jobs import read_past_job
from heddle.yarn.testbed.local.cluster import LocalCluster
from heddle.yarn.testbed.mixture import load_real_jobs
from heddle.yarn.testbed.replay.master_jar import master_jar
from heddle.yarn.testbed.run_jobs import Workplace, run_jobs
from yarn_real.test_trace import HEADER, until

MIXTURE = """jobs:
  - {kind: replay, workload: tasks.csv}
  - {kind: mapreduce, program: sleep, arguments: [-m, 2, -r, 1, -mt, 3000, -rt, 1000]}
"""


def live_apps(rm: RmClient) -> list[AppSeen]:
    return list(read_apps(rm.apps(), rm.address).values())


def containers_seen(rm: RmClient, app: AppSeen) -> Iterator[tuple[str, tuple[Size, str, bool]]]:
    answer = rm.containers(app.id, app.attempt) if app.attempt else None
    for one in read_containers(answer, app, rm.address).values() if answer is not None else ():
        yield one.id, (one.size, one.node, one.is_am)


def test_a_check_of_a_real_cluster(
    cluster: LocalCluster, rm: RmClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tasks.csv").write_text(
        HEADER + "a,0,4000,1,512,map,,0.1,200,1,256\nb,0,4000,1,512,map,,0.1,200,1,256\n"
    )
    (tmp_path / "jobs.yaml").write_text(MIXTURE)
    jobs, _ = load_real_jobs(str(tmp_path / "jobs.yaml"))
    same: list[int] = []

    def look() -> None:
        """NodeManagers list the containers that the ResourceManager lists; one may come or go between the two."""
        apps = live_apps(rm)
        by_application = dict(pair for app in apps for pair in containers_seen(rm, app))
        nodes = read_nodes(rm.nodes(), rm.address).values()
        listed, silent = NodeContainers(rm).read(nodes, {app.id: app for app in apps})
        if {one.id: (one.size, one.node, one.is_am) for one in listed} == by_application and not silent:
            same.append(len(by_application))

    done = run_jobs(jobs, Workplace(rm, tmp_path / "staging", master_jar("3.4.2"), cluster), lambda _: None, poll=look)
    assert {one.outcome for one in done} == {"SUCCEEDED"}
    assert max(same, default=0) >= 3, "AMs and tasks"
    mine = {str(one.app_id): one.name for one in done}
    with RmClient(cluster.layout.history, timeout_s=10) as server:

        def told() -> bool:
            return any(
                row["id"].replace("job", "application") in mine
                for row in (server.get("/ws/v1/history/mapreduce/jobs").get("jobs") or {}).get("job", [])
            )

        until(told)
        app = next(name for name in mine if (rm.app(name) or {})["app"]["applicationType"] == "MAPREDUCE")
        job = read_past_job(server, app)
    assert (len(job.tasks["MAP"]), len(job.tasks["REDUCE"])) == (2, 1)
    use = job.use("MAP")
    assert use is not None
    assert 20 < use[0] <= use[1] < job.size("MAP")[0], "a peak is that of one task, not of all together"

    capsys.readouterr()
    page = tmp_path / "check.html"
    arguments = [cluster.layout.rm, "--history", cluster.layout.history, "--past", "0.5", "--report", str(page)]
    assert run(["check", *arguments, "--json"]) in (0, 1)
    found = json.loads(capsys.readouterr().out)
    assert found["cluster"]["policy"] == "capacity"
    assert found["resource_manager"]["version"].startswith("3.4")
    assert found["accounts"]["applications"] >= 3
    assert found["jobs"]["known"]["in detail"] >= 1
    assert found["jobs"]["known"]["by YARN's accounts alone"] >= 2
    assert found["policies"]["baseline"] == "capacity"
    assert found["am_deadlock"]["assumed"] == [], "it tells the AM share of its queues"
    assert "Where the capacity went" in page.read_text()

    assert run(["check", cluster.layout.rm, "--application", app, "--history", cluster.layout.history, "--json"]) in (
        0,
        1,
    )
    one = json.loads(capsys.readouterr().out)
    assert one["read"] == ["based on its history: tasks, counters and settings"]
