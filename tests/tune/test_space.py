"""What may be searched: levers and values that exist, that can act, and that have neighbours."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from heddle.model.workload import NO_SEGMENTS
from heddle.policy.lever import Question
from heddle.policy.parse import parse_policy
from heddle.policy.presets import LEVERS
from heddle.traces.catalogue import suggested_cluster
from heddle.traces.load import load_workload
from heddle.tune.space import OPTIONS, Candidate, Choice, Option, space_around
from heddle.yarn.live.levers import YOUNG_MS, charging_young


@pytest.mark.parametrize("option", [one for listed in OPTIONS.values() for one in listed], ids=lambda one: one.lever)
def test_every_value_of_every_grid_can_be_written_in_a_policy(option: Option) -> None:
    lever = LEVERS[option.lever]
    assert not lever.clairvoyant
    assert option in OPTIONS[lever.question]
    for name, grid in option.grids.items():
        assert len(set(grid)) == len(grid)
        for value in grid:
            text = Candidate.of({lever.question: Choice.first(option).having(name, value)}).policy("capacity")
            parsed = parse_policy(text).by_question[lever.question]
            assert parsed.parameter(name) == value


def test_defaults_are_not_written_out() -> None:
    option = OPTIONS[Question.SIZING][0]
    first = Choice.first(option)
    assert str(first) == "usage-feedback(young_reports=10)"
    assert str(first.having("young_reports", 0)) == "usage-feedback"


def test_only_what_can_act_is_searched_and_the_rest_says_why() -> None:
    workload, cluster = load_workload("mix"), suggested_cluster("mix")
    outside = space_around("capacity", workload, cluster, "yarn-knobs")
    levers = {option.lever for listed in outside.options.values() for option in listed}
    assert {"usage-feedback", "admission-control", "smallest-first"} <= levers
    why = {one.lever: one.why for one in outside.not_searched}
    assert "which stock YARN does not let anyone outside do" in why["haste"]
    assert "root.pool-0" in why["dress-pools"]
    assert "use of each container" in why["usage-feedback(forget=true)"]
    feedback = next(one for one in outside.options[Question.SIZING] if one.lever == "usage-feedback")
    assert feedback.grids["forget"] == (False,)
    assert "for 10 s at least" in why["usage-feedback(young_reports=2)"]
    assert feedback.grids["young_reports"] == (10, 30)
    inside = space_around("capacity", workload, cluster, "native")
    assert {"haste", "dress-pools"} <= {one.lever for listed in inside.options.values() for one in listed}
    assert inside.size > outside.size


def test_sizing_is_not_searched_where_no_use_is_recorded() -> None:
    """Nodes that promise more would look like larger nodes: nothing could show what that breaks."""
    workload, cluster = load_workload("mix"), suggested_cluster("mix")
    tasks = workload.tasks.copy()
    tasks["first_segment"] = NO_SEGMENTS
    space = space_around("capacity", replace(workload, tasks=tasks), cluster, "yarn-knobs")
    assert Question.SIZING not in space.options
    assert {"usage-feedback", "n-sigma", "borg-default"} <= {
        one.lever for one in space.not_searched if one.why.startswith("no use is recorded")
    }
    assert Question.SIZING not in space.woven().by_question


def test_the_size_of_a_space_is_the_number_of_its_candidates() -> None:
    workload, cluster = load_workload("mix"), suggested_cluster("mix")
    options = {
        Question.SIZING: (Option("borg-default", {"fraction": (0.9, 0.8)}),),
        Question.ADMISSION: (Option("admission-control", {"backlog": ("unbounded", 0.5, 1.0)}),),
    }
    space = space_around("capacity", workload, cluster, "native", options)
    reached = {Candidate()}
    for _ in range(5):
        reached |= set(itertools.chain.from_iterable(space.neighbours(one) for one in reached))
    assert len(reached) == space.size == 3 * 4


def test_neighbours_differ_in_one_thing_and_words_lie_beyond_the_largest_number() -> None:
    workload, cluster = load_workload("mix"), suggested_cluster("mix")
    options = {Question.ADMISSION: (Option("admission-control", {"backlog": ("unbounded", 0.5, 1.0)}),)}
    space = space_around("capacity", workload, cluster, "native", options)
    (only,) = space.single()
    near = {one.policy("capacity") for one in space.neighbours(only)}
    assert near == {"capacity", "capacity+admission-control(backlog=1)"}


def test_what_two_do_together() -> None:
    workload, cluster = load_workload("mix"), suggested_cluster("mix")
    space = space_around("capacity", workload, cluster, "native")
    by_lever = {str(choice): one for one in space.single() for _, choice in one.choices}
    both = space.joined(by_lever["admission-control"], by_lever["usage-feedback(young_reports=10)"])
    assert both.policy("capacity") == "capacity+admission-control+usage-feedback(young_reports=10)"


def test_the_search_begins_with_weave() -> None:
    workload, cluster = load_workload("mix"), suggested_cluster("mix")
    weave = parse_policy("capacity+weave")
    for executor, acting in (("yarn-knobs", charging_young(weave, YOUNG_MS, 1000)), ("native", weave)):
        first = space_around("capacity", workload, cluster, executor).screened()[0]
        assert parse_policy(first.policy("capacity")).levers == acting.levers


def test_the_search_begins_with_as_much_of_weave_as_there_is() -> None:
    workload, cluster = load_workload("mix"), suggested_cluster("mix")
    without_order = {question: listed for question, listed in OPTIONS.items() if question is not Question.ORDERING}
    first = space_around("capacity", workload, cluster, "native", without_order).screened()[0]
    chosen = "capacity+admission-control(backlog=0.75)+usage-feedback(young_reports=2)"
    assert parse_policy(first.policy("capacity")).levers == parse_policy(chosen).levers
    placement = {Question.PLACEMENT: OPTIONS[Question.PLACEMENT]}
    assert all(one.choices for one in space_around("capacity", workload, cluster, "native", placement).screened())
