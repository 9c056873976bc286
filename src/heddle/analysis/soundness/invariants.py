"""What must hold in every run, looked up in all that happened (happenings.py): the `--check` of the command line.

Only its order counts, not its times alone: within one instant ends come before what they make possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.analysis.soundness.happenings import ALLOCATED, ENDED, FETCHED, STARTED
from heddle.model.cluster import BYTES_PER_MS_OF_MBPS, MOST_MBPS, Cluster
from heddle.model.reasons import Outcome
from heddle.model.resources import ONE
from heddle.model.view import JOB_FINISHED, View
from heddle.model.workload import AM, EXECUTORS, INNER, Workload
from heddle.sim.codes import LOG_JOB_ENDED, LOG_NODE_LOST, LOG_NODE_RETURNED, LOG_RESIZED

Rows = npt.NDArray[Any]
_NEVER = np.iinfo(np.int64).max


def broken_invariants(
    log: Rows, workload: Workload, cluster: Cluster, counts: Sequence[bool], *, finished: bool
) -> list[str]:
    """Everything that happened and cannot be; empty for a good run. The workload is in the cluster's resources.

    `counts`: the resources that the scheduler looks at.
    """
    found = []
    backwards = np.flatnonzero(np.diff(np.maximum(0, log["at_ms"])) < 0)  # below 0: there before the run, noted at 0
    if len(backwards):
        found.append(f"the clock runs backwards at {_example(log, backwards + 1)}")
    found += _node_books(log, workload, cluster, counts, finished)
    found += _lost_nodes(log, cluster)
    found += _attempts(log, workload, finished)
    found += _predecessors(log, workload, cluster)
    found += _fetches(log, workload, cluster)
    return found


def sums_left(view: View) -> list[str]:
    """After a finished run nothing may be allocated any more, in no account."""
    found = []
    for name in ("node", "queue", "member", "pool", "job"):
        left = getattr(view, name)["allocated"]
        if left.any():
            row = int(np.flatnonzero(left.any(axis=1))[0])
            found.append(f"after the run {name} {row} still counts {left[row].tolist()} as allocated")
    if view.clock["am_allocated"].any():
        found.append(f"after the run application masters still hold {view.clock['am_allocated'][0].tolist()}")
    return found


def _example(log: Rows, places: Rows) -> str:
    row = log[places[0]]
    more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
    return f"{row['at_ms']} ms: node {row['node']}, job {row['job']}, task {row['task']}{more}"


def _node_books(log: Rows, workload: Workload, cluster: Cluster, counts: Sequence[bool], finished: bool) -> list[str]:
    """Never more allocated on a node than its total at that time; nothing is left at the end."""
    log = log[np.isin(log["kind"], (ALLOCATED, ENDED, LOG_RESIZED))]  # in others `node` may be a queue's number
    container = workload.stages["kind"][log["stage"]] != INNER
    sign = np.where(log["kind"] == ALLOCATED, 1, np.where(log["kind"] == ENDED, -1, 0)) * container
    by_node = np.argsort(log["node"], kind="stable")
    node, sign = log["node"][by_node], sign[by_node]
    first = np.searchsorted(node, np.arange(cluster.n_nodes + 1))
    shape = workload.stages["shape"][log["stage"][by_node]]
    found = []
    for r, resource in enumerate(cluster.resources):
        held = np.concatenate([[0], np.cumsum(sign * workload.shapes[shape, r])])
        allocated = held[1:] - held[first[node]]
        resized = (log["kind"][by_node] == LOG_RESIZED) & (log["code"][by_node] == r)
        allowance = np.array([one.allowance[r] for one in cluster.nodes])
        place = np.maximum.accumulate(np.where(resized, np.arange(len(node)), -1)) if len(node) else np.zeros(0, int)
        total = np.where(place >= first[node], log["value"][by_node][place], allowance[node])
        over = np.flatnonzero((sign > 0) & (allocated > total)) if counts[r] else np.zeros(0, int)
        if len(over):
            amounts = f"{allocated[over[0]]} of {total[over[0]]}"
            found.append(f"{resource} promised twice, {amounts}, at {_example(log, by_node[over])}")
        if (below := np.flatnonzero(allocated < 0)).size:
            found.append(f"{resource} given back that was not taken, at {_example(log, by_node[below])}")
        left = held[first[1:]] - held[first[:-1]]
        if finished and left.any():
            found.append(f"{resource} is still allocated on node {int(np.flatnonzero(left)[0])} after the run")
    return found


def _lost_nodes(log: Rows, cluster: Cluster) -> list[str]:
    """Nothing begins on a lost node, and it comes back empty."""
    if not (log["kind"] == LOG_NODE_LOST).any():
        return []
    found = []
    relevant = np.isin(log["kind"], (ALLOCATED, STARTED, ENDED, LOG_NODE_LOST, LOG_NODE_RETURNED))
    places = np.flatnonzero(relevant)
    places = places[np.argsort(log["node"][places], kind="stable")]
    node, kind = log["node"][places], log["kind"][places]
    first = np.searchsorted(node, np.arange(cluster.n_nodes))
    lost = np.cumsum((kind == LOG_NODE_LOST).astype(np.int64) - (kind == LOG_NODE_RETURNED))
    lost -= np.concatenate([[0], lost])[first[node]]
    wrong = np.flatnonzero((lost > 0) & np.isin(kind, (ALLOCATED, STARTED)))
    if len(wrong):
        found.append(f"something begins on a lost node, at {_example(log, places[wrong])}")
    return found


def _attempts(log: Rows, workload: Workload, finished: bool) -> list[str]:
    """Each attempt begins and ends at most once, in this order; each task of a finished job finishes exactly once."""
    found = []
    index = {}
    for kind, word in ((ALLOCATED, "allocated"), (STARTED, "started"), (ENDED, "ended")):
        places = np.flatnonzero(log["kind"] == kind)
        key = (log["task"][places].astype(np.int64) << 16) | log["attempt"][places].astype(np.uint16)
        order = np.argsort(key, kind="stable")
        key, places = key[order], places[order]
        twice = np.flatnonzero(key[1:] == key[:-1])
        if len(twice):
            found.append(f"an attempt was {word} twice, at {_example(log, places[twice + 1])}")
        index[word] = (key, places)
    ended_key, ended_place = index["ended"]
    for word in ("allocated", "started"):
        key, places = index[word]
        at = np.minimum(np.searchsorted(ended_key, key), max(0, len(ended_key) - 1))
        known = ended_key[at] == key if len(ended_key) else np.zeros(len(key), bool)
        if (wrong := np.flatnonzero(known & (ended_place[at] < places) if len(ended_key) else known)).size:
            found.append(f"an attempt was {word} after it had ended, at {_example(log, places[wrong])}")
        if finished and not known.all():
            found.append(f"an attempt was {word} and never ended, at {_example(log, places[~known])}")

    done = (log["kind"] == ENDED) & (log["code"] == Outcome.FINISHED)
    times = np.bincount(log["task"][done], minlength=len(workload.tasks))
    if (again := np.flatnonzero(times > 1)).size:
        found.append(f"task {again[0]} finished {times[again[0]]} times ({len(again)} such tasks)")
    job_ended = (log["kind"] == LOG_JOB_ENDED) & (log["code"] == JOB_FINISHED)
    good = np.zeros(workload.n_jobs, bool)
    good[log["job"][job_ended]] = True
    stage_of_task = np.repeat(np.arange(len(workload.stages)), workload.stages["n_tasks"])
    works = ~np.isin(workload.stages["kind"], (AM, EXECUTORS))
    due = (works & good[workload.stages["job"]])[stage_of_task]
    if (lost := np.flatnonzero(due & (times == 0))).size:
        found.append(f"task {lost[0]} of a finished job never finished ({len(lost)} such tasks)")
    finish = np.full(len(workload.tasks), _NEVER)
    finish[log["task"][done]] = np.flatnonzero(done)
    begun = np.flatnonzero(np.isin(log["kind"], (ALLOCATED, STARTED)))
    if (late := begun[finish[log["task"][begun]] < begun]).size:
        found.append(f"a finished task ran again, at {_example(log, late)}")
    return found


def _predecessors(log: Rows, workload: Workload, cluster: Cluster) -> list[str]:
    """No task (early ones: no work of theirs) before the stages it comes after are done, no job before its jobs."""
    found = []
    stages = workload.stages
    done = np.flatnonzero((log["kind"] == ENDED) & (log["code"] == Outcome.FINISHED))
    begun = np.flatnonzero(np.isin(log["kind"], (ALLOCATED, STARTED)))
    finished = np.bincount(log["stage"][done], minlength=len(stages))
    done_place = np.full(len(stages), -1)
    np.maximum.at(done_place, log["stage"][done], done)
    done_place[finished < stages["n_tasks"]] = _NEVER
    first_place = np.full(len(stages), _NEVER)
    np.minimum.at(first_place, log["stage"][begun], begun)
    if len(workload.stage_after):
        waits = np.repeat(np.arange(len(stages)), stages["n_after"])
        gate = np.full(len(stages), -1)
        np.maximum.at(gate, waits, done_place[workload.stage_after])
        early = stages["slow_start_permille"] >= 0
        wrong = np.flatnonzero(~early & (first_place != _NEVER) & (first_place < gate))
        if len(wrong):
            found.append(f"a task began before its predecessors ended, at {_example(log, first_place[wrong])}")
        found += _early_work(log, workload, cluster, done[early[log["stage"][done]]], gate)
    if len(workload.job_after):
        ended = np.full(workload.n_jobs, _NEVER)
        rows = np.flatnonzero(log["kind"] == LOG_JOB_ENDED)
        ended[log["job"][rows]] = rows
        first_of_job = np.full(workload.n_jobs, _NEVER)
        np.minimum.at(first_of_job, stages["job"], first_place)
        waits = np.repeat(np.arange(workload.n_jobs), workload.jobs["n_after"])
        wrong = np.flatnonzero((first_of_job[waits] != _NEVER) & (first_of_job[waits] < ended[workload.job_after]))
        if len(wrong):
            found.append(f"a job began before the jobs it comes after, at {_example(log, first_of_job[waits[wrong]])}")
    return found


def _early_work(log: Rows, workload: Workload, cluster: Cluster, ends: Rows, gate: Rows) -> list[str]:
    """A task that held its container early still does all its work after its predecessors."""
    after = gate[log["stage"][ends]]
    if (wrong := np.flatnonzero(after > ends)).size:
        return [f"an early task ended before its predecessors, at {_example(log, ends[wrong])}"]
    known = after >= 0
    ends, after = ends[known], after[known]
    fastest = max([1000, *(node.speed_permille for node in cluster.nodes)])
    work_ms = workload.tasks["duration_ms"][log["task"][ends]] + workload.stages["shuffle_ms"][log["stage"][ends]]
    span_ms = log["at_ms"][ends] - log["at_ms"][after]
    short = np.flatnonzero(span_ms * (ONE * fastest // 1000) < work_ms * ONE)
    if len(short):
        return [f"an early task worked before its predecessors ended, at {_example(log, ends[short])}"]
    return []


def _fetches(log: Rows, workload: Workload, cluster: Cluster) -> list[str]:
    """Nothing comes faster than its node's link can carry, and no work is done before all is there."""
    rows = np.flatnonzero(log["kind"] == FETCHED)
    if not len(rows):
        return []
    found = []
    mbps = np.array([node.bandwidth_mbps or MOST_MBPS for node in cluster.nodes], np.int64)
    fast = log["value"][rows] > log["took_ms"][rows] * mbps[log["node"][rows]] * BYTES_PER_MS_OF_MBPS
    if fast.any():
        found.append(f"data came faster than its node's link carries it, at {_example(log, rows[fast])}")
    ended = np.flatnonzero((log["kind"] == ENDED) & (log["code"] == Outcome.FINISHED))
    end_of = np.full(len(workload.tasks), _NEVER)
    end_of[log["task"][ended]] = ended
    last = np.full(len(workload.tasks), -1)
    np.maximum.at(last, log["task"][rows], rows)  # the attempt that finished is a task's last
    done = np.flatnonzero((last >= 0) & (end_of != _NEVER))
    fastest = max([1000, *(node.speed_permille for node in cluster.nodes)])
    span_ms = log["at_ms"][end_of[done]] - log["at_ms"][last[done]]
    short = np.flatnonzero(span_ms * (ONE * fastest // 1000) < workload.tasks["duration_ms"][done] * ONE)
    if len(short):
        found.append(f"a task worked before its input was there, at {_example(log, last[done][short])}")
    return found
