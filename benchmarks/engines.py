"""What computing runs elsewhere costs: `python -m benchmarks.engines [--runs 100] [--run-s 0.5] [--on dask:2 ...]`.

A run waits instead of computing, so that engines are measured and not how busy the machine is. Workers of Dask and
Spark are warm: each has computed something before; `local` starts its processes with the runs. `--tiny 10000` then
shows whether the driver grows with the number of runs. `--on spark:yarn` runs on the YARN of HADOOP_CONF_DIR; without
it, on one that is started for it.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path

from benchmarks.spark_on_yarn import local_yarn
from heddle.experiments.engines import Connected, Engine, engine_named

_PAGE_MB = 4096 / 2**20


class Repeated(Sequence[float]):
    """The same configuration many times, without a list of them."""

    def __init__(self, run_s: float, count: int) -> None:
        self._run_s = run_s
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[float]:
        return (self._run_s for _ in range(self._count))

    def __getitem__(self, place: object) -> float:  # type: ignore[override]
        return self._run_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--run-s", type=float, default=0.5)
    parser.add_argument("--tiny", type=int, default=0, help="also so many runs that take no time")
    parser.add_argument("--on", action="append", help="may be repeated [default: local:2, dask:2, spark:local[2]]")
    given = parser.parse_args()
    first_s: float | None = None
    for name in given.on or ("local:2", "dask:2", "spark:local[2]"):
        yarn = local_yarn() if name == "spark:yarn" and "HADOOP_CONF_DIR" not in os.environ else nullcontext()
        with yarn, ProcessPoolExecutor(1, get_context("spawn")) as fresh:  # Spark's JVM stays with its process
            took_s = fresh.submit(_measured, name, given.runs, given.run_s, given.tiny, first_s).result()
        first_s = first_s or took_s


def _measured(name: str, runs: int, run_s: float, tiny: int, first_s: float | None) -> float:
    """Prints what the engine takes, beside what the first one took; the seconds for the runs."""
    began = time.perf_counter()
    engine = engine_named(name)
    started_s = time.perf_counter() - began
    try:
        list(engine.run(time.sleep, Repeated(0.05, 12)))
        took_s = _seconds(engine, Repeated(run_s, runs))
        what = f"{runs} runs of {run_s:g} s: {took_s:.1f} s, {took_s / (first_s or took_s):.2f}x the first engine"
        ideal_s = runs * run_s / 2
        print(
            f"{name:16} start {started_s:4.1f} s; {what}, {took_s / ideal_s:.2f}x two workers without any cost",
            flush=True,
        )
        if tiny:
            print(f"{'':16} {_growth(engine, tiny)}")
        return took_s
    finally:
        if isinstance(engine, Connected):
            engine.close()


def _seconds(engine: Engine, configurations: Sequence[float]) -> float:
    began = time.perf_counter()
    assert sum(1 for _ in engine.run(time.sleep, configurations)) == len(configurations)
    return time.perf_counter() - began


def _growth(engine: Engine, count: int) -> str:
    early_mb, began = 0.0, time.perf_counter()
    for done, _ in enumerate(engine.run(time.sleep, Repeated(0.0, count)), start=1):
        if done == count // 10:
            early_mb = resident_mb()
    each_ms = 1000 * (time.perf_counter() - began) / count
    return (
        f"{count} runs of 0 s: {each_ms:.1f} ms each; the driver has {early_mb:.0f} MB "
        f"after {count // 10} of them, {resident_mb():.0f} MB after all"
    )


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_MB


if __name__ == "__main__":
    main()
