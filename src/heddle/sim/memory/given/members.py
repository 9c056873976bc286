"""Users in leaf queues, and where jobs may be: where each begins, and the leaves to which it may be moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from heddle.model.workload import Workload
from heddle.sim.memory.facts import Facts, users_of
from heddle.sim.memory.queue_tree import QueueTree


class Members(NamedTuple):
    """Possibilities are rows: first where jobs begin, then one for each leaf that they may move to."""

    leaf_of_job: npt.NDArray[np.int64]  # [possibilities, jobs]
    of_job: npt.NDArray[np.int64]  # [possibilities, jobs]: its user there
    leaf_of_kind: npt.NDArray[np.int64]  # this and the next: the same of each (queue, user) of the whole workload
    of_kind: npt.NDArray[np.int64]
    queue: npt.NDArray[np.int64]  # of each member
    user: npt.NDArray[np.int64]

    @classmethod
    def of(cls, workload: Workload, facts: Facts, queues: QueueTree, moves_to: Sequence[str]) -> Members:
        n_users = max(1, len(workload.users))
        leaf_of = np.array([queues.names.index(name) for name in workload.queues] or [0], np.int64)
        begins_in, users = leaf_of[facts.users // n_users], facts.users % n_users
        others = (np.full(len(begins_in), queues.names.index(name)) for name in moves_to)
        leaves = np.stack([begins_in, *others], dtype=np.int64)
        pairs, of_kind = np.unique(leaves * n_users + users, return_inverse=True)
        of_kind = of_kind.reshape(leaves.shape)
        queue, user = np.divmod(pairs if len(pairs) else np.zeros(1, np.int64), n_users)
        kind_of_job = np.searchsorted(facts.users, users_of(workload))
        return cls(leaves[:, kind_of_job], of_kind[:, kind_of_job], leaves, of_kind, queue, user)
