"""Which combination a stock YARN gains most from, among those that it has knobs for and as its knobs bring it about.

A combination qualifies if, on every workload, it ends, no more jobs fail than with the bare queues, and its interval
shows no loss against them. Among these the largest gain wins: the mean change over the workloads, each weighing the
same, where a change that is not shown counts as none.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from heddle.analysis.comparison.effects import KNOBS, Behind, Cell, Effects


@dataclass(frozen=True)
class OnWorkload:
    """A combination and the bare queues on one workload, both on a stock YARN."""

    own: Cell
    bare: Cell

    @property
    def gain_pct(self) -> float:
        """The change where one is shown, less than 0: sooner."""
        interval, change = self.own.change.interval, self.own.change.pct
        shown = interval is not None and not interval[0] <= 0 <= interval[1]
        return change if shown and change is not None else 0.0

    @property
    def objection(self) -> str:
        """Why the combination is no better than nothing here; empty where nothing speaks against it."""
        if self.own.scored.stalled:
            return "stalls"
        if self.own.scored.failed_jobs > self.bare.scored.failed_jobs:
            return "jobs fail"
        if self.bare.scored.stalled:
            return ""
        if self.own.change.interval is None:
            return "no interval"
        return "worse" if self.gain_pct > 0 else ""


@dataclass(frozen=True)
class Candidate:
    """A combination that YARN has knobs for, on all workloads."""

    policy: str
    on: tuple[OnWorkload, ...]

    @property
    def gain_pct(self) -> float:
        return fmean(one.gain_pct for one in self.on)

    @property
    def qualifies(self) -> bool:
        return self.gain_pct < 0 and not any(one.objection for one in self.on)


def candidates(effects: Effects, queues: str) -> list[Candidate]:
    """All that YARN has knobs for behind these queues, the largest gain first, then the fewest levers."""
    joined = [policy for policy in effects.with_knobs if policy.startswith(f"{queues}+")]
    found = [
        Candidate(
            policy,
            tuple(
                OnWorkload(effects.cell(workload, policy, KNOBS), effects.cell(workload, queues, KNOBS))
                for workload in effects.sampling
            ),
        )
        for policy in joined
    ]
    return sorted(found, key=lambda one: (one.gain_pct, one.policy.count("+")))


def recommended(some: list[Candidate]) -> Candidate | None:
    """The first that qualifies; None: leave the queues as they are."""
    return next((one for one in some if one.qualifies), None)


@dataclass(frozen=True)
class Avoided:
    """A pair of levers that does not qualify, or gains no more than one of the two alone."""

    pair: Candidate
    part: Candidate | None  # the one that gains at least as much, and qualifies; None: neither does
    behind: tuple[Behind, ...]  # where the pair is shown to be worse than its better part


def pairs_to_avoid(effects: Effects, some: list[Candidate]) -> list[Avoided]:
    """Of all candidates behind the same queues. What is recommended is never among them."""
    fallen = effects.behind_under(KNOBS)
    found = []
    for pair in some:
        queues, *levers = pair.policy.split("+")
        alone = [one for one in some if one.policy in {f"{queues}+{lever}" for lever in levers}]
        part = next((one for one in alone if one.qualifies and one.gain_pct <= pair.gain_pct), None)
        if len(levers) == 2 and (part is not None or not pair.qualifies):
            found.append(Avoided(pair, part, tuple(one for one in fallen if one.policy == pair.policy)))
    return found
