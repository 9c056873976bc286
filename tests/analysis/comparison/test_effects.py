"""What combinations do together, from rows made by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from heddle.analysis.comparison.effects import Effects
from heddle.analysis.waiting.by_reason import Waits, together
from heddle.report.effects import Matrix, Place, Setting, cell_words, short_cell, short_name, waits_rows
from heddle.report.effects_detail_page import detail_markdown
from heddle.report.effects_page import effects_markdown
from heddle.report.missing_knobs import difference
from heddle.traces.clusters import uniform_cluster

FEEDBACK, DRESS = "capacity+usage-feedback", "capacity+dress"
BOTH = "capacity+dress+usage-feedback"


def rows(policy: str, seconds: list[float | None], executor: str = "native", **more: Any) -> list[dict[str, Any]]:
    """A run for each; None: it stalled."""
    return [
        {
            "workload_template": "mix", "policy": policy, "executor": executor, "seed": seed,
            "outcome": "stalled" if value is None else "finished", "reason": "am-deadlock" if value is None else None,
            "jct_s_mean": value, "crashed_tasks": 0.0, "failed_jobs": 0.0, "sampling": "seeds", "blocks": 0,
            "block_s": 0.0, "too_short": "",
        } | more
        for seed, value in enumerate(seconds)
    ]  # fmt: skip


def effects(*some: list[dict[str, Any]]) -> Effects:
    return Effects(pl.DataFrame([row for one in some for row in one], infer_schema_length=None))


def matrix(found: Effects, waits: dict[Place, Waits] | None = None, *remarks: str) -> Matrix:
    setting = Setting("mix", "Built in: several kinds of jobs.", uniform_cluster(6, 32768, 16, name="six"))
    return Matrix(found, waits or {}, remarks, "heddle effects", (setting,))


def page_of(shown: Matrix) -> str:
    return effects_markdown(shown, "effects-in-detail.md")


BARE = rows("capacity", [100.0, 200.0, 300.0])
BY_KNOBS = (
    rows("capacity", [100.0, 200.0, 300.0], "yarn-knobs"),
    rows(FEEDBACK, [50.0, 101.0, 149.0], "yarn-knobs"),
    rows(DRESS, [99.0, 203.0, 298.0], "yarn-knobs"),
)
PARTS = (rows(FEEDBACK, [50.0, 101.0, 149.0]), rows(DRESS, [99.0, 203.0, 298.0], crashed_tasks=2.0))


def test_a_cell_is_the_paired_change_against_the_bare_queues() -> None:
    found = effects(BARE, *PARTS)
    cell = found.cell("mix", FEEDBACK)
    assert cell.mean_s == pytest.approx(100.0)
    assert cell.change.pct == pytest.approx((-50 - 49.5 - 100 * 151 / 300) / 3)
    assert cell_words(cell).endswith("% better")
    assert short_cell(found.cell("mix", "capacity")) == "200 s"
    assert cell_words(found.cell("mix", DRESS)).endswith("no difference shown; 2 crashes a run")
    assert short_cell(found.cell("mix", DRESS)).startswith("~")


def test_a_combination_that_is_worse_than_its_best_part_is_found() -> None:
    worse = effects(BARE, *PARTS, rows(BOTH, [60.0, 121.0, 180.0]))
    (one,) = worse.behind
    assert (one.policy, one.best_part) == (BOTH, FEEDBACK)
    assert one.change.pct == pytest.approx((20 + 2000 / 101 + 3100 / 149) / 3)
    assert effects(BARE, *PARTS, rows(BOTH, [40.0, 121.0, 149.0])).behind == []  # within its interval


def test_a_combination_that_stalls_where_its_best_part_does_not_is_behind() -> None:
    found = effects(BARE, *PARTS, rows(BOTH, [40.0, None, 140.0]))
    (one,) = found.behind
    assert (one.stalled_runs, one.change.pct) == (1, None)
    assert short_cell(found.cell("mix", BOTH)) == "stalled 1 of 3"
    stalling = (rows(FEEDBACK, [None] * 3), rows(DRESS, [None] * 3))
    assert effects(BARE, *stalling, rows(BOTH, [None] * 3)).behind == []  # no part to be held against


def test_executors_agree_within_five_percent_and_end_alike() -> None:
    close, far = rows(FEEDBACK, [52.0, 105.0, 155.0], "yarn-knobs"), rows(FEEDBACK, [60.0, 110.0, 160.0], "yarn-knobs")
    assert [one.agreement for one in effects(BARE, *PARTS, close).beside] == ["yes"]
    assert [one.agreement for one in effects(BARE, *PARTS, far).beside] == ["no difference shown"]  # +11 ± 16 %
    further = rows(FEEDBACK, [60.0, 120.0, 180.0], "yarn-knobs")
    assert [one.agreement for one in effects(BARE, *PARTS, further).beside] == ["no"]
    stalls = rows(FEEDBACK, [50.0, None, 149.0], "yarn-knobs")
    (one,) = effects(BARE, *PARTS, stalls).beside
    assert (one.agreement, one.stalled_runs, one.knobs_s) == ("no", (0, 1), None)


def test_crashes_by_knobs_stand_beside_those_of_the_policy_itself() -> None:
    by_knobs = rows(FEEDBACK, [50.0, 101.0, 149.0], "yarn-knobs", crashed_tasks=11.0)
    found = effects(BARE, rows(FEEDBACK, [50.0, 101.0, 149.0], crashed_tasks=2.0), BY_KNOBS[0], by_knobs)
    assert [one.crashes for one in found.beside] == [(0.0, 0.0), (2.0, 11.0)]
    page = page_of(matrix(found))
    assert "more often by knobs in 1; the largest difference: 11 crashes a run by knobs against 2" in page
    assert "| yes | 2 / 11 |" in page
    assert "No container crashed either way." in page_of(matrix(effects(BARE, BY_KNOBS[0])))


def test_the_page_shows_both_sides_of_what_fell_behind_and_what_differs() -> None:
    found = effects(
        BARE, *PARTS, rows(BOTH, [60.0, 121.0, 180.0]), *BY_KNOBS, rows(BOTH, [75.0, 151.0, 227.0], "yarn-knobs")
    )
    waits = {
        ("mix", BOTH, "native"): Waits(10, {"the pool's share is used up": 90_000, "no node has enough free": 10_000}),
        ("mix", FEEDBACK, "native"): Waits(10, {"no node has enough free": 40_000}),
        ("mix", BOTH, "yarn-knobs"): Waits(10, {"the queue is at its maximum": 320_000}),
    }
    shown = matrix(found, waits, "ksegments is left out")
    page, detail = page_of(shown), detail_markdown(shown, "effects.md")
    assert "| the pool's share is used up | 90 % (9.0 s) | 0 % (0.0 s) |\n| no node has enough free" in detail
    assert f"| why jobs waited | {BOTH} | {FEEDBACK} |" not in page
    assert "](effects-in-detail.md)" in page
    assert "](effects.md)" in detail
    assert "| the queue is at its maximum | 0 % (0.0 s) | 100 % (32.0 s) |" in page
    for said in (
        "1 of 1 cells with two levers",
        "In 3 of 4 cells that YARN has knobs for",
        "Differing by more: 1; no difference shown: 0.",
        "ksegments is left out",
        "No run stalled",
        "Jobs wait 22.0 s longer by knobs, 23.0 s longer for a limit of their queue, user or pool. What YARN lacks: "
        "dress: pools across queues",
    ):
        assert said in page
    assert page.count("**no**") == 1


def test_waits_of_several_runs_are_added_up() -> None:
    both = together([Waits(2, {"a": 3000, "b": 1000}), Waits(2, {"b": 4000})])
    assert both == Waits(4, {"a": 3000, "b": 5000})
    assert list(both.shares) == ["b", "a"]
    assert both.mean_s == 2.0
    assert Waits(3, {}).shares == {}
    assert waits_rows([Waits(1, {"a": 99_000, "b": 1_000}), Waits(1, {"a": 10_000})])[0][0] == "a"
    assert len(waits_rows([Waits(1, {"a": 99_000, "b": 1_000}), Waits(1, {"a": 10_000})])) == 2  # b is too small


def test_who_stalls_is_told_under_either_executor_and_one_seed_proves_nothing() -> None:
    found = effects(
        rows("capacity", [100.0]), rows("capacity", [100.0], "yarn-knobs"), rows(DRESS, [99.0]),
        rows(DRESS, [None], "yarn-knobs"), rows(FEEDBACK, [50.0]),
        rows(BOTH, [80.0]),
    )  # fmt: skip
    waits = {("mix", DRESS, executor): Waits(1, {"a": 1000}) for executor in ("native", "yarn-knobs")}
    page = page_of(matrix(found, waits))
    assert "**No known cause.**" in page
    assert f"| {DRESS} | mix | yarn-knobs | 1 of 1 | am-deadlock |" in page
    assert "One seed has no intervals" in page
    assert "Nothing is recommended" in page
    assert found.behind == []


def test_short_names() -> None:
    assert [short_name(policy) for policy in ("fair", FEEDBACK, BOTH)] == ["bare", "U", "DU"]


ROOM, AMS = "no node has enough free", "the queue's AM share is used up"


@pytest.mark.parametrize(
    ("native", "knobs", "cause"),
    [
        ({ROOM: 40_000}, {ROOM: 10_000}, "usage-feedback: a size that falls when a container ends"),
        ({ROOM: 10_000}, {f"behind others: {ROOM}": 40_000}, "usage-feedback: sizes between two looks"),
        ({AMS: 40_000}, {AMS: 10_000}, ""),  # usage feedback has no say in who starts
        ({ROOM: 40_000, AMS: 40_000}, {ROOM: 30_000, AMS: 10_000}, ""),  # most of it is about AMs
        ({ROOM: 10_000}, {ROOM: 10_000}, ""),
        ({ROOM: 10_000}, {ROOM: 5_000}, ""),  # much less than completion differs by
    ],
)
def test_a_knob_is_named_only_where_the_waits_show_it(
    native: dict[str, int], knobs: dict[str, int], cause: str
) -> None:
    shorter = sum(knobs.values()) <= sum(native.values())
    changed = rows(FEEDBACK, [40.0, 81.0, 119.0] if shorter else [60.0, 121.0, 179.0], "yarn-knobs")
    (one,) = effects(BARE, *PARTS, changed).beside
    found = difference(one, Waits(1, native), Waits(1, knobs))
    assert [text.startswith(cause) for text in found.lacking] == ([True] if cause else [])
    assert ("No known cause" in found.words) is not bool(cause)


def test_waits_that_point_the_other_way_explain_nothing() -> None:
    (one,) = effects(BARE, *PARTS, rows(FEEDBACK, [60.0, 121.0, 179.0], "yarn-knobs")).beside
    assert difference(one, Waits(1, {ROOM: 40_000}), Waits(1, {ROOM: 10_000})).lacking == ()
    (stalls,) = effects(BARE, *PARTS, rows(FEEDBACK, [60.0, None, 179.0], "yarn-knobs")).beside
    assert difference(stalls, Waits(1, {ROOM: 10_000}), Waits(1, {ROOM: 40_000})).lacking == ()


def test_the_page_says_why_levers_cost_in_company_or_alone() -> None:
    haste, both = "capacity+haste", "capacity+dress+haste"
    worse = rows(haste, [110.0, 219.0, 331.0]), rows(both, [111.0, 220.0, 333.0])
    shown = matrix(effects(BARE, *PARTS, *worse))
    page, detail = page_of(shown), detail_markdown(shown, "effects.md")
    assert "- dress and haste: both say who goes first in a leaf" in page
    assert "against capacity+dress alone. haste alone is worse than capacity (+" in detail
    assert "dress alone is worse" not in detail
    assert "admission control says" not in page
