"""Users in leaf queues, and where jobs may be: where each begins, and the leaves to which it may be moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from heddle.model.workload import Workload
from heddle.sim.memory.queue_tree import QueueTree


class Members(NamedTuple):
    """Possibilities are rows: first where jobs begin, then one for each leaf that they may move to."""

    leaf_of_job: npt.NDArray[np.int64]  # [possibilities, jobs]
    of_job: npt.NDArray[np.int64]  # [possibilities, jobs]: its user there
    queue: npt.NDArray[np.int64]  # of each member
    user: npt.NDArray[np.int64]

    @classmethod
    def of(cls, workload: Workload, queues: QueueTree, moves_to: Sequence[str]) -> Members:
        n_users = max(1, len(workload.users))
        leaf_of = np.array([queues.names.index(name) for name in workload.queues] or [0], np.int64)
        begins_in = leaf_of[workload.jobs["queue"]]
        others = (np.full(len(begins_in), queues.names.index(name)) for name in moves_to)
        leaves = np.stack([begins_in, *others], dtype=np.int64)
        pairs, of_job = np.unique(leaves * n_users + workload.jobs["user"], return_inverse=True)
        queue, user = np.divmod(pairs if len(pairs) else np.zeros(1, np.int64), n_users)
        return cls(leaves, of_job.reshape(leaves.shape), queue, user)
