"""Forecasts of a recorded run at many instants, each with what was known then, held against what came of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from heddle.run import Executor
from heddle.twin.forecast import forecast
from heddle.twin.keeping import Kept, calibration, cases
from heddle.twin.known import Snapshot
from heddle.twin.naive import naive_eta
from heddle.twin.rollouts import Candidate
from heddle.twin.scoring import Case


class Source(Protocol):
    """A run that can be cut at instants: simulated (cutting.py) or watched (observed.py)."""

    @property
    def executor(self) -> Executor: ...

    @property
    def ended_ms(self) -> Mapping[str, int | None]:
        """Of each application."""
        ...

    @property
    def last_ms(self) -> int:
        """When the last thing happened."""
        ...

    def at(self, at_ms: int) -> Snapshot:
        """What was known then."""
        ...


@dataclass
class Backtest:
    """`cases`: the first of each application and bucket, in order of time. The counts are of all forecasts."""

    source: str
    cases: list[Case] = field(default_factory=list)
    later: int = 0  # ended after the horizon
    told_later: int = 0  # of these, whose interval reached beyond it
    no_eta: int = 0  # nothing could be told
    instants: int = 0


def instants(run: Source, count: int) -> list[int]:
    """So many, evenly over the run; not its very beginning, when nothing has finished yet."""
    step = run.last_ms / (count + 1)
    return [round(step * (number + 1)) for number in range(count)]


def backtest(
    run: Source,
    source: str,
    at_ms: Iterable[int],
    horizon_ms: int,
    n_draws: int,
) -> Backtest:
    """Under the run's own policy. Intervals are stretched by outcomes known at each instant, never by later ones."""
    found = Backtest(source)
    kept: list[Kept] = []
    for now_ms in at_ms:
        snapshot = run.at(now_ms)
        if not snapshot.live:
            continue
        found.instants += 1
        candidate = Candidate.of(snapshot.policy, run.executor)
        known = calibration(kept, run.ended_ms, now_ms)
        made = forecast(snapshot, [candidate], horizon_ms, source, n_draws, calibration=known)
        for told in made.applications:
            naive = naive_eta(told.app, snapshot)
            if not told.etas or naive is None:
                found.no_eta += 1
                continue
            eta = told.etas[candidate.name]
            ends_ms = run.ended_ms[told.app.id]
            if ends_ms is None or ends_ms - now_ms > horizon_ms:
                found.later += 1
                found.told_later += eta.high_ms >= horizon_ms
            kept.append(Kept(told.app.id, now_ms, horizon_ms, eta, told.drawn[candidate.name], naive))
    found.cases = cases(kept, run.ended_ms, source)
    return found
