"""The same real workload under several policies, alternately, on one local cluster or on several.

Rounds go forth and back (A B, B A, ...), so that a drift of the machine does not favour one. Every run that has ended
is in a journal: a trial that was interrupted goes on behind it. `stock` is YARN left alone (alternatives.py); every
other policy is steered live by a process of its own, as an operator would. What happened in a run, its record and what
the controller decided, is in a folder of its own.
"""

from __future__ import annotations

import math
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final

from heddle.model.errors import BadInput, CheckFailed
from heddle.model.resources import MILLI, VCORES
from heddle.policy.parse import parse_policy
from heddle.yarn.live.levers import counting_in_full
from heddle.yarn.live.rm_answers import read_nodes
from heddle.yarn.observe.journal import Journal, read_lines
from heddle.yarn.observe.recording import recording
from heddle.yarn.testbed.alternatives import Alternative, alternative, ordering_by
from heddle.yarn.testbed.local.namespaces import sent_bytes
from heddle.yarn.testbed.mixture import RealJob
from heddle.yarn.testbed.replay.plan import ReplayJob
from heddle.yarn.testbed.run_jobs import GAVE_UP, JobRun, Workplace, run_jobs

READY_WITHIN_S: Final = 240.0  # the first time levers are compiled, which takes long on a busy machine
OWN_CALLS_PER_S: Final = 1000  # the cluster of a trial serves nobody else
DECISIONS: Final = "decisions.jsonl"
SEEN_BEFORE: Final = "journal"  # of a trial, for those who choose
SETTLE_S: Final = 5.0  # between runs: the last AMs go, the nodes report nothing in use


@dataclass(frozen=True)
class TrialRun:
    """One run of the workload.

    `peak_used_share`: most that containers really held of a node's own size. With `stuck_jobs`, which had not ended
    when the run was given up, makespan and completion are lower bounds: those jobs count as if they had ended then.
    `jct_s`: completion time of each job, by name. `moved_mb`: what nodes sent to one another, as their links counted it
    (10^6 bytes; None: they have none of their own). `cpu_share`: of all vcores, the part that containers used, on
    average while jobs were there (None: an earlier heddle did not measure it).
    """

    round: int
    policy: str
    makespan_s: float
    jct_mean_s: float
    jobs: int
    failed_jobs: int
    stuck_jobs: int
    peak_used_share: float
    jct_s: dict[str, float]
    moved_mb: float | None = None
    cpu_share: float | None = None


def over_reserved(
    jobs: int = 6,
    tasks: int = 6,
    reserved_mb: int = 1024,
    times: int = 4,
    task_s: int = 30,
    am_memory_mb: int = 256,
    queue: str = "root.default",
) -> list[RealJob]:
    """The built-in workload: a burst of jobs that reserve several times the memory that they use, and little CPU."""
    lines = (f"stage {reserved_mb} 1 -", *tasks * (f"task 0 {1000 * task_s} {reserved_mb // times}:20:10000",))
    return [
        ReplayJob(f"job-{number}", 200 * number, queue, 0, (am_memory_mb, 1), (), tasks, lines)
        for number in range(jobs)
    ]


def order_of(policies: list[str], rounds: int) -> list[tuple[int, str]]:
    """(round, policy) in the order in which they run."""
    return [
        (number, policy) for number in range(rounds) for policy in (policies if number % 2 == 0 else policies[::-1])
    ]


def run_trial(
    jobs: list[RealJob],
    policies: list[str],
    rounds: int,
    places: Mapping[str | None, Workplace],
    journal: Journal,
    plan: dict[str, Any],
    say: Callable[[str], None],
    give_up_s: float = math.inf,
    declared: Path | None = None,
) -> list[TrialRun]:
    """All runs, those of an earlier start included. `plan` says what is tried; a journal of another plan is refused.

    `places`: by the cluster that a policy names. A run that has not ended after `give_up_s` counts as stuck.
    `declared`: the workload as a file, for policies that read what it declares of data.
    """
    entries = list(journal.read())
    if entries and entries[0] != plan:
        raise BadInput.of(str(journal.path), f"belongs to another trial ({entries[0]}); name another folder")
    if not entries:
        journal.add(plan)
        journal.flush()
    done = [TrialRun(**entry) for entry in entries[1:]]
    ran = {(run.round, run.policy) for run in done}
    for number, policy in order_of(policies, rounds):
        if (number, policy) in ran:
            continue
        say(f"round {number + 1} of {rounds}: {policy}")
        run = _one(jobs, number, policy, places[alternative(policy).cluster], journal.path.parent, give_up_s, declared)
        journal.add(asdict(run))
        journal.flush()
        stuck = f", {run.stuck_jobs} jobs stuck" if run.stuck_jobs else ""
        say(f"round {number + 1} of {rounds}: {policy}: makespan {run.makespan_s:.1f} s{stuck}")
        done.append(run)
        time.sleep(SETTLE_S)
    return done


def _one(
    jobs: list[RealJob],
    number: int,
    policy: str,
    place: Workplace,
    folder: Path,
    give_up_s: float,
    declared: Path | None,
) -> TrialRun:
    own = {node.id: node.total for node in read_nodes(place.client.nodes(), place.client.address).values()}
    vcores = sum(size[VCORES] for size in own.values()) / MILLI
    peak, cpu_shares = 0.0, list[float]()
    mine, tried = folder / run_name(number, policy), alternative(policy)
    leaves = {job.queue for job in jobs}
    with recording(place.client, lambda _: None, own_machine=True, history=place.history) as kept:

        def look() -> None:
            nonlocal peak
            kept.poll()
            nodes = read_nodes(place.client.nodes(), place.client.address).values()
            peak = max([peak, *(node.containers_memory_mb / own[node.id][0] for node in nodes)])
            cpu_shares.append(sum(node.container_vcores_used for node in nodes) / vcores)

        with ordering_by(tried.order, place.client, leaves), _steered(tried, place, mine, declared):
            sent_before = _sent_bytes(place)
            runs = run_jobs(jobs, place, lambda _: None, look, give_up_s)
            sent = _sent_bytes(place)
        apps = {run.app_id for run in runs}
        spelled_out = _spelled_out(tried, mine)
        kept.write(
            apps, mine / "record", policy=spelled_out, workload=folder.name, started_by=["heddle", *sys.argv[1:]]
        )
    moved_mb = None if sent is None or sent_before is None else round((sent - sent_before) / 1e6, 1)
    cpu_share = round(fmean(cpu_shares), 5) if cpu_shares else None
    return replace(_summed(number, policy, runs, peak, give_up_s), moved_mb=moved_mb, cpu_share=cpu_share)


def _sent_bytes(place: Workplace) -> int | None:
    """What nodes have sent to one another so far; None: they have no links of their own."""
    cluster = place.cluster
    if cluster is None or not cluster.layout.hosts:
        return None
    return sum(sent_bytes(cluster.folder, cluster.layout).values())


def run_name(number: int, policy: str) -> str:
    """The folder of one run."""
    return f"round-{number + 1}-" + re.sub(r"[^A-Za-z0-9.=-]+", "_", policy).strip("_")


def _spelled_out(tried: Alternative, folder: Path) -> str:
    """What a simulation of the run has to be given as its policy."""
    if tried.policy is None:
        return tried.simulated_as
    policy, learnt_s = parse_policy(tried.policy), counted_in_full_s(folder)
    return str(policy if learnt_s is None else counting_in_full(policy, math.ceil(learnt_s)))  # a report a second


def counted_in_full_s(folder: Path) -> float | None:
    """For how long new containers counted in full in this run, mostly; None: the controller did not learn it."""
    steps = read_lines(folder / DECISIONS)
    learnt = [step["in_full_s"] for step in steps if step["containers"] and step["in_full_s"] is not None]
    return median(learnt) if learnt else None


def _summed(number: int, policy: str, runs: list[JobRun], peak: float, give_up_s: float) -> TrialRun:
    begun = [run for run in runs if run.submitted_at_ms is not None]
    stuck = [run for run in runs if run.outcome == GAVE_UP]
    given_up_ms = min(run.submitted_at_ms or 0 for run in begun) + round(1000 * give_up_s) if stuck and begun else 0
    spans = {run.name: (run.submitted_at_ms or 0, run.finished_at_ms or given_up_ms) for run in begun}
    if not spans:
        raise CheckFailed([f"no job ran: {runs[0].diagnostics}"])
    makespan_ms = max(end for _, end in spans.values()) - min(start for start, _ in spans.values())
    jct_s = {name: (end - start) / 1000 for name, (start, end) in spans.items()}
    return TrialRun(
        round=number,
        policy=policy,
        makespan_s=makespan_ms / 1000,
        jct_mean_s=fmean(jct_s.values()),
        jobs=len(runs),
        failed_jobs=sum(run.outcome not in ("SUCCEEDED", GAVE_UP) for run in runs),
        stuck_jobs=len(stuck),
        peak_used_share=round(peak, 3),
        jct_s=jct_s,
    )


@contextmanager
def _steered(tried: Alternative, place: Workplace, folder: Path, declared: Path | None) -> Iterator[None]:
    """A controller in a process of its own, ended as Ctrl-C would; what it decided stays in the folder."""
    if tried.policy is None:
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    decisions, log = folder / DECISIONS, folder / "controller.log"
    decisions.unlink(missing_ok=True)
    command = [sys.executable, "-c", "from heddle.cli.main import main; main()", "yarn", "steer", "--mode", "live"]
    # By its name a local cluster also tells the rates of its links, and where the bridge's secret is.
    command += ["--rm", place.client.address] if place.cluster is None else ["--name", place.cluster.name]
    command += ["--policy", tried.policy, "--record", str(decisions)]
    command += ["--max-calls-per-s", str(OWN_CALLS_PER_S)]
    if tried.chooses:
        journal = folder.parent / SEEN_BEFORE  # as on a cluster that has been watched: later rounds know the earlier
        journal.mkdir(exist_ok=True)
        command += ["--choose", "--yes", "--journal", str(journal)]
    if declared is not None and parse_policy(tried.policy).placement.reads_declared:
        command += ["--declared", str(declared)]
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as steering:
        try:
            _wait_for_decisions(steering, decisions, log)
            yield
        finally:
            steering.send_signal(signal.SIGINT)
            code = steering.wait()
    if code != 0:
        raise CheckFailed([f"the controller ended with {code}: {log.read_text()[-400:]}"])


def _wait_for_decisions(steering: subprocess.Popen[bytes], decisions: Path, log: Path) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while not (decisions.exists() and decisions.stat().st_size):
        if steering.poll() is not None or time.monotonic() > deadline:
            raise CheckFailed([f"the controller did not start: {log.read_text().strip()}"])
        time.sleep(0.1)
