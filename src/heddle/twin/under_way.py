"""What is known of a simulated run while it is under way: as of a record, and nothing of what is to come.

Attempts that failed are left out, as they are from what durations are drawn from.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from heddle.model.cluster import Cluster
from heddle.model.reasons import Outcome
from heddle.model.view import JOB_AWAY
from heddle.model.workload import AM, EXECUTORS, Workload
from heddle.sim import codes
from heddle.sim.memory.tables import Sim
from heddle.twin.cutting import NEVER, Cut, Lives
from heddle.twin.known import Snapshot


class UnderWay:
    def __init__(self, workload: Workload, cluster: Cluster) -> None:
        self._workload, self._cluster = workload, cluster
        stages = workload.stages
        self._stage = np.repeat(np.arange(len(stages), dtype=np.int32), stages["n_tasks"])

    def at(self, sim: Sim, policy: str) -> Snapshot:
        """What is known now. Nodes that are lost are taken to stay away."""
        now = int(sim.shown.clock["now_ms"][0])
        workload, state = self._workload, sim.shown.job["state"]
        came = np.flatnonzero(state != JOB_AWAY).tolist()
        ended = sim.job_run["ended_at_ms"].tolist()
        jobs = [
            {
                "job": job,
                "name": workload.job_name(job),
                "queue": workload.queues[workload.jobs["queue"][job]],
                "user": workload.users[workload.jobs["user"][job]],
                "ended_at_ms": ended[job] if ended[job] >= 0 else None,
            }
            for job in came
        ]
        arrived = sim.shown.job["arrived_at_ms"].tolist()
        lives = Lives(policy, jobs, {job: arrived[job] for job in came}, self._attempts(sim))
        known = Cut(lives, workload, self._cluster).at(now)
        there = (sim.shown.node["alive"] != 0) | (sim.shown.node["n_containers"] > 0)
        nodes = tuple(node for node, is_there in zip(known.cluster.nodes, there.tolist(), strict=True) if is_there)
        return replace(known, cluster=replace(known.cluster, nodes=nodes))

    def _attempts(self, sim: Sim) -> dict[str, np.ndarray]:
        """Of each task that is done its last attempt, and of each that holds a container that one."""
        slots = np.flatnonzero(sim.slot["phase"] != codes.FREE)
        launching = sim.slot["phase"][slots] == codes.LAUNCHING
        done = np.flatnonzero(sim.task["state"] == codes.DONE)
        task = np.concatenate([done, sim.slot["task"][slots]])
        stage = self._stage[task]
        kind = self._workload.stages["kind"][stage]
        began = sim.task["started_at_ms"][done]
        held_since = np.where(launching, NEVER, sim.shown.container["started_at_ms"][slots])
        released = np.isin(kind, (AM, EXECUTORS))
        return {
            "job": self._workload.stages["job"][stage],
            "stage": stage,
            "kind": kind,
            "node": np.concatenate([sim.task["node"][done], sim.shown.container["node"][slots]]),
            "allocated_at_ms": np.concatenate([began, sim.shown.container["allocated_at_ms"][slots]]),
            "started_at_ms": np.concatenate([began, held_since]),
            "ended_at_ms": np.concatenate([sim.task["ended_at_ms"][done], np.full(len(slots), NEVER)]),
            "outcome": np.where(released, int(Outcome.RELEASED), int(Outcome.FINISHED)),
        }
