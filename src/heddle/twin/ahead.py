"""The process that looks ahead beside a live controller, and the controller's side of it, which never waits.

A thread of the controller talks with it: a question, and an answer or the reason why there is none. It is started
beside the controller, and again when it has died or did not answer for too long. When the controller ends, however it
does, it ends too: nobody is there to ask.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Final, Protocol

from heddle.model.errors import HeddleError
from heddle.policy.parse import parse_policy
from heddle.twin.beside import Beside, Question
from heddle.twin.choosing import Choice, Rule
from heddle.twin.looking import Looking
from heddle.twin.rollouts import Candidate
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.levers import charging_young
from heddle.yarn.live.pace import Pace
from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.observer import Observer

POLL_S: Final = 2.0
NICE: Final = 10  # the controller's steps go first
JOURNAL: Final = "journal.jsonl"
PATIENCE_S: Final = 60.0  # the machine may be busy, and the first answer has to compile
ENDS_WITHIN_S: Final = 5.0


@dataclass(frozen=True)
class Answer:
    """To the question of that instant; without a choice, `why_not`."""

    at_ms: int
    choice: Choice | None
    why_not: str = ""


class Ahead(Protocol):
    """Whoever looks ahead, elsewhere. Nothing here waits."""

    def ask(self, question: Question) -> None: ...

    def answer(self) -> Answer | None:
        """The next one that has come; None: none has."""


@dataclass(frozen=True)
class Assignment:
    """What the process needs to know. `young_ms`: as charging_young() has it; `folder`: of its journal."""

    rm: str
    user: str | None
    calls_per_s: int
    folder: Path
    candidates: tuple[str, ...]
    young_ms: int
    report_ms: int
    rule: Rule


Program = Callable[[Connection, Assignment], None]


def look_ahead(pipe: Connection, given: Assignment) -> None:
    """The program: watches, and answers questions until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the controller, which ends us
    os.nice(NICE)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            _watch(pipe, given)
        except HeddleError as error:  # its journal cannot be written, say
            pipe.send(Answer(pipe.recv().at_ms, None, str(error)))


def _watch(pipe: Connection, given: Assignment) -> None:
    with RmClient(given.rm, user=given.user, pace=Pace(given.calls_per_s)) as client:
        observer = Observer(client, Journal(given.folder / JOURNAL))
        candidates = [_candidate(name, given) for name in given.candidates]
        beside = Beside(client, observer, Looking(client, observer), candidates, given.rule)
        while True:
            if pipe.poll(POLL_S):
                pipe.send(answered(beside.answer, pipe.recv()))
            else:
                with suppress(HeddleError):  # the answer to the next question says so
                    beside.poll()


def answered(answer: Callable[[Question], Choice], question: Question) -> Answer:
    """Whatever goes wrong while somebody looks ahead is a reason to leave things as they are, no more."""
    try:
        return Answer(question.at_ms, answer(question))
    except HeddleError as error:
        return Answer(question.at_ms, None, str(error))
    except Exception as error:
        return Answer(question.at_ms, None, f"looking ahead failed: {type(error).__name__}: {error}")


def _candidate(name: str, given: Assignment) -> Candidate:
    """As the controller has it."""
    return Candidate(name, charging_young(parse_policy(name), given.young_ms, given.report_ms), "yarn-knobs")


class AheadProcess:
    """Use it in a `with`. Every question is answered, be it that there is no answer."""

    def __init__(self, given: Assignment, program: Program = look_ahead) -> None:
        self._given, self._program = given, program
        self._questions: Queue[Question | None] = Queue()
        self._answers: Queue[Answer] = Queue()
        self._thread = Thread(target=self._talk, daemon=True)
        self._is_over = False
        self._process, self._pipe = self._start()

    def __enter__(self) -> AheadProcess:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        self._questions.put(None)
        self._process.kill()
        self._thread.join(ENDS_WITHIN_S)

    def ask(self, question: Question) -> None:
        self._questions.put(question)

    def answer(self) -> Answer | None:
        try:
            return self._answers.get_nowait()
        except Empty:
            return None

    def _start(self) -> tuple[SpawnProcess, Connection]:
        context = get_context("spawn")
        ours, its = context.Pipe()
        process = context.Process(target=self._program, args=(its, self._given), daemon=True)
        process.start()
        its.close()
        return process, ours

    def _talk(self) -> None:
        while (question := self._questions.get()) is not None and not self._is_over:
            self._answers.put(self._asked(question))

    def _asked(self, question: Question) -> Answer:
        patience_s = max(PATIENCE_S, 2 * question.seconds)
        try:
            self._pipe.send(question)
            if self._pipe.poll(patience_s):
                answer: Answer = self._pipe.recv()
                return answer
            why_not = f"the process that looks ahead has not answered for {patience_s:g} s"
        except (EOFError, OSError):
            why_not = "the process that looks ahead has died"
        if not self._is_over:
            self._process.kill()
            self._process, self._pipe = self._start()
        return Answer(question.at_ms, None, f"{why_not}, and is started anew")
