"""The way to the ResourceManager, and what goes wrong on it while a fault lasts."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum, auto
from http.client import IncompleteRead
from random import Random
from typing import Any, Final

from heddle.storm.answers import RmAnswers, queue_changes
from heddle.storm.faults import Fault, Kind
from heddle.storm.machine import Asked
from heddle.storm.timeline import Process, Timeline
from heddle.storm.truth import By
from heddle.yarn.live.applying.standing import SHARES
from heddle.yarn.live.connection import Answer

STANDBY: Final = Answer(307, "This is standby RM. The redirect url is: /")
REFUSALS: Final = (
    Answer(401, "who are you"),
    Answer(403, "not you"),
    Answer(500, "java.lang.NullPointerException"),
    Answer(503, "busy"),
    STANDBY,
)


class Told(Enum):
    """What an answer is worth."""

    TRUE = auto()
    STALE = auto()
    ALTERED = auto()


Before = Callable[[Process, Asked, float], None]
Late = Callable[[Asked, float], None]
Heard = Callable[[Process, str, Answer, Told], None]  # the answer to a read


class Network:
    """`addresses`: of the ResourceManagers, of which the first is active at first. `before` sees every change as it is
    asked for, `late` one that takes effect only now, `heard` every answer to a read."""

    def __init__(
        self,
        timeline: Timeline,
        random: Random,
        rm: RmAnswers,
        addresses: Sequence[str],
        before: Before,
        late: Late,
        heard: Heard,
    ) -> None:
        self._addresses = deque(addresses)
        self._timeline, self._random, self._rm, self._before, self._heard = timeline, random, rm, before, heard
        self._late = late
        self.faults: dict[Kind, Fault] = {}  # those that last
        self.is_up = True
        self._acts_at_s = 0.0  # on the last change: one that comes later is never made earlier
        # What each process was last told before answers became stale. One that starts later is told the truth once: it
        # has nothing that could tell it otherwise.
        self._last: dict[tuple[str, str], Answer] = {}

    def fail_over(self) -> None:
        """The next one is active from now on."""
        self._addresses.rotate(-1)

    def ask(self, process: Process, timeout_s: float, asked: Asked) -> Answer:
        changes, hit, asked_s = asked.method != "GET", self._hits(), self._timeline.now_s
        process.sleep(self._random.uniform(0.001, 0.006))
        if asked.address != self._addresses[0]:
            return STANDBY
        if Kind.RM_SLOW in hit:
            delay_s = 0.2 + hit[Kind.RM_SLOW].pick % 70 / 10
            process.sleep(min(delay_s, timeout_s))
            if delay_s >= timeout_s:
                raise TimeoutError("timed out")
        if not self.is_up:
            raise ConnectionRefusedError("connection refused")
        if Kind.RM_TIMES_OUT_BEFORE in hit:
            process.sleep(timeout_s)
            raise TimeoutError("timed out")
        refusing = hit.get(Kind.RM_REFUSES) or (hit.get(Kind.RM_REFUSES_CHANGES) if changes else None)
        if refusing is not None:
            return REFUSALS[refusing.pick % len(REFUSALS)]
        if changes:
            self._before(process, asked, asked_s)
            return self._change(process, timeout_s, asked, hit)
        answer = self._read(process, asked, hit)
        if Kind.RM_TIMES_OUT_AFTER in hit:
            process.sleep(timeout_s)
            raise TimeoutError("timed out")
        return answer

    def _hits(self) -> dict[Kind, Fault]:
        """The faults that befall this request: some befall all, some only a part."""
        return {
            kind: fault
            for kind, fault in self.faults.items()
            if self._random.random() < (1.0, 0.5, 0.2)[fault.pick // 1000 % 3]
        }

    def _read(self, process: Process, asked: Asked, hit: dict[Kind, Fault]) -> Answer:
        fresh = self._rm.answer(asked)
        read = process.name, asked.target
        answer = given = self._last.get(read, fresh) if Kind.RM_STALE in hit else fresh
        if Kind.RM_STALE not in self.faults or read not in self._last:
            self._last[read] = fresh
        if Kind.RM_CUTS_OFF in hit:
            if hit[Kind.RM_CUTS_OFF].pick % 2:
                raise IncompleteRead(answer.text[:10].encode())
            answer = answer._replace(text=answer.text[: self._random.randrange(len(answer.text))])
        elif Kind.RM_GARBLES in hit:
            answer = answer._replace(text=garbled(answer.text, self._random))
        elif Kind.RM_REORDERS in hit:
            answer = answer._replace(text=reordered(answer.text, self._random))
        told = Told.TRUE if answer is fresh else Told.STALE if answer is given else Told.ALTERED
        self._heard(process, asked.target, answer, told)
        return answer

    def _change(self, process: Process, timeout_s: float, asked: Asked, hit: dict[Kind, Fault]) -> Answer:
        if Kind.RM_HALF in hit and asked.target.split("?")[0].endswith("/scheduler-conf"):
            changes = queue_changes(asked.body or "")
            if any(key in SHARES for _, key, _ in changes):
                self._rm.answer(asked)  # they must add up: all of it, or nothing
            else:
                for leaf, key, value in changes[:1]:
                    self._rm.yarn.configure(leaf, key, value, By.US)
            return Answer(500, "half of it")
        late_s = 0.1 + hit[Kind.RM_LATE].pick % 20 / 10 if Kind.RM_LATE in hit else 0.0
        self._acts_at_s = max(self._acts_at_s, self._timeline.now_s + late_s)
        if self._acts_at_s > self._timeline.now_s:
            asked_s = self._timeline.now_s
            self._timeline.at(self._acts_at_s, lambda: self._act_late(asked, asked_s))
            return Answer(200, json.dumps({"resourceInfo": {"memory": 1, "vCores": 1}}))
        answer = self._rm.answer(asked)
        if Kind.RM_TIMES_OUT_AFTER in hit:
            process.sleep(timeout_s)
            raise TimeoutError("timed out")
        if Kind.RM_CUTS_OFF in hit:
            raise IncompleteRead(b"")
        return answer

    def _act_late(self, asked: Asked, asked_s: float) -> None:
        if self.is_up:
            self._late(asked, asked_s)
            self._rm.answer(asked)


def garbled(text: str, random: Random) -> str:
    """Another shape, a field that is missing, or no JSON at all."""
    how = random.randrange(4)
    if how == 0:
        return "<html>proxy error</html>"
    if how == 1:
        return json.dumps([json.loads(text)])
    answer = json.loads(text)
    rows = list(_rows(answer)) or [answer]
    if rows[0]:
        row = random.choice(rows)
        key = random.choice(sorted(row))
        if how == 2:
            del row[key]
        else:
            row[key] = {"no": "such"}
    return json.dumps(answer)


def reordered(text: str, random: Random) -> str:
    """Lists in another order, and now and then without one of their rows."""
    answer = json.loads(text)
    for found in _lists(answer):
        random.shuffle(found)
        if len(found) > 1 and random.random() < 0.3:
            found.pop()
    return json.dumps(answer)


def _lists(answer: Any) -> list[list[Any]]:
    if isinstance(answer, dict):
        return [found for value in answer.values() for found in _lists(value)]
    return [answer] if isinstance(answer, list) else []


def _rows(answer: Any) -> list[dict[str, Any]]:
    return [row for found in _lists(answer) for row in found if isinstance(row, dict)]
