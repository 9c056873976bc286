"""`python -m benchmarks.imports`: importing a million tasks, beside merely reading the same file with pandas.

Each measurement runs in a process of its own, so that its peak memory is its own. pandas is installed by hand.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

KINDS = ("csv", "swf", "google2011")


def make(kind: str, tasks: int, folder: Path) -> Path:
    """A trace of this many tasks."""
    draw = np.random.default_rng(1)
    submit = np.cumsum(draw.integers(0, 3, tasks)).tolist()
    length = draw.integers(1, 5000, tasks).tolist()
    size = draw.integers(1, 4, tasks).tolist()
    path = folder / f"trace.{kind if kind != 'google2011' else 'task_events.csv'}"
    with path.open("w") as out:
        if kind == "csv":
            out.write("job,submit_ms,duration_ms,vcores,memory_mb\n")
            for n in range(tasks):
                out.write(f"job-{n // 10},{submit[n - n % 10]},{length[n]},{size[n]},{1024 * size[n]}\n")
        elif kind == "swf":
            out.write("; MaxProcs: 1000\n; MaxNodes: 250\n")
            for n in range(tasks):
                head = f"{n:7} {submit[n]:9} -1 {length[n]:6} {size[n]:4} -1 -1 {size[n]:4}"
                out.write(f"{head} 7200 -1 1 {n % 97} 1 -1 -1 10 -1 -1\n")
        else:  # three events to a task
            for event, offset in ((0, 0), (1, 1), (4, 2)):
                for n in range(tasks):
                    at = 600_000_000 + 1000 * submit[n] + (offset > 1) * 1000 * length[n]
                    head = f"{at},,{n // 10},{n % 10},{'' if event == 0 else n % 999},{event}"
                    out.write(f"{head},user{n % 97}=,2,0,0.0{size[n]},0.0{size[n]},0.001,0\n")
    return path


def measure(how: str, path: str) -> None:
    """In a fresh process: print seconds and peak memory as JSON."""
    began, cpu = time.perf_counter(), time.process_time()
    if how == "pandas":
        import pandas

        kind = Path(path).suffix
        options = {"sep": r"\s+", "comment": ";"} if kind == ".swf" else {}
        pandas.read_csv(path, header=0 if Path(path).name == "trace.csv" else None, **options)
    else:
        from heddle.traces.imports.importing import import_trace
        from heddle.traces.imports.store import store

        store(import_trace([path]), Path(path).with_name("out.parquet"))
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"wall_s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu, "peak_mb": peak_mb}))


@dataclass(frozen=True)
class Imported:
    """What one way of reading a trace took; `failed` says why it did not run."""

    cpu_s: float = math.nan
    wall_s: float = math.nan
    peak_mb: float = math.nan
    failed: str = ""


def measured(how: str, path: Path) -> Imported:
    """Reading this trace in a process of its own, with one thread."""
    command = [sys.executable, "-m", "benchmarks.imports", "--measure", how, str(path)]
    one_thread = os.environ | {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    checkout = Path(__file__).resolve().parents[1]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=one_thread, cwd=checkout)
    if ended.returncode:
        return Imported(failed=(ended.stderr.splitlines() or ["no message"])[-1])
    return Imported(**json.loads(ended.stdout))


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.imports", description=__doc__)
    options.add_argument("--tasks", type=int, default=1_000_000)
    options.add_argument("--measure", nargs=2, metavar=("HOW", "PATH"), help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.measure:
        measure(*chosen.measure)
        return
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            path = make(kind, chosen.tasks, Path(folder))
            for how in ("heddle", "pandas"):
                found = measured(how, path)
                times = f"{found.cpu_s:6.1f} s CPU {found.wall_s:6.1f} s wall {found.peak_mb:7.0f} MB"
                print(f"{kind:11} {how:7} " + (f"did not run: {found.failed}" if found.failed else times))


if __name__ == "__main__":
    main()
