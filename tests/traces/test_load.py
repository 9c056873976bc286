"""What a user may write where a workload is wanted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from heddle.model.errors import BadInput
from heddle.traces.identity import workload_hash
from heddle.traces.load import load_workload

FIXTURES = Path(__file__).parent / "fixtures"


def test_files_ignore_the_seed_built_in_ones_do_not() -> None:
    for name in ("small.csv", "small.parquet"):
        hashes = {workload_hash(load_workload(str(FIXTURES / name), seed)) for seed in (0, 1)}
        assert len(hashes) == 1
    assert len({workload_hash(load_workload("mix", seed)) for seed in (0, 1)}) == 2


def test_csv_and_parquet_of_the_same_tasks_have_the_same_hash() -> None:
    one, other = (load_workload(str(FIXTURES / f"small.{kind}")) for kind in ("csv", "parquet"))
    assert workload_hash(one) == workload_hash(other) == "ef1bd8675b6ad83a"


def test_missing_file_suggests_a_neighbour(tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "small.csv", tmp_path / "small.csv")
    with pytest.raises(BadInput, match=r"no such file, did you mean .*small\.csv"):
        load_workload(str(tmp_path / "smal.csv"))
    with pytest.raises(BadInput, match="nor the folder"):
        load_workload(str(tmp_path / "none" / "small.csv"))


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text("x")
    for text in (str(tmp_path / "w.txt"), str(tmp_path), "some/thing"):
        with pytest.raises(BadInput, match="not a workload file"):
            load_workload(text)


def test_a_built_in_name_wins_over_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mix").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_workload("mix").name == "mix"
