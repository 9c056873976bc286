"""The knobs of a simulated YARN, in the engine's memory, between two of its steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.model.view import JOB_ADMITTED, JOB_FINISHED
from heddle.model.workload import AM, INNER
from heddle.policy.lever import Queues
from heddle.sim import codes
from heddle.sim.handle import SimHandle
from heddle.sim.loading import Engine
from heddle.sim.memory import tables
from heddle.sim.memory.queue_tree import QueueTree
from heddle.stock_yarn.levers import posted
from heddle.stock_yarn.sight import app_number, node_number
from heddle.yarn.live.applying.standing import AM_SHARE, GUARANTEE, MAXIMUM, QueueSettings, Standing
from heddle.yarn.live.things_seen import Size

NOTHING = -1


class SimulatedKnobs:
    """Where the knobs of one run stand, as a ResourceManager would tell. What moves is collected for the log."""

    def __init__(self, queues: QueueTree, walked: Queues) -> None:
        self._queues, self._by_user = queues, walked.by_user
        self._number = {name: q for q, name in enumerate(queues.names)}
        self._log: list[tuple[int, int, int, int]] = []  # kind, job, queue, value
        self._own_weights: dict[int, int] = {}  # of the queues whose share was set
        self._before, self._resized = 0, False  # rows of the log when knobs were last settled, and sizes since

    def at(self, engine: Engine, handle: SimHandle) -> SimulatedKnobs:
        """Turns knobs of this engine's memory from now on."""
        self._engine, self._handle = engine, handle
        return self

    def read(self, names: Standing) -> Standing:
        view = self._handle.sim.shown
        state, queue, priority = view.job["state"], view.job["queue"], view.job["priority"]
        leaves = {name: app_number(name) for name in names.leaves}
        priorities = {name: app_number(name) for name in names.priorities}
        return Standing(
            sizes=self._sizes(names.sizes) if names.sizes else {},
            queues={
                name: {key: self._setting(self._number[name], key) for key in keys}
                for name, keys in names.queues.items()
            },
            priorities={name: int(priority[job]) for name, job in priorities.items() if state[job] < JOB_FINISHED},
            leaves={name: self._queues.names[queue[job]] for name, job in leaves.items() if state[job] < JOB_FINISHED},
        )

    def _sizes(self, names: Iterable[str]) -> dict[str, Size]:
        return self._of_nodes(names, posted(self._handle.sim))

    def held(self, nodes: Iterable[str]) -> dict[str, Size]:
        return self._of_nodes(nodes, self._handle.sim.shown.node["allocated"])

    def _of_nodes(self, names: Iterable[str], amounts: npt.NDArray[np.int64]) -> dict[str, Size]:
        """Of nodes that are there."""
        stand, alive = amounts.tolist(), self._handle.sim.shown.node["alive"].tolist()
        return {name: (stand[n][MEMORY], stand[n][VCORES]) for name in names if alive[n := node_number(name)]}

    def requests(self, what: str, values: Mapping[str, Any]) -> Iterable[Standing]:
        """Nobody is asked one by one here."""
        return (Standing(**{what: values}),)

    def set(self, change: Standing) -> None:
        for name, settings in change.queues.items():
            self._configure(self._number[name], settings)
        for app, leaf in change.leaves.items():
            self._move(app_number(app), self._number[leaf])
        for app, priority in change.priorities.items():
            self._set_priority(app_number(app), priority)
        if change.sizes:
            self._resize(change.sizes)

    def settle(self) -> None:
        """After the last change of an instant: queues follow nodes and, if anything moved, whoever waits is looked at
        again."""
        sim = self._handle.sim
        if self._resized or len(self._log) > self._before:
            sim.control["news"] = 1
            sim.control["epoch"] += 1
            sim.control["idle"] = 0
            sim.control["shares_moved"] = 1
            self._engine.share_out(self._handle)
        self._before, self._resized = len(self._log), False

    def log(self, at_ms: int) -> npt.NDArray[Any]:
        """What was turned since the last call. (Node sizes are logged by the engine.)"""
        rows = np.zeros(len(self._log), tables.LOG_ROW)
        if not self._log:
            return rows
        rows["at_ms"], rows["stage"] = at_ms, NOTHING
        for i, (kind, job, queue, value) in enumerate(self._log):
            rows["kind"][i], rows["job"][i], rows["node"][i], rows["value"][i] = kind, job, queue, value
        self._log.clear()
        self._before = 0
        return rows

    def _setting(self, q: int, key: str) -> str | None:
        """In the words of capacity-scheduler.xml."""
        if key == AM_SHARE:
            permille = int(self._handle.sim.shown.queue["am_share_permille"][q])
            return None if permille < 0 else f"{permille / MILLI:g}"
        if key == GUARANTEE and q not in self._own_weights:
            return None  # its weight is not its guarantee yet
        column = "guarantee_permille" if key == GUARANTEE else "maximum_permille"
        return f"{int(self._handle.sim.queue_share[column][q]) / 10:g}"

    def _configure(self, q: int, settings: QueueSettings) -> None:
        queue = self._handle.sim.shown.queue
        if GUARANTEE in settings:
            self._share(q, settings[GUARANTEE])
        if MAXIMUM in settings:
            maximum = round(10 * float(settings[MAXIMUM] or 0))
            self._handle.sim.queue_share["maximum_permille"][q] = maximum
            self._log.append((codes.LOG_QUEUE_MAXIMUM, NOTHING, q, maximum))
        if AM_SHARE in settings:
            share = settings[AM_SHARE]
            queue["am_share_permille"][q] = -1 if share is None else round(MILLI * float(share))
            self._log.append((codes.LOG_QUEUE_AM_SHARE, NOTHING, q, int(queue["am_share_permille"][q])))

    def _share(self, q: int, percent: str | None) -> None:
        """A queue's weight, where the scheduler goes by weights, is its guarantee from then on; None: as at first."""
        weights = self._handle.sim.shown.queue["weight_milli"]
        own = self._own_weights.setdefault(q, int(weights[q]))
        guarantee = self._queues.queues[q].guarantee_permille if percent is None else round(10 * float(percent))
        weights[q] = own if percent is None else max(1, guarantee)
        if percent is None:
            del self._own_weights[q]
        share = self._handle.sim.queue_share["guarantee_permille"]
        if share[q] != guarantee:
            share[q] = guarantee
            self._log.append((codes.LOG_QUEUE_GUARANTEE, NOTHING, q, guarantee))

    def _set_priority(self, job: int, priority: int) -> None:
        self._handle.sim.shown.job["priority"][job] = priority
        self._engine.rekey(self._handle, job)
        self._log.append((codes.LOG_PRIORITY, job, NOTHING, priority))

    def _resize(self, sizes: Mapping[str, Size]) -> None:
        numbers = np.array([node_number(node) for node in sizes])
        posted(self._handle.sim)[numbers] = list(sizes.values())
        for number in numbers.tolist():
            self._engine.resize(self._handle, number)
        self._resized = True

    def _move(self, job: int, leaf: int) -> None:
        """The job, its requests and its containers belong to another leaf from now on."""
        sim = self._handle.sim
        rows = sim.shown.job
        _count(sim, job, -1)
        of_leaf = sim.shown.member["queue"] == leaf
        of_user = sim.shown.member["user"] == sim.shown.member["user"][rows["member"][job]]
        rows["queue"][job], rows["member"][job] = leaf, np.flatnonzero(of_leaf & of_user)[0]
        _file_stages(sim, job, self._by_user)
        _count(sim, job, 1)
        self._engine.rekey(self._handle, job)
        self._log.append((codes.LOG_MOVED, job, leaf, leaf))


def _stages(sim: tables.Sim, job: int) -> range:
    first = int(sim.shown.job_spec["first_stage"][job])
    return range(first, first + int(sim.shown.job_spec["n_stages"][job]))


def _count(sim: tables.Sim, job: int, sign: int) -> None:
    """Adds what the job holds and waits for to its queues, those above them and its user (-1: takes it off)."""
    view = sim.shown
    view.queue["running_jobs"][view.job["queue"][job]] += sign * (view.job["state"][job] == JOB_ADMITTED)
    sim.queue_run["jobs"][view.job["queue"][job]] += sign
    for stage in _stages(sim, job):
        q, m, kind = int(view.stage["queue"][stage]), int(view.stage["member"][stage]), view.stage_spec["kind"][stage]
        if kind == INNER:
            continue
        held, waiting = int(view.stage["held"][stage]), int(view.stage["waiting"][stage])
        allocated = held * view.shape["demand"][view.stage_spec["shape"][stage]]
        if kind == AM:
            view.queue["am_allocated"][q] += sign * allocated
            view.queue["running_ams"][q] += sign * held
        waited = view.member["waiting"][m] > 0
        view.member["waiting"][m] += sign * waiting
        view.member["allocated"][m] += sign * allocated
        view.queue["active_users"][q] += int(view.member["waiting"][m] > 0) - int(waited)
        while q >= 0:
            view.queue["allocated"][q] += sign * allocated
            view.queue["waiting"][q] += sign * waiting
            q = int(view.queue["parent"][q])


def _file_stages(sim: tables.Sim, job: int, by_user: bool) -> None:
    """From now on the job's requests wait in lanes of its leaf or, if users are kept apart, of its user there."""
    n_bases, n_combos = int(sim.setting["n_bases"][0]), int(sim.setting["n_combos"][0])
    per_tree = int(sim.setting["queues_per_tree"][0])
    n_trees = int(sim.setting["n_trees"][0])
    of_combo, view = sim.bucket[: 2 * n_combos : 2], sim.shown
    for stage in _stages(sim, job):
        tree = int(view.stage_spec["label"][stage]) if view.clock["labels_apart"][0] else 0
        leaf = int(view.job["queue"][job]) + tree * per_tree
        member = int(view.job["member"][job]) + tree * (len(view.member) // n_trees)
        view.stage["queue"][stage], view.stage["member"][stage] = leaf, member
        base = member if by_user else leaf
        want = of_combo["want"][sim.stage_combo[stage]]
        sim.stage_combo[stage] = np.flatnonzero((of_combo["want"] == want) & (of_combo["lane"] % n_bases == base))[0]
