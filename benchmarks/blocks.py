"""What a run over blocks takes as its workload grows: `python -m benchmarks.blocks [--tasks 1000000 10000000]`.

A trace of 100,000 tasks comes again and again (`heddle traces repeat`) until there are so many, and is run with
everything on (`heddle simulate --blocks`), recorded, each in a process of its own. Peak resident MB, and time a task.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.heddle_run import CHECKOUT, SEED, Wanted

POLICY = "capacity+usage-feedback+admission-control"
ONCE = 100_000


def measure(tasks: int, nodes: int, policy: str, folder: Path) -> dict[str, Any]:
    """In a process of its own, from a file that another one has written."""
    file = folder / "repeated.parquet"
    for what in (["write", str(tasks), str(nodes), str(file)], ["run", str(nodes), policy, str(file)]):
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.blocks", *what]
        done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def _write(tasks: int, nodes: int, file: Path) -> None:
    from heddle.traces.catalogue import make_workload
    from heddle.traces.tools.repeat import period_of, write_repeated

    once = make_workload(Wanted(min(ONCE, tasks), nodes=nodes, everything=True).workload(), SEED)
    write_repeated(once, max(1, tasks // ONCE), period_of(once), file)


def _run(nodes: int, policy: str, file: Path) -> dict[str, Any]:
    from heddle.analysis.measures.metrics import run_metrics
    from heddle.model.cluster import YARN
    from heddle.run import peak_rss_mb, simulate
    from heddle.traces.catalogue import suggested_cluster
    from heddle.traces.parquet_blocks import ParquetBlocks

    cluster = replace(suggested_cluster(Wanted(ONCE, nodes=nodes).workload()), timing=YARN)
    wall, cpu = time.perf_counter(), time.process_time()
    run = simulate(ParquetBlocks(file), cluster, policy, seed=SEED, record=file.with_name("record"))
    metrics = run_metrics(run)
    return {
        "tasks": metrics["tasks"],
        "outcome": metrics["outcome"],
        "wall_s": time.perf_counter() - wall,
        "cpu_s": time.process_time() - cpu,
        "peak_rss_mb": peak_rss_mb(),
    }


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.blocks", description=__doc__)
    options.add_argument("--tasks", type=int, nargs="+", default=[1_000_000, 10_000_000])
    options.add_argument("--nodes", type=int, default=150)
    options.add_argument("--policy", default=POLICY)
    given = options.parse_args()
    print(f"{given.policy}, {given.nodes} nodes, recorded")
    for tasks in given.tasks:
        with tempfile.TemporaryDirectory() as folder:
            found = measure(tasks, given.nodes, given.policy, Path(folder))
        cpu_us, wall_us = (1e6 * found[name] / found["tasks"] for name in ("cpu_s", "wall_s"))
        took = f"{cpu_us:.1f} us of CPU a task, {wall_us:.1f} us of time"
        print(f"{found['tasks']:>12,} tasks, {found['outcome']}: {found['peak_rss_mb']:,.0f} MB, {took}", flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", tasks, nodes, file]:
            _write(int(tasks), int(nodes), Path(file))
        case ["run", nodes, policy, file]:
            print(json.dumps(_run(int(nodes), policy, Path(file))))
        case _:
            main()
