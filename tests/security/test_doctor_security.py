"""`heddle doctor --security` finds what is open on this machine."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.schemas import valid
from heddle.cli.main import run
from heddle.yarn.live.private_folders import private_folder, state_folder


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("KRB5CCNAME", "KEYRING:none")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    monkeypatch.chdir(tmp_path)


def looked(capsys: pytest.CaptureFixture[str], code: int = 0) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert run(["doctor", "--security", "--json"]) == code
    found: list[dict[str, Any]] = valid("doctor", json.loads(capsys.readouterr().out))["findings"]
    return found


def states(findings: list[dict[str, Any]], what: str) -> list[str]:
    return [one["state"] for one in findings if one["what"] == what]


def test_a_machine_as_heddle_leaves_it_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    private_folder("steer", "rm")
    found = looked(capsys)
    assert states(found, "state") == states(found, "cache") == states(found, "TLS") == ["ok"]
    assert run(["doctor", "--security"]) == 0


def test_folders_and_secrets_that_others_can_read(capsys: pytest.CaptureFixture[str]) -> None:
    secret = private_folder("clusters", "local") / "secret"
    secret.write_text("x")
    secret.chmod(0o644)
    assert states(looked(capsys, 1), "secret") == ["wrong"]
    secret.chmod(0o600)
    assert states(looked(capsys), "secret") == ["ok"]
    state_folder().chmod(0o755)
    assert states(looked(capsys, 1), "state") == ["wrong"]


def test_what_the_settings_of_this_folder_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lever = tmp_path / "mine.py"
    lever.write_text("")
    lever.chmod(0o666)
    steer = '[yarn.steer]\nrm = "http://rm:8088"\nmetrics-host = "0.0.0.0"\npolicy = "mine.py:greedy+fifo"\n'
    steer += '[yarn.dashboard]\nhost = "0.0.0.0"\n'
    (tmp_path / "heddle.toml").write_text(steer)
    found = looked(capsys, 1)
    assert states(found, "metrics") == states(found, "ResourceManager") == states(found, "dashboard") == ["weak"]
    assert states(found, "lever") == ["wrong"]
    lever.chmod(0o644)
    assert states(looked(capsys), "lever") == ["ok"]
    (tmp_path / "heddle.toml").chmod(0o666)
    assert run(["doctor", "--security"]) == 2  # as every command


def test_whom_tls_trusts(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    assert states(looked(capsys, 1), "SSL_CERT_FILE") == ["wrong"]
    (tmp_path / "authority.pem").touch(0o666)
    (tmp_path / "authority.pem").chmod(0o666)
    assert states(looked(capsys, 1), "SSL_CERT_FILE") == ["wrong"]
    (tmp_path / "authority.pem").chmod(0o644)
    assert states(looked(capsys), "SSL_CERT_FILE") == ["ok"]


RM = "http://far.example:8088"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (
            ["heddle", "yarn", "steer", "--rm", RM, "--metrics-port", "1", "--metrics-host=::"],
            {("metrics", "weak"), ("ResourceManager", "weak")},
        ),
        (
            ["/usr/bin/heddle", "yarn", "steer", "--dashboard", "--metrics-port=1"],
            {("dashboard", "ok"), ("metrics", "ok")},
        ),
        (
            ["heddle", "yarn", "dashboard", "--rm", "https://far.example", "--host", "0.0.0.0"],
            {("dashboard", "weak"), ("ResourceManager", "ok")},
        ),
        (["heddle", "yarn", "observe", "seen", f"--rm={RM}"], {("ResourceManager", "weak")}),
        (["heddle", "yarn", "twin", "--rm", RM], {("ResourceManager", "weak")}),
        (["heddle", "sweep", "run", "sweep.yaml", "--on", "dask:2"], {("Dask", "weak")}),
        (["org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"], {("local cluster", "weak")}),
        (["vi", "heddle.txt", "--rm", RM], set()),
    ],
    ids=lambda words: "-".join(words[:3]) if isinstance(words, list) else "",
)
def test_commands_that_run(words: list[str], found: set[tuple[str, str]], capsys: pytest.CaptureFixture[str]) -> None:
    if not Path("/proc").is_dir():
        pytest.skip("running commands are found in /proc")
    wait = "import sys; print(flush=True); sys.stdin.read()"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", wait, *words], stdin=pipe, stdout=pipe) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdout.readline()
        mine = [one for one in looked(capsys) if f"process {running.pid}:" in one["detail"]]
        running.stdin.close()
    assert {(one["what"], one["state"]) for one in mine} == found
