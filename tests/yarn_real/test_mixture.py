"""Workload files with real jobs: what they mean and what is wrong with them; needs no cluster."""

import re
from pathlib import Path

import pytest

from heddle.model.errors import BadInput, RunRefused
from heddle.yarn.testbed.local.cluster import LocalCluster
from heddle.yarn.testbed.local.layout import Layout
from heddle.yarn.testbed.mixture import MapReduceJob, SparkJob, load_real_jobs
from heddle.yarn.testbed.programs import spark
from heddle.yarn.testbed.programs.client_process import ClientProcess


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


@pytest.mark.parametrize("after", ["3", "{gen: 1}", "[[gen]]"])
def test_what_a_job_waits_for_is_named(after: str, tmp_path: Path) -> None:
    (tmp_path / "jobs.yaml").write_text(f"jobs: [{{kind: mapreduce, program: pi, after: {after}}}]")
    with pytest.raises(BadInput, match="after: job 1: must be the name of an earlier job"):
        load_real_jobs(str(tmp_path / "jobs.yaml"))


def test_spark_jobs_have_the_shape_of_the_others(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("")
    jobs, _ = load_real_jobs(
        written(
            tmp_path,
            "jobs:\n"
            "  - {kind: spark, program: sleep, arguments: [4, 100], options: {spark.ui.enabled: true}}\n"
            "  - {kind: spark, application: mine.py, arguments: ['{work}/in', 3], after: sleep-1, queue: root.a}\n",
        )
    )
    assert jobs == [
        SparkJob("sleep-1", 0, "root.default", "sleep", ("4", "100"), (("spark.ui.enabled", "true"),), ()),
        SparkJob("mine-2", 0, "root.a", "mine", ("{work}/in", "3"), (), (0,), tmp_path / "mine.py"),
    ]
    assert jobs[1].arguments_in(Path("/run")) == ["file:///run/in", "3"]


def test_everything_wrong_with_spark_jobs_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as bad:
        load_real_jobs(
            written(
                tmp_path,
                "jobs:\n"
                "  - {kind: [spark]}\n"
                "  - {kind: spark, program: [pi]}\n"
                "  - {kind: spark, program: pi, arguments: [4]}\n"
                "  - {kind: spark, program: sort, arguments: [4, -1], options: {executor.cores: 2}}\n"
                "  - {kind: spark, application: nowhere.py}\n"
                "  - {kind: spark, application: jobs.yaml, program: pi, arguments: [1, 1]}\n"
                "  - {kind: mapreduce, program: pi, application: jobs.yaml}\n",
            )
        )
    fields = ["kind", "program", "arguments", "arguments", "options", "application", "application", "application"]
    assert [problem.field for problem in bad.value.problems] == fields
    assert "two whole numbers above 0 (tasks, darts of each), not [4]" in bad.value.problems[2].what


def test_without_pyspark_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark, "find_spec", lambda _: None)
    with pytest.raises(RunRefused, match="pip install 'pyspark"):
        spark.spark_home()


def test_what_a_driver_died_of_is_found_in_its_log(tmp_path: Path) -> None:
    cluster = LocalCluster("x", tmp_path, Layout())
    assert spark.cause_of_failure(cluster, "application_1_0001") is None
    logs = tmp_path / "node1" / "logs" / "application_1_0001" / "container_1_0001_01_000001"
    logs.mkdir(parents=True)
    (logs / "stdout").write_text(
        "Traceback (most recent call last):\n  File 'mine.py'\npy4j.Error: a stage failed\n"
        "Traceback (most recent call last):\n  File 'worker.py'\nZeroDivisionError: by zero\n\n\tat java.Thread.run\n"
    )
    assert spark.cause_of_failure(cluster, "application_1_0001") == "ZeroDivisionError: by zero"


def test_why_a_client_failed_is_found_in_its_log(tmp_path: Path) -> None:
    said = 'starting\nException in thread "main" java.lang.Oops: too big\n\tat somewhere\nbye\n'
    client = ClientProcess("It", ["sh", "-c", f"printf '{said}'; exit 3"], {}, tmp_path, tmp_path / "log")
    client._process.wait()
    assert client.failed() == 'It ended with 3: Exception in thread "main" java.lang.Oops: too big'


def test_what_only_spark_can_run_is_refused() -> None:
    with pytest.raises(RunRefused, match="executors"):
        load_real_jobs("mix")


def test_the_file_that_the_docs_show_can_be_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "yarn.md").read_text()
    (text,) = re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)
    (tmp_path / "tasks.csv").write_text("job,submit_ms,duration_ms,vcores,memory_mb\na,0,1000,1,512\n")
    (tmp_path / "mine.py").write_text("")
    jobs, _ = load_real_jobs(written(tmp_path, text))
    assert [job.name for job in jobs] == ["a", "gen", "terasort-3", "pi-4", "sleep-5", "mine-6"]


EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "yarn").glob("*.yaml"))


@pytest.mark.parametrize(
    "path", [path for path in EXAMPLES if not path.stem.endswith("-cluster")], ids=lambda path: path.stem
)
def test_the_examples_can_be_read(path: Path) -> None:
    jobs, _ = load_real_jobs(str(path))
    assert jobs
