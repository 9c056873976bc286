"""`heddle yarn up|down|status|logs` on a real YARN."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.schemas import valid
from heddle.cli.main import run
from heddle.model.errors import RunRefused
from heddle.yarn.testbed.local.cluster import LocalCluster, bring_up
from heddle.yarn.testbed.local.folders import cluster_folder
from heddle.yarn.testbed.local.layout import Layout
from heddle.yarn.testbed.local.processes import processes_of, start, stop
from yarn_steering.watching import wait_for

from .conftest import NODE_MB, NODES, free_port


def silent(_: str) -> None:
    """Says nothing."""


def test_status_shows_a_healthy_cluster(cluster: LocalCluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["yarn", "status", "--name", "session", "--json"]) == 0
    (shown,) = valid("yarn status", json.loads(capsys.readouterr().out))["clusters"]
    assert shown["healthy"]
    assert shown["nodes_running"] == NODES
    assert set(shown["daemons"]) == {"resourcemanager", "nodemanager-0", "nodemanager-1", "historyserver"}
    assert all(shown["daemons"].values())
    assert shown["rm"] == cluster.layout.rm
    assert shown["node_memory_mb"] == NODE_MB


def test_what_a_daemon_runs_is_not_the_daemon(tmp_path: Path) -> None:
    """It inherits the daemon's environment, and may have a smaller number where numbers have wrapped round."""
    command = ["sh", "-c", "sleep 60 & wait"]
    start(command, "nodemanager-0", tmp_path, {"PATH": os.environ["PATH"]}, tmp_path / "log")
    try:
        wait_for(lambda: len(processes_of(tmp_path)) == 2, 30)
        assert sorted(process.role for process in processes_of(tmp_path)) == ["", "nodemanager-0"]
    finally:
        stop(tmp_path)


def test_it_listens_on_this_machine_only(cluster: LocalCluster) -> None:
    """Whoever reaches a YARN without security can run programs on it. Hadoop cannot bind the shuffle to an address."""
    layout = cluster.layout
    shuffle = {layout.node_port(node, "shuffle") for node in range(layout.nodes)}
    here = {"0100007F", "0000000000000000FFFF00000100007F"}
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            address, port = line.split()[1].split(":")
            listens = line.split()[3] == "0A"
            if listens and int(port, 16) in layout.ports():
                found.add(int(port, 16))
                assert address in here or int(port, 16) in shuffle
    assert layout.port in found


def test_logs_of_a_daemon(cluster: LocalCluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["yarn", "logs", "resourcemanager", "--name", "session", "--lines", "5"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
    assert run(["yarn", "logs", "postmaster", "--name", "session"]) == 2
    assert "historyserver" in capsys.readouterr().err


def test_up_twice_is_refused_and_harms_nothing(cluster: LocalCluster) -> None:
    before = cluster.processes()
    with pytest.raises(RunRefused, match="is already up"):
        bring_up("session", cluster.layout, silent)
    assert cluster.processes() == before


def test_ports_in_use_are_named_with_a_free_block(cluster: LocalCluster) -> None:
    with pytest.raises(RunRefused, match=rf"{cluster.layout.port} \(the masters' web port\)") as refused:
        bring_up("other", cluster.layout, silent)
    suggested = Layout(nodes=NODES, port=int(str(refused.value).rpartition(" ")[2]))
    assert not set(suggested.ports()) & set(cluster.layout.ports())
    assert not cluster_folder("other").exists()


def test_a_killed_start_leaves_nothing_that_down_does_not_find(hadoop: None) -> None:
    folder = cluster_folder("killed")
    command = [sys.executable, "-c", "from heddle.cli.main import main; main()"]
    command += ["yarn", "up", "--name", "killed", "--nodes", "1", "--port", str(free_port())]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as starting:
        while not any(process.role == "nodemanager-0" for process in processes_of(folder)):
            assert starting.poll() is None
            time.sleep(0.05)
        starting.send_signal(signal.SIGKILL)
    assert processes_of(folder)
    assert run(["yarn", "status", "--name", "killed"]) == 1
    assert run(["yarn", "down", "--name", "killed"]) == 0
    assert processes_of(folder) == []
    assert not folder.exists()


def test_down_ends_what_a_killed_nodemanager_left(cluster: LocalCluster) -> None:
    """A container carries the cluster's mark, so it is found without its NodeManager."""
    mark = {"HEDDLE_YARN_CLUSTER": str(cluster_folder("gone"))}
    with subprocess.Popen(["sleep", "600"], env={**os.environ, **mark}) as orphan:
        assert run(["yarn", "down", "--name", "gone"]) == 0
        assert orphan.wait(60) == -signal.SIGTERM
