"""Workload files with real jobs: what they mean and what is wrong with them; needs no cluster."""

import re
from pathlib import Path

import pytest

from heddle.model.errors import BadInput, RunRefused
from heddle.yarn.mixture import MapReduceJob, load_real_jobs


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "jobs.yaml"
    path.write_text(text)
    return str(path)


def test_times_and_dependencies_follow_the_file(tmp_path: Path) -> None:
    (tmp_path / "tasks.csv").write_text(
        "job,submit_ms,duration_ms,vcores,memory_mb,used_vcores,used_memory_mb\n"
        "a,0,1000,1,512,0.5,100\nb,500,2000,1,512,0.5,100\n"
    )
    jobs, notes = load_real_jobs(
        written(
            tmp_path,
            "jobs:\n"
            "  - {kind: mapreduce, name: gen, program: teragen, arguments: [10, '{work}/in']}\n"
            "  - {kind: replay, workload: tasks.csv, at_s: 2}\n"
            "  - {kind: mapreduce, program: terasort, arguments: [in, out], after: gen, at_s: 1.5}\n",
        )
    )
    assert [job.name for job in jobs] == ["gen", "a", "b", "terasort-3"]
    assert [job.submit_at_ms for job in jobs] == [0, 2000, 2500, 1500]
    assert jobs[3].after == (0,)
    assert isinstance(jobs[3], MapReduceJob)
    assert notes == ["2 jobs have no application master; each gets one of 256 MB"]


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as bad:
        load_real_jobs(
            written(
                tmp_path,
                "jobs:\n"
                "  - {kind: dream}\n"
                "  - {kind: mapreduce, program: quake, at_s: -1, speed: 3}\n"
                "  - {kind: mapreduce, program: pi, after: later}\n",
            )
        )
    assert [problem.field for problem in bad.value.problems] == ["kind", "speed", "at_s", "program", "after"]


def test_what_only_spark_can_run_is_refused() -> None:
    with pytest.raises(RunRefused, match="executors"):
        load_real_jobs("mix")


def test_the_file_that_the_docs_show_can_be_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "yarn.md").read_text()
    (text,) = re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)
    (tmp_path / "tasks.csv").write_text("job,submit_ms,duration_ms,vcores,memory_mb\na,0,1000,1,512\n")
    jobs, _ = load_real_jobs(written(tmp_path, text))
    assert [job.name for job in jobs] == ["a", "gen", "terasort-3", "pi-4"]
