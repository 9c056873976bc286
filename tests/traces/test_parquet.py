"""heddle's Parquet: exact round trips, and files that are not what they should be."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings

from heddle.model.errors import BadInput
from heddle.model.workload import Workload
from heddle.traces import parquet
from heddle.traces.catalogue import make_workload
from heddle.traces.check import check_structure
from heddle.traces.identity import workload_hash
from heddle.traces.load import load_workload
from heddle.traces.parquet import read_parquet, write_parquet

from .random_workloads import workloads

FIXTURES = Path(__file__).parent / "fixtures"


def assert_equal(one: Workload, other: Workload) -> None:
    for field in dataclasses.fields(Workload):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype, field.name
            assert left.shape == right.shape, field.name
            assert (left == right).all(), field.name
        elif isinstance(left, pl.Series):
            assert left.name == right.name
            assert left.equals(right), field.name
        else:
            assert left == right, field.name


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(workload=workloads())
def test_round_trip_is_exact(workload: Workload, tmp_path: Path) -> None:
    assert check_structure(workload, "random").found == []
    write_parquet(workload, tmp_path / "w.parquet")
    back = read_parquet(tmp_path / "w.parquet")
    assert_equal(workload, back)
    assert workload_hash(workload) == workload_hash(back)


@pytest.mark.parametrize("rows_per_group", [1, 7, 1000])
def test_row_groups_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_per_group: int) -> None:
    monkeypatch.setattr(parquet, "_ROWS_PER_GROUP", rows_per_group)
    workload = make_workload("mix(jobs=9)", 1)
    write_parquet(workload, tmp_path / "w.parquet")
    assert_equal(workload, read_parquet(tmp_path / "w.parquet"))


def test_workload_without_names_and_with_equal_values(tmp_path: Path) -> None:
    workload = make_workload("bench(tasks=50)", 1)
    workload.tasks["duration_ms"] = 5
    workload.jobs["submit_at_ms"] = 5
    write_parquet(workload, tmp_path / "w.parquet")
    back = read_parquet(tmp_path / "w.parquet")
    assert_equal(workload, back)
    assert back.job_names is None


def test_same_workload_same_bytes(tmp_path: Path) -> None:
    for name in ("a.parquet", "b.parquet"):
        write_parquet(make_workload("mix", 5), tmp_path / name)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "b.parquet"]


def test_golden_file_of_version_1() -> None:
    golden = read_parquet(FIXTURES / "small.parquet")
    assert_equal(golden, load_workload(str(FIXTURES / "small.csv")))


def test_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "w.parquet"
    write_parquet(make_workload("burst(jobs=3)", 1), path)
    before = path.read_bytes()

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", fail)
    with pytest.raises(BadInput, match="No space left"):
        write_parquet(make_workload("burst(jobs=4)", 1), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_every_truncation_is_bad_input(tmp_path: Path) -> None:
    whole = (FIXTURES / "small.parquet").read_bytes()
    path = tmp_path / "w.parquet"
    for length in [0, 1, 4, 11, *range(12, len(whole), 97), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(BadInput, match="truncated or damaged"):
            read_parquet(path)


def test_flipped_bytes_never_go_unnoticed_as_a_traceback(tmp_path: Path) -> None:
    whole = bytearray((FIXTURES / "small.parquet").read_bytes())
    path = tmp_path / "w.parquet"
    refused = 0
    for place in range(4, len(whole), 31):
        damaged = whole.copy()
        damaged[place] ^= 0x55
        path.write_bytes(damaged)
        try:
            read_parquet(path)
        except BadInput:
            refused += 1
    assert refused > 20


def test_foreign_parquet(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "w.parquet")
    with pytest.raises(BadInput, match="not a heddle workload"):
        read_parquet(tmp_path / "w.parquet")


def rewritten(path: Path, change: dict[str, Any]) -> Path:
    """The golden file with another header."""
    table = pq.read_table(FIXTURES / "small.parquet")
    header = json.loads(table.schema.metadata[b"heddle"]) | change
    pq.write_table(table.replace_schema_metadata({b"heddle": json.dumps(header).encode()}), path)
    return path


def test_unknown_version_and_format(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="version 99 of the workload format; this heddle reads version 1"):
        read_parquet(rewritten(tmp_path / "w.parquet", {"version": 99}))
    with pytest.raises(BadInput, match="not a workload"):
        read_parquet(rewritten(tmp_path / "w.parquet", {"format": "heddle-record"}))


def changed(**fields: Any) -> Workload:
    return dataclasses.replace(load_workload(str(FIXTURES / "small.csv")), **fields)


def with_value(table: str, field: str, row: int, value: int) -> Workload:
    workload = changed()
    getattr(workload, table)[field][row] = value
    return workload


@pytest.mark.parametrize(
    ("workload", "what"),
    [
        (with_value("tasks", "duration_ms", 1, -5), "task.duration_ms: -5 is not between 0"),
        (with_value("jobs", "queue", 0, 9), "job.queue: 9 is not between 0 and 2"),
        (with_value("stages", "shape", 1, -1), "stage.shape: -1 is not"),
        (with_value("jobs", "submit_at_ms", 0, 9999), "submitted before the job in front of it"),
        (with_value("stages", "kind", 0, 1), "the AM is the first stage"),
        (with_value("segments", "last", 2, 0), "the last level of a use"),
        (changed(stage_after=np.array([3, 5], np.int32)), "cycle: reduce waits for reduce"),
        (changed(stage_after=np.array([0, 5], np.int32)), "waits for a stage of another job"),
        (changed(labels=("x",)), "first label must be empty"),
        (changed(shapes=-load_workload(str(FIXTURES / "small.csv")).shapes), "shapes: negative"),
    ],
)
def test_arrays_that_are_no_workload(tmp_path: Path, workload: Workload, what: str) -> None:
    write_parquet(workload, tmp_path / "w.parquet")
    with pytest.raises(BadInput) as caught:
        read_parquet(tmp_path / "w.parquet")
    assert what in str(caught.value)
    assert what in str(BadInput(check_structure(workload, "w").found))


def test_missing_column_is_bad_input(tmp_path: Path) -> None:
    source = pq.ParquetFile(FIXTURES / "small.parquet")
    keep = [name for name in source.schema_arrow.names if name != "task.duration_ms"]
    schema = pa.schema([source.schema_arrow.field(name) for name in keep], metadata=source.schema_arrow.metadata)
    with pq.ParquetWriter(tmp_path / "w.parquet", schema) as writer:
        for group in range(source.num_row_groups):
            writer.write_table(source.read_row_group(group, columns=keep).cast(schema))
    source.close()
    with pytest.raises(BadInput, match="not as its header says"):
        read_parquet(tmp_path / "w.parquet")
