"""What can be wrong with the containers that a workload begins with (docs/semantics.md, "Starting state")."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster
from heddle.model.workload import EXECUTORS, INNER, NOT_RUNNING, Workload
from heddle.traces.problems import Problems

Mask = npt.NDArray[np.bool_]


def running_problems(workload: Workload) -> Iterator[tuple[Mask, str]]:
    """For each kind of problem, which tasks have it and what it is; whatever the cluster."""
    if workload.running_on is None:
        return
    jobs, stages = workload.jobs, workload.stages
    runs = workload.running_on != NOT_RUNNING
    stage = np.repeat(np.arange(len(stages)), stages["n_tasks"])
    job, kind = stages["job"][stage], stages["kind"][stage]
    yield runs & (jobs["submit_at_ms"][job] > 0), "runs when the workload begins, but its job is submitted later"
    yield runs & (jobs["n_after"][job] > 0), "runs when the workload begins, but its job comes after others"
    master = stages["first_task"][jobs["first_stage"]].clip(max=len(runs) - 1)
    without = (jobs["has_am"] != 0) & ~runs[master]
    yield runs & without[job], "runs when the workload begins, but the AM of its job does not"
    early = stages["slow_start_permille"] >= 0
    waits = np.repeat(np.arange(len(stages)), stages["n_after"])
    behind = np.zeros(len(stages), bool)
    behind[waits[stages["n_tasks"][workload.stage_after] > 0]] = True
    yield (
        runs & (behind & ~early)[stage],
        "runs when the workload begins, but comes after a stage with tasks (finished tasks are left out)",
    )
    yield runs & (kind == INNER), "an inner task cannot run when the workload begins"
    ordered = (early | (stages["kind"] == EXECUTORS))[stage]
    number = np.arange(len(runs)) - stages["first_task"][stage]
    running = np.bincount(stage[runs], minlength=len(stages))
    yield (
        runs & ordered & (number >= running[stage]),
        "runs when the workload begins, but one before it does not: of executors and early stages the first ones run",
    )


def check_running_fits(workload: Workload, cluster: Cluster, problems: Problems) -> None:
    """The nodes on which containers run: whether the cluster has them, with the label and exclusive resources."""
    if workload.running_on is None:
        return
    number = {node.name: n for n, node in enumerate(cluster.nodes)}
    running = np.flatnonzero(workload.running_on != NOT_RUNNING)
    stage = np.repeat(np.arange(len(workload.stages)), workload.stages["n_tasks"])[running]
    host = workload.running_on[running]
    for name in sorted({workload.hosts[h] for h in np.unique(host).tolist()} - number.keys()):
        first = _example(workload, stage[host == workload.hosts.index(name)])
        problems.add(f'a container runs on node "{name}", which the cluster does not have ({first})', field="node")
    exclusive = [(name, r) for r, name in enumerate(workload.resources) if name in cluster.exclusive]
    for h in np.unique(host).tolist():
        if workload.hosts[h] not in number:
            continue
        node = cluster.nodes[number[workload.hosts[h]]]
        here = stage[host == h]
        labels = workload.stages["label"][here]
        wrong = here[(labels != 0) & (labels != _label_number(workload, node.label))]
        if len(wrong):
            wanted = workload.labels[workload.stages["label"][wrong[0]]]
            what = f'a container that wants label "{wanted}" runs on node {node.name} ({_example(workload, wrong)})'
            problems.add(what, field="node")
        held = workload.shapes[workload.stages["shape"][here]].sum(axis=0)
        for name, r in exclusive:
            allowed = node.allowance[cluster.resources.index(name)]
            if held[r] > allowed:
                problems.add(f"containers on node {node.name} hold {held[r]} of its {allowed} {name}", field="node")


def _label_number(workload: Workload, label: str) -> int:
    return workload.labels.index(label) if label in workload.labels else -1


def _example(workload: Workload, stages: npt.NDArray[Any]) -> str:
    job = workload.job_name(int(workload.stages["job"][stages[0]]))
    more = f", and {len(stages) - 1} more" if len(stages) > 1 else ""
    return f"job {job}, stage {workload.stage_name(int(stages[0]))}{more}"
