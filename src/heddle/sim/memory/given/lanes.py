"""Where requests wait. A lane is what the queues lever keeps apart: a base (everything, a leaf queue, or a user in a
leaf queue) in a pool. A bucket holds those of a lane that want the same, because where one finds no room, none does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from heddle.model.workload import Workload
from heddle.policy.lever import Queues
from heddle.sim.memory.facts import Facts
from heddle.sim.memory.given.members import Members
from heddle.sim.memory.given.trees import Trees

ANY = -1  # in place of a label: on whatever node


class _Bases(NamedTuple):
    """Everything, leaf queues, or users in leaf queues."""

    of_job: npt.NDArray[np.int64]  # [possibilities, jobs], as in Members
    of_kind: npt.NDArray[np.int64]  # [possibilities, kinds], likewise
    queue: npt.NDArray[np.int64]  # of each base

    @classmethod
    def of(cls, walk: Queues, members: Members, n_queues: int) -> _Bases:
        """Those of one tree."""
        if walk.by_user:
            return cls(members.of_job, members.of_kind, members.queue)
        if walk.by_queue:
            return cls(members.leaf_of_job, members.leaf_of_kind, np.arange(n_queues))
        everything = np.zeros(1, np.int64)
        return cls(np.zeros_like(members.of_job[:1]), np.zeros_like(members.of_kind[:1]), everything)


class _Wants(NamedTuple):
    """Distinct (shape, label), or each stage for itself."""

    of_stage: npt.NDArray[np.int64]
    shape: npt.NDArray[np.int64]
    label: npt.NDArray[np.int64]

    @classmethod
    def of(cls, workload: Workload, wants: npt.NDArray[np.int64] | None, labels_apart: bool) -> _Wants:
        """`wants`: those of the whole workload, as one number each; None: each stage for itself."""
        n_labels = len(workload.labels)
        asked = workload.stages["shape"].astype(np.int64) * n_labels + workload.stages["label"]
        if wants is None:
            wants, of_stage = asked, np.arange(len(asked))
        else:
            of_stage = np.searchsorted(wants, asked)
        shape, label = np.divmod(wants if len(wants) else np.zeros(1, np.int64), n_labels)
        return cls(of_stage, shape, label if labels_apart else np.where(label > 0, label, ANY))


class _Kinds(NamedTuple):
    """Of each distinct (queue, user, shape, label) of the whole workload."""

    user: npt.NDArray[np.int64]  # its place in facts.users
    want: npt.NDArray[np.int64]  # shape and label, as one number
    label: npt.NDArray[np.int64]

    @classmethod
    def of(cls, workload: Workload, facts: Facts) -> _Kinds:
        user, want = np.divmod(facts.wants, max(1, len(workload.shapes) * len(workload.labels)))
        return cls(np.searchsorted(facts.users, user), want, want % max(1, len(workload.labels)))


class Lanes(NamedTuple):
    n_bases: int
    n_combos: int  # (base, want) that some stage may have
    n_lanes: int
    lane_queue: npt.NDArray[np.int64]
    stage_combo: npt.NDArray[np.int32]
    want_shape: npt.NDArray[np.int64]
    want_label: npt.NDArray[np.int64]
    bucket_lane: npt.NDArray[np.int64]
    bucket_want: npt.NDArray[np.int64]
    bucket_gated: npt.NDArray[np.int64]
    bucket_room: npt.NDArray[np.int64]  # the most requests that can wait in it

    @property
    def bucket_offset(self) -> npt.NDArray[np.int64]:
        return np.cumsum(self.bucket_room) - self.bucket_room

    @classmethod
    def of(
        cls,
        workload: Workload,
        facts: Facts,
        members: Members,
        trees: Trees,
        walk: Queues,
        by_stage: bool,
        n_pools: int,
        has_gate: bool,
    ) -> Lanes:
        n_queues, labels_apart = len(trees.trees[0].names), trees.labels_apart
        bases, kinds = _Bases.of(walk, members, n_queues), _Kinds.of(workload, facts)
        known = None if by_stage else np.unique(kinds.want)
        wants = _Wants.of(workload, known, labels_apart)
        n_wants, n_bases_of_tree = len(wants.shape), len(bases.queue)
        queue_of_base = trees.once_for_each(bases.queue, n_queues)
        n_bases = len(queue_of_base)
        base_of_stage = bases.of_job[:, workload.stages["job"]] + trees.of_stage * n_bases_of_tree
        of_stages = base_of_stage * np.int64(n_wants) + wants.of_stage
        if known is None:
            combos, of_stage = np.unique(of_stages, return_inverse=True)
        else:
            base_of_kind = bases.of_kind[:, kinds.user] + trees.of_label(kinds.label) * n_bases_of_tree
            combos = np.unique(base_of_kind * np.int64(n_wants) + np.searchsorted(known, kinds.want))
            of_stage = np.searchsorted(combos, of_stages)
        n_combos = len(combos)
        # Buckets of a pool lie together, two for each combo: those that the gate does not keep back, and those it does.
        combo_of_bucket = np.tile(np.repeat(np.arange(n_combos), 2), n_pools)
        pool = np.repeat(np.arange(n_pools), 2 * n_combos)
        gated = np.arange(len(pool)) & 1
        stages = np.bincount(of_stage.ravel(), minlength=n_combos)[combo_of_bucket]
        if n_combos == 0:  # nothing to run: one bucket that stays empty
            combos, combo_of_bucket = np.zeros(1, np.int64), np.zeros(1, np.int64)
            pool, gated, stages = combo_of_bucket, combo_of_bucket, combo_of_bucket
        return cls(
            n_bases=n_bases,
            n_combos=n_combos,
            n_lanes=n_pools * n_bases,
            lane_queue=np.tile(queue_of_base, n_pools),
            stage_combo=of_stage.reshape(len(bases.of_job), -1)[0].astype(np.int32),
            want_shape=wants.shape,
            want_label=wants.label,
            bucket_lane=pool * n_bases + combos[combo_of_bucket] // n_wants,
            bucket_want=combos[combo_of_bucket] % n_wants,
            bucket_gated=gated,
            bucket_room=stages if has_gate else np.where(gated, 0, stages),
        )
