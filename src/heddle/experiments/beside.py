"""The live host beside the engine: whatever the engine tells and asks a lever, the live host tells and asks its own.

Both have the engine's view, at the same instant. What each lever remembers, its parameters and its compiled hooks are
the live host's: prepared, kept, cleared and called as on a real cluster. So all answers must be the same.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from heddle.model.view import View
from heddle.policy.policy import Policy
from heddle.policy.question import Question
from heddle.yarn.live.applying.wanted import WHOLE
from heddle.yarn.live.levers import LiveLevers
from heddle.yarn.live.live_view import Batch

ASKED_LIVE: Final = {
    (Question.ORDERING, "key"), (Question.ADMISSION, "admits"), (Question.SIZING, "total"),
    (Question.PARTITION, "pool"), (Question.PARTITION, "limit"), (Question.PLACEMENT, "allows"),
}  # fmt: skip


class LiveBeside:
    """`differences`: of each hook the first answer that was not the same, in words."""

    def __init__(self, policy: Policy) -> None:
        self._live = LiveLevers(policy, WHOLE)
        self._allocated_at_ms: np.ndarray | None = None  # of the containers when the engine called last
        self.differences: dict[tuple[Question, str], str] = {}

    def called(self, question: Question, hook: str, view: View, integers: list[int], answer: int) -> None:
        """The engine's lever was told or asked this, and gave this answer."""
        self._catch_up(view)
        if hook == "on_event":
            kind, *row = integers
            self._live.tell(question, view, Batch(kind, np.array([row], np.int64)))
        elif (question, hook) in ASKED_LIVE:
            first, *second = (np.array([one], np.int64) for one in integers)
            answers = self._live.pairs if second else self._live.each
            other = int(answers(question, hook, view, first, *second).item())
            if other != answer:
                about = ", ".join(map(str, integers))
                what = f"{hook} of {about} at {view.clock['now_ms'][0]} ms: {answer} in the simulator, {other} live"
                self.differences.setdefault((question, hook), what)

    def _catch_up(self, view: View) -> None:
        """No container begins twice at one instant in one row, so that a row with another beginning has a new one."""
        before, now = self._allocated_at_ms, view.container["allocated_at_ms"]
        if before is None:
            self._live.prepare(view)
            before = now
        if len(before) < len(now):
            before = np.concatenate([before, np.zeros(len(now) - len(before), before.dtype)])
        self._live.begin_containers(view, np.flatnonzero(before != now))
        self._allocated_at_ms = now.copy()
