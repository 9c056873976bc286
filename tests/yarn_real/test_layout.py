"""What can be said about a cluster before anything is started; needs no Java."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from heddle.cli.main import run
from heddle.model.errors import BadInput, RunRefused
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.wire import YarnError
from heddle.yarn.testbed import run_jobs as run_jobs_module
from heddle.yarn.testbed.local.cluster import LocalCluster
from heddle.yarn.testbed.local.folders import cluster_folder
from heddle.yarn.testbed.local.java import find_tool
from heddle.yarn.testbed.local.layout import Layout
from heddle.yarn.testbed.local.namespaces import refuse_without_namespaces
from heddle.yarn.testbed.mixture import load_real_jobs
from heddle.yarn.testbed.replay.plan import ReplayJob
from heddle.yarn.testbed.run_jobs import Workplace, run_jobs


def test_no_two_daemons_share_a_port() -> None:
    layout = Layout(nodes=50)
    assert len(layout.ports()) == 8 + 50 * 5


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(BadInput) as wrong:
        Layout(nodes=0, node_memory_mb=100, node_vcores=0, am_share=1.5, port=80).check()
    assert {problem.where for problem in wrong.value.problems} == {
        "--nodes", "--node-memory-mb", "--node-vcores", "--am-share", "--port",
    }  # fmt: skip


def test_queues_of_a_cluster() -> None:
    pools = Layout(queues=(("pool-0", 90), ("pool-1", 10)))
    pools.check()
    assert Layout.from_json(json.loads(json.dumps(pools.as_json()))) == pools
    with pytest.raises(BadInput, match="add up to 100"):
        Layout(queues=(("a", 90),)).check()


def test_jobs_for_queues_that_a_cluster_does_not_have_are_refused_before_any_runs(tmp_path: Path) -> None:
    layout = Layout(queues=(("prod", 70), ("default", 30)))
    assert layout.lacks(["root.prod", "default"]) == []
    assert Layout(scheduler="fair").lacks(["root.prod"]) == []
    jobs, _ = load_real_jobs("burst(jobs=2,tasks=1)", 0)
    elsewhere = [replace(job, queue="root.batch") for job in jobs if isinstance(job, ReplayJob)]
    with RmClient("http://127.0.0.1:9") as nobody:
        place = Workplace(nobody, tmp_path / "staging", tmp_path / "jar", LocalCluster("one", tmp_path, layout))
        with pytest.raises(RunRefused, match=r"no queue root\.batch: `heddle yarn up --queue"):
            run_jobs(list(elsewhere), place, lambda _: None)
    assert not (tmp_path / "staging").exists()


def test_a_run_on_a_cluster_that_is_gone_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that ask the ResourceManager nothing, between those that do, are no sign of life."""
    monkeypatch.setattr(run_jobs_module, "PATIENCE_S", 0.0)
    jobs, _ = load_real_jobs("burst(jobs=1,tasks=1)", 0)
    later = [replace(job, submit_at_ms=10**9) for job in jobs if isinstance(job, ReplayJob)]
    (jar := tmp_path / "made.jar").touch()
    (folder := tmp_path / "run").mkdir()
    with RmClient("http://127.0.0.1:9") as gone:
        running = run_jobs_module._Running([*later], Workplace(gone, tmp_path, jar), folder, lambda _: None)
        running.runs[0].app_id = "application_1_0001"
        assert not running.step()
        running.tolerate(lambda: None)
        with pytest.raises(YarnError):
            running.step()


def test_preemption_is_the_capacity_schedulers() -> None:
    layout = Layout(preemption=True)
    layout.check()
    assert Layout.from_json(json.loads(json.dumps(layout.as_json()))) == layout
    with pytest.raises(BadInput, match="only with the Capacity scheduler"):
        Layout(preemption=True, scheduler="fair").check()


def test_nodes_with_addresses_of_their_own() -> None:
    layout = Layout(nodes=2, hosts=True, link_mbit=100, subnet="10.213.7.0/24")
    layout.check()
    assert (layout.master_host, layout.node_host(0), layout.node_host(1)) == (
        "10.213.7.1",
        "10.213.7.10",
        "10.213.7.11",
    )
    assert Layout.from_json(json.loads(json.dumps(layout.as_json()))) == layout
    with pytest.raises(BadInput, match="only applies with --hosts"):
        Layout(link_mbit=100).check()


def test_namespaces_need_root_and_iproute2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(RunRefused, match="requires root"):
        refuse_without_namespaces()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(RunRefused, match="install iproute2"):
        refuse_without_namespaces()


@pytest.mark.parametrize("name", ["", "../up", "A b", "x" * 40])
def test_a_name_cannot_leave_its_folder(name: str) -> None:
    with pytest.raises(BadInput, match="--name"):
        cluster_folder(name)


def test_what_is_missing_is_said_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    for tool in ("java", "javac", "mvn"):
        with pytest.raises(RunRefused, match=f"{tool} was not found: install"):
            find_tool(tool)


def test_an_unknown_cluster_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["yarn", "status", "--name", "nobody"]) == 2
    assert "there is no cluster 'nobody'" in capsys.readouterr().err


def test_every_yarn_command_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("up", "down", "status", "logs", "run", "track", "observe", "steer", "restore", "trial", "sls"):
        assert run(["yarn", command, "--help"]) == 0
        assert f"heddle yarn {command}" in capsys.readouterr().out
