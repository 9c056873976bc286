from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

from heddle.model.errors import BadInput
from heddle.record import parts, writing
from heddle.record.files import read_record, write_record
from heddle.record.run import Run
from record.hand_made import TWO_JOBS, run_of, with_manifest


def parquet_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


def assert_same(left: Run, right: Run) -> None:
    assert left.manifest == right.manifest
    assert left.tables().keys() == right.tables().keys()
    for name, frame in left.tables().items():
        assert_frame_equal(frame, right.tables()[name])


@pytest.mark.parametrize("events", [False, True])
def test_what_was_written_is_read(tmp_path: Path, events: bool) -> None:
    run = run_of(TWO_JOBS, events=events)
    write_record(run, tmp_path / "new" / "record")
    assert_same(run, read_record(tmp_path / "new" / "record"))
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["record"]  # nothing is left beside it


def test_same_run_same_bytes_across_chunks_and_wall_times(tmp_path: Path) -> None:
    run = run_of(TWO_JOBS * 50, events=True)
    write_record(run, tmp_path / "a")
    slower = with_manifest(run, wall_s=99.0)
    chunked = Run(**{**vars(slower), "jobs": pl.concat([run.jobs[:30], run.jobs[30:]], rechunk=False)})
    assert chunked.jobs.n_chunks() == 2
    write_record(chunked, tmp_path / "b")
    assert parquet_bytes(tmp_path / "a") == parquet_bytes(tmp_path / "b")
    assert len(parquet_bytes(tmp_path / "a")) == 6


def test_same_bytes_in_another_process(tmp_path: Path) -> None:
    write_record(run_of(TWO_JOBS), tmp_path / "here")
    script = (
        "import sys; from record.hand_made import TWO_JOBS, run_of; from heddle.record.files import write_record;"
        "write_record(run_of(TWO_JOBS), sys.argv[1])"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1]), "POLARS_MAX_THREADS": "1"}
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "there")], check=True, env=environment)
    assert parquet_bytes(tmp_path / "here") == parquet_bytes(tmp_path / "there")


def test_a_record_may_be_replaced(tmp_path: Path) -> None:
    write_record(run_of(TWO_JOBS, events=True), tmp_path / "record")
    second = run_of(TWO_JOBS[:1], policy="fair")
    write_record(second, tmp_path / "record")
    assert_same(second, read_record(tmp_path / "record"))
    assert [path.name for path in tmp_path.iterdir()] == ["record"]


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write_record(run_of(TWO_JOBS), tmp_path / "empty")
    assert read_record(tmp_path / "empty").jobs.height == 2


def test_what_is_not_a_record_is_never_overwritten(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    with pytest.raises(BadInput, match="not a record"):
        write_record(run_of(TWO_JOBS), mine)
    assert (mine / "thesis.txt").read_text() == "years of work"

    plain = tmp_path / "plain"
    plain.write_text("a file")
    with pytest.raises(BadInput, match="not a folder"):
        write_record(run_of(TWO_JOBS), plain)
    assert plain.read_text() == "a file"

    write_record(run_of(TWO_JOBS), tmp_path / "record")
    (tmp_path / "record" / "notes.txt").write_text("what I saw")
    with pytest.raises(BadInput, match=r"notes\.txt"):
        write_record(run_of(TWO_JOBS), tmp_path / "record")
    assert (tmp_path / "record" / "notes.txt").exists()


def test_a_failure_on_the_way_leaves_the_old_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_record(run_of(TWO_JOBS), tmp_path / "record")

    def full(frame: pl.DataFrame, path: Path) -> dict[str, int]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "write_part", full)
    with pytest.raises(BadInput, match="No space left"):
        write_record(run_of(TWO_JOBS[:1]), tmp_path / "record")
    with pytest.raises(BadInput, match="No space left"):
        write_record(run_of(TWO_JOBS[:1]), tmp_path / "other")
    monkeypatch.undo()
    assert read_record(tmp_path / "record").jobs.height == 2
    assert [path.name for path in tmp_path.iterdir()] == ["record"]


def test_a_run_that_breaks_the_schema_is_not_written(tmp_path: Path) -> None:
    run = run_of(TWO_JOBS)
    wrong = Run(**{**vars(run), "jobs": run.jobs.with_columns(pl.col("tasks").cast(pl.Int64)).drop("user")})
    with pytest.raises(ValueError, match="user: this column is missing") as caught:
        write_record(wrong, tmp_path / "record")
    assert "tasks: must be Int32, not Int64" in str(caught.value)
    assert not any(tmp_path.iterdir())


def test_missing_and_foreign_folders(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such folder"):
        read_record(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="is not a folder"):
        read_record(tmp_path / "file")
    with pytest.raises(BadInput, match=r"has no manifest\.json"):
        read_record(tmp_path)
    (tmp_path / "manifest.json").write_text('{"name": "a web app"}')
    with pytest.raises(BadInput, match="not written by heddle"):
        read_record(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format_version": 1, "hedd')
    with pytest.raises(BadInput, match="damaged"):
        read_record(tmp_path)


def test_all_damage_is_reported_at_once(tmp_path: Path) -> None:
    record = tmp_path / "record"
    write_record(run_of(TWO_JOBS), record)
    jobs = record / "jobs-00000.parquet"
    jobs.write_bytes(jobs.read_bytes()[:-20])
    nodes = record / "nodes-00000.parquet"
    content = bytearray(nodes.read_bytes())
    content[10] ^= 0xFF
    nodes.write_bytes(bytes(content))
    (record / "shapes-00000.parquet").unlink()
    with pytest.raises(BadInput) as caught:
        read_record(record)
    found = {Path(problem.where).name: problem.what for problem in caught.value.problems}
    assert found.keys() == {"jobs-00000.parquet", "nodes-00000.parquet", "shapes-00000.parquet"}
    assert "truncated" in found["jobs-00000.parquet"]
    assert "damaged" in found["nodes-00000.parquet"]
    assert "missing" in found["shapes-00000.parquet"]


def test_another_format_and_a_broken_manifest(tmp_path: Path) -> None:
    record = tmp_path / "record"
    write_record(run_of(TWO_JOBS), record)
    path = record / "manifest.json"
    manifest = json.loads(path.read_text())

    path.write_text(json.dumps(manifest | {"format_version": 3, "heddle_version": "9.9"}))
    with pytest.raises(BadInput, match=r"format 3, written by heddle 9\.9; this heddle reads formats 1 and 2"):
        read_record(record)

    broken = manifest | {"seed": "one", "capacity_total": [1]}
    del broken["totals"]["allocations"]
    path.write_text(json.dumps(broken))
    with pytest.raises(BadInput) as caught:
        read_record(record)
    assert {problem.field for problem in caught.value.problems} == {"seed", "totals.allocations"}


def test_numbers_are_written_as_differences_and_words_by_a_dictionary(tmp_path: Path) -> None:
    write_record(run_of(TWO_JOBS * 50, events=True), tmp_path / "record")
    for name, number, word in (("jobs", "submit_at_ms", "queue"), ("events", "at_ms", "kind")):
        group = pq.ParquetFile(tmp_path / "record" / f"{name}-00000.parquet").metadata.row_group(0)
        columns = {column.path_in_schema: column for column in map(group.column, range(group.num_columns))}
        assert "DELTA_BINARY_PACKED" in columns[number].encodings
        assert "RLE_DICTIONARY" in columns[word].encodings
        assert {column.compression for column in columns.values()} == {"LZ4"}


def test_a_table_is_cut_into_parts_of_a_fixed_number_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(TWO_JOBS * 5, events=True)
    monkeypatch.setattr(parts, "PART_ROWS", 4)
    write_record(run, tmp_path / "record")
    found = sorted((tmp_path / "record").glob("jobs-*.parquet"))
    assert [pq.ParquetFile(path).metadata.num_rows for path in found] == [4, 4, 2]
    assert_same(run, read_record(tmp_path / "record"))
    assert json.loads((tmp_path / "record" / "manifest.json").read_text())["files"]["jobs-00002.parquet"]["rows"] == 2


def test_fewer_parts_replace_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as small:
        small.setattr(parts, "PART_ROWS", 4)
        write_record(run_of(TWO_JOBS * 5), tmp_path / "record")
    write_record(run_of(TWO_JOBS), tmp_path / "record")
    assert len(list((tmp_path / "record").glob("jobs-*.parquet"))) == 1


def test_a_record_of_format_1_is_still_read(tmp_path: Path) -> None:
    record, run = tmp_path / "record", run_of(TWO_JOBS, events=True)
    record.mkdir()
    files = {}
    for name, frame in run.tables().items():
        then = frame.drop("allocation") if name == "attempts" else frame
        entry = parts.write_part(then, record / f"{name}.parquet")
        files[f"{name}.parquet"] = {key: entry[key] for key in ("bytes", "sha256")}
    (record / "manifest.json").write_text(json.dumps(run.manifest | {"format_version": 1, "files": files}))
    old = read_record(record)
    assert_same(with_manifest(run, format_version=1), old)
    write_record(old, record)
    assert_same(run, read_record(record))


def test_two_do_not_write_the_same_record(tmp_path: Path) -> None:
    writes = writing.record_folder(tmp_path / "record", run_of(TWO_JOBS).manifest)
    with pytest.raises(BadInput, match="another run is writing this record"), writes:
        write_record(run_of(TWO_JOBS), tmp_path / "record")
    assert not any(path.suffix == ".partial" for path in tmp_path.iterdir())


def test_what_is_no_record_beside_the_place_stays(tmp_path: Path) -> None:
    mine = tmp_path / "record.partial"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    with pytest.raises(BadInput, match=r"record\.partial: is not empty and not a record"):
        write_record(run_of(TWO_JOBS), tmp_path / "record")
    assert (mine / "thesis.txt").exists()
