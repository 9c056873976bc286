"""The bridge with two ResourceManagers: no leaf is switched before both have it, and nothing of it fails over."""

from __future__ import annotations

import getpass
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from heddle.cli.main import run
from heddle.yarn.live.bridge.endpoint import PATH, BridgeEndpoint, read_secret
from heddle.yarn.live.bridge.leaves import bridged_leaves
from heddle.yarn.live.bridge.table import Table
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.wire import YarnError
from heddle.yarn.testbed.bridge.jar import bridge_jar
from heddle.yarn.testbed.bridge.settings import JAR_NAME, SECRET_NAME, lay_out, rm_settings
from heddle.yarn.testbed.local.cluster import LocalCluster
from heddle.yarn.testbed.local.layout import Layout
from heddle.yarn.testbed.replay.master_jar import master_jar
from heddle.yarn.testbed.replay.submit import Submitter
from yarn_steering.watching import wait_for

from .conftest import NODE_MB, NODE_VCORES, free_port
from .live import PATIENT_S, STARTS_S, application, over_reserved, pid_of, totals
from .own_daemons import activate, configured, set_in, start_rm, two_rms

LEAF = "root.default"
EMPTY = Table("key", (), {}, (LEAF,))


@pytest.fixture
def two(hadoop: None) -> Iterator[tuple[LocalCluster, dict[str, str]]]:
    """Configured, not started; and where each ResourceManager will be."""
    layout = Layout(nodes=1, node_memory_mb=NODE_MB, node_vcores=NODE_VCORES, port=free_port(60))
    settings, addresses = two_rms(layout)
    with configured("two-bridged", layout, {"yarn-site.xml": settings}) as cluster:
        lay_out(cluster.bridge, bridge_jar(layout.hadoop))
        yield cluster, addresses


def start(cluster: LocalCluster, rm: str, *, bridged: bool) -> None:
    conf = cluster.folder / f"own-{rm}"
    conf.mkdir(exist_ok=True)
    for file in cluster.conf.iterdir():
        (conf / file.name).write_bytes(file.read_bytes())
    set_in(
        conf / "yarn-site.xml", {"yarn.resourcemanager.ha.id": rm, **(rm_settings(cluster.bridge) if bridged else {})}
    )
    start_rm(cluster, rm, conf, jars=f"{cluster.bridge / JAR_NAME}:" if bridged else "")


def kill(cluster: LocalCluster, rm: str) -> None:
    os.kill(pid_of(cluster, rm), signal.SIGKILL)
    wait_for(lambda: rm not in {process.role for process in cluster.processes()}, PATIENT_S)


def answers(address: str) -> bool:
    try:
        with RmClient(address, timeout_s=5, user=getpass.getuser()) as client:
            client.get("/ws/v1/cluster/info")
    except YarnError:
        return False
    return True


def test_failover(two: tuple[LocalCluster, dict[str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster, addresses = two
    both = ",".join(addresses.values())
    start(cluster, "rm1", bridged=True)
    start(cluster, "rm2", bridged=False)
    cluster.start_daemon("nodemanager-0")
    wait_for(lambda: activate(cluster, "rm1") and answers(addresses["rm2"]), STARTS_S)
    install = ["yarn", "bridge", "install", "--leaf", LEAF, "--rm", both]
    with RmClient(both, timeout_s=PATIENT_S, user=getpass.getuser()) as rm:
        wait_for(lambda: len(totals(rm)) == 1, STARTS_S)
        assert run(install) == 2  # the standby could not take over with a leaf that it does not know
        assert f"{addresses['rm2']} does not have the bridge" in capsys.readouterr().err
        assert bridged_leaves(rm.scheduler(), "") == frozenset()
        kill(cluster, "rm2")
        start(cluster, "rm2", bridged=True)
        wait_for(lambda: answers(addresses["rm2"]), STARTS_S)
        assert run(install) == 0
        assert bridged_leaves(rm.scheduler(), "") == {LEAF}

        endpoint = BridgeEndpoint(rm, read_secret(cluster.bridge / SECRET_NAME))
        version = endpoint.put(EMPTY, 60_000)
        replayed = EMPTY.text(version + 1, 60_000)
        signed = endpoint.signed("PUT", "", version + 1, replayed)
        job = Submitter(rm, tmp_path / "staging", master_jar(cluster.layout.hadoop)).submit(over_reserved(5), 0)
        wait_for(lambda: application(rm, job)["state"] == "RUNNING", STARTS_S)
        with RmClient(addresses["rm2"], timeout_s=PATIENT_S, user=getpass.getuser()) as standby:
            with pytest.raises(YarnError) as refused:
                standby.send("PUT", PATH, replayed, signed)
            assert refused.value.status == 503
        kill(cluster, "rm1")
        wait_for(lambda: activate(cluster, "rm2"), STARTS_S)
        wait_for(lambda: len(totals(rm)) == 1, STARTS_S)

        with pytest.raises(YarnError) as refused:  # signed for the one that is dead, and never seen by this one
            rm.send("PUT", PATH, replayed, signed)
        assert refused.value.status == 403
        state = endpoint.state()
        assert state is not None
        assert (state.table, state.last_version) == (None, 0)
        assert endpoint.put(EMPTY, 60_000) > 0
        wait_for(lambda: application(rm, job)["state"] == "FINISHED", STARTS_S)
        assert application(rm, job)["finalStatus"] == "SUCCEEDED"
