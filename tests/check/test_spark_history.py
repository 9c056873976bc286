"""How a Spark history server is asked: as every other daemon is."""

from __future__ import annotations

import io
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from heddle.check import spark
from heddle.check.spark import spark_logs
from heddle.cli.main import run
from heddle.model.errors import BadInput
from heddle.traces.build import JobSpec
from heddle.yarn.live.pace import Pace
from yarn_live.fake_rm import FakeRm

from .fake_past import add_past
from .fake_spark import FakeSparkHistory, event_log, zipped

PASSWORD = "hunter2"


def _archives(count: int) -> dict[str, bytes]:
    with FakeRm() as rm:
        return {app.id: zipped({"log": event_log(app)}) for app in add_past(rm, count, minutes=10)}


def _unpacked_bytes(archive: bytes) -> int:
    return zipfile.ZipFile(io.BytesIO(archive)).infolist()[0].file_size


def _read(address: str, apps: dict[str, bytes]) -> tuple[dict[str, JobSpec], list[str]]:
    troubles: list[str] = []
    with spark_logs(address, "ann", Pace()) as logs:
        return logs.read(list(apps), troubles, lambda _: None), troubles


def test_a_redirect_is_not_followed() -> None:
    apps = _archives(3)
    with FakeSparkHistory(apps) as elsewhere, FakeSparkHistory({}) as server:
        server.instead = (302, {"Location": f"{elsewhere.address}/api/v1/applications/{next(iter(apps))}/logs"}, b"")
        found, troubles = _read(server.address, apps)
    assert not found
    assert troubles[0].endswith("HTTP 302: it redirects, which is not followed: give the address it leads to")
    assert elsewhere.asked == []
    assert len(server.asked) == 1


def test_behind_a_gateway_at_a_path() -> None:
    apps = _archives(2)
    with FakeSparkHistory(apps, root="/gateway/spark") as server:
        found, troubles = _read(f"{server.address}/gateway/spark/", apps)
    assert (found.keys(), troubles) == (apps.keys(), [])


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("http://spark.example", "http://spark.example:18080"),
        ("https://spark.example/x", "https://spark.example:18480"),
    ],
)
def test_the_port_of_a_history_server(given: str, asked: str) -> None:
    with spark_logs(given, "ann", Pace()) as logs:
        assert logs._client.address == asked  # type: ignore[attr-defined]


@pytest.mark.parametrize("address", ["http://[::1", "http://host:80x", "ftp://host", "http://", "http://ho\u2100st"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with (
        pytest.raises(BadInput, match=r"--spark-history: .* is no (http\(s\) )?address"),
        spark_logs(address, "", Pace()),
    ):
        pass


@pytest.mark.parametrize("option", ["--spark-history", "--history"])
@pytest.mark.parametrize(
    "address",
    [
        "http://me:{}@127.0.0.1:1",
        "http://me:{}@[::1",
        "http://me:{}@host:80x",
        "ftp://me:{}@host",
        "http://me:{}@ho\u2100st",
        "me:{}@host:1",
    ],
)
def test_an_address_with_a_password_is_refused_without_saying_it(
    option: str, address: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with FakeRm() as rm:
        rm.add_node("n0:1", 16384, 16)
        assert run(["check", rm.address, option, address.format(PASSWORD)]) == 2
    told = capfd.readouterr()
    assert told.err
    assert PASSWORD not in told.out + told.err


def test_with_kerberos(monkeypatch: pytest.MonkeyPatch) -> None:
    apps = _archives(2)
    monkeypatch.setattr("heddle.yarn.live.wire.proof_for", lambda host: f"Negotiate ticket-for-{host}")
    with FakeSparkHistory(apps) as server:
        server.wants = "Negotiate ticket-for-127.0.0.1"
        found, troubles = _read(server.address, apps)
    assert (found.keys(), troubles) == (apps.keys(), [])


def test_certificates_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl to make a certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    apps = _archives(1)
    with FakeSparkHistory(apps, tls=(certificate, key)) as server:
        found, troubles = _read(server.address, apps)
        assert not found
        assert "SSL_CERT_FILE" in troubles[0]
        assert server.asked == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        found, troubles = _read(server.address, apps)
    assert (found.keys(), troubles) == (apps.keys(), [])


def test_an_answer_without_end_is_not_read_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heddle.yarn.live.connection.MOST_BYTES", 1000)
    apps = _archives(1)
    with FakeSparkHistory(apps) as server:
        server.instead = (200, {}, bytes(2000))
        found, troubles = _read(server.address, apps)
    assert not found
    assert "an answer of more than" in troubles[0]


def test_what_a_server_does_not_have_is_no_trouble() -> None:
    apps = _archives(3)
    gone, *others = apps
    with FakeSparkHistory({app: apps[app] for app in others}) as server:
        found, troubles = _read(server.address, apps)
        assert (sorted(found), troubles) == (sorted(others), [])
        assert _read(server.address, {gone: b""}) == ({}, [])
        assert _read(server.address, {}) == ({}, [])


def test_an_unreadable_archive_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    apps = _archives(4)
    cut, damaged, *others = sorted(apps)
    endless = zipped({"log": '{"Event":"SparkListenerLogStart"' + " " * 5000})
    monkeypatch.setattr("heddle.traces.imports.source.LONGEST_LINE", 4000)
    with FakeSparkHistory(apps | {cut: apps[cut][:-30], damaged: endless}) as server:
        found, troubles = _read(server.address, apps)
    assert sorted(found) == others
    (trouble,) = troubles
    assert trouble.startswith(f"unreadable Spark event logs: 2; the first: the event log of {cut}: not a zip")


def test_all_logs_together_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    apps = _archives(4)
    with FakeSparkHistory(apps) as server:
        monkeypatch.setattr(spark, "MOST", max(map(_unpacked_bytes, apps.values())) * 5 // 2)
        found, troubles = _read(server.address, apps)
    assert len(found) == 2
    assert "unreadable Spark event logs: 2" in troubles[0]
