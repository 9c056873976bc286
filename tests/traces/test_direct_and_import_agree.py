"""What reading a workload directly keeps, importing it keeps: every column, field by field."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heddle.model.errors import BadInput
from heddle.model.workload import Workload
from heddle.traces.csv_tasks.columns import COLUMNS, NAMES, REQUIRED, Column
from heddle.traces.imports.importing import import_trace
from heddle.traces.imports.store import store
from heddle.traces.load import SUFFIXES, load_workload
from heddle.traces.tools.export_csv import write_csv
from traces.formats.importing import real, set_aside
from traces.formats.samples import SAMPLES, write_sample
from traces.same_workload import differences

_OPTIONAL = [column for column in COLUMNS if not column.required]
# Where any word or number would not do; a new column needs no entry unless that holds for it, too.
_VALUES = {
    "job": ("one", "one", "two", "two"),
    "stage": ("map", "reduce", "map", "reduce"),
    "after": ("", "map", "", "map"),
    "reads_mb": ("", "3.5", "", "2"),
    "submit_ms": ("0", "0", "0", "0"),
    "node": ("n1", "", "", ""),
    "started_ms": ("-5", "", "", ""),
}
Table = dict[str, tuple[str, ...]]


def values(column: Column) -> tuple[str, ...]:
    if column.name in _VALUES:
        return _VALUES[column.name]
    if column.agrees_in == "job":
        first, second = ("n1", "n2") if column.is_text else ("-7", "-9") if column.is_past else ("1", "2")
        return first, first, second, second
    return ("w1", "w2", "w1", "w3") if column.is_text else ("7", "8", "9.5" if not column.is_ms else "9", "6")


def with_what_it_needs(names: set[str]) -> set[str]:
    """These columns and all that must be given with them."""
    needs = {column.name: set(column.given_with) for column in COLUMNS}
    needs["reads_mb"] = {"after"}
    needs["after"] = {"stage"}
    wanted = set(names)
    while True:
        more = {other for name in wanted for other in needs[name]}
        if {"node", "am_vcores"} <= wanted:  # a task can run only where its job's AM does
            more.add("am_node")
        if more <= wanted:
            return wanted
        wanted |= more


def text_of(names: set[str]) -> str:
    chosen = [column for column in COLUMNS if column.required or column.name in names]
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow([column.name for column in chosen])
    writer.writerows(zip(*(values(column) for column in chosen), strict=True))
    return written.getvalue()


def both_ways(folder: Path, text: str) -> Workload:
    """The workload that direct reading gives, which is also what import gives and what it stores."""
    path = folder / "w.csv"
    path.write_text(text, encoding="utf-8")
    direct = load_workload(str(path))
    result = import_trace([str(path)])
    assert not set_aside(result)
    assert not result.imported.notes
    assert differences(direct, result.imported.workload) == []
    store(result, folder / "w.parquet")
    assert differences(direct, load_workload(str(folder / "w.parquet"))) == []
    return direct


def test_all_columns_at_once(tmp_path: Path) -> None:
    assert both_ways(tmp_path, text_of(with_what_it_needs(set(NAMES)))).n_tasks == 4


@pytest.mark.parametrize("column", _OPTIONAL, ids=lambda column: column.name)
def test_each_column_is_kept(column: Column, tmp_path: Path) -> None:
    needed = with_what_it_needs({column.name})
    kept = both_ways(tmp_path, text_of(needed))
    resting = {other.name for other in _OPTIONAL if column.name in with_what_it_needs({other.name})}
    without = both_ways(tmp_path, text_of(needed - resting))
    # `stage` alone splits a job's tasks, `am_node` alone needs an AM: whatever a column says, the workload tells.
    assert differences(kept, without)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(st.sampled_from([column.name for column in _OPTIONAL])))
def test_any_set_of_columns(tmp_path: Path, names: set[str]) -> None:
    both_ways(tmp_path, text_of(with_what_it_needs(names)))


def test_the_15_gb_of_the_issue(tmp_path: Path) -> None:
    header = f"{','.join(REQUIRED)},stage,after,reads_mb,input_node,input_mb"
    rows = ["a,0,10,1,5,x,,,n7,10000", "a,0,10,1,5,z,x,5000,,"]
    workload = both_ways(tmp_path, "\n".join([header, *rows]))
    assert workload.edge_bytes is not None
    assert workload.input_bytes is not None
    assert workload.edge_bytes.sum() + workload.input_bytes.sum() == 15 * 10**9


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_kind_of_file_that_is_read_directly(suffix: str, tmp_path: Path) -> None:
    text = text_of(with_what_it_needs(set(NAMES)))
    direct = both_ways(tmp_path, text)
    if suffix == ".parquet":
        with pytest.raises(BadInput, match="already a heddle workload"):
            import_trace([str(tmp_path / "w.parquet")])
        return
    path = tmp_path / f"v{suffix}"
    path.write_bytes(gzip.compress(text.encode()) if suffix.endswith(".gz") else text.encode())
    for workload in (load_workload(str(path)), import_trace([str(path)]).imported.workload):
        assert workload.name == "v"
        assert differences(workload, direct, but=("name", "about")) == []


@pytest.mark.parametrize("name", SAMPLES)
def test_what_an_import_made_is_what_its_file_holds(name: str, tmp_path: Path) -> None:
    result = import_trace([str(write_sample(SAMPLES[name], tmp_path))])
    store(result, tmp_path / "out.parquet")
    assert differences(load_workload(str(tmp_path / "out.parquet")), result.imported.workload, but=()) == []


@pytest.mark.parametrize(
    "folder",
    ["sizey_nextflow", "google2019_sample", "wfinstances", "coflow_fb2010", "hadoop_sls_rumen_jhist/jhist"],
)
def test_recorded_tasks_as_csv(folder: str, tmp_path: Path) -> None:
    text, _ = write_csv(real(folder).imported.workload)
    both_ways(tmp_path, text)
