"""Workloads that begin with running containers: the engine's runs still equal the reference simulator's.

Masters that have other containers are ready at 0. Where one is not, and a container of its job ends meanwhile, the
reference asks for more before the master is ready; by the page a job asks for nothing before it begins.
"""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from engine_trace import differences, engine_trace, policy_text
from heddle.model.cluster import Cluster
from heddle.model.workload import AM, EXECUTORS, INNER, NOT_RUNNING, Workload
from reference import Running, simulate
from reference.features import Features
from reference.random_policies import policies
from reference.random_workloads import pairs

UNTIL_MS = 100_000
READY_MS = 30_000  # by then every master is ready
EXAMPLES = int(os.environ.get("HEDDLE_EXAMPLES", "40"))
NOT_WITH_EXECUTORS = {"ffd-dp", "srpt", "tetris"}  # as in test_engine_equals_reference.py

FEATURES = {
    "plain": Features(dag=True),
    "map-reduce": Features(heartbeats=True, ams=True, dag=True, early_stages=True, use=True),
    "heartbeats": Features(heartbeats=True, ams=True, dag=True, queues=True, labels=True, gpu=True),
    "oversold": Features(use=True, background=True),
    "spark": Features(ams=True, dag=True, executors=True, use=True, background=True),
    "faulty": Features(use=True, background=True, faults=True),
}


@st.composite
def running_containers(draw: st.DrawFn, workload: Workload, cluster: Cluster) -> dict[int, Running]:
    """Containers that the page allows: see "Starting state"."""
    found: dict[int, Running] = {}
    left = [[node.allowance[r] if name in cluster.exclusive else 10**9 for r, name in enumerate(cluster.resources)]
            for node in cluster.nodes]  # fmt: skip

    def put(stage: int, task: int) -> bool:
        label = workload.labels[workload.stages["label"][stage]]
        shape = workload.shapes[workload.stages["shape"][stage]]
        nodes = [
            n
            for n, node in enumerate(cluster.nodes)
            if label in ("", node.label) and all(have >= want for have, want in zip(left[n], shape, strict=True))
        ]
        if not nodes:
            return False
        node = draw(st.sampled_from(nodes))
        left[node] = [have - int(want) for have, want in zip(left[node], shape, strict=True)]
        found[task] = Running(node, -draw(st.sampled_from((0, 1, 700, 4000, 30_000))))
        return True

    for job in workload.jobs:
        if job["submit_at_ms"] > 0 or job["n_after"] > 0 or not draw(st.booleans()):
            continue
        for stage in range(job["first_stage"], job["first_stage"] + job["n_stages"]):
            row = workload.stages[stage]
            before = workload.stage_after[row["first_after"] : row["first_after"] + row["n_after"]]
            early = row["slow_start_permille"] >= 0
            first, count = int(row["first_task"]), int(row["n_tasks"])
            if row["kind"] == AM:
                if not put(stage, first):
                    break
            elif row["kind"] != INNER and (early or not workload.stages["n_tasks"][before].any()):
                prefix = early or row["kind"] == EXECUTORS
                for task in range(first, first + count):
                    if (not draw(st.booleans()) or not put(stage, task)) and prefix:
                        break
        last = workload.stages[job["first_stage"] + job["n_stages"] - 1]
        after = int(last["first_task"] + last["n_tasks"])
        master = int(workload.stages["first_task"][job["first_stage"]])
        if job["has_am"] and master in found and any(task > master for task in found if task < after):
            found[master] = dataclasses.replace(found[master], started_at_ms=-READY_MS)
    return found


@pytest.mark.parametrize("features", FEATURES.values(), ids=FEATURES)
def test_engine_equals_reference(features: Features) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(pairs(features), policies(), st.integers(0, 5), st.data())
    def compare(pair, policy, seed, data):  # type: ignore[no-untyped-def]
        workload, cluster = pair
        assume(not (features.executors and policy.ordering[0] in NOT_WITH_EXECUTORS))
        jobs = workload.jobs.copy()
        jobs["submit_at_ms"][: (len(jobs) + 1) // 2] = 0
        workload = dataclasses.replace(workload, jobs=jobs)
        running = data.draw(running_containers(workload, cluster))
        reference = simulate(workload, cluster, policy, seed, until_ms=UNTIL_MS, running=running)
        running_on = np.full(len(workload.tasks), NOT_RUNNING, np.int32)
        started_at_ms = np.zeros(len(workload.tasks), np.int64)
        names = {name: number for number, name in enumerate(workload.hosts)}
        for task, where in running.items():
            running_on[task] = names.setdefault(cluster.nodes[where.node].name, len(names))
            started_at_ms[task] = where.started_at_ms
        begun = dataclasses.replace(workload, running_on=running_on, started_at_ms=started_at_ms, hosts=tuple(names))
        found = differences(engine_trace(begun, cluster, policy, seed, UNTIL_MS), reference)
        assert not found, "\n".join([policy_text(policy), str(running), *found[:12]])

    compare()
