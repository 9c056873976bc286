"""A policy whose hooks are watched: they run as plain Python, over a view that writes down all that they read."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import wraps
from traceback import extract_tb
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from heddle.experiments.silent_changes import SilentChanges
from heddle.model.view import View
from heddle.policy.declaration import Lever
from heddle.policy.declared_reads import Read
from heddle.policy.hooks import RUNS_AS_PYTHON
from heddle.policy.policy import Policy
from heddle.policy.question import HOOKS, Question

Reads = dict[Read, int]  # and the line that read it first


class Raised(NamedTuple):
    hook: str
    what: str
    line: int


@dataclass
class Watched:
    """What one lever did in a run. Lines are of the file that declares the hook."""

    lever: Lever
    reads: dict[str, Reads] = field(default_factory=dict)  # of each hook
    heard: set[int] = field(default_factory=set)  # kinds of events
    raised: set[Raised] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.silent = SilentChanges(self.lever)


Called = Callable[[Question, str, View, list[int], int], None]  # a hook, about what, and its answer


def watched(policy: Policy, called: Called | None = None) -> tuple[Policy, dict[Question, Watched]]:
    """The policy with all its hooks watched, and where what they do is written down."""
    notes = {lever.question: Watched(lever) for lever in policy.levers}
    levers = []
    for lever in policy.levers:
        hooks: dict[str, Any] = {
            name: _watch(hook, name, notes[lever.question], called) for name, hook in lever.hooks.items()
        }
        levers.append(replace(lever, **hooks))
    return replace(policy, levers=tuple(levers)), notes


def _watch(hook: Callable[..., Any], name: str, notes: Watched, called: Called | None) -> Callable[..., Any]:
    about = HOOKS[notes.lever.question][name]
    file, reads = inspect.unwrap(hook).__code__.co_filename, notes.reads.setdefault(name, {})

    @wraps(hook)
    def call(*arguments: Any) -> Any:
        view, state, params, *integers = arguments
        given = dict(zip(about, integers, strict=True))
        if name == "on_event":
            notes.heard.add(given["kind"])
        seen, kept = _WatchedView(view, reads, given, file), _guarded(state)
        try:
            if name == "on_event":
                unwatched = _WatchedView(view, {}, given, file)
                with notes.silent.around(view, unwatched, kept, params, given) as told:
                    answer = hook(seen, kept, params, *integers)
                    told.append(int(answer))
            else:
                answer = hook(seen, kept, params, *integers)
            if not isinstance(answer, int | np.integer | np.bool_):
                raise TypeError(f"it returned {answer!r}, not a whole number")
        except Exception as error:
            lines = [one.lineno for one in extract_tb(error.__traceback__) if one.filename == file]
            at = (lines and lines[-1]) or inspect.unwrap(hook).__code__.co_firstlineno
            notes.raised.add(Raised(name, f"{name}: {type(error).__name__}: {error}", at))
            raise
        if name != "on_event":
            notes.silent.given(name, integers, int(answer))
        if called is not None:
            called(notes.lever.question, name, view, integers, int(answer))
        return answer

    setattr(call, RUNS_AS_PYTHON, True)
    return call


def _guarded(state: Any) -> Any:
    """The truth is the host's to write."""
    if not hasattr(state, "truth"):
        return state
    truth = state.truth.view()
    truth.flags.writeable = False
    return state._replace(truth=truth)


class _WatchedView:
    def __init__(self, view: View, reads: Reads, about: dict[str, int], file: str) -> None:
        self._view, self._reads, self._file = view, reads, file
        stage = about.get("stage", -1)
        self._job = about.get("job", int(view.stage_spec["job"][stage]) if stage >= 0 else -1)

    def __getattr__(self, table: str) -> _WatchedRows:
        return _WatchedRows(getattr(self._view, table), table, self)

    def note(self, table: str, column: str, row: int) -> None:
        of = {"job": row, "stage": int(self._view.stage_spec["job"][row]) if table == "stage" else -1}.get(table)
        read = Read(table, column, of is not None and self._job >= 0 and of != self._job)
        if read not in self._reads:
            self._reads[read] = _line_in(self._file)


def _line_in(file: str) -> int:
    """The line of this file that runs now: of the hook, also where a function that it calls does the reading."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename != file:
        frame = frame.f_back
    return frame.f_lineno if frame else 0


class _WatchedRows:
    def __init__(self, rows: Any, table: str, view: _WatchedView) -> None:
        self._rows, self._table, self._view = rows, table, view
        self.shape = rows.shape

    def __getitem__(self, column: str) -> _WatchedColumn:
        return _WatchedColumn(self._rows[column], self._table, column, self._view)


class _WatchedColumn:
    """Numbers come out as Python's, which do not overflow."""

    def __init__(self, values: Any, table: str, column: str, view: _WatchedView) -> None:
        self._values, self._table, self._column, self._view = values, table, column, view
        self.shape = values.shape

    def __getitem__(self, index: Any) -> Any:
        row = index[0] if isinstance(index, tuple) else index
        self._view.note(self._table, self._column, int(row))
        value = self._values[index]
        return int(value) if value.ndim == 0 else value
