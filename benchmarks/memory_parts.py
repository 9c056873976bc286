"""What the memory of a run is for: `python -m benchmarks.memory_parts`, resident MB after each step."""

import argparse
import tempfile
from pathlib import Path

from benchmarks.heddle_run import SEED, Wanted, make_file


def resident_mb() -> float:
    """Of this process, now (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) / 1024


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.memory_parts", description=__doc__)
    options.add_argument("--tasks", type=int, default=1_000_000)
    wanted = Wanted(options.parse_args().tasks)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "workload.parquet"
        make_file(wanted, file)
        from heddle.policy.parse import parse_policy
        from heddle.sim.run import run_engine
        from heddle.traces.catalogue import make_workload, suggested_cluster
        from heddle.traces.parquet import read_parquet

        policy, cluster = parse_policy(wanted.policy), suggested_cluster(wanted.workload())
        run_engine(make_workload("bench(tasks=1000)", SEED), cluster, policy, SEED, False)
        print(f"program and compiled engine: {resident_mb():.0f} MB")
        workload = read_parquet(file)
        arrays = (workload.jobs, workload.stages, workload.tasks, workload.segments)
        own_mb = sum(array.nbytes for array in arrays) / 2**20
        print(f"with the workload read: {resident_mb():.0f} MB (its arrays are {own_mb:.0f} MB)")
        ended = run_engine(workload, cluster, policy, SEED, False)
        print(f"with the engine's memory: {resident_mb():.0f} MB ({len(ended.sim.task):,} tasks)")


if __name__ == "__main__":
    main()
