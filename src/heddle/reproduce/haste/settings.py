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
FIVE = {SAME: "A", MIXED: "B", ITERATIVE: "C", ARRIVALS: "D", SMALL: "E"}  # what claims about them are called
Results = Mapping[tuple[str, str, str, int], Measured | None]  # of setting, batch, policy, seed


@dataclass(frozen=True)
class Settings(Scope):
    """What is run, and where."""

    def batches(self) -> dict[tuple[str, str], tuple[Batch, Cluster]]:
        """By setting and name of the batch; each with reduces of every size."""
        known = self.known
        usual, small = self._cluster(""), self._cluster("small_")
        made: dict[tuple[str, str], tuple[Batch, Cluster]] = {}

        def add(setting: str, name: str, kinds: Iterable[str], gap_s: float, cluster: Cluster) -> None:
            for times in known["settings.reduce_memory"]:
                made[setting, f"{name}, {reduces_text(times)}"] = self._batch(kinds, gap_s, cluster, times), cluster

        at_once = {
            SAME: known.of("settings.same_job"),
            MIXED: known.of("settings.mixed"),
            ITERATIVE: known.of("settings.iterative"),
        }
        for setting, batches in at_once.items():
            for name, kinds in batches.items():
                add(setting, name, kinds, 0.0, usual)
        for name, kinds in known.of("settings.arrivals").items():
            for gap_s in known["settings.arrivals_mean_s"]:
                add(ARRIVALS, f"{name}, {gap_text(gap_s)}", kinds, gap_s, usual)
        for name, kinds in known.of("settings.small_nodes").items():
            add(SMALL, name, kinds, 0.0, small)
            add(CONTROL, name, kinds, 0.0, usual)
        return made

    def runs(self, policies: Iterable[str], seeds: Iterable[int]) -> dict[Hashable, Work]:
        """Every batch under every policy."""
        return {
            (setting, name, policy, seed): partial(measure, batch, cluster, policy, seed)
            for (setting, name), (batch, cluster) in self.batches().items()
            for policy in policies
            for seed in seeds
        }

    @property
    def usual_cluster(self) -> Cluster:
        return self._cluster("")

    def _cluster(self, size: str) -> Cluster:
        given = self.known.of("cluster")
        vcores = given[f"{size}vcores"] * MILLI
        return yarn_cluster(self.known, given[f"{size}nodes"], given[f"{size}memory_mb"], vcores)

    def _batch(self, kinds: Iterable[str], mean_gap_s: float, cluster: Cluster, reduces: float) -> Batch:
        memory_mb, vcores_milli = cluster.nodes[0].allowance
        known = self.known
        wanted = {kind: JobKind(*known.of("kinds")[kind]).with_reduces_of(reduces) for kind in kinds}
        made = tuple((kind, wanted[kind].cut_to(memory_mb, vcores_milli // MILLI)) for kind in kinds)
        am = (known["cluster.am_mb"], known["cluster.am_vcores"] * MILLI)
        shuffle_ms = round(1000 * known["jobs.shuffle_s"])
        return Batch(made, mean_gap_s, am, known["jobs.sigma"], known["jobs.slow_start_permille"], shuffle_ms)


def relative(
    results: Results,
    setting: str,
    policy: str,
    to: str,
    of: Callable[[Measured], float],
    only: str = "",
) -> dict[int, float]:
    """A measure over that of another policy, mean over the setting's batches, for each seed on which all ended.

    `only`: of the batches in whose name this stands.
    """
    batches = sorted({name for where, name, *_ in results if where == setting and only in name})
    seeds = sorted({seed for where, _, under, seed in results if (where, under) == (setting, policy)})
    found = {}
    for seed in seeds:
        pairs = [(results[setting, name, policy, seed], results[setting, name, to, seed]) for name in batches]
        ratios = [of(own) / of(other) for own, other in pairs if own is not None and other is not None]
        if len(ratios) == len(batches):
            found[seed] = float(np.mean(ratios))
    return found


def reduces_text(times: float) -> str:
    """Of what size reduces are."""
    return f"reduces of {times:g} maps" if times else "reduces as given"


def gap_text(gap_s: float) -> str:
    return f"every {gap_s:g} s"
