"""Choosing live: every so often the present policy and others are rolled out, and the best becomes the one in force.

A change needs a gain that is shown: in futures that all policies share, the interval of the mean gain lies above 0, and
the mean is not small. And between two changes lies a while, in which nothing is rolled out. Levers hear nothing of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any, Final

from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput, RunRefused
from heddle.model.workload import Workload
from heddle.policy.parse import parse_policy
from heddle.policy.policy import Policy
from heddle.stock_yarn.changing import common_stock
from heddle.stock_yarn.outside import refuse_without_knobs
from heddle.twin.futures import Futures
from heddle.twin.known import Snapshot
from heddle.twin.rollouts import Candidate, Rolled, gains, roll_out, surely

# What is chosen among where nobody says otherwise, beside the present policy; added to the queues of the present one.
CANDIDATES: Final = (
    "",
    "admission-control",
    "usage-feedback(young_reports=2)",
    "dress",
    "admission-control(backlog=0.75)+usage-feedback(young_reports=2)",
    "weave",
)
NOTHING_RUNS: Final = "no application runs or waits"
NOTHING_FINISHED: Final = "no task has finished yet that others could be judged by"
NOT_SHOWN: Final = "no gain is shown"
SMALL: Final = "the gain is small"
BETTER: Final = "better"


def usual_candidates(queues: str) -> list[str]:
    """`queues`: YARN's own scheduler."""
    return [f"{queues}+{levers}" if levers else queues for levers in CANDIDATES]


def policies_to_choose(
    present: Policy, named: Sequence[str] | None, workload: Workload, cluster: Cluster
) -> tuple[list[Policy], dict[str, str]]:
    """The present policy and the others; and why some of the usual ones cannot be brought about by knobs here.

    RunRefused if that is so of the present one, or of one that somebody has named.
    """
    refuse_without_knobs(present, workload, cluster)
    found, refused = {present.name: present}, {}
    usual = usual_candidates(present.queues.name if present.queues.by_queue else "capacity")
    for name in usual if named is None else named:
        policy = parse_policy(name)
        try:
            refuse_without_knobs(policy, workload, cluster)
        except RunRefused as error:
            if named is not None:
                raise
            refused[name] = str(error)
            continue
        found.setdefault(policy.name, policy)
    common_stock(list(found.values()))
    return list(found.values()), refused


@dataclass(frozen=True)
class Rule:
    """`rest_ms`: between two changes; `least_gain`: the smallest gain that is worth a change, as a share."""

    every_ms: int = 30_000
    horizon_ms: int = 300_000
    rollouts: int = 10
    rest_ms: int = 300_000
    least_gain: float = 0.03


@dataclass(frozen=True)
class Prospect:
    """Of one policy: applications that there will be on average until the horizon, and how many fewer than under the
    present one, with its interval."""

    policy: str
    present: float
    rollouts: int
    gain: float
    gain_interval: tuple[float, float] | None

    @property
    def is_shown(self) -> bool:
        return self.gain_interval is not None and self.gain_interval[0] > 0


@dataclass(frozen=True)
class Choice:
    """`prospects`: the policy in force first; empty where nothing could be foreseen. `came`: what came of it."""

    at_ms: int
    horizon_ms: int
    in_force: str
    chosen: str
    why: str
    prospects: tuple[Prospect, ...] = ()
    came: float | None = None

    @property
    def changes(self) -> bool:
        return self.chosen != self.in_force

    @property
    def predicted(self) -> float | None:
        return next((one.present for one in self.prospects if one.policy == self.chosen), None)

    def as_json(self) -> dict[str, Any]:
        return {
            "at_ms": self.at_ms,
            "horizon_ms": self.horizon_ms,
            "in_force": self.in_force,
            "chosen": self.chosen,
            "why": self.why,
            "predicted": self.predicted,
            "came": self.came,
            "prospects": [
                {**vars(one), "gain_interval": None if one.gain_interval is None else list(one.gain_interval)}
                for one in self.prospects
            ],
        }


@dataclass
class Choosing:
    """Remembers what is in force, at first the first candidate, and since when; `choices`: all that it made itself."""

    candidates: Sequence[Candidate]
    rule: Rule = field(default_factory=Rule)
    seed: int = 0

    def __post_init__(self) -> None:
        self.in_force = 0
        self.choices: list[Choice] = []
        self._changed_ms: int | None = None

    def may_change(self, at_ms: int) -> bool:
        return self._changed_ms is None or at_ms - self._changed_ms >= self.rule.rest_ms

    def choose(self, snapshot: Snapshot, at_ms: int) -> Choice:
        """Decides, and is in force from now on what was decided."""
        choice = choose(snapshot, self.candidates, self.in_force, self.rule, at_ms, self.seed)
        self.choices.append(choice)
        self.take(choice, at_ms)
        return choice

    def take(self, choice: Choice, at_ms: int) -> None:
        """Is in force from now on what was decided, maybe a while ago."""
        if choice.changes:
            self.in_force = [one.name for one in self.candidates].index(choice.chosen)
            self._changed_ms = at_ms


def choose(
    snapshot: Snapshot,
    candidates: Sequence[Candidate],
    in_force: int,
    rule: Rule,
    at_ms: int,
    seed: int = 0,
    seconds: float | None = None,
) -> Choice:
    """What one cycle decides, of a simulated cluster and of a real one. `seconds`: how long that may take."""
    present = candidates[in_force]
    as_it_is = Choice(at_ms, rule.horizon_ms, present.name, present.name, NOTHING_RUNS)
    if not snapshot.live:
        return as_it_is
    futures = Futures(snapshot, rule.horizon_ms, rule.rollouts, seed + at_ms)
    if futures.is_blind:
        return replace(as_it_is, why=NOTHING_FINISHED)
    others = [one for one in candidates if one is not present]
    try:
        rolled = roll_out(futures, snapshot.cluster, [present, *others], rule.horizon_ms, rule.rollouts, seconds)
    except (BadInput, RunRefused) as error:  # nodes are lost, and what waits fits on no other
        return replace(as_it_is, why=str(error))
    prospects = tuple(_prospect(one, rolled[0]) for one in rolled)
    shown = [one for one in prospects[1:] if one.is_shown]
    best = max(shown, key=lambda one: one.gain, default=None)
    if best is None:
        return replace(as_it_is, why=NOT_SHOWN, prospects=prospects)
    if best.gain < rule.least_gain * prospects[0].present:
        return replace(as_it_is, why=SMALL, prospects=prospects)
    return replace(as_it_is, chosen=best.policy, why=BETTER, prospects=prospects)


def _prospect(one: Rolled, present: Rolled) -> Prospect:
    won = gains(present, one)
    shown = surely(won) if one is not present else None
    return Prospect(one.candidate.name, fmean(one.present), len(one.present), fmean(won), shown)
