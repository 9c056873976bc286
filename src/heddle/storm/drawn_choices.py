"""Whoever looks ahead in a storm: what it answers, and how late, is drawn; when the faults are over, YARN alone.

What is chosen does not matter here. That another policy takes over does, at any moment and in the middle of any fault.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from heddle.twin.ahead import Answer
from heddle.twin.beside import Question
from heddle.twin.choosing import BETTER, Choice, Prospect, Rule

RULE: Final = Rule(every_ms=4000, horizon_ms=20_000, rest_ms=5000)
STOCK: Final = "capacity"
A_MOMENT_S: Final = 0.1


class DrawnChoices:
    """`is_calm`: whether all faults are over. `delivers`: an answer is given; whether it is too late."""

    def __init__(
        self,
        random: Random,
        now_s: Callable[[], float],
        policies: list[str],
        is_calm: Callable[[], bool],
        delivers: Callable[[bool], None],
    ) -> None:
        self._random, self._now_s, self._policies, self._is_calm = random, now_s, policies, is_calm
        self._delivers = delivers
        self._due: tuple[float, Answer] | None = None
        self._until_s = 0.0  # so long an answer is in time

    def ask(self, question: Question) -> None:
        calm, present = self._is_calm(), self._policies[question.in_force]
        late_s = self._random.choice((0.0, 0.2, 0.5, 1.0, 1.5, 1.9, 3.0, 9.0)) if not calm else 0.0
        if not calm and self._random.random() < 0.2:
            answer = Answer(question.at_ms, None, "the process that looks ahead has died, and is started anew")
        else:
            chosen = STOCK if calm else self._random.choice([one for one in self._policies if one != present])
            prospects = tuple(Prospect(name, 1.0, 5, 1.0, (0.5, 1.5)) for name in self._policies)
            choice = Choice(question.at_ms, RULE.horizon_ms, present, chosen, BETTER, prospects)
            answer = Answer(question.at_ms, choice)
        self._due, self._until_s = (self._now_s() + late_s, answer), self._now_s() + question.seconds

    def answer(self) -> Answer | None:
        if self._due is None or self._due[0] > self._now_s():
            return None
        _, answer = self._due
        self._due = None
        self._delivers(self._now_s() > self._until_s + A_MOMENT_S)
        return answer
