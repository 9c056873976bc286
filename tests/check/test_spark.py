"""Spark applications of the past: from a folder of event logs, and from a history server that gives them away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from heddle.cli.main import run
from yarn_live.fake_rm import FakeRm

from .fake_past import add_past
from .fake_spark import FakeSparkHistory, event_log, zipped
from .test_check import Capture, document


@pytest.fixture
def rm() -> Iterator[FakeRm]:
    with FakeRm() as fake:
        for number in range(4):
            fake.add_node(f"n{number}:1", 16384, 16)
        yield fake


def test_a_history_server_and_a_folder_tell_the_same(rm: FakeRm, capsys: Capture, tmp_path: Path) -> None:
    apps = add_past(rm, 12, minutes=60)
    logs = {app.id: event_log(app) for app in apps[2:]}
    for name, text in logs.items():
        (tmp_path / name).write_text(text)
    with FakeSparkHistory({name: zipped({"../../outside": text}) for name, text in logs.items()}) as server:
        served = document(capsys, rm.address, "--spark-history", server.address, code=1)
    read = document(capsys, rm.address, "--spark-history", str(tmp_path), code=1)
    for told in (served, read):
        assert (told["jobs"]["spark"], told["jobs"]["spark_read"]) == (12, 10)
        assert told["jobs"]["known"]["in detail"] == 10
        assert "the event logs of 10 Spark applications" in told["use"]["from"]
    assert served["policies"]["summary"] == read["policies"]["summary"]
    assert not (tmp_path.parent / "outside").exists()
    assert run(["check", rm.address, "--spark-history", str(tmp_path / "nowhere")]) == 2
    assert "is neither a folder nor an http address" in capsys.readouterr().err


def test_one_spark_application(rm: FakeRm, capsys: Capture) -> None:
    (app,) = add_past(rm, 1, minutes=10)
    with FakeSparkHistory({app.id: zipped({"log": event_log(app, longest_ms=60_000)})}) as server:
        told = document(capsys, rm.address, "--application", app.id, "--spark-history", server.address)
    found = {one["key"]: one for one in told["findings"]}
    assert found.keys() == {"stage-skew", "too-many-executors", "executor-memory"}
    assert "12.0 times the median" in found["stage-skew"]["says"]
    assert "Its 4 executors were busy" in found["too-many-executors"]["says"]
    assert told["read"] == ["based on its event log"]
