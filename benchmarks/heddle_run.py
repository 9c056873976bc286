"""heddle on the benchmark workload, in a process of its own so that its memory can be told: `measure(Wanted(...))`.

The child prints one JSON document; only the simulation phase is in `cpu_s`, as for the rivals.
"""

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

SEED = 1
CHECKOUT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Wanted:
    """A run of heddle. `file`: read from this Parquet file; `everything`: with AMs, heartbeats, use and, unless
    `record` says otherwise, the record and its files; jobs of so many tasks, in so many queues, of so many users."""

    tasks: int
    load: float = 0.8
    nodes: int = 150
    policy: str = "fifo"
    repeat: int = 3
    with_use: bool = False
    everything: bool = False
    record: bool = True
    job_tasks: int = 10
    queues: int = 1
    users: int = 1
    file: str = ""

    def workload(self) -> str:
        extra = f", job_tasks={self.job_tasks}, with_am=true" if self.everything else ""
        use = str(self.with_use or self.everything).lower()
        return f"bench(tasks={self.tasks}, load={self.load}, nodes={self.nodes}, with_use={use}{extra})"


@dataclass(frozen=True)
class Measured:
    """The best of the repetitions, since other work on the machine only ever adds.

    `read_cpu_s` is 0 where the workload was made in memory. `wall_s` is less than `cpu_s` where a second core helps.
    """

    cpu_s: float
    wall_s: float
    read_cpu_s: float
    peak_rss_mb: float
    makespan_s: float


class BenchFailed(Exception):
    """The child process ended badly; the text is its last line."""


@cache
def measure(wanted: Wanted) -> Measured:
    """What heddle takes for it; measured once, however many rows of the table ask."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.heddle_run", json.dumps(asdict(wanted))]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchFailed((done.stderr.strip().splitlines() or ["no message"])[-1])
    return Measured(**json.loads(done.stdout))


def make_file(wanted: Wanted, path: Path) -> None:
    """The workload as a Parquet file, made by another process so that this one stays small."""
    code = "import sys; from heddle.cli.main import run; sys.exit(run(sys.argv[1:]))"
    arguments = ["workload", "make", wanted.workload(), "-o", str(path), "--seed", str(SEED)]
    subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, check=True)


def shared_out(workload: Any, cluster: Any, queues: int, users: int) -> tuple[Any, Any]:
    """Jobs in turn to leaves of equal guarantee, and to users; a leaf or a user may have the whole cluster."""
    from dataclasses import replace

    from heddle.model.cluster import Queue

    if queues == 1 and users == 1:
        return workload, cluster
    leaves = [f"root.leaf-{number}" for number in range(queues)]
    jobs = workload.jobs.copy()
    jobs["queue"] = [number % queues for number in range(len(jobs))]
    jobs["user"] = [number // queues % users for number in range(len(jobs))]
    names = tuple(f"user-{number}" for number in range(users))
    tree = [Queue(name, 1000 // queues, user_limit_factor_milli=1000 * queues) for name in leaves]
    return (
        replace(workload, jobs=jobs, queues=tuple(leaves), users=names),
        replace(cluster, queues=(Queue("root"), *tree)),
    )


def _child(wanted: Wanted) -> dict[str, Any]:
    from dataclasses import replace

    from heddle.model.cluster import YARN
    from heddle.policy.parse import parse_policy
    from heddle.run import peak_rss_mb, simulate
    from heddle.sim.run import run_engine
    from heddle.traces.catalogue import make_workload, suggested_cluster
    from heddle.traces.parquet import read_parquet, write_parquet

    policy = parse_policy(wanted.policy)
    cluster = suggested_cluster(wanted.workload())
    if wanted.everything:
        cluster = replace(cluster, timing=YARN)
    small = make_workload("bench(tasks=1000)", 0)
    with tempfile.TemporaryDirectory() as folder:  # once for all that is loaded and imported on the way
        simulate(small, suggested_cluster("bench"), policy, record=Path(folder) / "record")
        write_parquet(small, Path(folder) / "small.parquet")
        read_parquet(Path(folder) / "small.parquet")
    began = time.process_time()
    workload = read_parquet(Path(wanted.file)) if wanted.file else make_workload(wanted.workload(), SEED)
    read_cpu_s = time.process_time() - began if wanted.file else 0.0
    workload, cluster = shared_out(workload, cluster, wanted.queues, wanted.users)
    cpu_s, wall_s = [], []
    for _ in range(wanted.repeat):
        if wanted.everything and wanted.record:
            with tempfile.TemporaryDirectory() as folder:
                began, began_wall = time.process_time(), time.perf_counter()
                run = simulate(workload, cluster, policy, seed=SEED, record=Path(folder) / "record")
                cpu_s.append(time.process_time() - began)
                wall_s.append(time.perf_counter() - began_wall)
            last_ms = int(run.jobs["ended_at_ms"].max())  # type: ignore[arg-type]
        else:
            ended = run_engine(workload, cluster, policy, SEED, False)
            cpu_s.append(ended.simulate_cpu_s)
            wall_s.append(ended.simulate_s)
            last_ms = int(ended.sim.job_run["ended_at_ms"].max())
    makespan_s = (last_ms - int(workload.jobs["submit_at_ms"].min())) / 1000
    return asdict(Measured(min(cpu_s), min(wall_s), read_cpu_s, peak_rss_mb(), makespan_s))


if __name__ == "__main__":
    print(json.dumps(_child(Wanted(**json.loads(sys.argv[1])))))
