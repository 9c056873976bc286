"""How much memory a record takes: `python -m benchmarks.record_memory [--tasks 300000]`.

Peak resident MB of the row "everything on" of `heddle bench`, each in a process of its own: without a record, with one
that is kept and written afterwards, and with one that is written while the run goes on.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.heddle_run import CHECKOUT, SEED, Wanted

WAYS = ("no record", "written afterwards", "written while the run goes on")


def peak_mb(wanted: Wanted, way: str) -> float:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.record_memory", way, json.dumps(asdict(wanted))]
    return float(subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout)


def _child(way: str, wanted: Wanted) -> float:
    from heddle.model.cluster import YARN
    from heddle.record.files import write_record
    from heddle.run import peak_rss_mb, simulate
    from heddle.traces.catalogue import make_workload, suggested_cluster

    workload = make_workload(wanted.workload(), SEED)
    cluster = replace(suggested_cluster(wanted.workload()), timing=YARN)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "record"
        record = {WAYS[0]: False, WAYS[1]: True, WAYS[2]: place}[way]
        run = simulate(workload, cluster, wanted.policy, seed=SEED, record=record)
        if way == WAYS[1]:
            write_record(run, place)
        return peak_rss_mb()


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.record_memory", description=__doc__)
    options.add_argument("--tasks", type=int, default=300_000)
    tasks = options.parse_args().tasks
    for policy in ("fifo", "fifo+usage-feedback"):
        wanted = Wanted(tasks, policy=policy, everything=True)
        print(f"{policy}: " + ", ".join(f"{way} {peak_mb(wanted, way):,.0f} MB" for way in WAYS))


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] in WAYS:
        print(_child(sys.argv[1], Wanted(**json.loads(sys.argv[2]))))
    else:
        main()
