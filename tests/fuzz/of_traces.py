"""Trace formats (history and Spark logs among them), task CSVs, workloads as Parquet."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

from heddle.traces.imports.importing import import_trace
from heddle.traces.load import load_workload
from traces.formats.samples import SAMPLES

from .served import BETWEEN


def _trace(name: str) -> Callable[[bytes], None]:
    """The input is the largest of the trace's files, or all of them; those that it does not tell are as they should be.

    Of several, an empty one is as it should be, too, so that a fuzzer can leave one alone.
    """
    samples = SAMPLES[name]
    order = _largest_first(name)

    def read(data: bytes) -> None:
        told = data.split(BETWEEN, len(order) - 1)
        with tempfile.TemporaryDirectory() as folder:
            for file, content in zip_longest(order, told):
                is_told = content is not None and (content or len(told) == 1)
                (Path(folder) / file).write_bytes(content if is_told else samples[file])
            account = import_trace([folder], name).account
            assert sum(account.counts().values()) == account.rows

    return read


def _largest_first(name: str) -> list[str]:
    return sorted(SAMPLES[name], key=lambda file: -len(SAMPLES[name][file]))


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
    """The largest file; each of the others with the rest as it should be; and all of them."""
    files = SAMPLES.get(target.removeprefix("trace-"), {})
    contents = sorted(files.values(), key=len, reverse=True)
    alone = [BETWEEN * place + content for place, content in enumerate(contents)]
    return [*alone, BETWEEN.join(contents)] if len(contents) > 1 else alone
