"""An engine run in the reference simulator's words, so that the two can be compared attempt by attempt."""

from __future__ import annotations

import dataclasses

import numpy as np

from heddle.model import cluster as model
from heddle.model.cluster import Cluster
from heddle.model.reasons import JobOutcome, Outcome
from heddle.model.view import JOB_FAILED, JOB_FINISHED
from heddle.model.workload import Workload
from heddle.policy.parse import parse_policy
from heddle.sim import codes
from heddle.sim.run import Ended, run_engine
from heddle.stock_yarn.outside import run_by_bridge, run_by_knobs
from reference.trace import Attempt, Policy, Trace
from reference.worked_example import SEED, Example


def policy_text(policy: Policy) -> str:
    """The string that names the same levers."""

    def part(name: str, parameters: dict[str, object]) -> str:
        return f"{name}({','.join(f'{key}={value}' for key, value in parameters.items())})" if parameters else name

    # The queues come first: the presets of their names bring an ordering and an admission along, which the ones named
    # here must override.
    levers = (policy.queues, policy.ordering, policy.admission, policy.sizing, policy.partition, policy.placement)
    return "+".join(part(*lever) for lever in levers)


def engine_trace(
    workload: Workload, cluster: Cluster, policy: Policy, seed: int, until_ms: int, executor: str = "native"
) -> Trace:
    run = {"native": run_engine, "yarn-knobs": run_by_knobs, "bridge": run_by_bridge}[executor]
    return trace_of(run(workload, cluster, parse_policy(policy_text(policy)), seed, True, until_ms))


def trace_of_example(worked: Example) -> Trace:
    """What the engine makes of a run worked out by hand."""
    observation = model.Observation(**dataclasses.asdict(worked.observation))
    cluster = dataclasses.replace(worked.cluster, observation=observation)
    return engine_trace(_begun(worked), cluster, worked.policy, SEED, worked.until_ms, worked.executor)


def _begun(worked: Example) -> Workload:
    """The workload of an example, with the containers that are there from the beginning."""
    if not worked.running:
        return worked.workload
    n_tasks = len(worked.workload.tasks)
    running_on, started_at_ms = np.full(n_tasks, -1, np.int32), np.zeros(n_tasks, np.int64)
    for task, running in worked.running.items():
        running_on[task], started_at_ms[task] = running.node, running.started_at_ms
    hosts = tuple(node.name for node in worked.cluster.nodes)
    return dataclasses.replace(worked.workload, running_on=running_on, started_at_ms=started_at_ms, hosts=hosts)


def trace_of(ended: Ended) -> Trace:
    """A run that kept a log."""
    attempts: dict[tuple[int, int], Attempt] = {}
    for row in ended.attempts:
        key = (int(row["task"]), int(row["attempt"]))
        assert key not in attempts
        attempts[key] = Attempt(*key, int(row["node"]), int(row["allocated_at_ms"]))
        if row["started_at_ms"] != codes.NEVER:
            attempts[key].started_at_ms = int(row["started_at_ms"])
        if row["ended_at_ms"] != codes.NEVER:
            attempts[key].ended_at_ms = int(row["ended_at_ms"])
            attempts[key].outcome = Outcome(int(row["outcome"]))
    states = {JOB_FINISHED: JobOutcome.FINISHED, JOB_FAILED: JobOutcome.FAILED}
    jobs = [
        (states.get(int(state), JobOutcome.UNFINISHED), None if at < 0 else int(at))
        for state, at in zip(ended.sim.shown.job["state"], ended.sim.job_run["ended_at_ms"], strict=True)
    ]
    return Trace(
        "finished" if ended.status == codes.FINISHED else "stalled",
        "livelock" if ended.status == codes.LIVELOCK else "",
        list(attempts.values()),
        jobs,
    )


def differences(engine: Trace, reference: Trace) -> list[str]:
    """What differs, earliest first; empty when every start, finish and crash is the same."""

    def rows(trace: Trace) -> set[tuple[object, ...]]:
        return {
            (a.allocated_at_ms, a.task, a.attempt, a.node, a.started_at_ms, a.ended_at_ms, a.outcome and a.outcome.name)
            for a in trace.attempts
        }

    ours, theirs = rows(engine), rows(reference)
    if engine.reason == reference.reason == "livelock":
        # The run is broken off in the middle of an instant: what else happened in that one does not count.
        last = max(at for row in ours | theirs for at in (row[0], row[4], row[5]) if isinstance(at, int))
        ours, theirs = _before(last, ours), _before(last, theirs)
    found = [(row, "engine only") for row in ours - theirs] + [(row, "reference only") for row in theirs - ours]
    lines = [
        f"{side}: {row}"
        for row, side in sorted(found, key=lambda pair: tuple(-1 if x is None else x for x in pair[0][:4]))
    ]
    if engine.outcome != reference.outcome:
        lines.append(f"engine {engine.outcome} ({engine.reason}), reference {reference.outcome} ({reference.reason})")
    lines += [
        f"job {i}: engine {a}, reference {b}"
        for i, (a, b) in enumerate(zip(engine.jobs, reference.jobs, strict=True))
        if a != b
    ]
    return lines


def _before(last: int, rows: set[tuple[object, ...]]) -> set[tuple[object, ...]]:
    """The attempts as they stood right before the instant `last`."""

    def known(at: object) -> object:
        return at if isinstance(at, int) and at < last else None

    return {
        (*row[:4], known(row[4]), known(row[5]), row[6] if known(row[5]) is not None else None)
        for row in rows
        if known(row[0]) is not None
    }
