"""A record that is written while the run goes on: the same bytes as one written afterwards, and what a kill leaves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from heddle.analysis.measures.metrics import run_metrics
from heddle.analysis.waiting.explain import explain
from heddle.analysis.waste.ledger import waste_ledger
from heddle.cli.main import run as command
from heddle.model.errors import BadInput, CheckFailed
from heddle.model.workload import INNER
from heddle.record import parts
from heddle.record.files import read_record, write_record
from heddle.record.run import Run
from heddle.record.schema import run_problems
from heddle.record.writing import RecordFolder
from heddle.run import Executor, simulate
from heddle.traces.catalogue import make_workload, suggested_cluster

MIX = "mix(jobs=12)"
RUNS: tuple[tuple[str, str, Executor], ...] = (
    (MIX, "capacity", "native"),
    (MIX, "fair+usage-feedback", "native"),
    ("am-storm", "fifo", "native"),  # stalls: attempts without an end
    ("network-dags", "fifo+network-aware", "native"),
    (MIX, "capacity+usage-feedback+admission-control", "yarn-knobs"),
)
KILLED = """
import os, signal, sys
from pathlib import Path
from heddle.record import parts
from heddle.record.writing import RecordFolder
from heddle.run import simulate
from heddle.traces.catalogue import make_workload, suggested_cluster
parts.PART_ROWS = 64
add_part = RecordFolder.add_part
def add(self, table, frame):
    if (table, self._parts.get(table)) == ("attempts", 5):
        (self.place / "attempts-00005.parquet").write_bytes(b"PAR1 half a par")
        os.kill(os.getpid(), signal.SIGKILL)
    add_part(self, table, frame)
RecordFolder.add_part = add
simulate(make_workload(sys.argv[1], 1), suggested_cluster("mix"), "fair", seed=1, record=Path(sys.argv[2]))
"""


def made(workload: str, policy: str, executor: Executor = "native", **options: Any) -> Run:
    return simulate(
        make_workload(workload, 1), suggested_cluster(workload), policy, seed=1, executor=executor, **options
    )


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART_ROWS", 64)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the record of a killed run was to be."""
    place = tmp_path_factory.mktemp("killed") / "record"
    done = subprocess.run([sys.executable, "-c", KILLED, MIX, str(place)], capture_output=True, check=False)
    assert done.returncode == -9, done.stderr.decode()
    return place


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(("workload", "policy", "executor"), RUNS)
@pytest.mark.parametrize("check", [False, True])
def test_a_streamed_record_has_the_bytes_of_one_written_afterwards(
    tmp_path: Path, workload: str, policy: str, executor: Executor, check: bool
) -> None:
    kept = made(workload, policy, executor, record=True)
    write_record(kept, tmp_path / "afterwards")
    streamed = made(workload, policy, executor, record=tmp_path / "streamed", check=check)
    assert content(tmp_path / "streamed") == content(tmp_path / "afterwards")
    assert len(content(tmp_path / "streamed")) > 6
    assert sorted(path.name for path in tmp_path.iterdir()) == ["afterwards", "streamed"]
    timing = ("wall_s", "simulate_s", "compile_s", "peak_rss_mb", "tasks_per_s")
    metrics, wanted = ({k: v for k, v in run_metrics(run).items() if k not in timing} for run in (streamed, kept))
    assert metrics == wanted
    back = read_record(tmp_path / "streamed")
    assert back.manifest == streamed.manifest
    for name, frame in kept.tables().items():
        assert frame.equals(back.tables()[name]), name
        assert frame.equals(streamed.tables()[name]), name
    assert run_problems(streamed) == []


def test_attempts_stand_in_the_order_of_their_ends() -> None:
    ended = made("am-storm", "fifo", record=True).attempts["ended_at_ms"]
    over = ended.drop_nulls()
    assert over.is_sorted()
    assert ended.head(over.len()).null_count() == 0


def test_a_run_that_fails_its_check_leaves_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heddle.run_check.Watch.broken", lambda *_, **__: ["a rule"])
    with pytest.raises(CheckFailed):
        made(MIX, "fifo", record=tmp_path / "record", check=True)
    assert not any(tmp_path.iterdir())


def test_a_full_disk_ends_the_run_and_leaves_the_old_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made("burst(jobs=3)", "fifo", record=tmp_path / "record")
    before = content(tmp_path / "record")
    add_part = RecordFolder.add_part

    def full(self: RecordFolder, table: str, frame: pl.DataFrame) -> None:
        if table == "attempts":
            raise OSError(28, "No space left on device")
        add_part(self, table, frame)

    monkeypatch.setattr(RecordFolder, "add_part", full)
    with pytest.raises(BadInput, match="cannot write the record: No space left"):
        made(MIX, "fifo", record=tmp_path / "record")
    assert content(tmp_path / "record") == before
    assert [path.name for path in tmp_path.iterdir()] == ["record"]


def test_of_a_killed_run_everything_is_known_up_to_an_instant(killed: Path) -> None:
    assert not killed.exists()
    partial, whole = read_record(killed.with_name("record.partial")), made(MIX, "fair", record=True)
    assert run_problems(partial) == []
    assert partial.manifest["outcome"] == "partial"
    events, ended = partial.events, whole.events
    assert events is not None
    assert ended is not None
    until = max(partial.attempts["ended_at_ms"].max(), events["at_ms"].max())  # type: ignore[type-var]
    assert 0 < partial.attempts.height <= 5 * 64
    assert partial.attempts.equals(whole.attempts.filter(pl.col("ended_at_ms") <= until))
    assert events.equals(ended.filter(pl.col("at_ms") <= until))
    same = ["job", "name", "queue", "user", "submit_at_ms", "tasks", "alone_ms"]
    assert partial.jobs.select(same).equals(whole.jobs.select(same))
    over = partial.jobs.filter(pl.col("outcome") != "unfinished")
    assert 0 < over.height < whole.jobs.height
    assert over.equals(whole.jobs.filter(pl.col("ended_at_ms") <= until))
    containers = partial.attempts.filter(pl.col("kind") != INNER)
    assert partial.manifest["totals"]["allocations"] == containers.height


def test_a_partial_record_can_be_analysed_and_says_what_it_is(killed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left = killed.with_name("record.partial")
    run = read_record(left)
    ledger = waste_ledger(run)
    assert [sum(line.amounts[r] for line in ledger.lines) for r in range(2)] == list(ledger.total)
    assert explain(run, 0).spans
    assert run_metrics(run)["outcome"] == "partial"
    for words in (["ledger", str(left), "--json"], ["explain", str(left)], ["efficiency", str(left), "--by", "queue"]):
        assert command(words) == 0
        shown = capsys.readouterr()
        assert "record.partial is partial: the run was ended before it was over, and is known up to" in shown.err
        assert shown.out
    assert command(["ledger", str(killed)]) == 2
    assert "record.partial is what a run wrote that was killed" in capsys.readouterr().err


def test_a_part_that_is_not_as_it_was_written_ends_what_is_known(killed: Path, tmp_path: Path) -> None:
    left, copied = killed.with_name("record.partial"), tmp_path / "copied"
    copied.mkdir()
    for path in left.iterdir():
        (copied / path.name).write_bytes(path.read_bytes())
    (copied / "attempts-00003.parquet").write_bytes(b"")
    assert 0 < read_record(copied).attempts.height < read_record(left).attempts.height
    with (copied / "parts.jsonl").open("a") as journal:
        journal.write('{"file": "attempts-000')  # a line that was cut off
    assert read_record(copied).attempts.height > 0
    (copied / "attempts-00000.parquet").unlink()
    with pytest.raises(BadInput, match="before the first parts of both attempts and events"):
        read_record(copied)
    (copied / "stages-00000.parquet").unlink()
    with pytest.raises(BadInput, match=r"stages-00000\.parquet: is missing"):
        read_record(copied)
    lines = (left / "parts.jsonl").read_text().splitlines()
    (copied / "parts.jsonl").write_text("\n".join([json.dumps(json.loads(lines[0]) | {"format_version": 9}), ""]))
    with pytest.raises(BadInput, match="is format 9"):
        read_record(copied)


def test_the_next_run_to_the_same_place_replaces_what_was_left(killed: Path, tmp_path: Path) -> None:
    left = tmp_path / "record.partial"
    left.mkdir()
    for path in killed.with_name("record.partial").iterdir():
        (left / path.name).write_bytes(path.read_bytes())
    made("burst(jobs=3)", "fifo", record=tmp_path / "record")
    assert [path.name for path in tmp_path.iterdir()] == ["record"]
