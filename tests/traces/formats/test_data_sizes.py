"""What of a trace's data sizes becomes bytes between stages."""

from __future__ import annotations

from pathlib import Path

from heddle.model.workload import Workload
from heddle.traces.imports.importing import import_trace
from traces.formats.samples import SAMPLES, write_sample


def imported(name: str, folder: Path) -> Workload:
    return import_trace([str(write_sample(SAMPLES[name], folder))]).imported.workload


def test_wfcommons_files_that_one_task_writes_and_another_reads(tmp_path: Path) -> None:
    workload = imported("wfcommons", tmp_path)
    assert workload.edge_bytes is not None
    assert workload.edge_bytes.tolist() == [1007, 2007]  # f1 and f2; f0 comes from nowhere, f3 is read by nobody
    assert workload.input_bytes is None


def test_coflows_are_edges_from_the_senders_nodes(tmp_path: Path) -> None:
    workload = imported("coflow", tmp_path)
    # Coflow 1: one sender on port 22, 1 MB. Coflow 2: senders on 104 and 132, receivers of 48 and of 2.5 MB.
    assert workload.edge_bytes is not None
    assert workload.edge_bytes.tolist() == [1_000_000, 48_000_000, 2_500_000]
    assert [workload.stage_name(stage) for stage in range(5)] == ["map", "reduce", "map", "reduce", "reduce~2"]
    assert workload.hosts == ("node-22", "node-104", "node-132")
