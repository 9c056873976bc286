"""Hadoop's scheduler load simulator (SLS) and ours on the same workload and cluster.

SLS is the real ResourceManager with simulated nodes and AMs, so all that has to be modelled is how those behave. That
is read from its source and its configuration; nothing is fitted to its results:
- An AM is up as soon as it has its container, and has a heartbeat of its own.
- It deals with an answer of the ResourceManager at its *next* heartbeat. So a container that it was given begins one
  heartbeat after it could have been told, and that a stage has ended it learns one heartbeat late as well.
- A container that has ended is reported with its node's next heartbeat: that is when a simulated node is offered
  anyway, but the AM may miss its own heartbeat by it, and hears of the end with the one after.

Left out: SLS counts an AM's heartbeats from the job's submission, here they are anywhere. Where an AM gets its
container at once, it asks half a heartbeat later on average than is simulated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final, Literal

import numpy as np

from heddle.analysis.certainty.student import t_interval
from heddle.analysis.comparison.ranks import spearman
from heddle.model.cluster import Calculator, Cluster, Node, Timing
from heddle.model.errors import CheckFailed, RunRefused
from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.model.workload import AM, TASKS, Workload
from heddle.policy.parse import parse_policy
from heddle.policy.policy import Policy
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, Vector, build
from heddle.yarn.testbed.sls.run import JobTimes
from heddle.yarn.testbed.sls.settings import AM_SHARE_PERMILLE, FAIR_POLICY, RESERVED_INCREMENTS, Scheduler

TARGET: Final = 0.03  # of the makespan
YARN_HEARTBEAT_MS: Final = 1000
SLS_AM: Final = (1024, 1 * MILLI)  # SLS's own, for a job that says nothing
NOTHING: Final = (0, 0)
Verdict = Literal["inside", "outside"]


@dataclass(frozen=True)
class Beside:
    """The two simulators. Errors are parts of SLS's value."""

    jobs: int
    sls_makespans_s: tuple[float, ...]
    heddle_makespans_s: tuple[float, ...]
    sls_makespan_s: float
    heddle_makespan_s: float
    makespan_error: float
    sls_interval: float | None  # half of the 95 % interval of SLS's mean, as a part of it; None: one run
    allowed_error: float
    verdict: Verdict
    sls_jct_s: float  # mean completion time of a job
    heddle_jct_s: float
    jct_error: float
    spearman: float | None  # of jobs' mean completion times; None: all alike
    sls_spearman: float | None  # of SLS's first run with the mean of its others: the best one can hope for
    naive_spearman: float | None  # of the order of arrival


def heartbeats_ms(cluster: Cluster) -> tuple[int, int]:
    """Of nodes and AMs; YARN's where the cluster is an ideal one, which SLS cannot be."""
    return cluster.timing.node_heartbeat_ms or YARN_HEARTBEAT_MS, cluster.timing.am_heartbeat_ms or YARN_HEARTBEAT_MS


def for_load_simulator(workload: Workload) -> Workload:
    """The workload with what SLS can hold: maps, then reduces, whole vcores, an AM for each job.

    Use, slow start and time to shuffle are left out, for both simulators. RunRefused names what it cannot run at all.
    """
    why = []
    if set(workload.stages["kind"].tolist()) - {TASKS, AM}:
        why.append("executors with slots")
    if workload.resources[2:]:
        why.append(f"resources beyond memory and vcores ({', '.join(workload.resources[2:])})")
    if len(workload.job_after):
        why.append("jobs that wait for others")
    if workload.jobs["priority"].any():
        why.append("priorities")
    if workload.stages["label"].any():
        why.append("labelled nodes")
    if workload.running_on is not None:
        why.append("containers that run when it begins")
    if workload.prefers is not None:
        why.append("tasks that prefer nodes")
    jobs = [] if why else [_job(workload, number) for number in range(workload.n_jobs)]
    if any(_is_strange(job) for job in jobs):
        why.append("jobs with other stages than one, or one and a second after it")
    if why:
        raise RunRefused(f"the load simulator cannot run {workload.name}: it knows no {'; no '.join(why)}")
    return build(workload.name, jobs, about=workload.about)


def _is_strange(job: JobSpec) -> bool:
    names = [stage.name for stage in job.stages]
    return [stage.after for stage in job.stages] not in ([()], [(), tuple(names[:1])])


def _job(workload: Workload, number: int) -> JobSpec:
    row = workload.jobs[number]
    first, last = int(row["first_stage"]), int(row["first_stage"] + row["n_stages"])
    own = [stage for stage in range(first, last) if workload.stages["kind"][stage] == TASKS]
    name_of = dict(zip(own, ("map", "reduce", *map(str, own)), strict=False))  # SLS's two kinds
    stages = []
    for stage in own:
        spec = workload.stages[stage]
        after = workload.stage_after[spec["first_after"] : spec["first_after"] + spec["n_after"]].tolist()
        tasks = workload.tasks["duration_ms"][spec["first_task"] : spec["first_task"] + spec["n_tasks"]].tolist()
        stages.append(
            StageSpec(
                name_of[stage],
                _whole(workload, stage),
                [TaskSpec(max(1, duration)) for duration in tasks],
                tuple(name_of[before] for before in after),
            )
        )
    return JobSpec(
        workload.job_name(number),
        int(row["submit_at_ms"]),
        stages,
        am=_whole(workload, first) if row["has_am"] else SLS_AM,
        queue=workload.queues[row["queue"]],
        user=workload.users[row["user"]],
    )


def _whole(workload: Workload, stage: int) -> Vector:
    shape = workload.shapes[workload.stages["shape"][stage]]
    return int(shape[MEMORY]), -(-int(shape[VCORES]) // MILLI) * MILLI


def policy_of(scheduler: Scheduler, calculator: Calculator) -> Policy:
    """What decides in that scheduler: how it orders, and its share for AMs where a queue says none."""
    percent = AM_SHARE_PERMILLE[scheduler] / MILLI
    if scheduler == "capacity":
        return parse_policy(f"capacity+am-share(percent={percent})")
    threshold = f"threshold_mb={RESERVED_INCREMENTS}"
    if calculator == "dominant":
        threshold += f", threshold_vcores={RESERVED_INCREMENTS}"
    queues = f"{FAIR_POLICY[calculator]}({threshold})"
    return parse_policy(f"{queues}+fair-am-share(percent={percent}, shares={calculator})")


def simulated(workload: Workload, cluster: Cluster, scheduler: Scheduler, rounds: int) -> list[dict[str, JobTimes]]:
    """Our own simulation of what SLS would do, `rounds` times with other moments of heartbeats."""
    node_ms, am_ms = heartbeats_ms(cluster)
    # As in yarn/testbed/sls/settings.py: nodes of one speed, memory and vcores, no faults; nobody is preempted.
    on = Cluster(
        tuple(Node(node.name, node.allowance[:2], node.allowance[:2], node.rack) for node in cluster.nodes),
        queues=cluster.queues,
        calculator=cluster.calculator,
        off_switch_per_heartbeat=cluster.off_switch_per_heartbeat,
        timing=Timing(node_ms, am_ms, node_ms, 0, 0),
    )
    jobs = [_job(workload, number) for number in range(workload.n_jobs)]
    policy = policy_of(scheduler, cluster.calculator)
    found = []
    for seed in range(rounds):
        random = np.random.default_rng(seed)
        slow = build(workload.name, [_slowed(job, node_ms, am_ms, random) for job in jobs])
        run = simulate(slow, on, policy, seed=seed)
        if run.manifest["outcome"] != "finished":
            raise CheckFailed([f"our own simulation stalled: {run.manifest['reason']}"])
        ran = run.jobs
        began = int(ran["submit_at_ms"].min())  # type: ignore[arg-type]
        found.append(
            {
                name: JobTimes(submitted - began, ended - began)
                for name, submitted, ended in ran.select("name", "submit_at_ms", "ended_at_ms").iter_rows()
            }
        )
    return found


def _slowed(job: JobSpec, node_ms: int, am_ms: int, random: np.random.Generator) -> JobSpec:
    """The job as its AM in SLS runs it, a heartbeat late.

    Tasks hold their container for as much longer. After each stage comes one of nothing at all: to ask for it and to be
    answered takes one heartbeat, and its task as many more as the node's report makes the AM miss.
    """
    stages: list[StageSpec] = []
    heard: tuple[str, ...] = ()
    for stage in job.stages:
        tasks = [TaskSpec(task.duration_ms + am_ms) for task in stage.tasks]
        stages.append(replace(stage, tasks=tasks, after=heard))
        heard = (f"{stage.name}-heard",)
        reported_ms, own_ms = random.uniform(0, node_ms), random.uniform(0, am_ms)
        missed = max(0, math.ceil((reported_ms - own_ms) / am_ms))
        stages.append(StageSpec(heard[0], NOTHING, [TaskSpec(missed * am_ms)], after=(stage.name,)))
    return replace(job, stages=stages)


def beside(sls: Sequence[dict[str, JobTimes]], ours: Sequence[dict[str, JobTimes]]) -> Beside:
    """Means over rounds, held against each other."""
    theirs_s, ours_s = ([max(t.ended_at_ms for t in run.values()) / 1000 for run in runs] for runs in (sls, ours))
    mean_s = fmean(theirs_s)
    ends = t_interval(theirs_s)
    interval = None if ends is None else (ends[1] - ends[0]) / 2 / mean_s
    allowed = max(TARGET, interval or 0.0)
    error = fmean(ours_s) / mean_s - 1
    by_arrival = sorted(sls[0], key=lambda name: sls[0][name].submit_at_ms)
    their_jct, our_jct = _mean_jct(sls, by_arrival), _mean_jct(ours, by_arrival)
    return Beside(
        jobs=len(by_arrival),
        sls_makespans_s=tuple(theirs_s),
        heddle_makespans_s=tuple(ours_s),
        sls_makespan_s=mean_s,
        heddle_makespan_s=fmean(ours_s),
        makespan_error=error,
        sls_interval=interval,
        allowed_error=allowed,
        verdict="inside" if abs(error) <= allowed else "outside",
        sls_jct_s=fmean(their_jct),
        heddle_jct_s=fmean(our_jct),
        jct_error=fmean(our_jct) / fmean(their_jct) - 1,
        spearman=spearman(our_jct, their_jct),
        sls_spearman=spearman(_mean_jct(sls[:1], by_arrival), _mean_jct(sls[1:], by_arrival)) if sls[1:] else None,
        naive_spearman=spearman(list(range(len(by_arrival))), their_jct),
    )


def _mean_jct(runs: Sequence[dict[str, JobTimes]], names: Sequence[str]) -> list[float]:
    return [fmean(run[name].jct_s for run in runs) for name in names]
