"""What the scored runs say of one form of HaSTE: makespans, responses, what was allocated, beside those of others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Drawing, Source, Table, mean_text
from heddle.reproduce.drawing import draw_bars
from heddle.reproduce.haste.measures import Measured, allocated, idle, makespan, response
from heddle.reproduce.haste.reasons import sizes_of_reduces, who_is_ahead
from heddle.reproduce.haste.settings import (
    FIVE,
    ITERATIVE,
    SMALL,
    Results,
    Settings,
    reduces_text,
    relative,
)


class Scored:
    """The scored runs, and what they say."""

    def __init__(
        self,
        settings: Settings,
        results: Results,
        baselines: list[str],
        haste: str,
        haste_a: str,
    ) -> None:
        self.known, self.results, self.policies = settings.known, results, [*baselines, haste, haste_a]
        self.ablations: list[str] = settings.known["policy.ablations"]
        self.batches, self.n_seeds = settings.batches(), len(settings.seeds)
        self.haste, self.haste_a = haste, haste_a
        self.reference: str = settings.known["policy.reference"]

    def ratio(self, setting: str, policy: str, of: Callable[[Measured], float], only: str = "") -> dict[int, float]:
        return relative(self.results, setting, policy, self.reference, of, only)

    def own(self, setting: str) -> str:
        """HaSTE-A where there are iterative jobs."""
        return self.haste_a if setting in (ITERATIVE, SMALL) else self.haste

    def mean_pct(self, setting: str, policy: str, of: Callable[[Measured], float]) -> float:
        return 100 * float(np.mean(list(self.ratio(setting, policy, of).values() or [np.nan])))

    def reduces(self, setting: str) -> str:
        return sizes_of_reduces(
            kind for (where, _), (batch, _) in self.batches.items() if where == setting for _, kind in batch.kinds
        )

    def of_setting(self, setting: str, suffix: str = "", source: Source = Source.PAPER) -> list[Claim]:
        """Shortest makespan, response no worse, more allocated."""
        own = self.own(setting)
        rivals = [policy for policy in self.policies if policy != own and policy != self.haste_a]
        spans = {policy: self.ratio(setting, policy, makespan) for policy in [own, *rivals]}
        order = sorted((float(np.mean(list(v.values()))), p) for p, v in spans.items() if v)
        ranking = ", ".join(f"{policy} {100 * mean:.0f}" for mean, policy in order)
        apart = ", ".join(f"{policy} {self.mean_pct(setting, policy, makespan):.0f}" for policy in self.ablations)
        waste = {policy: self.mean_pct(setting, policy, idle) for policy in spans}
        means = {policy: 100 * mean for mean, policy in order}
        ended = len(spans[own]) == self.n_seeds  # runs that stalled have no makespan, and must not speak for it
        behind = (
            f"{who_is_ahead(own, self.reference, means, waste)} {self.reduces(setting)}"
            if own in means
            else "It stalled."
        )
        longer = {seed: 100 * (value - 1) for seed, value in self.ratio(setting, own, response).items()}
        limit = self.known["claims.no_worse_pct"]
        return [
            Claim(
                f"{FIVE[setting]}.1{suffix}",
                f"{own} has the shortest makespan ({setting})",
                "shortest of all",
                "% ahead of the nearest",
                verdicts.only_if(verdicts.best(spans[own], {policy: spans[policy] for policy in rivals}), ended),
                f"Makespan in percent of {self.reference}'s: {ranking}. Taken apart: {apart}. {behind.strip()}",
                source,
            ),
            Claim(
                f"{FIVE[setting]}.2{suffix}",
                f"The mean response under {own} is no worse than under {self.reference} ({setting})",
                "no worse",
                "% longer",
                verdicts.only_if(verdicts.limit(longer, limit, 0.0), ended),
                f"Limit {limit:g} %.",
                source,
            ),
            Claim(
                f"{FIVE[setting]}.3{suffix}",
                f"{own} allocates more of the cluster than all others ({setting})",
                "higher use",
                "% more than the nearest",
                verdicts.best(
                    self.ratio(setting, own, allocated),
                    {policy: self.ratio(setting, policy, allocated) for policy in rivals},
                    "higher",
                ),
                "Mean of memory and vcores allocated over the makespan: the paper's use is what is allocated. That "
                "counts what idle reduces hold, of which "
                + ", ".join(
                    f"{policy} has {self.mean_pct(setting, policy, idle):.0f} %" for policy in ("fair", "drf", own)
                )
                + f" of {self.reference}'s.",
                source,
            ),
        ]

    def bars(self, setting: str) -> Drawing:
        values = {
            policy: {seed: 100 * value for seed, value in self.ratio(setting, policy, makespan).items()}
            for policy in self.policies
        }
        title = f"Makespan: {setting}"
        return draw_bars(title, f"% of {self.reference}'s", values, "Mean over batches and seeds, 95 % interval.")

    def table(self, setting: str, others: list[str]) -> Table:
        rows = []
        for policy in [*self.policies, *others]:
            cells = [
                mean_text({seed: 100 * value for seed, value in self.ratio(setting, policy, of).items()})
                for of in (makespan, response, allocated, idle)
            ]
            rows.append((policy, *cells))
        heads = ("policy", "makespan", "mean response", "allocated", "memory held by idle reduces")
        caption = f"In percent of {self.reference}'s; below the published ones, other readings and HaSTE taken apart."
        return Table(f"All policies: {setting}", heads, tuple(rows), caption)

    def by_size_of_reduces(self, policies: list[str]) -> Table:
        """What the lost size of reduces decides."""
        sizes = [reduces_text(times) for times in self.known["settings.reduce_memory"]]
        rows = []
        for setting in FIVE:
            for size in sizes:
                ratios = [self.ratio(setting, policy, makespan, size) for policy in policies]
                cells = [mean_text({seed: 100 * value for seed, value in one.items()}, 0) for one in ratios]
                rows.append((setting, size, *cells))
        caption = f"Makespan in percent of {self.reference}'s."
        return Table("Makespan by the size of reduces", ("setting", "reduces", *policies), tuple(rows), caption)
