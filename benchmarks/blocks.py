"""What a run over blocks takes as its workload grows: `python -m benchmarks.blocks [--tasks 1000000 10000000]`.

A trace of 100,000 tasks comes again and again (`heddle traces repeat`) until there are so many, and is run with
everything on (`heddle simulate --blocks`), recorded, each in a process of its own. Peak resident MB, and time a task.
With `--every SECONDS`, how far it has come; with `--folder`, workload and record stay there for whoever reads them next
(`python -m benchmarks.record_reading`); with `--check`, each run is verified as it goes on.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.heddle_run import CHECKOUT, SEED, Wanted

POLICY = "capacity+usage-feedback+admission-control"
ONCE = 100_000
RECORD = "record"


def measure(tasks: int, nodes: int, policy: str, folder: Path, every_s: float | None, check: bool) -> dict[str, Any]:
    """In a process of its own, from a file that another one has written."""
    file = folder / "repeated.parquet"
    subprocess.run(_command("write", tasks, nodes, file), cwd=CHECKOUT, check=True)
    began = time.monotonic()
    command = _command("run", nodes, policy, file, int(check))
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True) as run:
        while True:
            try:
                told, _ = run.communicate(timeout=every_s)
                break
            except subprocess.TimeoutExpired:
                with suppress(OSError):  # a record that is just being put in its place
                    print(f"  {time.monotonic() - began:7,.0f} s: {_progress(run.pid, folder)}", flush=True)
    if run.returncode:
        sys.exit(f"the run ended with exit code {run.returncode}")
    return dict(json.loads(told))


def _command(*what: object) -> list[str]:
    return [sys.executable, "-W", "ignore", "-m", "benchmarks.blocks", *map(str, what)]


def _progress(pid: int, folder: Path) -> str:
    """What is on disk, and what the process takes. Attempts are in the order of their ends."""
    import pyarrow.parquet as pq

    place = folder / f"{RECORD}.partial"
    parts = [json.loads(line) for line in (place / "parts.jsonl").read_text().splitlines()[1:]]
    attempts = [part for part in parts if part["file"].startswith("attempts-")]
    told = "no attempts yet"
    if attempts:
        group = pq.read_metadata(place / attempts[-1]["file"]).row_group(0)
        ends = next(
            one.statistics
            for one in (group.column(number) for number in range(group.num_columns))
            if one.path_in_schema == "ended_at_ms"
        )
        rows, seconds = sum(part["rows"] for part in attempts), ends.max / 1000
        told = f"{rows:,} attempts up to {seconds:,.0f} s"
    resident_mb = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    cpu_s = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
    written_gb = sum(part["bytes"] for part in parts) / 1e9
    return f"{told}, {written_gb:.2f} GB written, {resident_mb:,.0f} MB resident, {cpu_s:,.0f} s of CPU"


def _write(tasks: int, nodes: int, file: Path) -> None:
    from heddle.traces.catalogue import make_workload
    from heddle.traces.tools.repeat import period_of, write_repeated

    once = make_workload(Wanted(min(ONCE, tasks), nodes=nodes, everything=True).workload(), SEED)
    write_repeated(once, max(1, tasks // ONCE), period_of(once), file)


def _run(nodes: int, policy: str, file: Path, check: bool) -> dict[str, Any]:
    from heddle.analysis.measures.metrics import run_metrics
    from heddle.model.cluster import YARN
    from heddle.policy.parse import parse_policy
    from heddle.run import peak_rss_mb, prepare_engine, simulate
    from heddle.traces.catalogue import suggested_cluster
    from heddle.traces.parquet_blocks import ParquetBlocks

    cluster = replace(suggested_cluster(Wanted(ONCE, nodes=nodes).workload()), timing=YARN)
    chosen = parse_policy(policy)
    prepare_engine([chosen], len(cluster.resources))  # a checkout that nobody has run yet compiles: that is no task's
    wall, cpu = time.perf_counter(), time.process_time()
    run = simulate(ParquetBlocks(file), cluster, chosen, seed=SEED, record=file.with_name(RECORD), check=check)
    simulated_mb = peak_rss_mb()
    metrics = run_metrics(run)
    return {
        "tasks": metrics["tasks"],
        "outcome": metrics["outcome"],
        "reserved": {name: levels["reserved"] for name, levels in metrics["utilisation"].items()},
        "wall_s": time.perf_counter() - wall,
        "cpu_s": time.process_time() - cpu,
        "simulated_mb": simulated_mb,
        "peak_rss_mb": peak_rss_mb(),
    }


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.blocks", description=__doc__)
    options.add_argument("--tasks", type=int, nargs="+", default=[1_000_000, 10_000_000])
    options.add_argument("--nodes", type=int, default=150)
    options.add_argument("--policy", default=POLICY)
    options.add_argument("--every", type=float, help="seconds between two lines about how far a run has come")
    options.add_argument("--folder", type=Path, help="where workload and record stay; of several runs, the last")
    options.add_argument("--check", action="store_true", help="verify the run, as `heddle simulate --check` does")
    given = options.parse_args()
    checked = " and checked" if given.check else ""
    print(f"{given.policy}, {given.nodes} nodes, recorded{checked}", flush=True)
    for tasks in given.tasks:
        with nullcontext(given.folder) if given.folder else tempfile.TemporaryDirectory() as folder:
            Path(folder).mkdir(exist_ok=True)
            found = measure(tasks, given.nodes, given.policy, Path(folder), given.every, given.check)
        cpu_us, wall_us = (1e6 * found[name] / found["tasks"] for name in ("cpu_s", "wall_s"))
        took = f"{cpu_us:.1f} us of CPU a task, {wall_us:.1f} us of time"
        memory = f"{found['peak_rss_mb']:,.0f} MB ({found['simulated_mb']:,.0f} MB before the metrics)"
        reserved = ", ".join(f"{name} {100 * share:.0f} %" for name, share in found["reserved"].items())
        print(f"{found['tasks']:>12,} tasks, {found['outcome']}: {memory}, {took}; reserved: {reserved}", flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", tasks, nodes, file]:
            _write(int(tasks), int(nodes), Path(file))
        case ["run", nodes, policy, file, check]:
            print(json.dumps(_run(int(nodes), policy, Path(file), check == "1")))
        case _:
            main()
