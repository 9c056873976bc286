"""What a run with everything on spends its time on: `python -m benchmarks.record_parts`.

CPU microseconds a task of the row "everything on" of `heddle bench`, in parts, beside a plain run in the same process.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.heddle_run import SEED, Wanted
from heddle.model.cluster import YARN
from heddle.policy.parse import parse_policy
from heddle.record.files import write_record
from heddle.run import simulate
from heddle.sim.run import run_engine
from heddle.traces.catalogue import make_workload, suggested_cluster

POLICIES = ("fifo", "fifo+usage-feedback")
REPEAT = 3


def parts_of(wanted: Wanted) -> dict[str, float]:
    """CPU seconds of the engine without and with its log, of the whole run in memory, of its files, and streamed."""
    policy = parse_policy(wanted.policy)
    workload = make_workload(wanted.workload(), SEED)
    cluster = suggested_cluster(wanted.workload())
    if wanted.everything:
        cluster = replace(cluster, timing=YARN)
    simulate(make_workload(replace(wanted, tasks=1000).workload(), SEED), cluster, policy, record=True)  # loads all
    took = {"engine": run_engine(workload, cluster, policy, SEED, False).simulate_cpu_s}
    if wanted.everything:
        took["engine, with its log"] = run_engine(workload, cluster, policy, SEED, True).simulate_cpu_s
        began = time.process_time()
        run = simulate(workload, cluster, policy, seed=SEED, record=True)
        took["all in memory"] = time.process_time() - began
        began = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            write_record(run, Path(folder) / "record")
        took["files"] = time.process_time() - began
        with tempfile.TemporaryDirectory() as folder:
            began, began_wall = time.process_time(), time.perf_counter()
            simulate(workload, cluster, policy, seed=SEED, record=Path(folder) / "record")
            took["streamed"] = time.process_time() - began
            took["streamed, wall"] = time.perf_counter() - began_wall
    return took


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.record_parts", description=__doc__)
    options.add_argument("--tasks", type=int, default=200_000)
    tasks = options.parse_args().tasks
    rows = [("plain fifo", Wanted(tasks))]
    rows += [(f"everything on, {policy}", Wanted(tasks, policy=policy, everything=True)) for policy in POLICIES]
    for name, wanted in rows:
        runs = [parts_of(wanted) for _ in range(REPEAT)]
        best = {part: min(run[part] for run in runs) * 1e6 / tasks for part in runs[0]}
        print(f"{name}: " + ", ".join(f"{part} {took:.2f}" for part, took in best.items()) + " us a task")


if __name__ == "__main__":
    main()
