"""What the client and the reading of snapshots make of answers that are odd, and of answers that are wrong."""

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.polling import take_snapshot
from heddle.yarn.live.rm_answers import read_containers, read_nodes, read_queues
from heddle.yarn.live.things_seen import Ask
from heddle.yarn.live.wire import YarnError

from .fake_rm import FakeRm


def test_an_empty_cluster(client: RmClient) -> None:
    snapshot = take_snapshot(client, 0)
    assert (snapshot.nodes, snapshot.apps, snapshot.containers) == ({}, {}, {})


def test_requests_are_counted_once_and_not_per_place(rm: FakeRm, client: RmClient) -> None:
    app = rm.add_app()
    app.asks = [(20, 1024, 1, 7), (10, 2048, 2, 0)]
    assert take_snapshot(client, 0).apps[app.id].asks == (Ask(20, (1024, 1000), 7),)


@pytest.mark.parametrize("containers", [1, 2])
def test_containers_are_found_without_attempt_ids_too(containers: int, rm: FakeRm, client: RmClient) -> None:
    rm.gives_attempt_ids = False
    rm.add_node("a:1", 8192, 8)
    app = rm.add_app()
    rm.start_am(app, "a:1", 512, 1)
    if containers == 2:
        rm.allocate(app, "a:1", 1024, 2)
    seen = take_snapshot(client, 0).containers
    assert [(c.size, c.is_am) for c in seen.values()] == [((512, 1000), True), ((1024, 2000), False)][:containers]


def test_containers_with_a_root_element_and_finished_ones(rm: FakeRm, client: RmClient) -> None:
    rm.add_node("a:1", 8192, 8)
    app = rm.add_app()
    rm.start_am(app, "a:1", 512, 1)
    rm.allocate(app, "a:1", 1024, 2)
    seen = take_snapshot(client, 0)
    path = f"/ws/v1/cluster/apps/{app.id}/appattempts/{app.attempt_id}/containers"
    answer = json.loads(rm.get(path, {})[1])
    answer["container"][1]["containerState"] = "COMPLETE"
    found = read_containers({"containers": answer}, seen.apps[app.id], "here")
    assert list(found) == list(seen.containers)[:1]


def test_a_node_without_totals_or_utilisation(rm: FakeRm, client: RmClient) -> None:
    """Hadoop before 3.1, and a node that has not reported yet."""
    rm.add_node("a:1", 8192, 8)
    row = client.nodes()["nodes"]["node"][0]
    del row["totalResource"], row["resourceUtilization"]
    node = read_nodes({"nodes": {"node": [row]}}, "here")["a:1"]
    assert node.total == (8192, 8000)
    assert node.used_memory_mb == 0


def test_another_scheduler_has_only_a_root() -> None:
    fair = {"scheduler": {"schedulerInfo": {"type": "fairScheduler", "rootQueue": {}}}}
    assert [queue.name for queue in read_queues(fair, "here")] == ["root"]


@pytest.mark.parametrize(
    ("path", "status", "text", "message"),
    [
        ("/nodes", 200, "<html>login</html>", r"/ws/v1/cluster/nodes: HTTP 200: not JSON: '<html>login"),
        ("/nodes", 200, "[]", "not a JSON object"),
        ("/nodes", 200, '{"nodes": {"node": [{"id": "a:1"}]}}', "nodes: field '[a-zA-Z]+' is missing"),
        ("/nodes", 200, '{"nodes": "none"}', "nodes: the answer cannot be read"),
        ("/nodes", 403, "who are you", "HTTP 403: who are you"),
        (
            "/apps",
            200,
            '{"apps": {"app": [{"id": "application_1_1", "queue": "q", "user": "u"}]}}',
            "apps: field 'state' is missing",
        ),
        ("/scheduler", 200, '{"scheduler": {"schedulerInfo": {"type": "capacityScheduler"}}}', "field 'queueName'"),
        ("/scheduler", 500, "", "HTTP 500: no explanation"),
    ],
)
def test_malformed_answers(path: str, status: int, text: str, message: str, rm: FakeRm, client: RmClient) -> None:
    rm.instead[path] = (status, text)
    with pytest.raises(YarnError, match=message):
        take_snapshot(client, 0)


def test_a_resize_that_is_answered_with_nonsense(rm: FakeRm, client: RmClient) -> None:
    rm.add_node("a:1", 8192, 8)
    rm.instead["/nodes/a:1/resource"] = (200, '{"resourceInfo": {}}')
    with pytest.raises(YarnError, match="/nodes/a:1/resource: no size") as caught:
        client.resize_node("a:1", 4096, 4)
    assert caught.value.url.startswith(rm.address)


def test_the_user_is_named(rm: FakeRm) -> None:
    rm.instead["/nodes"] = (403, "no")
    with (
        RmClient(rm.address, user="ann b") as client,
        pytest.raises(YarnError, match=r"/nodes\?user.name=ann\+b") as caught,
    ):
        client.nodes()
    assert caught.value.status == 403


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with RmClient(f"127.0.0.1:{port}") as client, pytest.raises(YarnError, match="cannot be reached") as caught:
        client.nodes()
    assert caught.value.status is None


def test_no_answer_in_time() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        RmClient(f"127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.05) as client,
        pytest.raises(YarnError, match="timed out"),
    ):
        client.nodes()


def test_an_address_that_is_none() -> None:
    with pytest.raises(YarnError, match="not the http"):
        RmClient("ftp://somewhere")


@pytest.mark.parametrize("address", ["bad host:8042", "http://a\x01b:8088"])
def test_a_host_that_cannot_be_one_is_refused(address: str) -> None:
    with pytest.raises(YarnError, match="not the address of a ResourceManager"):
        RmClient(address)


@pytest.mark.parametrize("address", ["http://rm:80x", "rm:99999", "http://[::1", "http://rm..example:8088"])
def test_an_address_that_cannot_be_one_is_refused_and_tells_no_password(address: str) -> None:
    with pytest.raises(YarnError, match="not the address of a ResourceManager"):
        RmClient(address)
    with pytest.raises(YarnError, match="not the address of a ResourceManager") as caught:
        RmClient(f"http://me:secret@{address.removeprefix('http://')}")
    assert "secret" not in str(caught.value)


def test_a_restarted_rm_is_reached_again(rm: FakeRm, client: RmClient) -> None:
    """The kept connection is dead; the call is made once more on a new one."""
    client.nodes()
    client._wire._all[0].connection._http.sock.shutdown(socket.SHUT_RDWR)
    assert client.nodes() == {"nodes": {}}


def test_of_two_the_active_one_is_asked(rm: FakeRm) -> None:
    """A standby redirects; a redirect is not followed, the other address is tried, and kept."""
    with FakeRm() as standby:
        standby.instead["/nodes"] = (307, "This is standby RM. The redirect url is: http://elsewhere/")
        rm.add_node("a:1", 8192, 8)
        for given in (f"{standby.address},{rm.address}", f"{rm.address}, {standby.address}"):
            with RmClient(given) as client:
                for _ in range(2):
                    assert list(read_nodes(client.nodes(), "")) == ["a:1"]
                assert client.address == ",".join(sorted((rm.address, standby.address)))


def test_failover_when_the_active_one_dies(rm: FakeRm) -> None:
    with FakeRm() as other, RmClient(f"{other.address},{rm.address}") as client:
        rm.instead["/nodes"] = (200, "This is standby RM. The redirect url is: /")
        other.add_node("a:1", 8192, 8)
        assert list(read_nodes(client.nodes(), "")) == ["a:1"]
        other.instead["/nodes"] = (307, "")  # it has become the standby
        del rm.instead["/nodes"]
        rm.add_node("b:1", 8192, 8)
        assert list(read_nodes(client.nodes(), "")) == ["b:1"]


def test_no_active_one(rm: FakeRm) -> None:
    rm.instead["/nodes"] = (307, "This is standby RM.")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with (
        RmClient(f"{rm.address},{nobody}", timeout_s=60) as client,
        pytest.raises(YarnError, match="none of them answers as the active one") as caught,
    ):
        client.nodes()
    assert caught.value.status is None


def test_a_refusal_is_no_reason_to_ask_another(rm: FakeRm) -> None:
    rm.instead["/nodes"] = (403, "not you")
    with FakeRm() as other:
        first, second = sorted((rm, other), key=lambda one: one.address)
        first.instead["/nodes"] = (403, "not you")
        second.instead.pop("/nodes", None)
        with RmClient(f"{rm.address},{other.address}") as client, pytest.raises(YarnError, match="HTTP 403: not you"):
            client.nodes()


def test_kerberos_without_the_extra_says_what_to_install(
    rm: FakeRm, client: RmClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gssapi", None)
    rm.challenge = "Negotiate"
    rm.instead["/nodes"] = (401, "Authentication required")
    with pytest.raises(YarnError, match=r"HTTP 401: it requires Kerberos.*pip install 'gssapi>=1.8'"):
        client.nodes()


def test_tls_with_a_certificate_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate that nobody vouches for is refused, with the way out; with SSL_CERT_FILE it is trusted."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl to make a certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    with FakeRm(tls=(certificate, key)) as rm:
        rm.add_node("a:1", 8192, 8)
        assert rm.address.startswith("https://")
        with RmClient(rm.address, timeout_s=60) as client, pytest.raises(YarnError, match="SSL_CERT_FILE"):
            client.nodes()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with RmClient(rm.address, timeout_s=60) as client:
            assert list(read_nodes(client.nodes(), "")) == ["a:1"]
