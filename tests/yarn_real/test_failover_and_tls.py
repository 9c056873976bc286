"""A live controller against two ResourceManagers of which one is active, and against one that speaks TLS only."""

import getpass
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from heddle.cli.main import run
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.steering.desk import desk_of
from heddle.yarn.testbed.local.layout import HOST, Layout
from heddle.yarn.testbed.replay.master_jar import master_jar
from heddle.yarn.testbed.replay.submit import Submitter
from yarn_steering.watching import wait_for

from .conftest import NODE_MB, NODE_VCORES, free_port
from .live import (
    HEDDLE,
    PATIENT_S,
    STARTS_S,
    WITHIN_S,
    application,
    as_found,
    containers_of,
    has_nodes,
    over_reserved,
    pid_of,
    steering,
    totals,
)
from .own_daemons import SECRET, activate, configured, self_signed, set_in, start_rm, two_rms

pytestmark = pytest.mark.long
ONE_NODE = {"nodes": 1, "node_memory_mb": NODE_MB, "node_vcores": NODE_VCORES}


def test_a_failover_with_changes_in_force(hadoop: None, tmp_path: Path) -> None:
    """The active one dies, the other takes over: it is steered there, and everything is put back there."""
    layout = Layout(**ONE_NODE, port=free_port(60))
    settings, addresses = two_rms(layout)
    both, decisions = ",".join(addresses.values()), tmp_path / "decisions.jsonl"
    with configured("two-rms", layout, {"yarn-site.xml": settings}) as cluster:
        for rm in addresses:
            conf = cluster.folder / f"own-{rm}"
            conf.mkdir()
            for file in cluster.conf.iterdir():
                (conf / file.name).write_bytes(file.read_bytes())
            set_in(conf / "yarn-site.xml", {"yarn.resourcemanager.ha.id": rm})
            start_rm(cluster, rm, conf)
        cluster.start_daemon("nodemanager-0")
        wait_for(lambda: activate(cluster, "rm1"), STARTS_S)
        with RmClient(both, timeout_s=PATIENT_S, user=getpass.getuser()) as rm:
            wait_for(lambda: has_nodes(rm, 1), STARTS_S)
            job = Submitter(rm, tmp_path / "staging", master_jar(layout.hadoop)).submit(over_reserved(600), 0)
            with steering(both, decisions) as controller:
                wait_for(lambda: len(containers_of(rm, job)) == 8, STARTS_S)
                wait_for(lambda: application(rm, job)["state"] == "RUNNING", STARTS_S)
                time.sleep(10)  # what was promised and has not begun is not recovered
                wait_for(lambda: len(containers_of(rm, job)) == 8, STARTS_S)  # surplus ones are gone (test_steer.py)
                before = containers_of(rm, job)
                os.kill(pid_of(cluster, "rm1"), signal.SIGKILL)
                wait_for(lambda: activate(cluster, "rm2"), STARTS_S)
                wait_for(lambda: has_nodes(rm, 1) and before <= containers_of(rm, job), STARTS_S)
                steps = decisions.read_text().count("\n")
                wait_for(lambda: decisions.read_text().count("\n") > steps + 1, STARTS_S)
                wait_for(lambda: min(totals(rm).values()) > NODE_MB, STARTS_S)
                controller.send_signal(signal.SIGINT)
                assert controller.wait(STARTS_S) == 0
            assert as_found(rm)
            assert desk_of(rm.address).load() is None
            assert application(rm, job)["state"] == "RUNNING"
            assert before <= containers_of(rm, job)


def test_tls(hadoop: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Controller and watchdog both go over TLS, and trust whom SSL_CERT_FILE names and nobody else."""
    store, certificate = self_signed(tmp_path)
    layout = Layout(**ONE_NODE, port=free_port())
    address = f"https://{HOST}:{layout.port}"
    decisions = tmp_path / "decisions.jsonl"
    site = {
        "yarn.http.policy": "HTTPS_ONLY",
        "yarn.resourcemanager.webapp.https.address": f"{HOST}:{layout.port}",
        "yarn.nodemanager.webapp.https.address": f"{HOST}:{layout.node_port(0, 'web')}",
    }
    keys = {"location": str(store), "password": SECRET, "keypassword": SECRET, "type": "pkcs12"}
    server = {f"ssl.server.keystore.{key}": value for key, value in keys.items()}
    settings = {"yarn-site.xml": site, "ssl-server.xml": server}
    with configured("tls", layout, settings) as cluster:
        cluster.start_daemon("resourcemanager")
        cluster.start_daemon("nodemanager-0")
        look = [*HEDDLE, "yarn", "steer", "--rm", address, "--for", "1"]
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with RmClient(address, timeout_s=PATIENT_S, user=getpass.getuser()) as rm:
            wait_for(lambda: has_nodes(rm, 1), STARTS_S)
            before = rm.scheduler_settings()
            with steering(address, decisions, "max-running(jobs=1)") as controller:
                wait_for(lambda: rm.scheduler_settings() != before, STARTS_S)
                controller.kill()
                wait_for(lambda: rm.scheduler_settings() == before, WITHIN_S)
            assert desk_of(address).load() is None
            # NodeManagers are asked over TLS too.
            (node,) = totals(rm)
            rm.resize_node(node, NODE_MB + 512, NODE_VCORES)
            wait_for(lambda: not as_found(rm), PATIENT_S)
            strange = subprocess.run(
                [*look, "--mode", "live"], capture_output=True, text=True, check=False, timeout=120
            )
            assert strange.returncode == 2
            assert "NodeManagers were configured with" in strange.stderr
            assert run(["yarn", "restore", "--rm", address, "--from-nodes"]) == 0
            assert as_found(rm)
        assert SECRET not in decisions.read_text()
        monkeypatch.delenv("SSL_CERT_FILE")
        refused = subprocess.run(look, capture_output=True, text=True, check=False, timeout=120)
        assert refused.returncode == 2
        assert "SSL_CERT_FILE" in refused.stderr
