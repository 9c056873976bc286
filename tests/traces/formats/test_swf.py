"""SWF: containers out of processors, what is set aside, and the six real logs."""

from pathlib import Path

import pytest

from heddle.model.errors import BadInput
from heddle.traces.imports.importing import import_trace
from traces.formats.importing import made, real, set_aside, task_rows

HEADER = "; MaxProcs: 64\n; MaxNodes: 16\n; Queue: 1 batch\n\n"
#           job submit wait run procs cpu used reqp reqt reqmem status user group exe queue part prec think
JOBS = (
    "  1  100  5   60   6   30 524288   6  90 2097152  1   7 1 -1  1 -1 -1 -1\n"  # 4 + 2 processors, use known
    "  2  130 -1   10  -1   -1  -1   3  90   -1  1  -1 1 -1 -1 -1 -1 -1\n"  # processors as requested, no memory
    "  3  140 -1    0   2   -1  -1   2  90   -1  5   7 1 -1  1 -1 -1 -1\n"  # cancelled
    "  4  150 -1   -1   2   -1  -1   2  90   -1  1   7 1 -1  1 -1 -1 -1\n"  # run time unknown
    "  5  150 -1   10  -1   -1  -1  -1  90   -1  1   7 1 -1  1 -1 -1 -1\n"  # processors unknown
    "  6  150 -1   ten  1   -1  -1  -1  90   -1  1   7 1 -1  1 -1 -1 -1\n"  # not a number
    "  1  160 -1   10   1   -1  -1   1  90   -1  1   7 1 -1  1 -1 -1 -1\n"  # number given before
)


def test_jobs_become_containers_that_fit_a_node(tmp_path: Path) -> None:
    result = import_trace([str(made(tmp_path, log__swf__gz=HEADER + JOBS))])
    workload, cluster = result.imported.workload, result.imported.cluster
    assert result.format.name == "swf"
    assert result.detected
    assert workload.n_jobs == 2
    assert workload.stages["n_tasks"].tolist() == [1, 1, 1]
    assert workload.shapes[workload.stages["shape"]].tolist() == [[8192, 4000], [4096, 2000], [3072, 3000]]
    assert workload.jobs["submit_at_ms"].tolist() == [0, 30_000]
    assert workload.tasks["duration_ms"].tolist() == [60_000, 60_000, 10_000]
    first = workload.segments[workload.tasks["first_segment"][0]]
    assert first["use"].tolist() == [2048, 2000]  # 512 MB on each of 4 processors, half busy
    assert workload.tasks["first_segment"][2] == -1
    assert cluster is not None
    assert len(cluster.nodes) == 16
    assert cluster.nodes[0].capacity == (8192, 4000)


def test_what_cannot_be_used_is_set_aside_with_reasons(tmp_path: Path) -> None:
    result = import_trace([str(made(tmp_path, log__swf=HEADER + JOBS))])
    assert set_aside(result) == {
        "cancelled before it ran": 1,
        "run time unknown": 1,
        "number of processors unknown": 1,
        "not 18 numbers": 1,
        "a job number that occurred before": 1,
    }
    assert result.account.examples("run time unknown") == ["log.swf:8"]
    assert result.account.rows == 11


def test_strict_makes_set_aside_rows_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="run time unknown"):
        import_trace([str(made(tmp_path, log__swf=HEADER + JOBS))], strict=True)


def test_assumptions_can_be_replaced_and_unknown_ones_are_errors(tmp_path: Path) -> None:
    path = [str(made(tmp_path, log__swf=HEADER + JOBS))]
    assumed = {"memory_mb_per_processor": "100", "processors_per_node": "2"}
    workload = import_trace(path, assumed=assumed).imported.workload
    assert workload.shapes.tolist() == [[4096, 2000], [200, 2000], [100, 1000]]
    with pytest.raises(BadInput, match="did you mean"):
        import_trace(path, assumed={"memory_mb_per_procesor": "1"})


def test_the_real_logs_reconcile_with_what_was_measured() -> None:
    result = real("swf_hpc")
    rows = {one["file"]: one["task"] + one["set_aside"] for one in result.account.document()["files"]}
    assert rows == {
        "CEA-Curie-sample.swf.gz": 29_998,
        "HPC2N-excerpt.swf.gz": 3170,
        "KTH-SP2-1996.swf.gz": 28_489,
        "LLNL-Atlas-2006-2.1-cln.swf.gz": 43_778,
        "NASA-iPSC-1993-3.1-cln.swf.gz": 18_239,
        "metacentrum-wagap-2013.swf.gz": 17_900,
        "metacentrum-wagap-2013.swf.machines": 0,
    }
    assert task_rows(result) == 136_907
    assert result.imported.workload.n_jobs == 136_907
    assert set_aside(result)["cancelled before it ran"] == 4601


def test_a_job_without_a_request_reserves_what_it_was_seen_to_use(tmp_path: Path) -> None:
    log = "1 0 0 60 2 30 2097152 2 90 -1 1 7 1 -1 1 -1 -1 -1\n2 0 0 60 2 30 1024 2 90 -1 1 7 1 -1 1 -1 -1 -1\n"
    workload = import_trace([str(made(tmp_path, log__swf=HEADER + log))]).imported.workload
    assert workload.shapes[workload.stages["shape"], 0].tolist() == [2 * 2048, 2 * 1024]
