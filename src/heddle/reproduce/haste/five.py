"""The five settings: who has the shortest makespan, at what response time and with how much allocated."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Drawing, Table, mean_text
from heddle.reproduce.drawing import draw_bars
from heddle.reproduce.haste.measures import Measured, allocated, idle, makespan, response
from heddle.reproduce.haste.reasons import heads_that_block, sizes_of_reduces, who_is_ahead
from heddle.reproduce.haste.settings import (
    ARRIVALS,
    CONTROL,
    ITERATIVE,
    MIXED,
    SAME,
    SMALL,
    Results,
    Settings,
    relative,
)
from heddle.reproduce.lab import Findings, Part

FIVE = {SAME: "A", MIXED: "B", ITERATIVE: "C", ARRIVALS: "D", SMALL: "E"}  # what claims about them are called


def five(settings: Settings) -> Part:
    known = settings.known
    forms = known["policy.urgency_forms"]
    results = yield settings.runs([known["policy.reference"], *forms], settings.tuning_seeds)
    chosen = min(forms, key=lambda form: _mean_makespan(results, form, known["policy.reference"]))
    haste, haste_a = chosen, chosen.replace("haste(", "haste-a(", 1)
    policies = [*known["policy.baselines"], haste, haste_a]
    ablations = [text.replace("CHOSEN", _form(chosen)) for text in known["policy.ablations"]]
    results = yield settings.runs([*policies, *ablations], settings.seeds)
    scored = Scored(settings, results, policies, ablations, haste, haste_a)
    return Findings(
        claims=[claim for setting in FIVE for claim in scored.of_setting(setting)] + scored.side_results(),
        drawings=[scored.bars(setting) for setting in FIVE],
        tables=[scored.table(setting) for setting in FIVE],
        remarks=[
            f"Urgency: of {', '.join(forms)}, {chosen} had the shortest makespan on tuning seeds and is scored on "
            "others. The formula is lost in our copy of the paper: both are reconstructions that keep its rules R1-R3."
        ],
    )


def _form(chosen: str) -> str:
    """What stands between the parentheses."""
    return chosen.partition("(")[2].removesuffix(")")


def _mean_makespan(results: Results, policy: str, reference: str) -> float:
    values = [relative(results, setting, policy, reference, makespan) for setting in FIVE]
    return float(np.mean([value for seeds in values for value in seeds.values()]))


class Scored:
    """The scored runs, and what they say."""

    def __init__(
        self,
        settings: Settings,
        results: Results,
        policies: list[str],
        ablations: list[str],
        haste: str,
        haste_a: str,
    ) -> None:
        self.known, self.results, self.policies, self.ablations = settings.known, results, policies, ablations
        self.batches, self.n_seeds = settings.batches(), len(settings.seeds)
        self.haste, self.haste_a = haste, haste_a
        self.reference: str = settings.known["policy.reference"]

    def ratio(self, setting: str, policy: str, of: Callable[[Measured], float]) -> dict[int, float]:
        return relative(self.results, setting, policy, self.reference, of)

    def mean_pct(self, setting: str, policy: str, of: Callable[[Measured], float]) -> float:
        return 100 * float(np.mean(list(self.ratio(setting, policy, of).values() or [np.nan])))

    def reduces(self, setting: str) -> str:
        return sizes_of_reduces(
            kind for (where, _), (batch, _) in self.batches.items() if where == setting for _, kind in batch.kinds
        )

    def of_setting(self, setting: str) -> list[Claim]:
        """Shortest makespan, response no worse, more allocated."""
        own = self.haste_a if setting in (ITERATIVE, SMALL) else self.haste  # both of these have iterative jobs
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
                f"{FIVE[setting]}.1",
                f"{own} has the shortest makespan ({setting})",
                "shortest of all",
                "% ahead of the nearest",
                verdicts.only_if(verdicts.best(spans[own], {policy: spans[policy] for policy in rivals}), ended),
                f"Makespan in percent of {self.reference}'s: {ranking}. Taken apart: {apart}. {behind.strip()}",
            ),
            Claim(
                f"{FIVE[setting]}.2",
                f"The mean response under {own} is no worse than under {self.reference} ({setting})",
                "no worse",
                "% longer",
                verdicts.only_if(verdicts.limit(longer, limit, 0.0), ended),
                f"Limit {limit:g} %.",
            ),
            Claim(
                f"{FIVE[setting]}.3",
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
            ),
        ]

    def side_results(self) -> list[Claim]:
        """What tells reconstructions apart: who beats whom among the baselines, and idle reduces."""
        claims = []
        for number, setting in enumerate((SAME, MIXED), 1):
            rivals = {policy: self.ratio(setting, policy, makespan) for policy in ("fair", "drf")}
            claims.append(
                Claim(
                    f"side.{number}",
                    f"In a batch FIFO beats Fair and DRF ({setting})",
                    "FIFO ahead: reduces of many jobs hold containers there",
                    "% ahead of the nearer",
                    verdicts.best(self.ratio(setting, "fifo", makespan), rivals),
                    f"Idle reduces hold {self.mean_pct(setting, 'fair', idle):.0f} % of what they hold under FIFO with "
                    f"Fair, {self.mean_pct(setting, 'drf', idle):.0f} % with DRF. "
                    + heads_that_block(self.mean_pct(setting, "fifo(blocking=0)", makespan)),
                )
            )
        fifo, packed = (
            {of: self.ratio(SAME, policy, of) for of in (makespan, allocated)} for policy in ("fifo", "ffd-dp")
        )
        claims.append(
            Claim(
                "side.3",
                f"FFD-DP loses to FIFO although it allocates more ({SAME})",
                "loses, allocates more",
                "%, the lesser of FIFO's lead and of what FFD-DP allocates more",
                verdicts.order(
                    {
                        "FIFO is ahead": {"": verdicts.sooner_pct(packed[makespan], fifo[makespan])},
                        "FFD-DP allocates more": {"": verdicts.change_pct(fifo[allocated], packed[allocated])},
                    }
                ),
                f"FFD-DP needs {self.mean_pct(SAME, 'ffd-dp', makespan):.0f} % of FIFO's makespan, allocates "
                f"{self.mean_pct(SAME, 'ffd-dp', allocated):.0f} % and has idle reduces hold "
                f"{self.mean_pct(SAME, 'ffd-dp', idle):.0f} %. {self.reduces(SAME)}",
            )
        )
        leads, text = {}, []
        for policy in ("fair", "capacity"):
            small, usual = (self.ratio(setting, policy, makespan) for setting in (SMALL, CONTROL))
            there = {seed: 100 * (1 - value) for seed, value in small.items()}
            gain = {seed: 100 * (usual[seed] - small[seed]) for seed in small if seed in usual}
            leads[f"{policy} there"], leads[f"{policy} against usual nodes"] = {"": there}, {"": gain}
            text.append(f"{policy} {mean_text(there)} ahead of FIFO there, {mean_text(gain)} more than on usual nodes")
        claims.append(
            Claim(
                "side.4",
                "Fair and Capacity are ahead of FIFO on small nodes, by more than on usual ones",
                "better than FIFO there",
                "% of FIFO's makespan, the least of these leads",
                verdicts.order(leads),
                "; ".join(text) + ". Against the same jobs on as much in usual nodes.",
            )
        )
        less_idle = {
            setting: {seed: 100 * (1 - value) for seed, value in self.ratio(setting, self.haste, idle).items()}
            for setting in (SAME, MIXED)
        }
        claims.append(
            Claim(
                "side.5",
                f"Under {self.haste} reduces hold less memory idle than under {self.reference}",
                "urgency attacks that waste; no number",
                "% less",
                verdicts.not_judged(less_idle),
                "; ".join(f"{setting} {mean_text(seeds)}" for setting, seeds in less_idle.items())
                + ". Taken apart: "
                + "; ".join(
                    f"{policy} holds {self.mean_pct(MIXED, policy, idle):.0f} % of FIFO's in {MIXED}"
                    for policy in self.ablations
                )
                + ".",
            )
        )
        ahead = verdicts.best(
            self.ratio(ITERATIVE, self.haste_a, makespan), {self.haste: self.ratio(ITERATIVE, self.haste, makespan)}
        )
        claims.append(
            Claim(
                "side.6",
                f"{self.haste_a} is ahead of {self.haste} when iterative jobs are mixed in",
                "ahead",
                "% ahead",
                ahead,
            )
        )
        return claims

    def bars(self, setting: str) -> Drawing:
        values = {
            policy: {seed: 100 * value for seed, value in self.ratio(setting, policy, makespan).items()}
            for policy in self.policies
        }
        title = f"Makespan: {setting}"
        return draw_bars(title, f"% of {self.reference}'s", values, "Mean over batches and seeds, 95 % interval.")

    def table(self, setting: str) -> Table:
        rows = []
        for policy in [*self.policies, *self.ablations]:
            cells = [
                mean_text({seed: 100 * value for seed, value in self.ratio(setting, policy, of).items()})
                for of in (makespan, response, allocated, idle)
            ]
            rows.append((policy, *cells))
        heads = ("policy", "makespan", "mean response", "allocated", "memory held by idle reduces")
        caption = f"In percent of {self.reference}'s; below the published ones, HaSTE taken apart."
        return Table(f"All policies: {setting}", heads, tuple(rows), caption)
