"""From an ablation to one policy: the best combination that can act, its forms one by one, and what it is held to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from heddle.analysis.comparison.ablation import Ablation, Place
from heddle.analysis.comparison.targets import targets
from heddle.experiments.ablation.factors import FACTORS, Combination, all_combinations, policy_of
from heddle.experiments.ablation.forms import FORMS, Woven, neighbours
from heddle.experiments.ablation.plan import acting_executor
from heddle.experiments.ablation.weaving import best_combination, weave
from heddle.policy.parse import parse_policy

NAMES = tuple(factor.name for factor in FACTORS)
FORM = {form.name: form for form in FORMS}


def rows(
    policy: str, seconds: float, chosen: Combination | None = None, crashed: float = 0.0
) -> list[dict[str, object]]:
    levels = {f"param_{name}": None if chosen is None else float(name in chosen) for name in NAMES}
    return [
        {
            "workload_template": "mix", "load": 1.0, "executor": "native", "policy": policy, "seed": seed,
            "sampling": "seeds", "blocks": None, "block_s": None, "too_short": None, "outcome": "finished",
            "tasks": 1000, "crashed_tasks": crashed, "jct_s_mean": seconds * (1 + seed / 100),
            "jct_s_p95": 2 * seconds, "makespan_s": 3 * seconds, **levels,
        }
        for seed in range(3)
    ]  # fmt: skip


def ablation_of(seconds: dict[str, float], crashed: dict[str, float] | None = None) -> Ablation:
    """Every combination takes 100 s but for those that are told, by their policy."""
    found = []
    for chosen in all_combinations():
        policy = policy_of(chosen)
        found += rows(policy, seconds.get(policy, 100.0), chosen, (crashed or {}).get(policy, 0.0))
    for stock in ("fifo", "fair", "drf"):
        found += rows(stock, seconds.get(stock, 100.0))
    return Ablation(pl.DataFrame(found), NAMES, {"mix": set(NAMES)})


def policy(*parts: str) -> str:
    return policy_of(frozenset(parts))


def test_the_best_combination_acts_and_nothing_speaks_against_it() -> None:
    near, crashing, third = policy("placement"), policy("sizing"), policy("admission")
    ablation = ablation_of({near: 50.0, crashing: 60.0, third: 70.0}, crashed={crashing: 5.0})
    assert acting_executor(near) is None
    assert best_combination(ablation, ["mix"]) == {"admission"}


def test_forms_are_taken_one_by_one_as_long_as_one_is_shown_to_be_better() -> None:
    start = Woven(frozenset({"admission", "sizing"}))
    ablation = ablation_of({start.policy: 60.0})
    usable, young = start.with_form(FORM["usable"]), start.with_form(FORM["young-5"])
    both = usable.with_form(FORM["young-5"])
    seconds = {usable.policy: 50.0, young.policy: 55.0, both.policy: 45.0}
    asked: list[str] = []

    def run(woven: Iterable[Woven]) -> pl.DataFrame:
        policies = [one.policy for one in woven]
        asked.extend(policies)
        return pl.DataFrame([row for name in policies for row in rows(name, seconds.get(name, 90.0))])

    found, steps = weave(ablation, ["mix"], run)
    assert [step.taken for step in steps] == ["usable", "young-5", None]
    assert steps[-1].after == both.policy
    assert len(asked) == len(set(asked)), "none is run twice"
    assert set(asked) <= set(found.settings)


def test_what_spares_something_is_taken_unless_it_is_shown_to_be_worse() -> None:
    start = Woven(frozenset({"share"}))
    spared = start.with_form(FORM["order-only"]).policy
    for seconds, taken in ((60.0, "order-only"), (61.0, None)):

        def run(woven: Iterable[Woven], it_takes: float = seconds) -> pl.DataFrame:
            return pl.DataFrame(
                [row for one in woven for row in rows(one.policy, it_takes if one.policy == spared else 90.0)]
            )

        _, steps = weave(ablation_of({start.policy: 60.0}), ["mix"], run)
        assert steps[0].taken == taken


def test_what_cannot_act_is_not_taken_however_good() -> None:
    start = Woven(frozenset({"sizing"}))
    ablation = ablation_of({start.policy: 60.0})
    budget = start.with_form(FORM["budget"]).policy
    _, steps = weave(
        ablation,
        ["mix"],
        lambda woven: pl.DataFrame(
            [row for one in woven for row in rows(one.policy, 10.0 if one.policy == budget else 90.0)]
        ),
    )
    assert steps[0].taken is None
    assert steps[0].trials["budget"].against == ["no YARN can be made to do it"]
    assert (steps[0].trials["budget"].change.pct or 0.0) < -80


def test_a_form_takes_the_place_of_another_of_its_part() -> None:
    woven = Woven(frozenset({"sizing"})).with_form(FORM["young-0"]).with_form(FORM["young-5"])
    assert woven.forms == (FORM["young-5"],)
    assert woven.policy == "capacity+usage-feedback(young_reports=5)"
    assert Woven(frozenset({"share"})).with_form(FORM["order-only"]).policy == "capacity+smallest-first"
    assert "young-5" not in neighbours(woven)
    assert neighbours(woven)["gated"].policy == (
        "capacity+haste(fitness=false,initial=false,hold_reduces=true)+usage-feedback(young_reports=5)"
    )


def test_weave_is_what_the_ablation_chose() -> None:
    page = (Path(__file__).parents[2] / "docs" / "weave-ablation.md").read_text()
    _, chosen, _ = page.split("## What came out, on the other half")[1].split("`", 2)
    assert parse_policy("capacity+weave").levers == parse_policy(chosen).levers
    assert acting_executor("capacity+weave") == "yarn-knobs"


def test_targets_say_where_they_are_missed() -> None:
    chosen, paper = policy("admission", "sizing"), policy("sizing")
    ablation = ablation_of({chosen: 90.0, paper: 80.0, "fifo": 85.0}, crashed={chosen: 3.0})
    place = Place("mix", 1.0)
    found = {one.says: one for one in targets(ablation, chosen, [place], ["fifo"], {"usage feedback": paper})}
    missed = {one.says: one.found for one in found.values() if not one.is_met}
    assert missed == {
        "nowhere shown to be worse than fifo by more than 1 %": "mix at load 1 +5.9 %",
        "shown to be better than fifo in at least half of the places": "0 of 1",
        "within 2 % of the best paper alone, or better": "mix at load 1 +12.5 % behind usage feedback",
        "at most 0.1 % of tasks crash": "mix at load 1 0.30 %",
    }
    assert found["shown to be better than capacity in at least half of the places"].found == "1 of 1"
