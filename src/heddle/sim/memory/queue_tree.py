"""The queues of a run: the cluster's, and those that only the workload names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import LEAF_ORDERS, Cluster, LabelShare, Queue
from heddle.model.workload import Workload

SHARE: Final = -1  # in place of an amount: the queue has a share


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

    def of_label(self, label: str) -> QueueTree:
        """The tree for the nodes with this label: where a child of a queue says what it has of them, so it is for all
        children, and who says nothing is guaranteed nothing; else they have what they have without a label."""
        said = [{share.label: share for share in queue.labels}.get(label) for queue in self.queues]
        speaking = {above for above, share in zip(self.parent, said, strict=True) if share}
        queues = list(self.queues)
        for i, (above, share) in enumerate(zip(self.parent, said, strict=True)):
            if above in speaking:
                share = share or LabelShare(label)
                shares = share.guarantee_permille, share.maximum_permille
                queues[i] = replace(
                    queues[i], guarantee=(), maximum=(), guarantee_permille=shares[0], maximum_permille=shares[1]
                )
        return replace(self, queues=tuple(queues))

    def amounts(self, name: str, n_resources: int) -> npt.NDArray[np.int64]:
        """What each queue is to have, where it says an amount; SHARE where it does not."""
        return np.array([getattr(queue, name) or (SHARE,) * n_resources for queue in self.queues], np.int64)

    def amounts_below(self, n_resources: int) -> npt.NDArray[np.int64]:
        """The sum of the amounts that the children of each queue are guaranteed."""
        below = np.zeros((len(self.queues), n_resources), np.int64)
        for above, queue in zip(self.parent, self.queues, strict=True):
            if queue.guarantee:
                below[above] += queue.guarantee
        return below

    def permille(self, share: str) -> list[int]:
        """A share of each queue: of its parent's guarantee, or of its maximum."""
        return [getattr(queue, share) for queue in self.queues]

    def share_out(self, rows: npt.NDArray[Any], total: npt.NDArray[np.int64], counts: npt.NDArray[np.bool_]) -> None:
        """Guarantees and maxima at the start; from then on scheduling/promises.py has the same rule."""
        below = self.amounts_below(len(total))
        rows["guarantee"][0] = rows["maximum"][0] = total
        for i, queue in enumerate(self.queues[1:], 1):
            above = self.parent[i]
            least, most = rows["guarantee"][above], rows["maximum"][above]
            amount = (
                np.array(queue.guarantee, np.int64) if queue.guarantee else least * queue.guarantee_permille // 1000
            )
            if queue.guarantee and (below[above] > least)[counts].any():
                amount = np.where(below[above] > 0, amount * least // np.maximum(1, below[above]), amount)
            rows["guarantee"][i] = amount
            rows["maximum"][i] = np.minimum(most, queue.maximum or most * queue.maximum_permille // 1000)

    def fill(self, rows: npt.NDArray[Any]) -> None:
        """Writes the view's rows, but for what the queues have of the cluster: names become links."""
        rows["first_child"] = rows["next_sibling"] = -1
        for i in range(len(self.queues) - 1, -1, -1):
            rows["parent"][i] = self.parent[i]
            if i:
                rows["next_sibling"][i] = rows["first_child"][self.parent[i]]
                rows["first_child"][self.parent[i]] = i
        for i, queue in enumerate(self.queues):
            rows["min_share"][i] = queue.min_share or 0
            rows["weight_milli"][i] = queue.weight_milli
            rows["am_share_permille"][i] = queue.am_share_permille
            rows["user_limit_percent"][i] = queue.user_limit_percent
            rows["user_limit_factor_milli"][i] = queue.user_limit_factor_milli
            rows["max_running_jobs"][i] = queue.max_running_jobs
            rows["order"][i] = LEAF_ORDERS.index(queue.order)
