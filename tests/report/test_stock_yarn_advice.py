"""What the first page of the effect matrix tells an operator follows from the runs, and turns with them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from heddle.analysis.comparison.effects import Cell, Effects
from heddle.analysis.comparison.paired import Change
from heddle.analysis.comparison.stock_yarn import candidates, pairs_to_avoid, recommended
from heddle.report.effects import Matrix, Setting, a_run, cell_words, short_cell
from heddle.report.effects_page import effects_markdown
from heddle.traces.clusters import uniform_cluster

FEEDBACK, DRESS, HASTE = "capacity+usage-feedback", "capacity+dress", "capacity+haste"
BOTH = "capacity+dress+usage-feedback"
Times = dict[str, dict[str, float]]  # of the first seed, by workload and policy

GOOD: Times = {
    "mix": {"capacity": 100.0, FEEDBACK: 60.0, DRESS: 100.0, BOTH: 50.0},
    "burst": {"capacity": 100.0, FEEDBACK: 90.0, DRESS: 100.0, BOTH: 80.0},
}


def effects(times: Times, seeds: int = 3, **of_both: Any) -> Effects:
    """Under both executors; only HASTE has no knobs. Changes vary a little between seeds."""
    rows = [
        {
            "workload_template": workload, "policy": policy, "executor": executor, "seed": seed, "outcome": "finished",
            "reason": None, "jct_s_mean": (1 + seed) * seconds * (1.0 if policy == "capacity" else 1 + seed / 1000),
            "crashed_tasks": 0.0, "failed_jobs": 0.0, "sampling": "seeds", "blocks": 0, "block_s": 0.0, "too_short": "",
        } | (of_both if policy == BOTH else {})
        for workload, some in times.items()
        for policy, seconds in some.items()
        for executor in ("native", "yarn-knobs")
        if executor == "native" or policy != HASTE
        for seed in range(seeds)
    ]  # fmt: skip
    return Effects(pl.DataFrame(rows, infer_schema_length=None))


def changed(workload: str, policy: str, seconds: float) -> Times:
    return {name: some | ({policy: seconds} if name == workload else {}) for name, some in GOOD.items()}


def page(found: Effects) -> str:
    settings = tuple(
        Setting(name, f"about {name}", uniform_cluster(6, 32768, 16, name="six")) for name in found.sampling
    )
    return effects_markdown(Matrix(found, {}, (), "heddle effects", settings), "effects-in-detail.md")


def choice(found: Effects) -> str | None:
    best = recommended(candidates(found, "capacity"))
    return None if best is None else best.policy


def test_the_largest_gain_is_recommended_with_its_numbers_and_costs() -> None:
    found = effects(GOOD, crashed_tasks=2.2)
    assert choice(found) == BOTH
    text = page(found)
    assert "**Use `dress+usage-feedback`**" in text
    assert "Gain: −34.9 %. It is better on 2 of 2 workloads and worse on none." in text
    assert "| mix | 200 s | 100 s | −50 ± 0.1 % better | 2.2 crashes a run |" in text
    assert "What it costs: 2.2 crashes a run on mix, 2.2 crashes a run on burst." in text
    assert text.index("**Use") < text.index("## What the words mean") < text.index("## Joined to")
    assert "no more crashes than with the bare queues" in page(effects(GOOD))


def test_other_runs_turn_the_recommendation() -> None:
    assert choice(effects(changed("mix", BOTH, 75.0))) == FEEDBACK  # a smaller gain
    worse = effects(changed("burst", BOTH, 101.0) | {"am-storm": {**GOOD["mix"], BOTH: 1.0}})
    assert candidates(worse, "capacity")[0].policy == BOTH  # the largest gain of all, but worse on one
    assert choice(worse) == FEEDBACK
    assert "| dress+usage-feedback | −49.3 % | worse on burst (+1.1 ± 0.3 %) |" in page(worse)
    assert choice(effects(GOOD, failed_jobs=1.0)) == FEEDBACK
    assert choice(effects(GOOD, outcome="stalled", reason="am-deadlock")) == FEEDBACK


def test_where_nothing_qualifies_the_page_says_so() -> None:
    losing = effects({"mix": {"capacity": 100.0, FEEDBACK: 110.0, DRESS: 120.0, BOTH: 130.0}})
    assert choice(losing) is None
    text = page(losing)
    assert "**No combination qualifies: leave `capacity` as it is.**" in text
    assert "**Use" not in text
    one_seed = page(effects(GOOD, seeds=1))
    assert "Nothing is recommended" in one_seed
    assert "**Use" not in one_seed


def test_what_has_no_knobs_is_marked_and_not_recommended() -> None:
    times = changed("mix", HASTE, 1.0)
    times["burst"][HASTE] = 1.0
    found = effects(times)
    assert choice(found) == BOTH
    text = page(found)
    assert "| haste | – | −99" in text
    assert "| dress+usage-feedback | yes | −50" in text
    assert "| none | yes | 200 s" in text
    assert [cell["has_knobs"] for cell in found.as_json()["cells"] if cell["policy"] in {HASTE, BOTH}] == [
        True, False, True, False,
    ]  # fmt: skip


def test_pairs_to_avoid_are_those_that_gain_less_than_a_part_and_never_the_recommended() -> None:
    text = page(effects(GOOD))
    assert "Pairs to avoid: none" in text
    less = effects(changed("mix", BOTH, 75.0))
    (one,) = pairs_to_avoid(less, candidates(less, "capacity"))
    assert one.part is not None
    assert (one.pair.policy, one.part.policy) == (BOTH, FEEDBACK)
    assert "- `dress+usage-feedback`: `usage-feedback` alone gains −24.9 %, the pair −22.4 %; +25" in page(less)
    behind_once = effects(changed("burst", BOTH, 91.0) | {"am-storm": GOOD["mix"]})
    assert choice(behind_once) == BOTH  # a little worse than feedback on burst, and better by far elsewhere
    assert pairs_to_avoid(behind_once, candidates(behind_once, "capacity")) == []


def test_the_page_defines_its_words_from_what_was_run() -> None:
    text = page(effects(GOOD))
    assert "**Seeds**: 3 for each cell" in text
    assert "**Seeds**: 4 for each cell" in page(effects(GOOD, seeds=4))
    assert "| burst | about burst | `six`: 6 nodes of 32 GB and 16 vcores |" in text
    for word in ("no difference shown", "not enough seeds to tell", "crashes a run", "knobs", "agree"):
        assert f"- **{word}**: " in text


@pytest.mark.parametrize(
    ("mean", "said"),
    [(2.2, "2.2 crashes"), (1.0, "1 crash"), (0.2, "0.2 crashes"), (3.0, "3 crashes"), (0.01, "0.01 crashes")],
)
def test_crashes_are_a_mean_over_runs(mean: float, said: str) -> None:
    assert a_run(mean, "crash") == f"{said} a run"


def test_an_interval_below_minus_100_percent_is_never_printed() -> None:
    own = effects(GOOD).cell("mix", FEEDBACK)

    def changing(pct: float, half: float) -> Cell:
        return replace(own, change=Change(pct, (pct - half, pct + half), 3))

    nothing = changing(-81.0, 227.0)
    assert cell_words(nothing) == "−81 %: not enough seeds to tell"
    assert short_cell(nothing) == "−81?"
    assert cell_words(changing(-81.0, 40.0)) == "−81 % (−100 to −41 %) better"
    assert cell_words(changing(-19.0, 2.5)) == "−19 ± 2.5 % better"
    assert cell_words(changing(-50.0, 50.0)) == "−50 ± 50 % no difference shown"


def test_the_recommendation_names_where_nothing_can_be_told() -> None:
    assert "not enough seeds to tell." not in page(effects(GOOD)).partition("## What the words mean")[0]
    wide = pl.DataFrame(
        [
            {
                "workload_template": workload, "policy": policy, "executor": executor, "seed": seed,
                "outcome": "finished", "reason": None, "jct_s_mean": seconds[seed], "crashed_tasks": 0.0,
                "failed_jobs": 0.0, "sampling": "seeds", "blocks": 0, "block_s": 0.0, "too_short": "",
            }
            for workload, own in (("mix", [50.0, 51.0, 49.0]), ("trace", [10.0, 90.0, 20.0]))
            for policy, seconds in (("capacity", [100.0] * 3), (FEEDBACK, own))
            for executor in ("native", "yarn-knobs")
            for seed in range(3)
        ]
    )  # fmt: skip
    assert "better on 1 of 2 workloads and worse on none. On trace there are not enough seeds to tell." in page(
        Effects(wide)
    )
