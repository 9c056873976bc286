"""What a sweep costs the process that drives it, for each run: `python -m benchmarks.sweep_driver [--runs 10000]`."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.engines import resident_mb

KEPT = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    runs = parser.parse_args().runs
    from heddle.experiments.sweep_file import read_sweep
    from heddle.experiments.sweep_run import run_row
    from heddle.experiments.sweep_store import SweepStore
    from heddle.experiments.workers.luggage import Packer

    with tempfile.TemporaryDirectory() as scratch:
        folder, file = Path(scratch) / "results", Path(scratch) / "sweep.yaml"

        def written(seeds: int) -> Path:
            text = f"workloads: ['burst(jobs=4)']\npolicies: [fifo]\nclusters: [1x65536x24]\nseeds: {seeds}\n"
            file.write_text(text)
            return file

        read_sweep(written(10))  # what is loaded once
        before_mb, began = resident_mb(), time.process_time()
        sweep = read_sweep(written(runs))
        each_us = 1e6 * (time.process_time() - began) / runs
        print(f"plan: {each_us:.0f} us of CPU and {2**20 * (resident_mb() - before_mb) / runs:.0f} bytes a run")
        packer = Packer()
        began = time.process_time()
        packer.luggage_of(sweep.runs)
        sizes = [len(packer.packed(run_row, one)) for one in sweep.runs]
        each_us = 1e6 * (time.process_time() - began) / runs
        print(f"sent: {sum(sizes) / runs:.0f} bytes a run, packed in {each_us:.0f} us of CPU")
        store, row = SweepStore(folder), run_row(sweep.runs[0])
        store.open_for(sweep, "")
        began, began_wall = time.process_time(), time.perf_counter()
        for number in range(KEPT):
            store.put(row | {"key": f"{number}"}, {})
        cpu_ms = 1000 * (time.process_time() - began) / KEPT
        wall_ms = 1000 * (time.perf_counter() - began_wall) / KEPT
        size_kb = (folder / "runs" / "0.parquet").stat().st_size / 1000
        print(f"kept: {size_kb:.1f} kB a run, written in {cpu_ms:.1f} ms of CPU, {wall_ms:.1f} ms with the disk")


if __name__ == "__main__":
    main()
