"""The account that an import leaves beside its workload, read again for reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heddle.report.set_aside import set_aside_section
from heddle.traces.imports.importing import import_trace
from heddle.traces.imports.store import account_beside, store

CSV = "job,submit_ms,duration_ms,vcores,memory_mb\na,0,1000,1,512\nb,0,soon,1,512\n"


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    (tmp_path / "w.csv").write_text(CSV, encoding="utf-8")
    stored = tmp_path / "w.parquet"
    store(import_trace([str(tmp_path / "w.csv")]), stored)
    return stored


def test_reports_show_what_an_import_left(workload: Path) -> None:
    assert "1 of 3 rows (33 %) could not be used" in set_aside_section(account_beside(workload))


# What a hand, or another program, may have made of it.
@pytest.mark.parametrize(
    "changes",
    [
        {"reconciliation": {}},
        {"reconciliation": {"rows": 1, "task_rows": 1, "merged": [], "metadata": {}, "set_aside": {}, "examples": {}}},
        {"files": 3},
        {"notes": [1]},
        {"tasks": None},
        {"assumed": None},
        {"set_aside_rows": {}},
    ],
)
def test_an_account_of_another_shape_is_none(workload: Path, changes: dict[str, Any]) -> None:
    path = workload.with_name("w.import.json")
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8")
    assert account_beside(workload) is None


@pytest.mark.parametrize("text", ["{}", "[]", "null", '{"reconciliation": 3}', "{", "\x00"])
def test_neither_is_what_is_no_account(workload: Path, text: str) -> None:
    workload.with_name("w.import.json").write_text(text, encoding="utf-8")
    assert account_beside(workload) is None
