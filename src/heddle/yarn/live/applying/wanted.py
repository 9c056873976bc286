"""From what levers say to where the knobs that YARN has should stand: one mapping, for both hosts.

docs/semantics.md, "Stock YARN driven by knobs", is the rule. A plan has rows of the view, a Standing the RM's names.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from heddle.model.plan import Plan
from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.model.view import View
from heddle.policy.declaration import Lever
from heddle.policy.levers.admission import ADMIT_ALL
from heddle.policy.levers.admission import AM_SHARE as AM_SHARE_LEVER
from heddle.policy.policy import Policy
from heddle.yarn.live.applying.form import form_of
from heddle.yarn.live.applying.standing import AM_SHARE, GUARANTEE, MAXIMUM, QueueSettings, Standing
from heddle.yarn.live.live_view import LiveView
from heddle.yarn.live.things_seen import Size

HIGHEST_PRIORITY: Final = 10
WHOLE: Final[Size] = (1, MILLI)  # node sizes are whole MB and whole vcores
DEAD_BAND: Final[Size] = (256, MILLI)  # smaller changes of a node's size are not posted


class AmNeed(NamedTuple):
    """Of a leaf: what AMs hold there, with those that may start, and what YARN takes the AM share of."""

    held: list[int]
    base: dict[int, int]

    def share(self, growth: Size = (0, 0)) -> str:
        """Once nodes promise so much more. In permille, rounded up, of the resource of which it is the most."""
        parts = [
            -(-MILLI * self.held[r] // (most + growth[r])) for r, most in self.base.items() if most + growth[r] > 0
        ]
        return f"{min(MILLI, max(parts, default=0)) / MILLI:g}"


class Wanted(NamedTuple):
    """Where knobs should stand. AM shares are for nodes as they are; `ams` tells what they are if nodes grow."""

    standing: Standing
    ams: Mapping[str, AmNeed] = MappingProxyType({})


def from_outside(policy: Policy) -> Policy:
    """The policy without the levers that YARN has itself: nobody asks those outside.

    But a policy with pools moves applications, and their AMs with them, out of the leaf where others wait to start: the
    AM share that YARN has there must be asked outside, by somebody who still counts them.
    """
    levers = {lever.question: lever.silent() if lever.of_yarn else lever for lever in policy.levers}
    admission = policy.admission
    if pool_leaves(policy) and admission.name in (AM_SHARE_LEVER.name, ADMIT_ALL.name):
        levers[admission.question] = admission if admission.of_yarn else AM_SHARE_LEVER
    return replace(policy, levers=tuple(levers.values()))


def without_knob(policy: Policy, bridge: bool = False) -> list[str]:
    """What of the policy no knob of YARN can bring about, in words. `bridge`: the ResourceManager has it."""
    queues, ordering, placement = policy.queues, policy.ordering, policy.placement
    missing = []
    if ordering.fit is not None and not bridge:
        missing.append(
            f"{ordering.name} chooses a request for each node, which stock YARN does not let anyone outside do"
        )
    if bridge and form_of(ordering) is None:
        missing.append(f"{ordering.name} has code of its own for fit or combine, which no ResourceManager can run")
    if ordering.trait(ordering.by_memory):
        missing.append(f"{ordering} is a scheduler of its own: no knob makes Capacity or Fair act like it")
    if queues.by_queue and not queues.of_yarn:
        missing.append(f"{queues.name} orders queues, which YARN's own scheduler does")
    if queues.settings_fixed:
        missing += [
            f"{lever.name} sets queues or priorities, which cannot be changed live under the Fair scheduler"
            for lever in (ordering, policy.admission, policy.partition)
            if has_opinion(lever)
        ]
    if bridge and placement.score is not None and not placement.of_yarn and not placement.is_by_vetoes:
        missing.append(
            f"{placement.name} ranks nodes, of which the bridge is shown one at a time: only its vetoes count"
        )
    if not placement.of_yarn and not bridge:
        by_bridge = placement.allows is not None
        missing.append(
            f"{placement.name} chooses nodes, which stock YARN does not let anyone outside do"
            + (" without the bridge (`heddle yarn bridge install`; `heddle yarn up --bridge`)" if by_bridge else "")
        )
    return missing


def pool_leaf(pool: int) -> str:
    """The queue that stands for a pool."""
    return f"root.pool-{pool}"


def pool_leaves(policy: Policy) -> tuple[str, ...]:
    """The queues that a policy's pools need."""
    n_pools = policy.partition.n_pools
    return tuple(pool_leaf(pool) for pool in range(n_pools)) if n_pools > 1 else ()


def has_opinion(lever: Lever) -> bool:
    """Whether a lever would turn a knob."""
    return bool(lever.hooks) and not lever.of_yarn


def wanted_by(plan: Plan, live: LiveView, bridge: bool = False) -> Wanted:
    """Where a plan wants the knobs, given the view that it was made of. What it has no opinion about is empty.

    `bridge`: it orders requests, which says more than priorities of applications could.
    """
    leaves, shares = _pools(plan, live)
    leaves = _keeping_an_am(plan, live, leaves)
    ams = _am_needs(plan, live, leaves)
    queues = _settings(shares, ams)
    return Wanted(Standing(_sizes(plan, live), queues, {} if bridge else _priorities(plan, live), leaves), ams)


def _settings(shares: Mapping[str, tuple[int, int]], ams: Mapping[str, AmNeed]) -> dict[str, QueueSettings]:
    """In the words of capacity-scheduler.xml: shares of queues are percent, shares of AMs parts of 1."""
    wanted: dict[str, dict[str, str | None]] = {}
    for queue, (guarantee, maximum) in shares.items():
        wanted[queue] = {GUARANTEE: f"{guarantee / 10:g}", MAXIMUM: f"{maximum / 10:g}"}
    for queue, need in ams.items():
        wanted.setdefault(queue, {})[AM_SHARE] = need.share()
    return dict(wanted)


def _shares(limits: list[list[int]], whole: Mapping[int, int]) -> dict[str, tuple[int, int]]:
    """Guarantee and maximum of each pool's leaf, permille of what there is."""
    maxima = [min(limit[r] * MILLI // total for r, total in whole.items()) for limit in limits]
    guarantees = [max(0, MILLI - sum(maxima[1:])), *maxima[1:]]
    maxima[0] = max(maxima[0], guarantees[0])  # both are rounded down, and YARN wants no maximum below its guarantee
    return {pool_leaf(pool): share for pool, share in enumerate(zip(guarantees, maxima, strict=True))}


def _pools(plan: Plan, live: LiveView) -> tuple[dict[str, str], dict[str, tuple[int, int]]]:
    if plan.pool_limits is None or plan.job_pools is None or len(plan.pool_limits) < 2:
        return {}, {}
    clock = live.view.clock
    whole = {
        r: total
        for r, (total, counts) in enumerate(zip(clock["total"][0].tolist(), clock["counts"][0].tolist(), strict=True))
        if counts and total > 0
    }
    shares = _shares(plan.pool_limits.tolist(), whole) if whole else {}  # of nothing there are no shares
    # Until its AM has asked for anything nobody knows how large a job is: where it was submitted is as good as any.
    asked = (live.view.job_spec["n_stages"] > live.view.job_spec["has_am"]).tolist()
    return {app: pool_leaf(plan.job_pools[job]) for app, job in live.job_row.items() if asked[job]}, shares


def _keeping_an_am(plan: Plan, live: LiveView, leaves: Mapping[str, str]) -> dict[str, str]:
    """The moves, but for those that would take the last AM out of a leaf where admission lets nobody else start.

    YARN lets the first AM of a leaf in whatever its AM share: an empty one would let in one after the other.
    """
    if plan.admission is None or not leaves:
        return dict(leaves)
    rows, leaf_of, job_spec = live.leaves(), live.view.job["queue"], live.view.job_spec
    with_am = set(live.with_am().tolist())
    app_of = {job: app for app, job in live.job_row.items() if job in with_am}
    will_be_in = {rows.get(leaves.get(app, ""), int(leaf_of[job])) for job, app in app_of.items()}
    moves = dict(leaves)
    for leaf in {live.submitted_to(job) for job in app_of} - will_be_in:
        leaving = [job for job in app_of if leaf_of[job] == leaf == live.submitted_to(job)]
        waiting = [job for job in plan.admission if leaf_of[job] == leaf and job_spec["has_am"][job]]
        lets_in = plan.admitted() & set(waiting) if waiting else plan.one_more & {max(leaving, default=-1)}
        if leaving and not lets_in:
            del moves[app_of[max(leaving)]]
    return moves


def _am_needs(plan: Plan, live: LiveView, leaves: Mapping[str, str]) -> dict[str, AmNeed]:
    """As much as the AMs need that run already, in the leaves where they will be, and those of jobs that may start.

    Where nobody may start, one AM less: YARN puts another in the place of one that ends, and asks nobody.
    """
    if plan.admission is None:
        return {}
    view, rows, jobs = live.view, live.leaves(), live.job_row
    held, leaf_of = view.queue["am_allocated"].copy(), view.job["queue"].tolist()
    largest = _largest_ams(live)
    for app, leaf in leaves.items():
        job = jobs[app]
        if leaf not in rows or leaf_of[job] == rows[leaf]:
            continue
        if view.job_spec["has_am"][job] and view.stage["held"][view.job_spec["first_stage"][job]]:
            held[leaf_of[job]] -= live.am_demand(job)
            held[rows[leaf]] += live.am_demand(job)
            largest[rows[leaf]] = 0  # YARN must find it within the share there, or gives it nothing more
    for job in plan.admitted():
        held[leaf_of[job]] += live.am_demand(job)
        if view.job_spec["has_am"][job]:
            largest[leaf_of[job]] = 0
    held = (held - largest).clip(min=0)
    return {
        name: AmNeed(held[row].tolist(), base)
        for (name, row), base in zip(rows.items(), _am_bases(view, rows.values()), strict=True)
    }


def _largest_ams(live: LiveView) -> npt.NDArray[np.int64]:
    """Of each queue, the most that one of its AMs has, resource by resource."""
    view, jobs = live.view, live.with_am()
    largest: npt.NDArray[np.int64] = np.zeros_like(view.queue["am_allocated"])
    shapes = view.stage_spec["shape"][view.job_spec["first_stage"][jobs]]
    np.maximum.at(largest, view.job["queue"][jobs], view.shape["demand"][shapes])
    return largest


def _am_bases(view: View, leaves: Iterable[int]) -> Iterator[dict[int, int]]:
    """What the Capacity scheduler takes an AM share of, of each resource that counts: the leaf's current limit, or its
    guarantee where that is more.

    The same rule as `am-share` (policy/levers/admission.py); runs by knobs against the reference hold both.
    """
    parents, maximum, allocated, guarantee = (
        view.queue[column].tolist() for column in ("parent", "maximum", "allocated", "guarantee")
    )
    total = view.clock["root_total"][0].tolist()
    counted = [r for r, counts in enumerate(view.clock["counts"][0].tolist()) if counts]
    for leaf in leaves:
        path = [leaf]
        while parents[path[0]] >= 0:
            path.insert(0, parents[path[0]])
        limit = {r: total[r] for r in counted}
        for parent, child in itertools.pairwise(path):
            for r in counted:
                left = min(limit[r], maximum[parent][r]) - allocated[parent][r] + allocated[child][r]
                limit[r] = min(left, maximum[child][r])
        is_less = any(guarantee[leaf][r] > limit[r] for r in counted)
        yield {r: guarantee[leaf][r] for r in counted} if is_less else limit


def _priorities(plan: Plan, live: LiveView) -> dict[str, int]:
    """In each leaf, the ranks of its jobs by their smallest key."""
    if plan.request_keys is None:
        return {}
    view = live.view
    stages = list(plan.request_keys)
    key_of: dict[int, int] = {}
    for job, key in zip(view.stage_spec["job"][stages].tolist(), plan.request_keys.values(), strict=True):
        key_of[job] = min(key, key_of.get(job, key))
    leaf_of = dict(zip(key_of, view.job["queue"][list(key_of)].tolist(), strict=True))
    keys_in: dict[int, set[int]] = {}
    for job, key in key_of.items():
        keys_in.setdefault(leaf_of[job], set()).add(key)
    rank_in = {leaf: {key: rank for rank, key in enumerate(sorted(keys))} for leaf, keys in keys_in.items()}
    priorities = {}
    for app, job in live.job_row.items():
        if job in key_of:
            ranks = rank_in[leaf_of[job]]
            priorities[app] = priority_of(ranks[key_of[job]], len(ranks))
    return priorities


def priority_of(rank: int, ranks: int) -> int:
    """YARN has few priorities: where there are more ranks, neighbours share one."""
    if ranks <= HIGHEST_PRIORITY + 1:
        return HIGHEST_PRIORITY - rank
    return HIGHEST_PRIORITY - rank * (HIGHEST_PRIORITY + 1) // ranks


def _sizes(plan: Plan, live: LiveView) -> dict[str, Size]:
    if plan.node_totals is None:
        return {}
    totals = plan.node_totals.tolist()
    return {name: (totals[row][MEMORY], totals[row][VCORES]) for name, row in live.node_row.items()}
