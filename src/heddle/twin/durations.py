"""How long tasks will take, drawn from what finished ones took: never known, and with the spread that they had.

The order of fallbacks: finished tasks of the same stage; stages of the same name of the same job (its name but for
numbers, and its user) in the past; of its queue; of the whole cluster. Each has weight n / (n + a few), and what is
left goes to the next. A stage of the past is drawn as a whole, since tasks of one stage resemble each other; those that
contradict what already runs - shorter than it has been running - are drawn accordingly less often.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.twin.known import WORKING, Application, Snapshot, Stage

OWN, NAME, QUEUE, CLUSTER = "stage", "name", "queue", "cluster"
FEW: Final = {OWN: 1.0, NAME: 1.0, QUEUE: 4.0}  # tasks, or stages, that count as much as all coarser knowledge
MOST_DONORS: Final = 60  # of each kind, the latest
MOST_VALUES: Final = 60  # of a donor: quantiles stand for more
TAIL: Final = 2.0  # beyond all that was ever seen, durations fall off like a Pareto distribution of this exponent
_DOUBT: Final = 0.05  # of a task, that a donor stands for what it never showed

Values = npt.NDArray[np.float64]
Draws = npt.NDArray[np.float64]


@dataclass
class Past:
    """Stages that are complete, by what they could stand in for; the latest first."""

    by_key: dict[tuple[Any, ...], list[Values]] = field(default_factory=dict)

    @classmethod
    def of(cls, snapshot: Snapshot) -> Past:
        past = cls()
        latest = sorted(snapshot.applications, key=lambda app: -(app.ended_at_ms or 0) if app.ended_at_ms else 1)
        for app in latest:
            for stage in app.stages:
                if stage.kind in WORKING and stage.is_complete:
                    values = _quantiles(stage.finished_ms)
                    for key in keys(app, stage):
                        donors = past.by_key.setdefault(key, [])
                        if len(donors) < MOST_DONORS:
                            donors.append(values)
        return past

    @property
    def is_empty(self) -> bool:
        return not self.by_key

    def donors(self, app: Application, stage: Stage) -> tuple[list[Values], Values, str]:
        """Stages that may stand in, their weights, and which kind of knowledge weighs most."""
        found: list[Values] = []
        weights: list[float] = []
        told: dict[str, float] = {}
        rest = 1.0
        for level, key in zip((NAME, QUEUE, CLUSTER), keys(app, stage), strict=True):
            donors = self.by_key.get(key, [])
            if not donors:
                continue
            share = rest if level == CLUSTER else rest * len(donors) / (len(donors) + FEW[level])
            found += donors
            weights += [share / len(donors)] * len(donors)
            told[level] = share
            rest -= share
        return found, np.array(weights), max(told, key=lambda level: told[level], default="")


def keys(app: Application, stage: Stage) -> Iterable[tuple[Any, ...]]:
    """The nearest kin first: as NAME, QUEUE, CLUSTER."""
    return (NAME, *app.kind, stage.name), (QUEUE, app.queue, stage.kind), (CLUSTER, stage.kind)


def _quantiles(values: Sequence[int]) -> Values:
    ordered = np.sort(np.array(values, float))
    if len(ordered) <= MOST_VALUES:
        return ordered
    return np.asarray(np.quantile(ordered, (np.arange(MOST_VALUES) + 0.5) / MOST_VALUES))


@dataclass(frozen=True)
class Predicted:
    """`draws[d, t]`: in future d, how long task t takes in all; those that run first. `basis`: what that rests on."""

    draws: Draws
    basis: str


def predict(app: Application, stage: Stage, past: Past, n_draws: int, random: np.random.Generator) -> Predicted:
    """Of the tasks of a stage that have not finished. Without any basis (`basis` is empty) the draws mean nothing."""
    worked = np.array([one.worked_ms for one in stage.running] + [0] * stage.left, float)
    own = _OwnTasks.of(stage) if stage.finished_ms else None
    donors, weights, level = past.donors(app, stage)
    n_own = len(stage.finished_ms)
    by_own = n_own / (n_own + FEW[OWN]) if donors else 1.0
    chance = random.random(n_draws)
    out = np.empty((n_draws, len(worked)))
    chosen = _choose(donors, weights, worked[: len(stage.running)], n_draws, random)
    for donor in np.unique(chosen).tolist():
        rows = np.flatnonzero(chosen == donor)
        beyond = donors[donor] if donors else np.empty(0)
        mine = rows[chance[rows] < by_own] if own is not None else rows[:0]
        if own is not None and len(mine):
            out[mine] = own.draw(worked, beyond, len(mine), random)
        others = np.setdiff1d(rows, mine)
        if len(others):
            out[others] = _above(worked, beyond, len(others), random)
    basis = OWN if own is not None and by_own >= 0.5 else level
    return Predicted(np.maximum(1.0, out), basis)


def _choose(
    donors: Sequence[Values], weights: Values, worked: Values, n_draws: int, random: np.random.Generator
) -> npt.NDArray[np.int64]:
    """A donor for each draw, by how likely its tasks would still be running after that time."""
    if not donors:
        return np.zeros(n_draws, np.int64)
    likely = np.log(weights)
    if len(worked):
        some = worked if len(worked) <= MOST_VALUES else np.quantile(worked, np.linspace(0, 1, MOST_VALUES))
        for number, values in enumerate(donors):
            still = len(values) - np.searchsorted(values, some, side="right")
            likely[number] += np.log((still + _DOUBT) / (len(values) + 2 * _DOUBT)).sum()
    chances = np.exp(likely - likely.max())
    return random.choice(len(donors), n_draws, p=chances / chances.sum())


def _above(worked: Values, values: Values, n_draws: int, random: np.random.Generator) -> Draws:
    """Drawn from the values above what has been worked; where there are none, from a tail that begins there."""
    first = np.searchsorted(values, worked, side="right")
    chance = random.random((n_draws, len(worked)))
    place = first + (chance * (len(values) - first)).astype(np.int64)
    found = values[np.minimum(place, len(values) - 1)] if len(values) else np.zeros_like(chance)
    tail = np.maximum(worked, 1.0) * (1.0 - chance) ** (-1 / TAIL)
    return np.where(first < len(values), found, tail)


@dataclass(frozen=True)
class _OwnTasks:
    """Kaplan and Meier's estimate: tasks that still run count as longer than they have run, not as nothing."""

    values: Values  # distinct, ascending
    survival: Values  # after each of them
    tail_ms: float  # the others end after this

    @classmethod
    def of(cls, stage: Stage) -> _OwnTasks:
        values, ended = np.unique(np.array(stage.finished_ms, float), return_counts=True)
        running = np.sort(np.array([one.worked_ms for one in stage.running], float))
        still_running = len(running) - np.searchsorted(running, values, side="left")
        at_risk = np.cumsum(ended[::-1])[::-1] + still_running
        tail_ms = max(values[-1], float(np.median(running))) if len(running) else values[-1]
        return cls(values, np.cumprod(1 - ended / at_risk), tail_ms)

    def draw(self, worked: Values, beyond: Values, n_draws: int, random: np.random.Generator) -> Draws:
        """What lies beyond the last that finished is drawn from the donor's values above it."""
        alive = np.concatenate(([1.0], self.survival))[np.searchsorted(self.values, worked, side="right")]
        target = random.random((n_draws, len(worked))) * alive
        place = np.searchsorted(-self.survival, -target, side="left")
        tail = _above(np.maximum(worked, self.tail_ms), beyond, n_draws, random)
        return np.where(place < len(self.values), self.values[np.minimum(place, len(self.values) - 1)], tail)
