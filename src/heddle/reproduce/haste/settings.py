"""The paper's five settings, each with the batches that its lost numbers leave open, and how they are run."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from heddle.model.cluster import Cluster
from heddle.model.resources import MILLI
from heddle.reproduce.haste.batches import Batch, JobKind
from heddle.reproduce.haste.measures import Measured, measure
from heddle.reproduce.lab import Scope, Work
from heddle.reproduce.yarn_cluster import yarn_cluster

SAME, MIXED, ITERATIVE, ARRIVALS, SMALL, CONTROL = (
    "same jobs",
    "mixed jobs",
    "with iterative jobs",
    "arriving one by one",
    "small nodes",
    "jobs of the small nodes on usual ones",  # not in the paper: so that the nodes are all that differs
)
Results = Mapping[tuple[str, str, str, int], Measured | None]  # of setting, batch, policy, seed


@dataclass(frozen=True)
class Settings(Scope):
    """What is run, and where."""

    def batches(self) -> dict[tuple[str, str], tuple[Batch, Cluster]]:
        """By setting and name of the batch."""
        known = self.known
        usual, small = self._cluster(""), self._cluster("small_")
        made: dict[tuple[str, str], tuple[Batch, Cluster]] = {}
        at_once = {
            SAME: known.of("settings.same_job"),
            MIXED: known.of("settings.mixed"),
            ITERATIVE: known.of("settings.iterative"),
        }
        for setting, batches in at_once.items():
            for name, kinds in batches.items():
                made[setting, name] = self._batch(kinds, 0.0, usual), usual
        for name, kinds in known.of("settings.arrivals").items():
            for gap_s in known["settings.arrivals_mean_s"]:
                made[ARRIVALS, f"{name}, every {gap_s:g} s"] = self._batch(kinds, gap_s, usual), usual
        for name, kinds in known.of("settings.small_nodes").items():
            made[SMALL, name] = self._batch(kinds, 0.0, small), small
            made[CONTROL, name] = self._batch(kinds, 0.0, usual), usual
        return made

    def runs(self, policies: Iterable[str], seeds: Iterable[int]) -> dict[Hashable, Work]:
        """Every batch under every policy."""
        return {
            (setting, name, policy, seed): partial(measure, batch, cluster, policy, seed)
            for (setting, name), (batch, cluster) in self.batches().items()
            for policy in policies
            for seed in seeds
        }

    def _cluster(self, size: str) -> Cluster:
        given = self.known.of("cluster")
        vcores = given[f"{size}vcores"] * MILLI
        return yarn_cluster(self.known, given[f"{size}nodes"], given[f"{size}memory_mb"], vcores)

    def _batch(self, kinds: Iterable[str], mean_gap_s: float, cluster: Cluster) -> Batch:
        memory_mb, vcores_milli = cluster.nodes[0].allowance
        known = self.known
        made = tuple(
            (kind, JobKind(*known.of("kinds")[kind]).cut_to(memory_mb, vcores_milli // MILLI)) for kind in kinds
        )
        am = (known["cluster.am_mb"], known["cluster.am_vcores"] * MILLI)
        shuffle_ms = round(1000 * known["jobs.shuffle_s"])
        slow_start, reduces_first = known["jobs.slow_start_permille"], known["jobs.reduces_first"]
        return Batch(made, mean_gap_s, am, known["jobs.sigma"], slow_start, shuffle_ms, reduces_first)


def relative(results: Results, setting: str, policy: str, to: str, of: Callable[[Measured], float]) -> dict[int, float]:
    """A measure over that of another policy, mean over the setting's batches, for each seed on which all ended."""
    batches = sorted({name for where, name, *_ in results if where == setting})
    seeds = sorted({seed for where, _, under, seed in results if (where, under) == (setting, policy)})
    found = {}
    for seed in seeds:
        pairs = [(results[setting, name, policy, seed], results[setting, name, to, seed]) for name in batches]
        ratios = [of(own) / of(other) for own, other in pairs if own is not None and other is not None]
        if len(ratios) == len(batches):
            found[seed] = float(np.mean(ratios))
    return found
