"""Rolls futures out under policies, as far as the horizon: when applications end, and how full nodes are by then.

Anytime: every policy gets a few rollouts first, then those that are not clearly worse than the best get more, until the
time is over. Rollouts of the same number are of the same future, so that policies differ in nothing but themselves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from heddle.analysis.certainty.student import t_interval
from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput
from heddle.model.resources import MEMORY
from heddle.model.view import JOB_FINISHED
from heddle.policy.parse import parse_policy
from heddle.policy.policy import Policy
from heddle.run import Executor, check_executor, prepare_engine
from heddle.sim.run import run_engine
from heddle.stock_yarn.outside import run_by_knobs
from heddle.traces.check import check_fits
from heddle.twin.deadlock import Stuck, stuck_in
from heddle.twin.futures import Future, Futures

FIRST: Final = 5  # rollouts of every policy before any is dropped
_CONFIDENCE: Final = 0.9

Ends = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Candidate:
    """A policy, and who brings it about."""

    name: str
    policy: Policy
    executor: Executor

    @classmethod
    def of(cls, name: str, executor: Executor) -> Candidate:
        return cls(name, parse_policy(name), executor)


@dataclass
class Rolled:
    """`ends[d][a]`: when live application a ended in future d, in ms; inf: not before the horizon. NaN: unknown."""

    candidate: Candidate
    ends: list[Ends] = field(default_factory=list)
    stuck: list[Stuck | None] = field(default_factory=list)  # in an AM deadlock
    held: list[Ends] = field(default_factory=list)  # memory that containers hold of each node at the horizon
    # How many applications there are until the horizon, on average over time, those that come included: what a policy
    # is judged by. With the same arrivals it is proportional to how long applications take (Little's law).
    present: list[float] = field(default_factory=list)
    dropped: bool = False


def roll_out(
    futures: Futures,
    cluster: Cluster,
    candidates: Sequence[Candidate],
    horizon_ms: int,
    n_draws: int,
    seconds: float | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> list[Rolled]:
    """Of each candidate as many rollouts as there was time for, `n_draws` at most, one at least."""
    began = clock()
    rolled = [Rolled(one) for one in candidates]
    for draw in range(n_draws):
        future = futures.future(draw)
        if draw == 0:
            check_future(future, cluster, candidates)
        for one in rolled:
            if one.dropped or (draw > 0 and seconds is not None and clock() - began > seconds):
                continue
            came = run_future(future, cluster, one.candidate, horizon_ms, draw)
            one.ends.append(came.ends)
            one.stuck.append(came.stuck)
            one.held.append(came.held)
            one.present.append(came.present)
        if draw + 1 >= FIRST:
            _drop_losers(rolled)
    return rolled


def check_future(future: Future, cluster: Cluster, candidates: Sequence[Candidate]) -> None:
    """BadInput or RunRefused if it cannot be rolled out; compiles what it needs."""
    prepare_engine([one.policy for one in candidates], len(cluster.resources))
    if problems := check_fits(future.workload, cluster):
        raise BadInput(problems)
    for one in candidates:
        check_executor([one.policy], future.workload, cluster, one.executor)


class Came(NamedTuple):
    """What came of one future: as in Rolled."""

    ends: Ends
    stuck: Stuck | None
    held: Ends
    present: float


def run_future(future: Future, cluster: Cluster, candidate: Candidate, horizon_ms: int, seed: int) -> Came:
    execute = run_by_knobs if candidate.executor == "yarn-knobs" else run_engine
    ended = execute(future.workload, cluster, candidate.policy, seed, False, horizon_ms)
    state, at_ms = ended.sim.shown.job["state"], ended.sim.job_run["ended_at_ms"]
    found = np.where((state == JOB_FINISHED) & (at_ms <= horizon_ms), at_ms.astype(float), np.inf)
    ends = np.array([found[job] if job >= 0 else np.nan for job in future.job_of])
    held = ended.sim.shown.node["allocated"][:, MEMORY].astype(float)
    there_ms = np.minimum(found, horizon_ms) - np.minimum(future.workload.jobs["submit_at_ms"], horizon_ms)
    return Came(ends, stuck_in(ended), held, float(there_ms.sum()) / horizon_ms)


def gains(one: Rolled, other: Rolled) -> list[float]:
    """In each future that both were rolled out in: how many applications fewer there are under the second."""
    n = min(len(one.present), len(other.present))
    return [a - b for a, b in zip(one.present[:n], other.present[:n], strict=True)]


def surely(some: Sequence[float]) -> tuple[float, float] | None:
    """The interval of a mean over futures; None: too few to tell."""
    return t_interval(some, _CONFIDENCE) if len(some) >= FIRST else None


def _drop_losers(rolled: Sequence[Rolled]) -> None:
    """The first is the present policy, and is never dropped."""
    going = [one for one in rolled if not one.dropped]
    best = min(going, key=lambda one: fmean(one.present))
    for one in going[1:]:
        worse = surely(gains(one, best))
        one.dropped = one is not best and worse is not None and worse[0] > 0
