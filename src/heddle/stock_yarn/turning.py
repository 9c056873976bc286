"""Turning the knobs of a simulated YARN, in the engine's memory, between two of its steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.resources import MILLI
from heddle.model.view import JOB_ADMITTED, JOB_FINISHED
from heddle.policy.lever import Lever
from heddle.sim import arrays
from heddle.sim.compile import Engine
from heddle.sim.memory import SimHandle
from heddle.sim.queue_tree import QueueTree
from heddle.stock_yarn.sight import app_number, node_number
from heddle.yarn.live.knobs import Turns, worth_posting

NOTHING = -1


class Knobs:
    """Where the knobs of one run stand. Rows of the log are collected as they are turned."""

    def __init__(self, queues: QueueTree, ordering: Lever) -> None:
        self._queues, self._by_user = queues, ordering.by_user
        self._number = {name: q for q, name in enumerate(queues.names)}
        self._guarantee = np.array([queue.guarantee_permille for queue in queues.queues], np.int64)
        self._maximum = np.array([queue.maximum_permille for queue in queues.queues], np.int64)
        self._log: list[tuple[int, int, int, int]] = []  # kind, job, queue, value

    def turn(self, turns: Turns, engine: Engine, handle: SimHandle) -> None:
        """Brings every knob where it should be; if any moved, whoever waits is looked at again."""
        sim, before = handle.sim, len(self._log)
        self._share_queues(turns, sim)
        for app, leaf in turns.leaves.items():
            self._move(app_number(app), self._number[leaf], engine, handle)
        for name, permille in turns.am_share_permille.items():
            self._set_am_share(self._number[name], permille, sim)
        for app, priority in turns.priorities.items():
            self._set_priority(app_number(app), priority, engine, handle)
        resized = [self._resize(node_number(name), wanted, engine, handle) for name, wanted in turns.sizes.items()]
        self._compute_queues(sim)
        if len(self._log) > before or any(resized):
            sim.control["news"] = 1
            sim.control["epoch"] += 1

    def log(self, at_ms: int) -> npt.NDArray[Any]:
        """What was turned since the last call. (Node sizes are logged by the engine.)"""
        rows = np.zeros(len(self._log), arrays.LOG_ROW)
        rows["at_ms"], rows["stage"] = at_ms, NOTHING
        for i, (kind, job, queue, value) in enumerate(self._log):
            rows["kind"][i], rows["job"][i], rows["node"][i], rows["value"][i] = kind, job, queue, value
        self._log.clear()
        return rows

    def _share_queues(self, turns: Turns, sim: arrays.Sim) -> None:
        for name, (guarantee, maximum) in turns.queue_permille.items():
            q = self._number[name]
            if self._guarantee[q] != guarantee:
                self._guarantee[q] = guarantee
                self._log.append((arrays.LOG_QUEUE_GUARANTEE, NOTHING, q, guarantee))
            if self._maximum[q] != maximum:
                self._maximum[q] = maximum
                self._log.append((arrays.LOG_QUEUE_MAXIMUM, NOTHING, q, maximum))
            sim.shown.queue["weight_milli"][q] = max(1, guarantee)

    def _compute_queues(self, sim: arrays.Sim) -> None:
        """As YARN does when its nodes or its configuration change: from the root down."""
        queue = sim.shown.queue
        queue["guarantee"][0] = queue["maximum"][0] = sim.levers.sizing.node.sum(axis=0)
        for q in range(1, len(queue)):
            above = self._queues.parent[q]
            queue["guarantee"][q] = queue["guarantee"][above] * self._guarantee[q] // MILLI
            queue["maximum"][q] = queue["maximum"][above] * self._maximum[q] // MILLI

    def _set_am_share(self, q: int, permille: int, sim: arrays.Sim) -> None:
        if sim.shown.queue["am_share_permille"][q] != permille:
            sim.shown.queue["am_share_permille"][q] = permille
            self._log.append((arrays.LOG_QUEUE_AM_SHARE, NOTHING, q, permille))

    def _set_priority(self, job: int, priority: int, engine: Engine, handle: SimHandle) -> None:
        rows = handle.sim.shown.job
        if rows["priority"][job] != priority and rows["state"][job] < JOB_FINISHED:
            rows["priority"][job] = priority
            engine.rekey(handle, job)
            self._log.append((arrays.LOG_PRIORITY, job, NOTHING, priority))

    def _resize(self, n: int, wanted: tuple[int, int], engine: Engine, handle: SimHandle) -> bool:
        posted = handle.sim.levers.sizing.node[n]
        if not handle.sim.shown.node["alive"][n] or not worth_posting(wanted, (int(posted[0]), int(posted[1]))):
            return False
        posted[:] = wanted
        engine.resize(handle, n)
        return True

    def _move(self, job: int, leaf: int, engine: Engine, handle: SimHandle) -> None:
        """The job, its requests and its containers belong to another leaf from now on."""
        sim = handle.sim
        rows = sim.shown.job
        if rows["queue"][job] == leaf or rows["state"][job] >= JOB_FINISHED:
            return
        _count(sim, job, -1)
        of_leaf = sim.shown.member["queue"] == leaf
        of_user = sim.shown.member["user"] == sim.shown.member["user"][rows["member"][job]]
        rows["queue"][job], rows["member"][job] = leaf, np.flatnonzero(of_leaf & of_user)[0]
        _count(sim, job, 1)
        _file_under(sim, job, int(rows["member"][job]) if self._by_user else leaf)
        engine.rekey(handle, job)
        self._log.append((arrays.LOG_MOVED, job, leaf, leaf))


def _count(sim: arrays.Sim, job: int, sign: int) -> None:
    """Adds what the job holds and waits for to its queue, those above it and its user (-1: takes it off)."""
    view = sim.shown
    row, q, m = view.job[job], int(view.job["queue"][job]), int(view.job["member"][job])
    first = int(view.job_spec["first_stage"][job])
    am_held = int(view.stage["held"][first]) if view.job_spec["has_am"][job] else 0
    view.queue["am_allocated"][q] += sign * am_held * view.shape["demand"][view.stage_spec["shape"][first]]
    view.queue["running_ams"][q] += sign * am_held
    view.queue["running_jobs"][q] += sign * (row["state"] == JOB_ADMITTED)
    waited = view.member["waiting"][m] > 0
    view.member["waiting"][m] += sign * row["waiting"]
    view.member["allocated"][m] += sign * row["allocated"]
    view.queue["active_users"][q] += int(view.member["waiting"][m] > 0) - int(waited)
    while q >= 0:
        view.queue["allocated"][q] += sign * row["allocated"]
        view.queue["waiting"][q] += sign * row["waiting"]
        q = int(view.queue["parent"][q])


def _file_under(sim: arrays.Sim, job: int, base: int) -> None:
    """From now on the job's requests wait in lanes of this base: a leaf or, if users are kept apart, one of its."""
    n_bases, n_combos = int(sim.setting["n_bases"][0]), int(sim.setting["n_combos"][0])
    of_combo = sim.bucket[: 2 * n_combos : 2]
    first = int(sim.shown.job_spec["first_stage"][job])
    for stage in range(first, first + int(sim.shown.job_spec["n_stages"][job])):
        want = of_combo["want"][sim.stage_combo[stage]]
        sim.stage_combo[stage] = np.flatnonzero((of_combo["want"] == want) & (of_combo["lane"] % n_bases == base))[0]
