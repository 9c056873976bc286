"""The search: iterated racing on paired seeds.

A round races the best so far against new candidates. All run on the same seeds, a few at a time; who stalls, breaks
what must be kept, or is behind the leader by more than chance explains runs no further. What is left over are the
elites of the next round. Its new candidates are what two elites do together, neighbours of elites and some from
anywhere; those of the first round are every lever alone, with several values, since one that is bad as it comes may be
good otherwise. Rounds are of fixed size and all chance comes from one seed, so that the same seed and number of
candidates give the same answer, on however many processes, interrupted or not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Final

import numpy as np

from heddle.analysis.certainty.sampling import SEEDS
from heddle.analysis.comparison.paired import paired_change
from heddle.tune.aims import Aims, Keep
from heddle.tune.space import Candidate, Space
from heddle.tune.trial import Tried

RUNGS: Final = ((0, 1), (2, 3), (4, 5, 6, 7))  # seeds of the search, in the order in which they are run
ROUND: Final = 12  # new candidates
ELITES: Final = 4
_DROP_AT: Final = 0.90  # confidence at which a candidate that is behind is dropped; searching may be bold
_LEAST: Final = 1e-6  # in place of 0, which has no logarithm
PRESENT: Final = Candidate()
BEHIND: Final = "behind"  # why a candidate was dropped that broke nothing


@dataclass
class Standing:
    """What is known of one candidate."""

    candidate: Candidate
    tried: dict[int, Tried] = field(default_factory=dict)  # by seed
    dropped: str = ""  # why it was not run on


@dataclass(frozen=True)
class Asked:
    """A trial that the race wants next."""

    candidate: Candidate
    seed: int


class Race:
    """Rounds of candidates: run the batches of `round`, `tell` what came out, go on while there are `contenders`."""

    def __init__(self, space: Space, aims: Aims, seed: int, most_candidates: int) -> None:
        self.space = space
        self.aims = aims
        self.standings: dict[Candidate, Standing] = {PRESENT: Standing(PRESENT)}
        self._most = most_candidates
        self._chance = np.random.default_rng(seed)

    @property
    def candidates(self) -> int:
        """How many were tried, the present policy not counted."""
        return len(self.standings) - 1

    def contenders(self) -> list[Candidate]:
        """The new candidates of the next round; none: the search is over."""
        new = self._offspring() if self.candidates else self.space.screened()
        return new[: self._most - self.candidates]

    def round(self, new: Sequence[Candidate]) -> Iterator[list[Asked]]:
        """What to run, in batches; each must be told before the next is asked for."""
        racing = list(dict.fromkeys([PRESENT, *self.elites(), *new]))
        for one in new:
            self.standings[one] = Standing(one)
        for rung in RUNGS:
            yield [Asked(one, seed) for seed in rung for one in racing if seed not in self.standings[one].tried]
            self._drop(racing, last=rung is RUNGS[-1])
            racing = [one for one in racing if one == PRESENT or not self.standings[one].dropped]

    def tell(self, asked: Asked, tried: Tried) -> None:
        self.standings[asked.candidate].tried[asked.seed] = tried

    def elites(self) -> list[Candidate]:
        """The best that ran to their end on every seed, the best first; the present policy may be among them."""
        complete = [one.candidate for one in self.standings.values() if not one.dropped and len(one.tried) == _ALL]
        known = [one for one in complete if len(self._scores(one)) == _ALL]
        return sorted(known, key=self._order)[:ELITES]

    def change_pct(self, candidate: Candidate) -> float | None:
        """How its goal differs from the present policy's on the same seeds, in percent; None: it cannot be said."""
        own, base = (self._scores(one) for one in (candidate, PRESENT))
        ratios = [own[seed] - base[seed] for seed in own if seed in base]
        if not ratios:
            return None
        sign = -1.0 if self.aims.goal.higher_is_better else 1.0
        return 100.0 * math.expm1(sign * fmean(ratios))

    def _scores(self, candidate: Candidate) -> dict[int, float]:
        """The logarithm of the goal by seed, so that differences are ratios; less is better."""
        sign = -1.0 if self.aims.goal.higher_is_better else 1.0
        return {seed: sign * math.log(max(value, _LEAST)) for seed, value in self._values(candidate, 0).items()}

    def _order(self, candidate: Candidate) -> tuple[float, int]:
        """The better and, of equals, the simpler one first."""
        scores = self._scores(candidate)
        return fmean(scores.values()) if scores else math.inf, len(candidate.choices)

    def _values(self, candidate: Candidate, place: int) -> dict[int, float]:
        tried = self.standings[candidate].tried
        return {seed: value for seed, one in sorted(tried.items()) if (value := one.values[place]) is not None}

    def _drop(self, racing: Sequence[Candidate], *, last: bool) -> None:
        """Who has run on every seed is not dropped for being behind: it may still be a parent of something better."""
        alive = [one for one in racing if one != PRESENT]
        for one in alive:
            self.standings[one].dropped = self._out_of_bounds(one)
        if last:
            return
        alive = [one for one in alive if not self.standings[one].dropped]
        leader = min([*alive, PRESENT], key=self._order)
        best = self._scores(leader)
        for one in alive:
            behind = {seed: score - best[seed] for seed, score in self._scores(one).items() if seed in best}
            _, interval = SEEDS.estimate(behind, _DROP_AT)
            if one != leader and interval is not None and interval[0] > 0:
                self.standings[one].dropped = BEHIND

    def _out_of_bounds(self, candidate: Candidate) -> str:
        """Why this candidate cannot be the answer; empty if it still can."""
        tried, base = self.standings[candidate].tried, self.standings[PRESENT].tried
        if any(one.stalled for seed, one in tried.items() if not base[seed].stalled):
            return "stalls"
        if any(one.failed_jobs > base[seed].failed_jobs for seed, one in tried.items()):
            return "more jobs fail"
        for keep in self.aims.keeps:
            if not self.keeps(keep, candidate):
                return f"breaks {keep}"
        return ""

    def keeps(self, keep: Keep, candidate: Candidate) -> bool:
        """On the mean over its seeds: the answer is to keep it on unseen days, so chance gets no benefit of doubt."""
        place = self.aims.measures.index(keep.measure)
        own, base = self._values(candidate, place), self._values(PRESENT, place)
        if len(own) < len(self.standings[candidate].tried):
            return True  # not known, as it is not of the present policy: a queue without finished jobs
        value = paired_change(own, base, SEEDS).pct if keep.relative else fmean(own.values())
        if value is None:
            return False
        return value >= keep.limit if keep.at_least else value <= keep.limit

    def _offspring(self) -> list[Candidate]:
        """What elites do together, some from anywhere, and neighbours of elites, of better ones more."""
        elites = self.elites()
        together = [self.space.joined(one, other) for one in elites for other in elites if one != other]
        fresh = [one for one in dict.fromkeys(together) if one not in self.standings][: ROUND // 3]
        for _ in range(ROUND // 3):
            anywhere = self.space.anywhere(self._chance)
            if anywhere not in self.standings and anywhere not in fresh:
                fresh.append(anywhere)
        near: dict[Candidate, float] = {}
        for rank, elite in enumerate(elites):
            for one in self.space.neighbours(elite):
                if one not in self.standings and one not in fresh:
                    near.setdefault(one, 1.0 / (1 + rank))
        if not near:
            return fresh
        listed = list(near)
        weights = np.array([near[one] for one in listed])
        count = min(ROUND - len(fresh), len(listed))
        drawn = self._chance.choice(len(listed), count, replace=False, p=weights / weights.sum())
        return fresh + [listed[place] for place in sorted(drawn.tolist())]


_ALL: Final = sum(len(rung) for rung in RUNGS)
