"""The ablation as a page of the docs: what each part is worth, what pairs do, what to take, and how that was scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from heddle.analysis.comparison.ablation import MOST_CRASHES_PCT, MOST_WORSE_PCT, NOTHING, Ablation, Place
from heddle.analysis.comparison.factorial import Effect, Setting, pooled
from heddle.report.markdown import markdown_table

RANKED: Final = 10
Rows = tuple[Sequence[str], Sequence[Sequence[str]]]  # headings, rows


@dataclass(frozen=True)
class AblationPage:
    """`about`: of each factor what it is, of each scene what it is. `papers`: the settings that are one paper alone."""

    ablation: Ablation
    command: str
    factors: Mapping[str, str]
    without_data: Mapping[str, str]  # factor -> what a workload that cannot show it lacks
    scenes: Mapping[str, str]
    choosing: Sequence[str]
    scoring: Sequence[str]
    papers: Mapping[str, Setting]
    stock: Sequence[str]
    bounds_s: Mapping[tuple[str, float], float]  # (workload, load): no schedule has a smaller mean completion
    remarks: Sequence[str]

    def markdown(self) -> str:
        parts = [
            "# What each part is worth",
            self._head(),
            *self.remarks,
            *self._factors(),
            *self._interactions(),
            *self._chosen(),
            *self._scenes(),
        ]
        return "\n\n".join(parts) + "\n"

    def _head(self) -> str:
        rows, found = self.ablation.rows, self.ablation
        hours = float(rows["simulate_s"].sum()) / 3600
        return (
            f"Written by `{self.command}`: {rows.height:,} runs, {hours:.1f} hours of simulating. All "
            f"{2 ** len(found.factors)} combinations of {len(found.factors)} parts behind `capacity`'s queues, on "
            f"{len(found.workloads)} workloads at {len(found.loads)} loads. Changes are of mean completion: negative "
            "is better. A change is *shown* if its 95 % interval does not hold 0; those are in bold."
        )

    def factor_rows(self) -> Rows:
        """What each part does over all settings of the others."""
        found = self.ablation
        heads = [
            "part",
            "what it is",
            "all loads",
            *(f"load {load:g}" for load in found.loads),
            "by an executor that acts",
        ]
        rows = []
        for factor, about in self.factors.items():
            by_load = [self._of(factor, found.places(load)) for load in found.loads]
            rows.append(
                (factor, about, self._of(factor, found.places()), *by_load, self._of(factor, found.places(acting=True)))
            )
        return heads, rows

    def _factors(self) -> Iterator[str]:
        found = self.ablation
        yield "## Each part, over all settings of the others"
        yield markdown_table(*self.factor_rows())
        yield (
            "*Load*: how many times as fast as recorded jobs are submitted. *By an executor that acts*: a stock YARN "
            "driven by knobs, with the bridge where those do not suffice, as submitted. Which node a request goes to "
            "no YARN lets anybody choose: combinations with placement are left out there."
        )
        yield "### By workload, all loads"
        rows = []
        for workload in found.workloads:
            cells = (
                self._of(factor, found.places(among=[workload]))
                if factor in found.shown[workload]
                else f"cannot show: {self.without_data[factor]}"
                for factor in self.factors
            )
            rows.append((workload, *cells))
        yield markdown_table(("workload", *self.factors), rows)

    def _of(self, factor: str, places: Sequence[Place]) -> str:
        return effect_text(self.ablation.main_effect(factor, places))

    def _interactions(self) -> Iterator[str]:
        yield "## Pairs"
        effects = self.ablation.interactions(self.ablation.places())
        shown = sorted(
            ((pair, effect) for pair, effect in effects.items() if effect.is_shown), key=lambda one: one[1].pct or 0.0
        )
        if not shown:
            yield f"No interaction of the {len(effects)} pairs is shown: two parts do together what each does alone."
            return
        yield (
            f"{len(shown)} of {len(effects)} pairs do something else together than each alone. Negative: together they "
            "gain more than their two effects; positive: one takes away what the other gains."
        )
        yield markdown_table(("pair", "beyond the two effects"), [(" and ".join(p), effect_text(e)) for p, e in shown])

    @cached_property
    def _ranked(self) -> list[tuple[Setting, Effect, list[str]]]:
        found = self.ablation
        settings = {setting for here in found.at.values() for setting, _ in here.by_metric["jct_s_mean"].completion_s}
        return found.ranked(sorted(settings, key=sorted), found.places(among=self.choosing))

    def ranked_rows(self) -> Rows:
        """The best combinations that nothing speaks against."""
        best = [(name_of(setting), effect_text(gain)) for setting, gain, why in self._ranked if not why]
        return ("combination", "mean change"), best[:RANKED]

    def as_json(self) -> dict[str, Any]:
        found = self.ablation
        effects = {name: effect_json(found.main_effect(name, found.places())) for name in self.factors}
        return {
            "command": self.command,
            "runs": found.rows.height,
            "main_effects": effects,
            "by_workload": {
                workload: {
                    name: effect_json(found.main_effect(name, found.places(among=[workload])))
                    for name in self.factors
                    if name in found.shown[workload]
                }
                for workload in found.workloads
            },
            "interactions": [
                {"parts": list(pair), **effect_json(effect)}
                for pair, effect in found.interactions(found.places()).items()
            ],
            "combinations": [
                {"parts": sorted(setting), **effect_json(gain), "against": why} for setting, gain, why in self._ranked
            ],
        }

    def _chosen(self) -> Iterator[str]:
        ranked = self._ranked
        yield "## Which combination, by half of the workloads"
        yield (
            f"Ranked by the mean change on {', '.join(self.choosing)} (all loads, native), each weighing the same. "
            f"Left out: what is shown to be worse by more than {MOST_WORSE_PCT:g} % anywhere there, stalls where bare "
            f"queues do not, or crashes more than {MOST_CRASHES_PCT:g} % of tasks beyond theirs."
        )
        yield markdown_table(*self.ranked_rows())
        papers = [(name, *next((g, w) for s, g, w in ranked if s == setting)) for name, setting in self.papers.items()]
        yield "Each paper alone:"
        yield markdown_table(
            ("paper", "mean change", "what speaks against it"),
            [(name, effect_text(gain), "; ".join(why) or "nothing") for name, gain, why in papers],
        )
        best = next((setting for setting, _, why in ranked if not why), NOTHING)
        yield from self._scored(best)

    def _scored(self, best: Setting) -> Iterator[str]:
        found = self.ablation
        yield f"## {name_of(best)}, on the other half"
        heads = ["workload", "load", "change", *(f"against {name}" for name in self.stock)]
        heads += ["best paper alone", "makespan", "95th percentile", "crashes", "times the lower bound"]
        rows = []
        for place in found.places(among=self.scoring):
            change = found.change(best, place)
            alone = {name: found.change(setting, place).pct for name, setting in self.papers.items()}
            known = {name: pct for name, pct in alone.items() if pct is not None}
            winner = min(known, key=lambda name: known[name]) if known else ""
            rows.append(
                (
                    place.workload,
                    f"{place.load:g}",
                    effect_text(change),
                    *(effect_text(found.against_stock(best, name, place)) for name in self.stock),
                    f"{winner} {known[winner]:+.1f} %" if winner else "–",
                    effect_text(found.change(best, place, metric="makespan_s")),
                    effect_text(found.change(best, place, metric="jct_s_p95")),
                    f"{found.at[place].crashes_pct.get(best, 0.0):.2f} %",
                    self._times_bound(best, place),
                )
            )
        yield markdown_table(heads, rows)
        mean = pooled(found.change(best, place) for place in found.places(among=self.scoring))
        yield f"Mean over these: {effect_text(mean)}."

    def _times_bound(self, setting: Setting, place: Place) -> str:
        runs = self.ablation.at[place].by_metric["jct_s_mean"].completion_s
        bound, first = self.bounds_s.get((place.workload, place.load)), runs.get((setting, 0))
        return f"{first / bound:.2f}" if bound and first else "–"

    def _scenes(self) -> Iterator[str]:
        yield "## Where it ran"
        yield "\n".join(f"- **{name}**: {about}" for name, about in self.scenes.items())


def name_of(setting: Setting) -> str:
    return " + ".join(sorted(setting)) or "nothing"


def effect_json(effect: Effect) -> dict[str, Any]:
    return {"change_pct": effect.pct, "ci95": effect.interval, "pairs_left_out": effect.pairs_left_out}


def effect_text(effect: Effect) -> str:
    if effect.pct is None:
        return "–"
    if effect.interval is None:
        return f"{effect.pct:+.1f} % (no interval)"
    low, high = effect.interval
    text = f"{effect.pct:+.1f} % ({low:+.1f} to {high:+.1f})"
    return f"**{text}**" if effect.is_shown else text
