"""Compiles hooks. Each is called by its address, one word for each argument, so that hosts compile once for all."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from traceback import extract_tb
from typing import Any, Final

from numba import njit, types

from heddle.model.compiled import among_levers
from heddle.model.errors import BadInput, Problem
from heddle.model.numba_internals import NumbaError, overload_of
from heddle.policy.answers import Legal, legal_answers
from heddle.policy.compiler_words import above_it, refuse_slips, why_not
from heddle.policy.declaration import Hook, Lever, is_ours
from heddle.policy.declared_reads import Read
from heddle.policy.guarding import Guard
from heddle.policy.handles import ParamsType, StateType, ViewType
from heddle.policy.native import address_of
from heddle.policy.own_handles import OwnStateType, OwnViewType
from heddle.policy.question import ALL_HOOKS, HOOKS, Question
from heddle.policy.state import StateLayout
from heddle.policy.stepping_out import SteppingOut
from heddle.policy.typed_code import columns_read, defined_at, line_that_returns

_EVERY_PATH: Final = "every path must return a whole number"
RUNS_AS_PYTHON: Final = "runs_as_python"  # attribute of hooks that nobody tries to compile


class SlowLeverWarning(UserWarning):
    """A lever could not be compiled and runs as plain Python."""


@dataclass(frozen=True)
class Compiled:
    """A hook that can be called at its address. `function`: Numba's, where it is compiled."""

    hook: Hook
    address: int
    function: Any = None
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


def compile_hook(lever: Lever, hook: str, n_resources: int) -> Compiled:
    """The hook compiled; where Numba cannot, it steps out to plain Python."""
    about, legal = HOOKS[lever.question][hook], legal_answers(lever, hook)
    function = lever.hooks.get(hook)
    if function is None:  # what a lever leaves out answers 0
        return _compiled(_ZEROS[len(about)], about, legal, StateLayout(type(lever.state)(), (), n_resources), ())
    return _compiled(function, about, legal, layout_of(lever, n_resources), lever.parameter_names)


@cache
def _compiled(
    function: Hook, about: tuple[str, ...], legal: Legal, layout: StateLayout, names: tuple[str, ...]
) -> Compiled:
    if getattr(function, RUNS_AS_PYTHON, False):
        return _as_python(function, about, legal, layout, names)
    try:
        return by_numba(function, about, legal, layout, names)
    except NumbaError as error:
        if is_ours(function):
            raise
        refuse_slips(function, layout, names, str(error))
        why, row = why_not(function, str(error))
        warnings.warn(
            f"{function.__code__.co_filename}:{row}: {function.__name__} cannot be compiled and will run as plain "
            f"Python, far slower ({why})",
            SlowLeverWarning,
            stacklevel=2,
        )
        return _as_python(function, about, legal, layout, names)


def _as_python(
    function: Hook, about: tuple[str, ...], legal: Legal, layout: StateLayout, names: tuple[str, ...]
) -> Compiled:
    outside = SteppingOut(function, layout, names, about, legal)
    return Compiled(function, outside.address, outside=outside)


@cache
def by_numba(
    function: Hook, about: tuple[str, ...], legal: Legal, layout: StateLayout, names: tuple[str, ...]
) -> Compiled:
    """Compiled by Numba, or its error; BadInput if it returns no whole number. A user's stands behind a guard."""
    ours = is_ours(function)
    view = ViewType(layout.n_resources, writable=False)
    seen = (OwnViewType(layout.n_resources), OwnStateType(layout)) if ours else (view, StateType(layout))
    given = (*seen, ParamsType(names), *(types.int64,) * len(about))
    options = {"cache": ours, "_nrt": False, "error_model": "numpy", "boundscheck": not ours}
    with among_levers():
        compiled = njit(given, **options)(function)
        first = overload_of(compiled, given)
        returned = first.signature.return_type
        _refuse_unless_whole(function, about, returned, first.type_annotation)
        wanted = types.int64(*given)
        if returned != types.int64:
            compiled = njit(wanted, **options)(function)
        if ours:
            return Compiled(function, address_of(compiled, wanted), function=compiled)
        guard = Guard(compiled, wanted, legal, about, options)
    return Compiled(function, guard.address, guard=guard, reads=columns_read(first.type_annotation, view))


def _refuse_unless_whole(function: Hook, about: tuple[str, ...], returned: Any, typed: Any) -> None:
    """Numba would cast a fraction to a whole number, cutting it off, and nothing to 0. `typed`: its typed code."""
    if isinstance(returned, types.Integer | types.Boolean):
        return
    row, is_event = defined_at(function), "kind" in about
    missing = "add a return: 1 if its host must ask again, else 0" if is_event else _EVERY_PATH
    if isinstance(returned, types.Optional):
        what = f"does not return a value on every path; {missing}"
        row = line_that_returns(function, typed, types.NoneType)
    elif returned == types.none:
        what = f"returns nothing; {missing}"
    elif isinstance(returned, types.Float):
        what = "returns a fraction, and would be cut to a whole number; use // and units that are fine enough"
        row = line_that_returns(function, typed, types.Float)
    elif isinstance(returned, types.IntEnumMember):
        what = f"returns a member of {returned.instance_class.__name__}, not a whole number: {above_it('X')}"
        row = line_that_returns(function, typed, types.IntEnumMember)
    else:
        what = f"returns {returned}; a hook returns a whole number"
    raise BadInput.of(function.__code__.co_filename, f"{function.__name__} {what}", row=row)


Compilation = Mapping[tuple[Question, str], Compiled]


def hooks_of(levers: Sequence[Lever], n_resources: int) -> Compilation:
    """The compiled hooks of a whole policy, in the order of ALL_HOOKS."""
    by_question = {lever.question: lever for lever in levers}
    return {(question, hook): compile_hook(by_question[question], hook, n_resources) for question, hook in ALL_HOOKS}


def raise_what_levers_raised(hooks: Compilation) -> None:
    """If a user's lever did what no host can go on with in the run that just ended: BadInput that says where."""
    problems = [problem for compiled in hooks.values() if (problem := compiled.take_fault())]
    if problems:
        raise BadInput(problems)
