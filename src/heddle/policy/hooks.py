"""A policy's hooks as hosts call them: by their addresses, so that hosts compile once for all policies.

heddle's own hooks are compiled once and loaded from files (model/code_files.py), without Numba. A user's is compiled
in every process, behind a guard, or steps out to plain Python where it cannot be.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from traceback import extract_tb
from typing import TYPE_CHECKING, Final

from heddle.model.code_files import SUFFIX, load_code, places_of, write_code
from heddle.model.code_folders import levers_folder
from heddle.model.errors import BadInput, Problem
from heddle.model.own_sources import source_digest
from heddle.policy.answers import Legal, legal_answers
from heddle.policy.declaration import Hook, Lever, is_ours
from heddle.policy.declared_reads import Read
from heddle.policy.question import ALL_HOOKS, HOOKS, Question
from heddle.policy.state import StateLayout
from heddle.policy.stepping_out import SteppingOut

if TYPE_CHECKING:
    from heddle.policy.guarding import Guard

RUNS_AS_PYTHON: Final = "runs_as_python"  # attribute of hooks that nobody tries to compile


@dataclass(frozen=True)
class Compiled:
    """A hook that can be called at its address: one word for each argument."""

    hook: Hook
    address: int
    outside: SteppingOut | None = None
    guard: Guard | None = None
    reads: Mapping[Read, int] = field(default_factory=dict)  # of a user's: columns of the view, and the lines

    @property
    def can_fault(self) -> bool:
        """Whether it is a user's."""
        return self.outside is not None or self.guard is not None

    def take_fault(self) -> Problem | None:
        """What a user's hook did wrong since it was asked last, with its line."""
        if self.outside is not None and self.outside.raised:
            error = self.outside.raised.pop()
            return self._problem(f"raised {type(error).__name__}: {error}", error)
        fault = self.guard.take_fault() if self.guard else ""
        return self._problem(fault) if fault else None

    def _problem(self, fault: str, error: Exception | None = None) -> Problem:
        code = inspect.unwrap(self.hook).__code__
        frames = extract_tb(error.__traceback__) if error else []
        lines = [one.lineno for one in frames if one.filename == code.co_filename]
        return Problem(code.co_filename, f"{self.hook.__name__}: {fault}", lines[-1] if lines else code.co_firstlineno)


def layout_of(lever: Lever, n_resources: int) -> StateLayout:
    return StateLayout(lever.state, lever.truth, n_resources)


def _zero_1(view, state, params, a):
    return 0


def _zero_2(view, state, params, a, b):
    return 0


def _zero_5(view, state, params, a, b, c, d, e):
    return 0


def _zero_12(view, state, params, a, b, c, d, e, f, g, h, i, j, k, l):  # noqa: E741
    return 0


_ZEROS: Final[dict[int, Hook]] = {1: _zero_1, 2: _zero_2, 5: _zero_5, 12: _zero_12}


def ready_hook(lever: Lever, hook: str, n_resources: int) -> Compiled:
    """The hook, loaded or compiled; where Numba cannot compile a user's, it steps out to plain Python."""
    about, legal = HOOKS[lever.question][hook], legal_answers(lever, hook)
    function = lever.hooks.get(hook)
    if function is None:  # what a lever leaves out answers 0
        return _ours(_ZEROS[len(about)], about, StateLayout(type(lever.state)(), (), n_resources), ())
    layout = layout_of(lever, n_resources)
    if getattr(function, RUNS_AS_PYTHON, False):
        return _as_python(function, about, legal, layout, lever.parameter_names)
    if is_ours(function):
        return _ours(function, about, layout, lever.parameter_names)
    return _users(function, about, legal, layout, lever.parameter_names)


@cache
def _ours(function: Hook, about: tuple[str, ...], layout: StateLayout, names: tuple[str, ...]) -> Compiled:
    if function.__closure__:
        raise TypeError(f"{function.__qualname__}: a hook is known by its name, and a closure by more than that")
    source = source_digest(f"{function.__module__.removeprefix('heddle.').replace('.', '/')}.py")
    known_as = hashlib.sha256(repr((source, layout, names)).encode()).hexdigest()[:12]
    name = f"{function.__module__}.{function.__qualname__}-{known_as}{SUFFIX}"
    places = [place / name for place in places_of(levers_folder())]
    file = next((place for place in places if place.exists()), places[0])
    if not file.exists():
        from heddle.policy.compile import compile_ours  # needs Numba, which nobody else does

        write_code(file, *compile_ours(function, about, layout, names))
    return Compiled(function, load_code([file])[0])


@cache
def _users(
    function: Hook, about: tuple[str, ...], legal: Legal, layout: StateLayout, names: tuple[str, ...]
) -> Compiled:
    from heddle.policy.compile import compile_users

    found = compile_users(function, about, legal, layout, names)
    if found is None:
        return _as_python(function, about, legal, layout, names)
    return Compiled(function, found.guard.address, guard=found.guard, reads=found.reads)


@cache
def _as_python(
    function: Hook, about: tuple[str, ...], legal: Legal, layout: StateLayout, names: tuple[str, ...]
) -> Compiled:
    outside = SteppingOut(function, layout, names, about, legal)
    return Compiled(function, outside.address, outside=outside)


Compilation = Mapping[tuple[Question, str], Compiled]


def hooks_of(levers: Sequence[Lever], n_resources: int) -> Compilation:
    """The compiled hooks of a whole policy, in the order of ALL_HOOKS."""
    by_question = {lever.question: lever for lever in levers}
    return {(question, hook): ready_hook(by_question[question], hook, n_resources) for question, hook in ALL_HOOKS}


def raise_what_levers_raised(hooks: Compilation) -> None:
    """If a user's lever did what no host can go on with in the run that just ended: BadInput that says where."""
    problems = [problem for compiled in hooks.values() if (problem := compiled.take_fault())]
    if problems:
        raise BadInput(problems)
