"""The ablation as a page of the docs: what each part is worth, what pairs do, what to take, and how that was scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from heddle.analysis.comparison.ablation import MOST_CRASHES_PCT, MOST_WORSE_PCT, Ablation, Place
from heddle.analysis.comparison.factorial import Effect
from heddle.analysis.comparison.form_trials import Step
from heddle.analysis.comparison.targets import Target, targets
from heddle.report.markdown import markdown_table

RANKED: Final = 10
Rows = tuple[Sequence[str], Sequence[Sequence[str]]]  # headings, rows


@dataclass(frozen=True)
class AblationPage:
    """Of each factor, form and scene what it is. `papers`: the policies that are one paper alone."""

    ablation: Ablation
    steps: Sequence[Step]  # how the best combination got its forms
    command: str
    factors: Mapping[str, str]
    without_data: Mapping[str, str]  # factor -> what a workload that cannot show it lacks
    forms: Mapping[str, str]
    scenes: Mapping[str, str]
    choosing: Sequence[str]
    scoring: Sequence[str]
    papers: Mapping[str, str]
    stock: Sequence[str]
    bounds_s: Mapping[tuple[str, float], float]  # (workload, load): no schedule has a smaller mean completion
    remarks: Sequence[str]

    @property
    def chosen(self) -> str:
        """The policy that came out."""
        return self.steps[-1].after

    def markdown(self) -> str:
        parts = [
            "# What each part is worth",
            self._head(),
            *self.remarks,
            *self._factors(),
            *self._interactions(),
            *self._chosen(),
            *self._forms(),
            *self._scored(),
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
            "by knobs",
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
            "*Load*: how many times as fast as recorded jobs are submitted. *By knobs*: a stock YARN "
            "driven by them, as submitted; combinations of which it has knobs for every part. What needs the bridge "
            "is run natively only, and which node a request goes to no YARN lets anybody choose."
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
    def _ranked(self) -> list[tuple[str, Effect, list[str]]]:
        found = self.ablation
        settings = {policy: setting for policy, setting in found.settings.items() if setting is not None}
        return found.ranked(sorted(settings, key=lambda one: sorted(settings[one])), found.places(among=self.choosing))

    def ranked_rows(self) -> Rows:
        """The best combinations that nothing speaks against."""
        best = [(self._name_of(policy), effect_text(gain)) for policy, gain, why in self._ranked if not why]
        return ("combination", "mean change"), best[:RANKED]

    def _name_of(self, policy: str) -> str:
        return " + ".join(sorted(self.ablation.settings[policy] or ())) or "nothing"

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
                {"parts": sorted(found.settings[policy] or ()), "policy": policy, **effect_json(gain), "against": why}
                for policy, gain, why in self._ranked
            ],
            "forms": [
                {
                    "beside": step.before,
                    "form": name,
                    "policy": trial.policy,
                    **effect_json(trial.change),
                    "against": list(trial.against),
                    "taken": name == step.taken,
                }
                for step in self.steps
                for name, trial in step.trials.items()
            ],
            "chosen": self.chosen,
            "targets": [{"target": one.says, "found": one.found, "met": one.is_met} for one in self._targets],
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
        alone = {policy: (gain, why) for policy, gain, why in ranked}
        papers = [(name, *alone[policy]) for name, policy in self.papers.items()]
        yield "Each paper alone:"
        yield markdown_table(
            ("paper", "mean change", "what speaks against it"),
            [(name, effect_text(gain), "; ".join(why) or "nothing") for name, gain, why in papers],
        )

    def _forms(self) -> Iterator[str]:
        yield "## Which forms of its parts, by the same half"
        yield (
            "The best combination that a YARN can be made to do is tried with other forms of its parts, and with other "
            "forms of parts that it does not have. The one that gains most is taken if its gain is shown and nothing "
            "speaks against it, and the others are tried again beside that. A form that spares the operator something "
            "is taken unless it is shown to be worse."
        )
        for number, step in enumerate(self.steps, 1):
            yield f"{number}. Beside `{step.before}`:"
            yield markdown_table(
                ("form", "what it is", "mean change", "what speaks against it", ""),
                [
                    (
                        name,
                        self.forms[name] + (f" (spares {trial.spares})" if trial.spares else ""),
                        effect_text(trial.change),
                        "; ".join(trial.against) or "nothing",
                        "taken" if name == step.taken else "",
                    )
                    for name, trial in step.trials.items()
                ],
            )

    @cached_property
    def _targets(self) -> list[Target]:
        found = self.ablation
        places = found.places(among=self.scoring)
        return list(targets(found, self.chosen, places, self.stock, self.papers))

    def _scored(self) -> Iterator[str]:
        found, policy = self.ablation, self.chosen
        yield "## What came out, on the other half"
        yield f"`{policy}`"
        heads = ["workload", "load", "change", *(f"against {name}" for name in self.stock)]
        heads += ["best paper alone", "makespan", "95th percentile", "crashes", "times the lower bound"]
        rows = []
        for place in found.places(among=self.scoring):
            alone = {name: found.change(paper, place).pct for name, paper in self.papers.items()}
            known = {name: pct for name, pct in alone.items() if pct is not None}
            winner = min(known, key=lambda name: known[name]) if known else ""
            rows.append(
                (
                    place.workload,
                    f"{place.load:g}",
                    effect_text(found.change(policy, place)),
                    *(effect_text(found.change(policy, place, name)) for name in self.stock),
                    f"{winner} {known[winner]:+.1f} %" if winner else "–",
                    effect_text(found.change(policy, place, metric="makespan_s")),
                    effect_text(found.change(policy, place, metric="jct_s_p95")),
                    f"{found.at[place].crashes_pct.get(policy, 0.0):.2f} %",
                    self._times_bound(policy, place),
                )
            )
        yield markdown_table(heads, rows)
        yield f"Mean over these: {effect_text(found.gain(policy, found.places(among=self.scoring)))}."
        acting = found.places(acting=True, among=self.scoring)
        yield f"By knobs, as submitted: {effect_text(found.gain(policy, acting))}."
        met = sum(one.is_met for one in self._targets)
        yield f"Of {len(self._targets)} targets {met} are met:"
        yield markdown_table(
            ("target", "", "found"),
            [(one.says, "met" if one.is_met else "**missed**", one.found) for one in self._targets],
        )

    def _times_bound(self, policy: str, place: Place) -> str:
        runs = self.ablation.at[place].values["jct_s_mean"].get(policy, {})
        bound, first = self.bounds_s.get((place.workload, place.load)), runs.get(0)
        return f"{first / bound:.2f}" if bound and first else "–"

    def _scenes(self) -> Iterator[str]:
        yield "## Where it ran"
        yield "\n".join(f"- **{name}**: {about}" for name, about in self.scenes.items())


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
