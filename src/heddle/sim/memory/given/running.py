"""Containers that were there before the run (docs/semantics.md, "Starting state")."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster
from heddle.model.workload import NOT_RUNNING, Workload
from heddle.sim.memory.given.places import nodes_of


class Running(NamedTuple):
    on: npt.NDArray[np.int32]  # [tasks] or [0]: the node where it runs; -1: none
    since_ms: npt.NDArray[np.int64]  # [tasks] or [0]
    jobs: npt.NDArray[np.int32]  # that have containers
    n_containers: int
    held: npt.NDArray[np.int64]  # [nodes, resources]: what they reserve

    @classmethod
    def of(cls, workload: Workload, cluster: Cluster) -> Running:
        on, since = nodes_of(workload.running_on, workload, cluster), workload.started_at_ms
        running = np.flatnonzero(on != NOT_RUNNING)
        stage = np.repeat(np.arange(len(workload.stages)), workload.stages["n_tasks"])[running]
        held = np.zeros((cluster.n_nodes, len(workload.resources)), np.int64)
        np.add.at(held, on[running], workload.shapes[workload.stages["shape"][stage]])
        return cls(
            on=on,
            since_ms=np.zeros(len(on), np.int64) if since is None else since,
            jobs=np.unique(workload.stages["job"][stage]).astype(np.int32),
            n_containers=len(running),
            held=held,
        )
