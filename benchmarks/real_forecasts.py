"""`python -m benchmarks.real_forecasts FOLDER`: the twin's forecasts of real MapReduce and Spark applications, scored.

Starts a YARN on this machine, runs a mixture of small jobs over about 20 minutes while `heddle yarn twin` looks ahead
every 30 s, ends both and prints how good the forecasts were. FOLDER keeps the mixture, the journal and the forecasts:
`heddle yarn twin --journal FOLDER/watched --score` prints the score again.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml

HEDDLE: Final = (str(Path(sys.executable).with_name("heddle")),)
LAST_LOOK_S: Final = 5.0  # the twin has to see the last applications end
MAPREDUCE: Final[dict[str, tuple[int, int, int]]] = {  # name: maps, reduces, ms of each on average
    "hourly": (2, 0, 8000),
    "report": (4, 1, 12_000),
    "import": (6, 1, 20_000),
}
SPARK: Final[dict[str, tuple[int, int, int]]] = {  # name: executors, tasks, ms of each on average
    "query": (1, 6, 3000),
    "model": (2, 16, 4000),
}
_MAPREDUCE_OPTIONS: Final = {
    "yarn.app.mapreduce.am.resource.mb": 384,
    "mapreduce.map.memory.mb": 512,
    "mapreduce.map.java.opts": "-Xmx100m",
    "mapreduce.reduce.memory.mb": 512,
    "mapreduce.reduce.java.opts": "-Xmx100m",
}


def mixture(mapreduce: int, spark: int, minutes: float, seed: int) -> dict[str, Any]:
    """Jobs that sleep, since starting JVMs is enough to do for two cores; those of a name differ by a factor of two."""
    random = np.random.default_rng(seed)
    kinds = ["mapreduce"] * mapreduce + ["spark"] * spark
    at_s = np.sort(random.uniform(0, 60 * minutes, len(kinds)))
    jobs = []
    for number, (kind, at) in enumerate(zip(random.permutation(kinds).tolist(), at_s.tolist(), strict=True)):
        make = _mapreduce if kind == "mapreduce" else _spark
        jobs.append(make(random, number) | {"kind": kind, "program": "sleep", "at_s": round(at, 1)})
    return {"jobs": jobs}


def _mapreduce(random: np.random.Generator, number: int) -> dict[str, Any]:
    name = str(random.choice(list(MAPREDUCE)))
    maps, reduces, ms = MAPREDUCE[name]
    arguments = ["-m", maps, "-r", reduces, "-mt", _varied(random, ms), "-rt", 2000]
    return {"name": f"{name}-{number}", "arguments": arguments, "options": _MAPREDUCE_OPTIONS}


def _spark(random: np.random.Generator, number: int) -> dict[str, Any]:
    name = str(random.choice(list(SPARK)))
    executors, tasks, ms = SPARK[name]
    # Without its pages a driver tells nothing of its stages.
    options = {"spark.executor.instances": executors, "spark.ui.enabled": True}
    return {"name": f"{name}-{number}", "arguments": [tasks, _varied(random, ms)], "options": options}


def _varied(random: np.random.Generator, ms: int) -> int:
    return round(ms * float(random.uniform(0.7, 1.4)))


def run(folder: Path, jobs: dict[str, Any], name: str, port: int, every_s: int, horizon: str) -> int:
    """Whatever happens, the cluster is taken down."""
    folder.mkdir(parents=True, exist_ok=True)
    file, watched = folder / "jobs.yaml", folder / "watched"
    file.write_text(yaml.safe_dump(jobs, sort_keys=False))
    watched.mkdir(exist_ok=True)
    subprocess.run([*HEDDLE, "yarn", "up", "--name", name, "--port", str(port)], check=True)
    try:
        looking = [*HEDDLE, "yarn", "twin", "--name", name, "--journal", str(watched), "--only-present"]
        with (folder / "twin.log").open("w") as log:
            twin = subprocess.Popen(
                [*looking, "--every", str(every_s), "--horizon", horizon, "--json"], stdout=log, stderr=log
            )
            try:
                ran = subprocess.run([*HEDDLE, "yarn", "run", str(file), "--name", name]).returncode
                time.sleep(LAST_LOOK_S)
            finally:
                twin.send_signal(signal.SIGINT)
                twin.wait()
    finally:
        subprocess.run([*HEDDLE, "yarn", "down", "--name", name])
    scored = subprocess.run([*HEDDLE, "yarn", "twin", "--journal", str(watched), "--score"]).returncode
    return ran or scored


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.real_forecasts", description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--mapreduce", type=int, default=60)
    options.add_argument("--spark", type=int, default=20)
    options.add_argument("--minutes", type=float, default=18.0, help="over which jobs are submitted")
    options.add_argument("--every", type=int, default=30, help="seconds between two forecasts")
    options.add_argument("--horizon", default="20m")
    options.add_argument("--name", default="forecasts", help="of the cluster")
    options.add_argument("--port", type=int, default=8088, help="first of a block of ports")
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    jobs = mixture(chosen.mapreduce, chosen.spark, chosen.minutes, chosen.seed)
    return run(chosen.folder, jobs, chosen.name, chosen.port, chosen.every, chosen.horizon)


if __name__ == "__main__":
    sys.exit(main())
