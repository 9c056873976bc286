"""One piece of a soak: a cluster of its own, jobs, a controller, trouble, and everything that was seen, in a folder.

piece.json     what was asked for and what happened; there when the piece is complete
looks.jsonl    what was seen, once a second
decisions.*    of the controllers: the record, bounded, and what the last one said
"""

import getpass
import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from heddle.model.whole_files import write_whole
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.steering.desk import desk_of
from heddle.yarn.testbed.local.cluster import RM, LocalCluster, bring_up, node_role, take_down
from heddle.yarn.testbed.local.layout import Layout
from heddle.yarn.testbed.mixture import RealJob
from heddle.yarn.testbed.replay.master_jar import master_jar
from heddle.yarn.testbed.run_jobs import NOT_STARTED, JobRun, Workplace, run_jobs
from yarn_real.faulty_proxy import FaultyProxy

from .looking import looking
from .trouble import POLICY, Terms, Trouble
from .workload import SPELL_S, mixture

FILE, LOOKS, DECISIONS = "piece.json", "looks.jsonl", "decisions.jsonl"
DRAIN_S = 2700.0  # for jobs that have not ended when the time is over: on two cores the work of 95 min takes 125
SUBMITS_WITHIN_S = 120.0  # a client of Hadoop's or Spark's that cannot submit its job has given up by then
# The ResourceManager takes containers away to fit a node's size, at once or after asking.
_TAKEN = re.compile(r"Send MARK_CONTAINER_FOR_(?:KILLABLE|PREEMPTION) to (container_\w+)")
# A NodeManager ends a container that holds more than it has reserved: nothing that a node's size has to do with.
_OVER_ITS_OWN = re.compile(r"is running beyond the '(?:PHYSICAL|VIRTUAL)' memory limit")

Say = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    for_s: float
    warm_up_s: float
    kills_s: float
    every_s: float
    lease_s: float
    record_mb: float
    seed: int
    nodes: int
    node_mb: int


def run_piece(plan: Plan, name: str, port: int, folder: Path, say: Say) -> None:
    """What an earlier try left in the folder goes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    jobs, loads = mixture(plan.seed, plan.for_s, plan.nodes * plan.node_mb)
    # More vcores than containers: memory is what is scarce.
    layout = Layout(plan.nodes, plan.node_mb, node_vcores=32, port=port, bridge=True)
    with _cluster(name, layout, say) as cluster, FaultyProxy(cluster.layout.rm) as proxy:
        desk, decisions = desk_of(proxy.address), folder / DECISIONS
        began_at, began_s = time.time(), time.monotonic()
        desk.folder.mkdir(parents=True, exist_ok=True)
        with (
            _client(cluster) as mine,
            _client(cluster) as theirs,
            looking(cluster.layout.rm, desk, decisions, folder / LOOKS, began_s),
            ThreadPoolExecutor(1) as beside,
        ):
            terms = Terms(plan.lease_s, plan.kills_s, plan.every_s, plan.record_mb)
            trouble = Trouble(plan.seed, terms, cluster, theirs, proxy, desk, decisions, began_s, plan.for_s, say)
            place = Workplace(mine, cluster.folder / "staging", master_jar(layout.hadoop), cluster)
            shown = " ".join(f"{load:.0%}" for load in loads)
            say(f"{len(jobs)} jobs in {plan.for_s / 60:g} min; load of each {SPELL_S / 60:g} min: {shown}")
            befalling = beside.submit(trouble.befall)

            def look() -> None:
                """What goes wrong beside the jobs ends the piece, and not only when they have ended."""
                if befalling.done():
                    befalling.result()

            jobs_began_s = time.monotonic() - began_s
            try:
                runs = run_jobs(jobs, place, say, look, plan.for_s + DRAIN_S)
            except BaseException:
                trouble.break_off()
                raise
            befalling.result()
        seen_s = round(time.monotonic() - began_s, 1)
        document = {
            **asdict(plan),
            "policy": POLICY,
            "code": _code(),
            "began_at": began_at,
            "seen_s": seen_s,
            "loads": [round(load, 3) for load in loads],
            "jobs": [_job(*one, began_at, jobs_began_s, seen_s) for one in zip(jobs, runs, strict=True)],
            **asdict(trouble.happened),
            "killed_by_us": sorted(set(_TAKEN.findall(cluster.log(RM).read_text(errors="replace")))),
            "over_their_own": _over_their_own(cluster),
        }
    write_whole(folder / FILE, json.dumps(document, indent=1))


@contextmanager
def _cluster(name: str, layout: Layout, say: Say) -> Iterator[LocalCluster]:
    cluster = bring_up(name, layout, say)
    try:
        yield cluster
    finally:
        take_down(name)


def _client(cluster: LocalCluster) -> RmClient:
    return RmClient(cluster.layout.rm, timeout_s=60, user=getpass.getuser())


def _job(job: RealJob, run: JobRun, began_at: float, jobs_began_s: float, seen_s: float) -> dict[str, Any]:
    """With seconds since the piece began: when it was to be submitted, and when it was over at the latest."""
    planned_at_s = jobs_began_s + job.submit_at_ms / 1000
    ended_at_s = planned_at_s + SUBMITS_WITHIN_S if run.outcome == NOT_STARTED else seen_s
    if run.finished_at_ms is not None:
        ended_at_s = run.finished_at_ms / 1000 - began_at
    return {**run.as_json(), "planned_at_s": round(planned_at_s, 1), "ended_at_s": round(ended_at_s, 1)}


def _over_their_own(cluster: LocalCluster) -> int:
    logs = (cluster.log(node_role(node)) for node in range(cluster.layout.nodes))
    return sum(len(_OVER_ITS_OWN.findall(log.read_text(errors="replace"))) for log in logs)


def _code() -> str:
    told = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return told.stdout.strip()
