"""The AM deadlock before it happens: futures in which application masters hold everything and no task fits beside them.

How likely it is, when, who is in it, and the largest AM share under which none of these futures ends so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from heddle.model.cluster import Cluster, Queue
from heddle.model.view import JOB_FINISHED
from heddle.model.workload import AM
from heddle.sim.codes import FREE, PAUSED, STALLED
from heddle.sim.run import Ended
from heddle.sim.stall import stall_reason

ALARM: Final = 0.75  # from this probability on, under the policy in force, somebody should be woken
SHARES: Final = (500, 300, 200, 100, 50)  # permille of a leaf, tried from the largest
_WORD: Final = "am-deadlock"


@dataclass(frozen=True)
class Stuck:
    """A future that ends in a deadlock. `jobs`: of its workload, those that hold an AM and cannot go on."""

    at_ms: int
    jobs: frozenset[int]


@dataclass(frozen=True)
class Deadlock:
    """`applications`: live ones that are in most of the deadlocks; `share_permille`: None: no share that was tried."""

    probability: float
    at_ms: float
    applications: tuple[str, ...]
    share_permille: int | None

    @property
    def alarms(self) -> bool:
        return self.probability >= ALARM

    def as_json(self) -> dict[str, Any]:
        return {
            "probability": self.probability,
            "alarm": self.alarms,
            "in_s": self.at_ms / 1000,
            "applications": list(self.applications),
            "am_share_that_prevents_it": None if self.share_permille is None else self.share_permille / 1000,
        }


def stuck_in(ended: Ended) -> Stuck | None:
    """What came of a rollout; None: no deadlock. It begins with the last AM that found room."""
    sim, view = ended.sim, ended.sim.shown
    if ended.status not in (PAUSED, STALLED):
        return None
    if view.stage["held"][view.stage_spec["kind"] != AM].sum():  # a task runs: room will come
        return None
    at_ms = int(view.container["allocated_at_ms"][sim.slot["phase"] != FREE].max(initial=0))
    if not (view.stage["waiting"] > 0).any() or not stall_reason(sim, STALLED).startswith(_WORD):
        return None
    masters = (view.stage_spec["kind"] == AM) & (view.stage["held"] > 0)
    jobs = view.stage_spec["job"][masters]
    return Stuck(max(0, at_ms), frozenset(jobs[view.job["state"][jobs] < JOB_FINISHED].tolist()))


def with_am_share(cluster: Cluster, permille: int, leaves: Iterable[str]) -> Cluster:
    """Every queue with this AM share, if it has a larger one or none of its own; also leaves that it does not name."""
    named = {queue.name for queue in cluster.queues}
    unnamed = tuple(Queue(leaf) for leaf in sorted(set(leaves) - named))
    queues = tuple(
        replace(queue, am_share_permille=permille)
        if queue.am_share_permille < 0 or queue.am_share_permille > permille
        else queue
        for queue in (*cluster.queues, *unnamed)
    )
    return replace(cluster, queues=queues)


def often(stuck: Sequence[Stuck], job_of: Sequence[Sequence[int]], names: Sequence[str]) -> tuple[str, ...]:
    """Of the live applications, those that are in at least half of the deadlocks."""
    counts = np.zeros(len(names))
    for one, jobs in zip(stuck, job_of, strict=True):
        counts += [job in one.jobs for job in jobs]
    return tuple(name for name, count in zip(names, counts.tolist(), strict=True) if 2 * count >= len(stuck))
