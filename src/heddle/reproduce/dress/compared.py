"""Every workload of paper 5 under DRESS and beside Capacity: by how much sooner jobs finish, member by member."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from heddle.reproduce import verdicts
from heddle.reproduce.claims import mean_text
from heddle.reproduce.dress.jobs import Kind, Twenty, twenty
from heddle.reproduce.job_times import JobResults
from heddle.reproduce.lab import Scope
from heddle.reproduce.verdicts import Ensemble, Judgement

Results = Mapping[Any, JobResults]


@dataclass(frozen=True)
class Mixes(Scope):
    """Every workload of the paper, and the policies that run it."""

    def members_of(self, kind: Kind) -> list[str]:
        """What is not published; the figures show MapReduce jobs."""
        figures = [name for name, value in self.known.of("figures").items() if isinstance(value, list)]
        return [*self.known.of("ensemble"), *(figures if kind != "spark" else [])]

    @cached_property
    def workloads(self) -> dict[tuple[str, Kind, float], Twenty]:
        """By member, platform and share of small jobs."""
        share = self.known["jobs.small_share"]
        platforms: list[tuple[Kind, float]] = [("spark", share), ("map-reduce", share)]
        platforms += [("mixed", mixed) for mixed in self.known["claims.mixed_shares"]]
        return {
            (member, kind, small): twenty(self.known, member, kind, small)
            for kind, small in platforms
            for member in self.members_of(kind)
        }

    def policy(self, name: str) -> str:
        return str(self.known[f"policy.{name}"])

    @property
    def baseline(self) -> str:
        return self.policy("baseline")

    @property
    def dress(self) -> str:
        return self.policy("dress")

    def policies_on(self, kind: Kind) -> list[str]:
        """Where platforms are mixed, only those of which a claim speaks."""
        names = ["baseline", "dress", "printed"]
        if kind != "mixed":
            names += ["asked", "whole_jobs", "partition_alone", "order_alone"]
        return [self.policy(name) for name in names]


Change = Callable[[JobResults, JobResults, Twenty, int], float]  # before, after, jobs, seed -> percent sooner


def sooner(given: Mixes, runs: Results, where: tuple[Kind, float], policy: str, by: Change) -> Ensemble:
    """By how much sooner than under the baseline, for each member and each seed that both finish."""
    found: dict[str, dict[int, float]] = {}
    for member in given.members_of(where[0]):
        name = (member, *where)
        pairs = {seed: (runs[name, given.baseline, seed], runs[name, policy, seed]) for seed in given.seeds}
        found[member] = {
            seed: by(before, after, given.workloads[name], seed)
            for seed, (before, after) in pairs.items()
            if before.finished and after.finished
        }
    return found


def small_jobs(before: JobResults, after: JobResults, jobs: Twenty, seed: int) -> float:
    """The mean over small jobs of how much sooner each finishes: the paper's "average reduction rate"."""
    ratio = after.completion_s / before.completion_s
    return 100 * (1 - float(ratio[jobs.small(seed)].mean()))


def small_waits(before: JobResults, after: JobResults, jobs: Twenty, seed: int) -> float:
    """By how much shorter small jobs wait in all: single waits may be 0."""
    small = jobs.small(seed)
    return 100 * (1 - float(after.wait_s[small].sum() / before.wait_s[small].sum()))


def all_jobs(of: Callable[[JobResults], float]) -> Change:
    """How much shorter a time of the whole run is."""
    return lambda before, after, *_: 100 * (1 - of(after) / of(before))


def unless_stalled(given: Mixes, runs: Results, where: tuple[Kind, float], policy: str, judged: Judgement) -> Judgement:
    """Runs that did not come to an end have no times to compare: that must not speak for the policy."""
    ended = all(
        runs[(member, *where), policy, seed].finished for member in given.members_of(where[0]) for seed in given.seeds
    )
    return verdicts.only_if(judged, ended)


def by_member(values: Ensemble) -> str:
    return "; ".join(f"{member} {mean_text(seeds)}" for member, seeds in values.items()) + "."
