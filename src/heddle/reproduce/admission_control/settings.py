"""Every round of paper 3 with every member of the ensemble, and the policies that run in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from heddle.model.cluster import Cluster
from heddle.reproduce.admission_control.rounds import Batch, Terasort, batch, kinds_of_job, paper_cluster
from heddle.reproduce.lab import Scope

MIXED = (0, 0)  # in place of the two sizes of a round

Size = tuple[int, int]  # vcores of an AM and of a task
Name = tuple[str, Size]  # member and round
Losses = Mapping[Name, Mapping[int, float]]


@dataclass(frozen=True)
class Rounds(Scope):
    """What is not published are the jobs and how long an AM takes to start: each with each is a member."""

    node_vcores: int

    @cached_property
    def members(self) -> dict[str, tuple[Terasort, int]]:
        """The job and the milliseconds that an AM takes to start."""
        starts = self.known.of("am_start").values()
        return {
            f"{kind}, AM {start_ms / 1000:g} s": (job, start_ms)
            for start_ms in starts
            for kind, job in kinds_of_job(self.known).items()
        }

    @property
    def first_start(self) -> list[str]:
        """The members with the AMs that start soonest: one for each kind of job."""
        return list(self.members)[: len(kinds_of_job(self.known))]

    def cluster(self, member: str) -> Cluster:
        made = paper_cluster(self.known, self.node_vcores)
        return replace(made, timing=replace(made.timing, am_start_ms=self.members[member][1]))

    @property
    def total_vcores(self) -> int:
        return int(self.known["cluster.nodes"]) * self.node_vcores

    @property
    def sizes(self) -> list[Size]:
        """(AM, task) of the 16 rounds."""
        return [(am, task) for task in self.known["round.vcores"] for am in self.known["round.vcores"]]

    @cached_property
    def batches(self) -> dict[Name, Batch]:
        most = max(self.known["round.vcores"])
        return {
            (member, size): batch(self.known, *size, job) if size != MIXED else batch(self.known, most, most, job, True)
            for member, (job, _) in self.members.items()
            for size in [*self.sizes, MIXED]
        }

    def policy(self, name: str) -> str:
        return f"{self.known['policy.ordering']}+{self.known[f'policy.{name}']}"

    @property
    def controlled(self) -> str:
        return self.policy("controlled")

    def static(self, am_vcores: int) -> dict[float, str]:
        """A policy for each static reserve, where it leaves room for an AM: equal AMs are then a number of jobs.

        With mixed sizes the mean AM is taken.
        """
        reserves = self.lab.size(self.known["static.reserves"], self.known["static.reserves_quick"])
        mean_am = am_vcores or float(np.mean(self.known["round.vcores"]))
        jobs = {reserve: int((self.total_vcores - reserve) // mean_am) for reserve in reserves}
        return {
            reserve: f"{self.known['policy.ordering']}+max-running(jobs={most})"
            for reserve, most in jobs.items()
            if most
        }
