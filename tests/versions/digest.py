"""What a few runs come to, as one digest: `python tests/versions/digest.py`.

Over the values of every column of their records, read back from disk: the bytes of Parquet differ between versions of
pyarrow, the values may not. scripts/test-versions compares it between versions of everything that heddle stands on.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path

from heddle.cli.inputs import cluster_for
from heddle.record.files import read_record, write_record
from heddle.run import Executor, simulate
from heddle.traces.load import load_workload

RUNS: tuple[tuple[str, str, Executor], ...] = (
    ("mix", "capacity", "native"),
    ("mix", "fair+usage-feedback", "native"),
    ("burst", "haste+admission-control", "native"),
    ("mix", "capacity+usage-feedback+admission-control", "yarn-knobs"),
)


def digest() -> str:
    found = hashlib.sha256()
    for workload, policy, executor in RUNS:
        run = simulate(
            load_workload(workload), cluster_for(workload, None), policy, record=True, check=True, executor=executor
        )
        with tempfile.TemporaryDirectory() as folder:
            write_record(run, Path(folder) / "record")
            again = read_record(Path(folder) / "record")
        for name, table in again.tables().items():
            for column in table.columns:
                values = json.dumps(table[column].to_list(), default=str, ensure_ascii=True)
                found.update(f"{workload} {policy} {executor} {name}.{column} {values}\n".encode())
    return found.hexdigest()


if __name__ == "__main__":
    print(digest())
