"""A whole tuning: search on one half, report on the other, and say what follows - often that nothing does."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from heddle.analysis.certainty.sampling import Interval, Sampling
from heddle.analysis.comparison.compare import ComparedRun, Comparison, compare_runs
from heddle.analysis.comparison.paired import paired_change
from heddle.experiments.compare import PlannedRun, run_one
from heddle.model.cluster import Cluster
from heddle.run import Executor
from heddle.tune.aims import Aims, Keep
from heddle.tune.halves import Half, Halves
from heddle.tune.journal import Journal
from heddle.tune.race import BEHIND, PRESENT, Race
from heddle.tune.space import Candidate, Space
from heddle.tune.trial import Trial, Tried, run_trial

Run = Callable[[Callable[[Any], Any], Sequence[Any]], Any]  # as an engine's: yields (position, result)

REPORT_SEEDS: Final = 10


@dataclass(frozen=True)
class Kept:
    """What must be kept, on the half that the search has not seen."""

    keep: Keep
    value: float | None  # a change in percent where the limit is relative
    interval: Interval | None

    @property
    def held(self) -> bool:
        """On the estimate. Not known counts as held: the present policy does not know it either."""
        if self.value is None:
            return True
        return self.value >= self.keep.limit if self.keep.at_least else self.value <= self.keep.limit

    def as_json(self) -> dict[str, Any]:
        return {"keep": str(self.keep), "value": self.value, "ci95": self.interval, "held": self.held}


@dataclass(frozen=True)
class Tuned:
    """What came out."""

    space: Space
    aims: Aims
    race: Race
    best: Candidate  # by the search; PRESENT: nothing better was found
    comparison: Comparison | None  # on the other half; None where nothing better was found
    kept: tuple[Kept, ...]
    sampling: Sampling
    out_of_time: bool
    trials: int  # runs of the search, those of earlier sittings included

    @property
    def policy(self) -> str:
        return self.best.policy(self.space.present)

    @property
    def change(self) -> tuple[float | None, Interval | None]:
        """Of the goal, on the half that the search has not seen."""
        if self.comparison is None:
            return None, None
        row = self.comparison.row(self.comparison.clusters[0], self.policy, self.aims.goal.metric)
        return row["vs_baseline_pct"], row["vs_ci95"]

    @property
    def shown_better(self) -> bool:
        _, interval = self.change
        if interval is None:
            return False
        return interval[0] > 0 if self.aims.goal.higher_is_better else interval[1] < 0

    @property
    def stalled(self) -> bool:
        if self.comparison is None:
            return False
        runs = [run for run in self.comparison.runs if run.policy == self.policy]
        return any(run.metrics["outcome"] == "stalled" for run in runs)

    @property
    def use_it(self) -> bool:
        """Whether anything beats the present policy with confidence, within what must be kept."""
        return self.best != PRESENT and self.shown_better and not self.stalled and all(one.held for one in self.kept)

    def near(self) -> list[tuple[Candidate, float]]:
        """Neighbours of the best that broke nothing, with how they differ from the present policy on their seeds."""
        around = set(self.space.neighbours(self.best))
        found = []
        for one in self.race.standings.values():
            change = self.race.change_pct(one.candidate)
            if one.candidate in around and one.dropped in ("", BEHIND) and change is not None:
                found.append((one.candidate, change))
        return sorted(found, key=lambda item: item[1])


@dataclass(frozen=True)
class Bench:
    """Where candidates are run: the jobs, the cluster, who acts, who computes, and where what came out is kept."""

    halves: Halves
    cluster: Cluster
    executor: Executor
    run: Run
    journal: Journal

    def trials(self, trials: Sequence[Trial]) -> list[Tried]:
        """What came of each, in this order, whatever order they ended in; what is known already is not run again."""
        left = list({one.key: one for one in trials if one.key not in self.journal.known}.values())
        for _, tried in self.run(run_trial, left) if left else ():
            self.journal.put([tried])
        return [self.journal.known[one.key] for one in trials]

    def trial(self, half: Half, policy: str, seed: int, aims: Aims) -> Trial:
        return Trial(half, self.cluster, policy, self.executor, seed, aims.measures)


def tune(
    space: Space,
    aims: Aims,
    bench: Bench,
    *,
    seed: int,
    most_candidates: int,
    budget_s: float | None,
    command: str,
    complete: bool,
    present_is_known: bool = False,
    tell: Callable[[Race], None] = lambda race: None,
    clock: Callable[[], float] = time.monotonic,
) -> Tuned:
    """Search, then report. `tell` is called when a round has ended; `present_is_known`: the cluster really runs it.

    The budget is of the search. It ends between rounds, when another as long as the last would not fit, so that the
    number of candidates that it reached gives the same answer again.
    """
    race = Race(space, aims, seed, most_candidates)
    began = clock()
    out_of_time, trials = False, 0
    new = race.contenders()
    while new and not out_of_time:
        round_began = clock()
        for batch in race.round(new):
            policies = [asked.candidate.policy(space.present) for asked in batch]
            wanted = [
                bench.trial(bench.halves.search, policy, asked.seed, aims)
                for policy, asked in zip(policies, batch, strict=True)
            ]
            for asked, tried in zip(batch, bench.trials(wanted), strict=True):
                race.tell(asked, tried)
            trials += len(batch)
        tell(race)
        now = clock()
        out_of_time = budget_s is not None and (now - began) + (now - round_began) > budget_s
        new = [] if out_of_time else race.contenders()
    elites = race.elites()
    best = elites[0] if elites else PRESENT
    comparison: Comparison | None = None
    kept: tuple[Kept, ...] = ()
    if best != PRESENT:
        both = (space.present, best.policy(space.present))
        comparison = _compare(both, bench, command, complete, present_is_known)
        kept = _kept(both, aims, bench)
    return Tuned(space, aims, race, best, comparison, kept, bench.halves.sampling, out_of_time, trials)


def _compare(
    policies: tuple[str, str], bench: Bench, command: str, complete: bool, present_is_known: bool
) -> Comparison:
    planned = [
        PlannedRun(
            source=bench.halves.report,
            cluster=bench.cluster,
            policy=policy,
            seed=seed,
            label=policy,
            complete=complete,
            executor=bench.executor,
            is_baseline=policy == policies[0],
        )
        for seed in range(REPORT_SEEDS)
        for policy in policies
    ]
    done: dict[int, ComparedRun] = dict(bench.run(run_one, planned))
    ordered = sorted(range(len(planned)), key=lambda place: policies.index(planned[place].policy))
    runs = [done[place] for place in ordered]
    return compare_runs(runs, policies[0], command, bench.halves.sampling, present_is_known)


def _kept(policies: tuple[str, str], aims: Aims, bench: Bench) -> tuple[Kept, ...]:
    if not aims.keeps:
        return ()
    sampling = bench.halves.sampling
    trials = [
        bench.trial(bench.halves.report, policy, seed, aims) for seed in range(REPORT_SEEDS) for policy in policies
    ]
    tried = bench.trials(trials)
    found = []
    for keep in aims.keeps:
        place = aims.measures.index(keep.measure)
        base, own = (
            {trial.seed: value for trial, one in zip(trials, tried, strict=True)
             if trial.policy == policy and (value := one.values[place]) is not None}
            for policy in policies
        )  # fmt: skip
        if keep.relative:
            change = paired_change(own, base, sampling)
            found.append(Kept(keep, change.pct, change.interval))
        else:
            found.append(Kept(keep, *sampling.estimate(own)))
    return tuple(found)
