"""Trace formats (history and Spark logs among them), task CSVs, workloads as Parquet."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from heddle.traces.imports.importing import import_trace
from heddle.traces.load import load_workload
from traces.formats.samples import SAMPLES


def _trace(name: str) -> Callable[[bytes], None]:
    """Of the files of a trace the largest is the fuzzer's, the others are as they should be."""
    files = SAMPLES[name]
    victim = max(files, key=lambda file: len(files[file]))

    def read(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for file, content in files.items():
                (Path(folder) / file).write_bytes(data if file == victim else content)
            account = import_trace([folder], name).account
            assert sum(account.counts().values()) == account.rows

    return read


def _workload(suffix: str) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"tasks{suffix}"
            path.write_bytes(data)
            load_workload(str(path))

    return read


TARGETS = {f"trace-{name}": _trace(name) for name in SAMPLES} | {
    "tasks-csv": _workload(".csv"),
    "workload-parquet": _workload(".parquet"),
}


def seeds(target: str) -> list[bytes]:
    files = SAMPLES.get(target.removeprefix("trace-"), {})
    return [max(files.values(), key=len)] if files else []
