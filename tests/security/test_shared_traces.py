"""A trace that is given away has none of the names that the trace had, on real traces."""

import json
import os
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from heddle.cli.main import run
from heddle.model.workload import Workload
from heddle.traces.load import load_workload
from traces.formats.importing import SHARED

LONG_ENOUGH = 5  # shorter names, such as "1" or "map", are found in anything


def names_of(workload: Workload) -> set[str]:
    columns = [workload.job_names, workload.stage_names]
    said = {name for column in columns if column is not None for name in column.unique().to_list()}
    said |= {*workload.users, *workload.labels, *workload.hosts, workload.name}
    said |= {part for queue in workload.queues for part in queue.split(".")}
    return {name for name in said if len(name) >= LONG_ENOUGH}


@pytest.mark.parametrize(
    ("folder", "kind"), [("hadoop_sls_rumen_jhist", "jhist"), ("sizey_nextflow/trace_chipseq.csv.gz", "nextflow")]
)
def test_names_of_a_real_trace_are_gone(
    folder: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not (SHARED / folder).exists():
        reason = f"the real traces are not here (../shared/traces/{folder})"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    trace, public = tmp_path / "trace.parquet", tmp_path / "public.parquet"
    assert run(["traces", "import", str(SHARED / folder), "--format", kind, "-o", str(trace)]) == 0
    names = names_of(load_workload(str(trace)))
    assert len(names) > 3
    monkeypatch.chdir(tmp_path)
    assert run(["traces", "share", str(trace), "-o", str(public)]) == 0
    table = pq.read_table(public)
    texts = [repr(table.schema.metadata), repr(table.schema.names)]
    texts += [(tmp_path / "public.manifest.json").read_text(), public.read_bytes().decode("latin-1")]
    frame = pl.read_parquet(public)
    texts += [
        json.dumps(frame[column].unique().to_list()) for column in frame.columns if frame[column].dtype == pl.String
    ]
    told = "\n".join(texts)
    assert [name for name in sorted(names) if name in told] == []
