"""Golden counts: the account of every folder of real traces against what was measured when it was collected."""

import numpy as np
import pytest

from heddle.model.resources import MEMORY
from heddle.model.workload import EXECUTORS, INNER, NO_SEGMENTS
from traces.formats.importing import real, set_aside, task_rows

HADOOP = "hadoop_sls_rumen_jhist"


@pytest.mark.parametrize(
    ("folder", "name", "rows", "tasks_rows", "jobs", "tasks"),
    [
        (f"{HADOOP}/sls", "sls", 44, 10, 4, 10),
        (f"{HADOOP}/rumen", "rumen", 39, 12, 3, 12),
        (f"{HADOOP}/sls", "rumen", 386, 192, 2, 192),  # two jobs of 96 maps
        (f"{HADOOP}/sls", "synth", 9, 3, 25, 223),
        (HADOOP, "jhist", 332, 36, 4, 36),  # nine files, five of them without a task that succeeded
        ("spark_eventlogs", "spark-eventlog", 48_558, 23_319, 21, 23_319),
        ("swim_facebook", "swim", 50 + 5894 + 6638, 12_582, 12_582, 498_538),
        ("google2011_events", "google2011", 450_146 + 37_780 + 67_191, 179_677, 4879, 179_677),
        ("google2011_usage_day1", "google2011", 497_893, 1734, 1734, 38_699),
        ("alibaba_v2017_batch", "alibaba2017", 80_553 + 31_756 + 2, 66_836, 11_625, 10_134_838),
        ("azure_v1_vm_arrivals", "azure-v1", 11_053, 2638, 53_109 + 82_946, 259_159 + 410_276),
        ("sizey_nextflow", "nextflow", 2938 + 1576 + 1083 + 1308 + 4, 6833, 6833, 6833),
        ("ksegments_eager", "ksegments", 1631 + 883_591 + 1, 1630, 1630, 1630),
        ("bitbrains_faststorage", "bitbrains", 1_047_052, 1149, 1149, 1149),
        ("wfinstances", "wfcommons", 5666 + 5666 + 26, 5666, 26, 5666),
        ("tpch_spark_decima", "tpch", 154, 154, 154, 177_886),
        ("coflow_fb2010", "coflow", 527, 526, 526, 21_362),
    ],
)
def test_every_row_of_the_real_traces_is_accounted_for(
    folder: str, name: str, rows: int, tasks_rows: int, jobs: int, tasks: int
) -> None:
    result = real(folder, name)
    counted = sum(result.account.counts().values())
    workload = result.imported.workload
    assert (result.account.rows, counted) == (rows, rows)
    assert (task_rows(result), workload.n_jobs, workload.n_tasks) == (tasks_rows, jobs, tasks)


@pytest.mark.parametrize(
    "folder",
    [
        "swf_hpc", f"{HADOOP}/rumen", f"{HADOOP}/jhist", f"{HADOOP}/hraven", "spark_eventlogs", "swim_facebook",
        "google2011_events", "google2011_usage_day1", "google2019_sample", "alibaba_v2017_batch",
        "alibaba_gpu_v2023_openb", "philly_gpu", "azure_v1_vm_arrivals", "sizey_nextflow", "ksegments_eager",
        "bitbrains_faststorage", "wfinstances", "tpch_spark_decima", "coflow_fb2010",
    ],
)  # fmt: skip
def test_folders_are_recognised_without_being_told(folder: str) -> None:
    assert real(folder).detected


def test_google_2019_keeps_requests_use_and_dependencies() -> None:
    result = real("google2019_sample")
    assert set_aside(result) == {"the request is missing": 6, "the request is 0": 2}
    assert task_rows(result) == 1500 - 8 + 16_112
    workload = result.imported.workload
    assert len(workload.job_after) == 4299
    assert int((workload.jobs["n_after"] > 0).sum()) == 2241


def test_alibaba_sets_aside_by_status() -> None:
    found = set_aside(real("alibaba_v2017_batch"))
    assert found["never began (status Waiting)"] == 8847
    assert found["had not ended (status Running)"] == 3567
    assert found["failed (status Failed)"] == 1126


def test_openb_has_its_pods_nodes_and_gpus() -> None:
    result = real("alibaba_gpu_v2023_openb")
    found, cluster = set_aside(result), result.imported.cluster
    assert found["never scheduled"] == 897
    assert result.imported.workload.n_jobs == 8152 - 897
    assert cluster is not None
    assert len(cluster.nodes) == 1523
    assert sum(node.capacity[2] for node in cluster.nodes) == 6212 * 1000
    assert sum(node.capacity[2] > 0 for node in cluster.nodes) == 1213


def test_philly_drops_exact_duplicates_and_the_empty_last_line() -> None:
    result = real("philly_gpu")
    assert set_aside(result) == {"an exact duplicate of an earlier row": 65}
    # The 82,248 lines after the header end with an empty one.
    assert task_rows(result) + 65 + 1 == 82_248
    assert len(result.imported.workload.queues) == 15  # and the empty line that made them 16


def test_spark_has_the_executors_stages_and_tasks_that_were_measured() -> None:
    workload = real("spark_eventlogs/nvidia_rapids_tools/nds_q72_dataproc_2_2.zstd").imported.workload
    kind = workload.stages["kind"]
    assert int(workload.stages["n_tasks"][kind == EXECUTORS].sum()) == 8
    assert workload.shapes[workload.stages["shape"][kind == EXECUTORS]].tolist() == [[51_200, 16_000]]
    assert int((kind == INNER).sum()) == 49
    assert workload.n_tasks == 13_504


def test_nextflow_uses_as_much_of_its_requests_as_was_measured() -> None:
    workload = real("sizey_nextflow/trace_chipseq.csv.gz").imported.workload
    known = workload.tasks["first_segment"] != NO_SEGMENTS
    used = workload.segments["use"][workload.tasks["first_segment"][known], MEMORY]
    reserved = workload.shapes[np.repeat(workload.stages["shape"], workload.stages["n_tasks"]), MEMORY][known]
    assert abs(used.sum() / reserved.sum() - 0.435) < 0.005
    assert abs(float(np.median(used / reserved)) - 0.020) < 0.002


def test_ksegments_peaks_are_those_that_were_measured() -> None:
    workload = real("ksegments_eager").imported.workload
    known = np.flatnonzero(workload.tasks["first_segment"] != NO_SEGMENTS)
    last = np.flatnonzero(workload.segments["last"])
    first = workload.tasks["first_segment"][known]
    order = np.argsort(first)
    peaks = np.maximum.reduceat(workload.segments["use"][:, MEMORY], first[order])
    reserved = workload.shapes[np.repeat(workload.stages["shape"], workload.stages["n_tasks"]), MEMORY][known][order]
    assert len(last) == len(first)
    assert abs(peaks.sum() / reserved.sum() - 0.333) < 0.005
    assert (peaks <= reserved).all()


def test_bitbrains_uses_as_much_as_was_measured() -> None:
    workload = real("bitbrains_faststorage").imported.workload
    segments, tasks = workload.segments, workload.tasks
    first = tasks["first_segment"]
    until = segments["until_permyriad"].astype(np.int64)
    share = np.diff(until, prepend=0)
    share[first] = until[first]
    used = np.add.reduceat(segments["use"][:, MEMORY] * share, np.sort(first)) / 10_000
    order = np.argsort(first)
    reserved = workload.shapes[np.repeat(workload.stages["shape"], workload.stages["n_tasks"]), MEMORY][order]
    weight = tasks["duration_ms"][order]
    assert abs(float((used * weight).sum() / (reserved * weight).sum()) - 0.060) < 0.006
