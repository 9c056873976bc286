"""Every format on a small made-up trace: recognised, accounted for, and runnable."""

from pathlib import Path

import pytest

from heddle.analysis.trace_contents.facts import trace_facts
from heddle.policy.parse import parse_policy
from heddle.run import simulate
from heddle.traces.clusters import load_cluster
from heddle.traces.imports.importing import import_trace
from heddle.traces.imports.registry import names
from traces.formats.importing import set_aside, task_rows
from traces.formats.samples import SAMPLES, write_sample

#  format: rows, rows that became tasks, jobs, tasks, set aside
EXPECTED = {
    "csv": (4, 3, 2, 3, {}),
    "sls": (11, 6, 2, 8, {}),
    "rumen": (14, 4, 1, 4, {"set-up and clean-up tasks, which newer Hadoop does not have": 1}),
    "synth": (3, 1, 4, None, {}),
    "jhist": (17, 3, 1, 3, {"a task whose end is not in the file (truncated, or still running)": 1}),
    "spark-eventlog": (14, 4, 1, 4, {"a task that began but whose end is not in the log": 1}),
    "swf": (15, 12, 12, None, {}),
    "swim": (2, 2, 2, None, {}),
    "google2011": (19, 5, 3, 5, {"of a task that never began to run in these files": 1}),
    "google2019": (12, 6, 6, 6, {}),
    "alibaba2017": (6, 2, 1, 4, {"never began (status Waiting)": 1}),
    "openb": (7, 2, 2, 2, {"never scheduled": 1}),
    "philly": (7, 5, 5, None, {"an exact duplicate of an earlier row": 1}),
    "azure-v1": (10, 2, 3, 4, {}),
    "nextflow": (6, 4, 4, 4, {"did not complete (FAILED, ABORTED): its peak was not recorded": 1}),
    "ksegments": (22, 3, 3, 3, {}),
    "bitbrains": (12, 2, 2, 2, {"a sample of a machine without cores and memory (switched off)": 1}),
    "wfcommons": (7, 3, 1, 3, {}),
    "tpch": (2, 2, 2, 12, {}),
    "coflow": (3, 2, 2, 6, {}),
}


def test_every_format_has_a_sample() -> None:
    assert set(SAMPLES) == set(EXPECTED) == set(names())


@pytest.mark.parametrize("name", EXPECTED)
def test_the_sample_is_recognised_and_every_row_accounted_for(name: str, tmp_path: Path) -> None:
    rows, tasks_rows, jobs, tasks, aside = EXPECTED[name]
    result = import_trace([str(write_sample(SAMPLES[name], tmp_path))])
    assert (result.format.name, result.detected) == (name, True)
    assert (result.account.rows, sum(result.account.counts().values())) == (rows, rows)
    assert (task_rows(result), result.imported.workload.n_jobs) == (tasks_rows, jobs)
    assert tasks is None or result.imported.workload.n_tasks == tasks
    assert set_aside(result) == aside


@pytest.mark.parametrize("name", [name for name in EXPECTED if name not in ("openb", "philly")])
def test_the_sample_runs_on_the_suggested_cluster(name: str, tmp_path: Path) -> None:
    workload = import_trace([str(write_sample(SAMPLES[name], tmp_path))]).imported.workload
    if name == "swf":  # its second log is tied to nodes of its own
        pytest.skip("labels need the cluster of the source; tests/cli/test_traces.py runs an SWF on it")
    cluster = load_cluster(trace_facts(workload)["cluster"]["text"])
    run = simulate(workload, cluster, parse_policy("fifo"), check=True)
    assert run.manifest["outcome"] == "finished"


def test_use_over_time_becomes_levels(tmp_path: Path) -> None:
    workload = import_trace([str(write_sample(SAMPLES["ksegments"], tmp_path))]).imported.workload
    # Six samples of two seconds over twelve seconds of life; megabytes of 10^6 bytes become MB of 2^20, rounded up.
    assert workload.segments["until_permyriad"][:6].tolist() == [1666, 3333, 5000, 6666, 8333, 10_000]
    assert workload.segments["use"][:6, 0].tolist() == [96, 105, 115, 124, 134, 144]
    assert set(workload.segments["use"][:, 1].tolist()) == {500}


def test_job_history_tells_sizes_by_its_counters(tmp_path: Path) -> None:
    workload = import_trace([str(write_sample(SAMPLES["jhist"], tmp_path))]).imported.workload
    reserved = {workload.stage_name(n): workload.shapes[row["shape"]].tolist() for n, row in enumerate(workload.stages)}
    assert reserved == {"am": [1536, 1000], "map": [2048, 1000], "reduce": [1024, 1000]}


def test_job_history_is_reconciled_with_the_counters_of_the_job(tmp_path: Path) -> None:
    notes = import_trace([str(write_sample(SAMPLES["jhist"], tmp_path))]).imported.notes
    assert [note for note in notes if "MB_MILLIS" in note and note.endswith("%")] == notes[-1:]


def test_openb_and_philly_have_gpus(tmp_path: Path) -> None:
    openb = import_trace([str(write_sample(SAMPLES["openb"], tmp_path))]).imported
    assert openb.workload.resources[2] == "gpu_milli"
    assert openb.workload.shapes[:, 2].tolist() == [500, 2000]
    assert openb.cluster is not None
    assert simulate(openb.workload, openb.cluster, parse_policy("fifo"), check=True).manifest["outcome"] == "finished"
    for path in tmp_path.iterdir():
        path.unlink()
    philly = import_trace([str(write_sample(SAMPLES["philly"], tmp_path))]).imported.workload
    assert sorted(philly.shapes[philly.stages["shape"], 2].tolist()) == [1, 2, 4, 5, 7, 8, 8]
