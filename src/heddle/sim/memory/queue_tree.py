"""The queues of a run: the cluster's, and those that only the workload names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import LEAF_ORDERS, Cluster, Queue
from heddle.model.workload import Workload


@dataclass(frozen=True)
class QueueTree:
    """The cluster's queues with the leaves that the workload brings along, in the view's order."""

    names: tuple[str, ...]
    queues: tuple[Queue, ...]
    parent: tuple[int, ...]

    @classmethod
    def of(cls, cluster: Cluster, workload: Workload) -> QueueTree:
        queues = list(cluster.queues)
        known = {queue.name for queue in queues}
        queues += [Queue(name) for name in workload.queues if name not in known]
        index = {queue.name: i for i, queue in enumerate(queues)}
        parent = tuple(index.get(queue.name.rpartition(".")[0], 0) if i else -1 for i, queue in enumerate(queues))
        return cls(tuple(index), tuple(queues), parent)

    def permille(self, share: str) -> list[int]:
        """A share of each queue: of its parent's guarantee, or of its maximum."""
        return [getattr(queue, share) for queue in self.queues]

    def fill(self, rows: npt.NDArray[Any], total: npt.NDArray[np.int64]) -> None:
        """Writes the view's rows: shares become amounts, names become links."""
        rows["first_child"] = rows["next_sibling"] = -1
        for i in range(len(self.queues) - 1, -1, -1):
            rows["parent"][i] = self.parent[i]
            if i:
                rows["next_sibling"][i] = rows["first_child"][self.parent[i]]
                rows["first_child"][self.parent[i]] = i
        for i, queue in enumerate(self.queues):  # amounts as of the start; scheduling/promises.py keeps them
            above = self.parent[i]
            rows["guarantee"][i] = total if i == 0 else rows["guarantee"][above] * queue.guarantee_permille // 1000
            rows["maximum"][i] = total if i == 0 else rows["maximum"][above] * queue.maximum_permille // 1000
            rows["min_share"][i] = queue.min_share or 0
            rows["weight_milli"][i] = queue.weight_milli
            rows["am_share_permille"][i] = queue.am_share_permille
            rows["user_limit_percent"][i] = queue.user_limit_percent
            rows["user_limit_factor_milli"][i] = queue.user_limit_factor_milli
            rows["max_running_jobs"][i] = queue.max_running_jobs
            rows["order"][i] = LEAF_ORDERS.index(queue.order)
