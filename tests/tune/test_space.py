"""What may be searched: levers and values that exist, that can act, and that have neighbours."""

from __future__ import annotations

import itertools

import pytest

from heddle.policy.lever import Question
from heddle.policy.parse import parse_policy
from heddle.policy.presets import LEVERS
from heddle.traces.catalogue import suggested_cluster
from heddle.traces.load import load_workload
from heddle.tune.space import OPTIONS, Candidate, Choice, Option, space_around


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
    assert str(first) == "usage-feedback"
    assert str(first.having("damping", 0.5)) == "usage-feedback(damping=0.5)"


def test_only_what_can_act_is_searched_and_the_rest_says_why() -> None:
    workload, cluster = load_workload("mix"), suggested_cluster("mix")
    outside = space_around("capacity", workload, cluster, "yarn-knobs")
    levers = {option.lever for listed in outside.options.values() for option in listed}
    assert {"usage-feedback", "admission-control", "smallest-first"} <= levers
    why = {one.lever: one.why for one in outside.not_searched}
    assert "which YARN lets nobody outside do" in why["haste"]
    assert "root.pool-0" in why["dress-pools"]
    assert "use of each container" in why["usage-feedback(forget=true)"]
    feedback = next(one for one in outside.options[Question.SIZING] if one.lever == "usage-feedback")
    assert feedback.grids["forget"] == (False,)
    inside = space_around("capacity", workload, cluster, "native")
    assert {"haste", "dress-pools"} <= {one.lever for listed in inside.options.values() for one in listed}
    assert inside.size > outside.size


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
    both = space.joined(by_lever["admission-control"], by_lever["usage-feedback"])
    assert both.policy("capacity") == "capacity+admission-control+usage-feedback"
