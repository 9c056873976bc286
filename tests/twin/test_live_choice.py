"""Choosing on a live cluster: when it asks, which answers count, what came of them; it never waits."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from heddle.model.errors import RunRefused
from heddle.twin.ahead import Answer
from heddle.twin.beside import Question
from heddle.twin.choosing import BETTER, NOT_SHOWN, Choice, Choosing, Prospect, Rule
from heddle.twin.live_choice import NOT_NOW, TOO_LATE, LiveChoice, Told
from heddle.twin.rollouts import Candidate
from heddle.twin.shadow_time import NEEDED_S, ShadowTime
from heddle.yarn.live.applying.standing import Standing
from heddle.yarn.live.controller import Step
from heddle.yarn.live.steering.desk import Desk
from yarn_live.fake_cluster import FakeCluster
from yarn_steering.fake_world import FakeWorld

NAMES = ("capacity+weave", "capacity", "capacity+admission-control")
RULE = Rule(every_ms=30_000, horizon_ms=60_000, rest_ms=300_000)
START_REPORTS = 7


@dataclass
class Clock:
    now_s: float = 1000.0

    def monotonic(self) -> float:
        return self.now_s

    def time(self) -> float:
        return self.now_s

    def sleep(self, seconds: float, /) -> None:
        raise AssertionError("nobody waits")


@dataclass
class Scripted:
    """Answers as it is told to: `takes_s` after a question, `chooses` another policy, or gives a reason why not."""

    clock: Clock
    takes_s: float = 5.0
    chooses: int | None = None
    why_not: str = ""
    questions: list[Question] = field(default_factory=list)
    due: list[tuple[float, Answer]] = field(default_factory=list)

    def ask(self, question: Question) -> None:
        self.questions.append(question)
        present = NAMES[question.in_force]
        chosen = present if self.chooses is None else NAMES[self.chooses]
        prospects = tuple(Prospect(name, 8.0 if name == present else 5.0, 5, 3.0, (1.0, 5.0)) for name in NAMES)
        choice = Choice(
            question.at_ms, RULE.horizon_ms, present, chosen, NOT_SHOWN if chosen == present else BETTER, prospects
        )
        answer = Answer(question.at_ms, None if self.why_not else choice, self.why_not)
        self.due.append((self.clock.now_s + self.takes_s, answer))

    def answer(self) -> Answer | None:
        if self.due and self.due[0][0] <= self.clock.now_s:
            return self.due.pop(0)[1]
        return None


class Steered:
    """A LiveChoice and steps beside it, one a second."""

    def __init__(self, shadow: bool = False) -> None:
        self.clock = Clock()
        self.ahead = Scripted(self.clock)
        self.said: list[str] = []
        choosing = Choosing([Candidate.of(name, "yarn-knobs") for name in NAMES], RULE)
        acts = (lambda _: "capacity") if shadow else lambda name: name
        self.choice = LiveChoice(choosing, self.ahead, self.clock, self.said.append, acts)

    def steps(self, seconds: int, applications: int | None = 4, paused: bool = False) -> list[Told]:
        told = []
        for _ in range(seconds):
            self.clock.now_s += 1
            step = None if applications is None else step_with(applications)
            told.append(self.choice.after(step, Standing({"n:1": (8192, 8000)}), paused))
        return told


def step_with(applications: int) -> Step:
    """What a choice looks at of a step."""
    seen = SimpleNamespace(apps=range(applications))
    return cast("Step", SimpleNamespace(snapshot=seen, start_reports=START_REPORTS))


def choices(told: list[Told]) -> list[Choice]:
    return [one.choice for one in told if one.choice is not None]


def test_it_asks_every_cycle_with_what_was_found_and_half_of_the_time() -> None:
    steered = Steered()
    steered.steps(95)
    assert [question.at_ms for question in steered.ahead.questions] == [1_030_000, 1_060_000, 1_090_000]
    first = steered.ahead.questions[0]
    assert (first.in_force, first.seconds, first.found.sizes) == (0, 15.0, {"n:1": (8192, 8000)})
    assert first.start_reports == START_REPORTS


def test_the_best_is_in_force_from_its_answer_on_and_then_there_is_rest() -> None:
    steered = Steered()
    steered.ahead.chooses = 1
    told = steered.steps(36)
    (choice,) = choices(told)
    assert (choice.chosen, choice.why, choice.predicted) == ("capacity", BETTER, 5.0)
    assert [one.in_force for one in told] == 34 * [0] + 2 * [1]
    assert "capacity+weave -> capacity: 5.0 applications" in steered.said[0]
    steered.ahead.chooses = 2
    told += steered.steps(400)
    steered.ahead.chooses = 0
    told += steered.steps(400)
    changed = [n for n, (a, b) in enumerate(pairwise(told)) if a.in_force != b.in_force]
    assert len(changed) == 3
    assert all(later - earlier >= 300 for earlier, later in pairwise(changed))
    asked_s = [question.at_ms // 1000 - 1000 for question in steered.ahead.questions]
    assert not any(changed[0] < at < changed[0] + 300 for at in asked_s), "in the rest nothing is rolled out"


def test_an_answer_later_than_half_of_the_cycle_changes_nothing() -> None:
    steered = Steered()
    steered.ahead.chooses, steered.ahead.takes_s = 1, 16
    told = steered.steps(50)
    assert [choice.why for choice in choices(told)] == [TOO_LATE]
    assert {one.in_force for one in told} == {0}
    assert steered.said == [f"capacity+weave stays in force: {TOO_LATE}"]


def test_an_answer_that_does_not_come_keeps_others_from_being_asked() -> None:
    steered = Steered()
    steered.ahead.chooses, steered.ahead.takes_s = 1, 70
    told = steered.steps(125)
    assert len(steered.ahead.questions) == 2
    assert {one.in_force for one in told} == {0}


def test_what_goes_wrong_is_said_once_and_changes_nothing() -> None:
    steered = Steered()
    steered.ahead.why_not = "n9 is not there"
    told = steered.steps(100)
    assert [choice.why for choice in choices(told)] == 3 * ["n9 is not there"]
    assert not any(choice.prospects for choice in choices(told))
    assert {one.in_force for one in told} == {0}
    assert steered.said == ["capacity+weave stays in force: n9 is not there"]


def test_paused_nothing_is_asked_and_what_was_asked_changes_nothing() -> None:
    steered = Steered()
    steered.ahead.chooses = 1
    steered.steps(32)
    told = steered.steps(60, paused=True)
    assert [choice.why for choice in choices(told)] == [NOT_NOW]
    assert len(steered.ahead.questions) == 1
    assert steered.steps(40)[-1].in_force == 1


def test_while_the_resourcemanager_is_away_nothing_changes() -> None:
    steered = Steered()
    steered.ahead.chooses = 1
    steered.steps(32)
    told = steered.steps(60, applications=None)
    assert [choice.why for choice in choices(told)] == [NOT_NOW]
    assert {one.in_force for one in told} == {0}


def test_what_came_is_told_when_the_horizon_is_over() -> None:
    steered = Steered()
    steered.ahead.chooses = 1
    told = steered.steps(60, applications=4) + steered.steps(31, applications=10)
    (outcome,) = [outcome for one in told for outcome in one.outcomes]
    assert (outcome.policy, outcome.predicted) == ("capacity", 5.0)
    assert outcome.came == pytest.approx(7.0, abs=0.1)  # half of the minute 4, then 10


def test_what_nobody_saw_did_not_come() -> None:
    steered = Steered()
    told = steered.steps(50) + steered.steps(20, applications=None) + steered.steps(30)
    (outcome,) = [outcome for one in told for outcome in one.outcomes]
    assert outcome.came is None


def test_in_shadow_mode_what_came_is_held_against_what_yarn_alone_was_to_do() -> None:
    steered = Steered(shadow=True)
    steered.ahead.chooses = 2
    (outcome,) = [outcome for one in steered.steps(95) for outcome in one.outcomes]
    assert (outcome.policy, outcome.predicted, outcome.came) == ("capacity", 5.0, 4.0)


def test_live_needs_an_hour_of_cycles_that_went_well() -> None:
    steered, desk = Steered(shadow=True), Desk(Path("/desk"), FakeWorld(FakeCluster()).as_process("controller"))
    shadow = ShadowTime(desk, steered.said.append)
    steered.ahead.why_not = "gone"
    assert not any(one.looked_ms for one in steered.steps(100))
    steered.ahead.why_not, steered.ahead.chooses = "", 2
    shadow.add(sum(one.looked_ms for one in steered.steps(3500)) / 1000)
    with pytest.raises(RunRefused, match="58 min"):
        shadow.must_be_enough()
    shadow.add(NEEDED_S)
    shadow.must_be_enough()
