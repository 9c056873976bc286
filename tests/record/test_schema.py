from __future__ import annotations

from pathlib import Path

import pytest

from heddle.record.describe import record_markdown
from heddle.record.schema import Table, run_problems, tables
from record.hand_made import TWO_JOBS, run_of, with_manifest


def test_the_page_in_the_docs_is_the_schema() -> None:
    page = Path(__file__).parents[2] / "docs" / "record.md"
    assert page.read_text(encoding="utf-8") == record_markdown(), (
        "docs/record.md is old: write heddle.record.describe.record_markdown() into it"
    )


def test_every_resource_has_its_columns() -> None:
    known = tables(("memory_mb", "vcores_milli", "gpu"))

    def names(table: Table) -> list[str]:
        return [column.name for column in table.columns]

    assert "used_gpu_ms" in names(known["attempts"])
    assert {"capacity_gpu", "allowance_gpu"} <= set(names(known["nodes"]))
    assert names(known["shapes"]) == ["shape", "memory_mb", "vcores_milli", "gpu"]


def test_an_empty_table_follows_the_schema() -> None:
    run = run_of(TWO_JOBS)
    frames = {name: table.empty() for name, table in tables(run.resources).items()}
    assert run_problems(type(run)(manifest=run.manifest, **frames)) == []


def test_a_good_run_has_no_problems_and_a_bad_one_names_them() -> None:
    run = run_of(TWO_JOBS, events=True)
    assert run_problems(run) == []
    assert [str(problem) for problem in run_problems(with_manifest(run, capacity_total=[1, 2, 3]))] == [
        "manifest: capacity_total: must have one entry for each of 2 resources"
    ]
    assert [problem.field for problem in run_problems(with_manifest(run, use_known=1))] == ["use_known"]


@pytest.mark.parametrize("column", ["job", "submit_at_ms", "outcome"])
def test_nulls_are_refused_where_they_mean_nothing(column: str) -> None:
    run = run_of(TWO_JOBS)
    holes = run.jobs.with_columns(run.jobs[column].shift(1))
    problems = run_problems(type(run)(**{**vars(run), "jobs": holes}))
    assert [(problem.where, problem.field) for problem in problems] == [("jobs", column)]
