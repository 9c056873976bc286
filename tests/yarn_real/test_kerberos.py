"""A ResourceManager that asks for Kerberos, with a real MIT KDC of this test's own, on this machine."""

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from heddle.cli.main import run
from heddle.yarn.live.bridge.endpoint import BridgeEndpoint, read_secret
from heddle.yarn.live.bridge.table import Table
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.steering.desk import desk_of
from heddle.yarn.live.wire import YarnError
from heddle.yarn.testbed.bridge.jar import bridge_jar
from heddle.yarn.testbed.bridge.settings import JAR_NAME, SECRET_NAME, lay_out, rm_settings
from heddle.yarn.testbed.local.cluster import RM
from heddle.yarn.testbed.local.layout import HOST, Layout
from yarn_steering.watching import wait_for

from .conftest import NODE_MB, NODE_VCORES, absent, free_port
from .live import PATIENT_S, STARTS_S, WITHIN_S, steering, totals
from .own_daemons import configured, set_in, start_rm

REALM, USER, SERVICE = "HEDDLE.TEST", "ann", "HTTP/localhost"
NO_ADMIN, RM_ITSELF = "bob", "rm/localhost"
PROGRAMS = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit", "kdestroy")


def program(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
    if found is None:
        absent(f"needs {name}: apt install krb5-kdc krb5-admin-server krb5-user")
    return found


@pytest.fixture
def kdc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A KDC with a user and the service of a web server; its folder holds krb5.conf and a key table of each."""
    if importlib.util.find_spec("gssapi") is None:
        absent('needs the extra: pip install -e ".[kerberos]"')
    tools = {name: program(name) for name in PROGRAMS}
    port = free_port(2)
    (tmp_path / "krb5.conf").write_text(
        f"[libdefaults]\n default_realm = {REALM}\n rdns = false\n dns_canonicalize_hostname = false\n"
        f" udp_preference_limit = 1\n[realms]\n {REALM} = {{\n  kdc = {HOST}:{port}\n }}\n"
        f"[domain_realm]\n localhost = {REALM}\n"
    )
    (tmp_path / "kdc.conf").write_text(
        f"[realms]\n {REALM} = {{\n  database_name = {tmp_path}/principals\n  key_stash_file = {tmp_path}/stash\n"
        f"  acl_file = {tmp_path}/acl\n  kdc_listen = {HOST}:{port}\n  kdc_tcp_listen = {HOST}:{port}\n }}\n"
    )
    monkeypatch.setenv("KRB5_CONFIG", str(tmp_path / "krb5.conf"))
    monkeypatch.setenv("KRB5_KDC_PROFILE", str(tmp_path / "kdc.conf"))
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path}/tickets")

    def run(*command: str) -> None:
        subprocess.run(command, check=True, capture_output=True, timeout=120)

    run(tools["kdb5_util"], "create", "-s", "-r", REALM, "-P", "of this test only")
    for name in (USER, NO_ADMIN, SERVICE, RM_ITSELF):
        run(tools["kadmin.local"], "-r", REALM, "-q", f"addprinc -randkey {name}")
        run(tools["kadmin.local"], "-r", REALM, "-q", f"ktadd -k {tmp_path}/{name.partition('/')[0]}.keytab {name}")
    with subprocess.Popen([tools["krb5kdc"], "-n", "-r", REALM], stderr=subprocess.DEVNULL) as daemon:
        try:
            wait_for(lambda: _listens(port), 30)
            yield tmp_path
        finally:
            daemon.send_signal(signal.SIGTERM)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def asks_for_kerberos(rm: RmClient) -> bool:
    try:
        rm.nodes()
    except YarnError as error:
        return error.status == 401
    return False


def web_settings(kdc: Path) -> dict[str, str]:
    """Of a web server that asks for Kerberos."""
    (kdc / "signature").write_text("of this test only")
    http = "hadoop.http.authentication"
    return {
        f"{http}.type": "kerberos",
        f"{http}.kerberos.principal": f"{SERVICE}@{REALM}",
        f"{http}.kerberos.keytab": str(kdc / "HTTP.keytab"),
        f"{http}.signature.secret.file": str(kdc / "signature"),
        f"{http}.simple.anonymous.allowed": "false",
    }


@contextmanager
def asking_for_kerberos(kdc: Path, name: str) -> Iterator[tuple[str, RmClient]]:
    """The address of a ResourceManager whose web port asks for Kerberos, with a NodeManager; and a client of it."""
    layout = Layout(nodes=1, node_memory_mb=NODE_MB, node_vcores=NODE_VCORES, port=free_port())
    address = f"http://localhost:{layout.port}"
    filters = {"hadoop.http.filter.initializers": "org.apache.hadoop.security.AuthenticationFilterInitializer"}
    with configured(name, layout, {}) as cluster, RmClient(address, timeout_s=PATIENT_S) as rm:
        set_in(cluster.conf / "core-site.xml", filters | web_settings(kdc))  # of the ResourceManager alone
        start_rm(cluster, "resourcemanager", cluster.conf, f"-Djava.security.krb5.conf={kdc}/krb5.conf")
        cluster.start_daemon("nodemanager-0")
        wait_for(lambda: asks_for_kerberos(rm), STARTS_S)
        yield address, rm


def get_ticket(kdc: Path, user: str = USER) -> None:
    subprocess.run([program("kinit"), "-k", "-t", str(kdc / f"{user}.keytab"), user], check=True, timeout=60)


def test_a_cluster_behind_kerberos_is_checked(hadoop: None, kdc: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a ticket one line, at once, that says how to get one; with one the check is as everywhere."""
    with asking_for_kerberos(kdc, "kerberos-check") as (address, rm):
        assert run(["check", address]) == 2
        (said,) = capsys.readouterr().err.splitlines()
        assert "HTTP 401: no Kerberos ticket for HTTP/localhost is available" in said
        assert "kinit" in said
        get_ticket(kdc)
        wait_for(lambda: len(totals(rm)) == 1, STARTS_S)
        assert run(["check", address, "--json"]) == 0
        answer = capsys.readouterr()
        told = json.loads(answer.out)
        assert told["cluster"]["nodes"] == 1
        assert told["cluster"]["policy"] == "capacity"
        assert told["verdict"].startswith("No application has finished here recently")
        for secret in ("Negotiate", "hadoop.auth"):
            assert secret not in answer.out + answer.err


@pytest.mark.long
def test_kerberos(hadoop: None, kdc: Path, tmp_path: Path) -> None:
    """Without a ticket it is said how to get one; with one, the controller and its watchdog are who the ticket says."""
    decisions = tmp_path / "decisions.jsonl"
    with asking_for_kerberos(kdc, "kerberos") as (address, rm):
        with pytest.raises(YarnError, match=r"HTTP 401: no Kerberos ticket for HTTP/localhost is available.*kinit"):
            rm.nodes()
        get_ticket(kdc)
        wait_for(lambda: len(totals(rm)) == 1, STARTS_S)
        before = rm.scheduler_settings()
        with steering(address, decisions, "max-running(jobs=1)") as controller:
            wait_for(lambda: rm.scheduler_settings() != before, STARTS_S)
            controller.kill()
            wait_for(lambda: rm.scheduler_settings() == before, WITHIN_S)
        assert desk_of(address).load() is None
        written = [decisions, *decisions.parent.glob("decisions.*"), *desk_of(address).folder.iterdir()]
        for file in written:
            text = file.read_text()
            assert "Negotiate" not in text
            assert "hadoop.auth" not in text


@pytest.mark.long
def test_the_bridge_of_a_secure_cluster_goes_by_tickets(hadoop: None, kdc: Path) -> None:
    """There YARN knows who asks: admins need no secret, others are refused, whatever they sign."""
    layout = Layout(nodes=1, node_memory_mb=NODE_MB, node_vcores=NODE_VCORES, port=free_port(), bridge=True)
    address = f"http://localhost:{layout.port}"
    secure = {
        "hadoop.security.authentication": "kerberos",
        "hadoop.security.authorization": "true",
        **web_settings(kdc),
    }
    of_rm = {
        "yarn.admin.acl": USER,
        "yarn.resourcemanager.principal": f"{RM_ITSELF}@{REALM}",
        "yarn.resourcemanager.keytab": str(kdc / "rm.keytab"),
    }
    with configured("kerberos-bridge", layout, {}) as cluster, RmClient(address, timeout_s=PATIENT_S) as rm:
        lay_out(cluster.bridge, bridge_jar(layout.hadoop))
        set_in(cluster.conf / "core-site.xml", secure)
        set_in(cluster.conf / "yarn-site.xml", of_rm | rm_settings(cluster.bridge))
        jar = f"{cluster.bridge / JAR_NAME}:"
        start_rm(cluster, RM, cluster.conf, f"-Djava.security.krb5.conf={kdc}/krb5.conf", jars=jar)
        wait_for(lambda: asks_for_kerberos(rm), STARTS_S)
        endpoint = BridgeEndpoint(rm)
        assert refused(endpoint.state) == 401
        get_ticket(kdc)
        wait_for(lambda: is_active(endpoint), STARTS_S)
        state = endpoint.state()
        assert state is not None
        assert not state.needs_secret
        version = endpoint.put(Table("key", (), {}, ("root.default",)), 60_000)
        assert endpoint.state().table == version  # type: ignore[union-attr]
        get_ticket(kdc, NO_ADMIN)
        with RmClient(address, timeout_s=PATIENT_S) as of_another:
            signing = BridgeEndpoint(of_another, read_secret(cluster.bridge / SECRET_NAME))
            assert refused(signing.state) == 403
            assert refused(lambda: signing.put(Table("key", (), {}, ("root.default",)), 60_000)) == 403
        assert endpoint.state().table == version  # type: ignore[union-attr]


def refused(doing: Callable[[], object]) -> int | None:
    with pytest.raises(YarnError) as caught:
        doing()
    return caught.value.status


def is_active(endpoint: BridgeEndpoint) -> bool:
    """The web server answers before the ResourceManager has become active."""
    try:
        state = endpoint.state()
    except YarnError:
        return False
    return state is not None and state.active
