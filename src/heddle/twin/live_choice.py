"""`heddle yarn steer --choose`: which policy is in force on a live cluster. Asked after every step, and never waits.

Every cycle a question goes to whoever looks ahead, elsewhere. An answer that comes later than half of the cycle, or
none, or one while the cluster is paused or does not answer, leaves the policy in force as it is, and that is said.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from heddle.twin.ahead import Ahead
from heddle.twin.beside import Question
from heddle.twin.choosing import Choice, Choosing
from heddle.twin.outcomes import Outcome, Outcomes
from heddle.yarn.live.applying.standing import Standing
from heddle.yarn.live.controller import Step
from heddle.yarn.live.world import Clock

TOO_LATE: Final = "the answer came later than half of the cycle"
NOT_NOW: Final = "the answer came while nothing may be changed"

Say = Callable[[str], None]


@dataclass(frozen=True)
class Told:
    """After a step: the number of the policy that is to act, what was chosen, and what came of earlier choices.

    `looked_ms`: a cycle that went as it should - ahead was looked, or the last change is too young - is over.
    """

    in_force: int
    choice: Choice | None = None
    outcomes: tuple[Outcome, ...] = ()
    looked_ms: int = 0


class LiveChoice:
    """`acts`: of the policy in force, the one that really acts; in shadow mode that is YARN alone."""

    def __init__(
        self, choosing: Choosing, ahead: Ahead, clock: Clock, say: Say, acts: Callable[[str], str] = lambda name: name
    ) -> None:
        self._choosing, self._ahead, self._clock, self._say, self._acts = choosing, ahead, clock, say, acts
        self._next_ms = self._now_ms() + choosing.rule.every_ms
        self._asked: Question | None = None
        self._outcomes = Outcomes(choosing.rule.horizon_ms)
        self._has_looked = False
        self._said = ""

    def after(self, step: Step | None, found: Standing, paused: bool = False) -> Told:
        """`step`: None: nobody has answered; `found`: knobs that may have been turned, as they were found."""
        applications = None if step is None else len(step.snapshot.apps)
        now_ms, may_act, looked_ms = self._now_ms(), applications is not None and not paused, 0
        outcomes = self._outcomes.step(now_ms, applications)
        choice = self._heard(now_ms, may_act)
        if now_ms >= self._next_ms:
            looked_ms = self._choosing.rule.every_ms if self._has_looked else 0
            self._next_ms = now_ms + self._choosing.rule.every_ms
            self._begin(now_ms, found, may_act, 0 if step is None else step.start_reports)
        return Told(self._choosing.in_force, choice, outcomes, looked_ms)

    def _now_ms(self) -> int:
        return round(1000 * self._clock.monotonic())

    def _begin(self, now_ms: int, found: Standing, may_act: bool, start_reports: int) -> None:
        """A cycle. Nothing is asked while the last change is young, or nobody has answered an earlier question."""
        self._has_looked = may_act and not self._choosing.may_change(now_ms)
        if may_act and not self._has_looked and self._asked is None:
            seconds = self._choosing.rule.every_ms / 2000
            self._asked = Question(now_ms, self._choosing.in_force, found, seconds, start_reports)
            self._ahead.ask(self._asked)
            self._outcomes.begin(now_ms)

    def _heard(self, now_ms: int, may_act: bool) -> Choice | None:
        asked, answer = self._asked, self._ahead.answer()
        if asked is None or answer is None or answer.at_ms != asked.at_ms:
            return None
        self._asked = None
        problem = answer.why_not
        if now_ms - asked.at_ms > 1000 * asked.seconds:
            problem = TOO_LATE
        elif answer.choice is not None and answer.choice.changes and not may_act:
            problem = NOT_NOW
        present = self._choosing.candidates[asked.in_force].name
        choice = answer.choice or Choice(asked.at_ms, self._choosing.rule.horizon_ms, present, present, problem)
        if problem:
            choice = replace(choice, chosen=present, why=problem)
        self._choosing.take(choice, now_ms)
        self._has_looked = bool(choice.prospects) and not problem
        self._outcomes.chosen(choice, self._acts(choice.chosen))
        self._tell(choice, problem)
        return choice

    def _tell(self, choice: Choice, problem: str) -> None:
        """Changes, and what keeps it from looking ahead; the rest is in the record."""
        if choice.changes:
            now, then = choice.prospects[0].present, choice.predicted
            self._say(
                f"policy {choice.in_force} -> {choice.chosen}: {then:.1f} applications there on average over the next "
                f"{choice.horizon_ms / 60_000:g} min, not {now:.1f}"
            )
        elif problem and problem != self._said:
            self._say(f"{choice.in_force} stays in force: {problem}")
        self._said = problem
