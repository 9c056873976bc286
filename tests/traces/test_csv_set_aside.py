"""Importing a CSV of tasks: wrong rows are set aside with a reason; the rest is as if they had never been there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heddle.model.errors import BadInput
from heddle.traces.csv_tasks.columns import NAMES, REQUIRED
from heddle.traces.csv_tasks.read import read_csv_tasks
from heddle.traces.imports.importing import ImportResult, import_trace
from traces.formats.importing import made, set_aside, task_rows
from traces.same_workload import differences
from traces.test_direct_and_import_agree import text_of, with_what_it_needs

HEADER = "job,submit_ms,duration_ms,vcores,memory_mb"


def imported(folder: Path, *lines: str) -> ImportResult:
    (folder / "w.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return import_trace([str(folder / "w.csv")])


def lines_set_aside(result: ImportResult) -> list[int]:
    rows = result.sources[0].rows
    return sorted(rows.line(int(row)) for places in rows.set_aside_rows().values() for row in places)


def test_reasons_name_the_column(tmp_path: Path) -> None:
    lines = [f"{HEADER},queue,am_vcores,am_memory_mb,input_mb", "a,0,1,1,5,x,,,", ",0,1,1,5,,,,", "b,-1,1,1,5,,,,"]
    lines += ["c,0,1,two,5,,,,", "d,0,1,1", "a,0,1,1,5,y,,,", "e,0,1,1,5,,1,,", "f,0,1,1,5,,,,9", "g,0,1,1,5,,,,,z"]
    result = imported(tmp_path, *lines)
    assert set_aside(result) == {
        "more fields than the header": 1,
        "job: empty": 1,
        "submit_ms: negative": 1,
        "vcores: not a number": 1,
        "memory_mb: empty": 1,
        "queue: differs from an earlier row of the job": 1,
        "am_vcores: given without am_memory_mb": 1,
        "input_mb: given without input_node": 1,
    }
    assert (task_rows(result), result.imported.workload.n_tasks) == (1, 1)


def test_what_rests_on_a_row_falls_with_it(tmp_path: Path) -> None:
    rows = ["a,0,1,1,5,x,", "a,0,-1,1,5,y,x", "a,0,1,1,5,z,y", "a,0,1,1,5,last,z", "a,0,1,1,5,last,", "b,0,1,1,5,x,"]
    result = imported(tmp_path, f"{HEADER},stage,after", *rows)
    assert set_aside(result) == {"duration_ms: negative": 1, "after: the job has no such stage": 3}
    assert lines_set_aside(result) == [3, 4, 5, 6]
    assert result.imported.workload.n_tasks == 2


def test_cycles_are_set_aside_and_not_the_whole_file(tmp_path: Path) -> None:
    rows = ["a,0,1,1,5,x,y", "a,0,1,1,5,y,x", "a,0,1,1,5,z,x", "a,0,1,1,5,w,", "b,0,1,1,5,x,x", "c,0,1,1,5,x,"]
    result = imported(tmp_path, f"{HEADER},stage,after", *rows)
    assert set_aside(result) == {"after: stages wait for each other": 3, "after: the job has no such stage": 1}
    assert result.imported.workload.n_jobs == 2


def test_containers_that_cannot_run_at_the_beginning(tmp_path: Path) -> None:
    rows = ["late,1,10,1,5,n,-5", "now,0,10,1,5,n,-5", "half,0,10,1,5,n,"]
    result = imported(tmp_path, f"{HEADER},node,started_ms", *rows)
    workload = result.imported.workload
    assert [workload.job_name(job) for job in range(workload.n_jobs)] == ["now"]
    assert workload.running_on is not None
    assert workload.running_on.tolist() == [0]
    assert lines_set_aside(result) == [2, 4]


def test_what_can_be_mended_is_a_note(tmp_path: Path) -> None:
    result = imported(tmp_path, f"{HEADER},colour", "a,9,10.5,1,5,red", "a,7,10,1,5,", "")
    assert result.imported.notes == [
        "w.csv: columns that were not used: colour",
        "w.csv: duration_ms: not a whole number of milliseconds in 1 rows: rounded up",
        "w.csv: submit_ms: differs from an earlier row of the job in 1 rows: the earliest of a job counts",
    ]
    workload = result.imported.workload
    assert workload.tasks["duration_ms"].tolist() == [11, 10]
    assert workload.jobs["submit_at_ms"].tolist() == [7]


def test_jobs_of_several_files_stay_apart(tmp_path: Path) -> None:
    header = f"{HEADER},stage,after,am_vcores,am_memory_mb,node,started_ms,am_node,am_started_ms"
    rows = "j,0,1,1,5,x,,1,1,n1,-1,n2,-2\nj,0,1,1,5,y,x,1,1,,,,\n"
    result = import_trace([str(made(tmp_path, one__csv=f"{header}\n{rows}", two__csv=f"{header}\n{rows}"))])
    workload = result.imported.workload
    assert [workload.job_name(job) for job in range(workload.n_jobs)] == ["one/j", "two/j"]
    assert workload.stages["n_after"].tolist() == [0, 0, 1, 0, 0, 1]
    assert workload.running_on is not None
    assert [workload.hosts[host] if host >= 0 else "" for host in workload.running_on] == ["n2", "n1", ""] * 2


def test_a_file_without_a_usable_row_is_refused(tmp_path: Path) -> None:
    for rows in ([], ["a,0,1,1,x", "b,0,1,1,x"]):
        with pytest.raises(BadInput, match="no usable task"):
            imported(tmp_path, HEADER, *rows)


def test_a_column_given_twice_is_an_error_in_both_modes(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="vcores: column given twice"):
        imported(tmp_path, f"{HEADER},vcores", "a,0,1,1,5,2")


_ODD = st.sampled_from(["", "-1", "NaN", "x", "1e13", "map", "3", '"q"'])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([n for n in NAMES if n != "submit_ms"]), _ODD), max_size=6)
)
def test_what_is_left_is_what_direct_reading_takes(tmp_path: Path, damage: list[tuple[int, str, str]]) -> None:
    lines = text_of(with_what_it_needs(set(NAMES))).splitlines()
    header, cells = lines[0].split(","), [line.split(",") for line in lines[1:]]
    for row, name, odd in damage:
        cells[row][header.index(name)] = odd
    cells.append([{"job": "sound", "submit_ms": "0"}.get(name, "1" if name in REQUIRED else "") for name in header])
    path = tmp_path / "w.csv"
    path.write_text("\n".join([lines[0], *map(",".join, cells)]))
    result = import_trace([str(path)])
    aside = lines_set_aside(result)
    if aside:
        with pytest.raises(BadInput):
            read_csv_tasks(path)
        kept = [",".join(one) for line, one in enumerate(cells, 2) if line not in aside]
        path.write_text("\n".join([lines[0], *kept]))
    assert differences(read_csv_tasks(path), result.imported.workload) == []
