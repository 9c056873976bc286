"""What those who read a record take: `python -m benchmarks.record_reading RECORD [RECORD ...]`.

Peak resident MB and CPU of each command, in a process of its own. `python -m benchmarks.blocks --folder FOLDER` writes
records of any length (FOLDER/record); if it is killed, a partial one (FOLDER/record.partial).
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.heddle_run import CHECKOUT

COMMANDS = {
    "metrics": ["metrics"],
    "efficiency": ["efficiency", "--by", "job"],
    "efficiency by container": ["efficiency", "--by", "container"],
    "ledger": ["ledger"],
    "explain, the most delayed": ["explain"],
    "explain, one job": ["explain", "7"],
}


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.record_reading", description=__doc__)
    options.add_argument("records", nargs="+", type=Path, metavar="RECORD")
    options.add_argument("--only", choices=COMMANDS, nargs="+", default=list(COMMANDS))
    given = options.parse_args()
    for record in given.records:
        rows = {
            table: sum(one["rows"] for name, one in _files(record).items() if name.startswith(f"{table}-"))
            for table in ("jobs", "attempts", "events")
        }
        print(", ".join(f"{count:,} {table}" for table, count in rows.items()), flush=True)
        for what in given.only:
            command = [sys.executable, "-W", "ignore", "-m", "benchmarks.record_reading", "read", str(record)]
            done = subprocess.run(
                [*command, *COMMANDS[what]], cwd=CHECKOUT, capture_output=True, text=True, check=False
            )
            told = done.stdout if done.returncode == 0 else f"ended with exit code {done.returncode}"
            print(f"  {what:26} {told.strip()}", flush=True)


def _files(record: Path) -> dict[str, Any]:
    """By name; of a partial record, those that its journal lists."""
    from heddle.record.files import is_partial
    from heddle.record.journal import read_journal

    if is_partial(record):
        return read_journal(record).parts
    return dict(json.loads((record / "manifest.json").read_text())["files"])


def _read(record: str, command: str, *options: str) -> None:
    import contextlib
    import os
    import time

    from heddle.cli.main import run
    from heddle.run import peak_rss_mb

    began = time.perf_counter()
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        if command == "metrics":
            from heddle.analysis.measures.metrics import run_metrics
            from heddle.record.files import read_record

            run_metrics(read_record(record))
        else:
            assert run([command, record, *options]) == 0
    took = time.perf_counter() - began
    print(f"{peak_rss_mb():8,.0f} MB, {time.process_time():7.1f} s of CPU, {took:7.1f} s")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["read", record, *command]:
            _read(record, *command)
        case _:
            main()
