"""A plan: what the levers of a policy answered at one instant, before anything is done about it.

A plan is lever outputs, not assignments. An executor turns it into effects: the simulator's native one assigns
containers, a controller outside YARN turns those knobs that YARN has. Numbers are rows of the view that was decided on.
What a policy's levers do not answer is None, so that an executor can tell "no opinion" from "nothing".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from heddle.model.reasons import Reason


@dataclass(frozen=True)
class Plan:
    """Lever outputs at one instant."""

    decided_at_ms: int
    node_totals: npt.NDArray[np.int64] | None = None  # sizing: [nodes, resources], what may be promised
    admission: Mapping[int, Reason] | None = None  # admission: jobs that have not started; NONE = may start its AM
    one_more: frozenset[int] = frozenset()  # with pools: jobs that run; admission would let in one more of their kind
    job_pools: Mapping[int, int] | None = None  # partition: the pool that each live job draws on
    pool_limits: npt.NDArray[np.int64] | None = None  # partition: [pools, resources]
    request_keys: Mapping[int, int] | None = None  # ordering: stages that wait; the smaller key goes first
    vetoes: Mapping[tuple[int, int], Reason] | None = None  # placement: (stage, node) that is refused, and why
    # For executors that decide request by request, at each offer of a node:
    request_terms: Mapping[int, int] | None = None  # ordering: what counts beside fit
    alignment_milli: int = 0  # ordering: how much alignment counts, where keys have it
    # ordering: node -> shape -> how many go there before anything else
    node_plans: Mapping[int, Mapping[int, int]] = field(default_factory=dict)

    def admitted(self) -> frozenset[int]:
        """Jobs that may start now, of those that have not."""
        return frozenset(job for job, reason in (self.admission or {}).items() if reason is Reason.NONE)

    def request_order(self) -> list[int]:
        """Waiting stages, first to go first; ties by number, as everywhere."""
        keys = self.request_keys or {}
        return sorted(keys, key=lambda stage: (keys[stage], stage))
