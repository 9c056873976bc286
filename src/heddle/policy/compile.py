"""Compiles hooks with Numba: for hooks.py, which knows what was compiled already."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from numba import njit, types

from heddle.model.compiled import INTO_FILES
from heddle.model.errors import BadInput
from heddle.model.numba_internals import NumbaError, code_for_words, overload_of
from heddle.policy.answers import Legal
from heddle.policy.compiler_words import above_it, refuse_slips, why_not
from heddle.policy.declaration import Hook
from heddle.policy.declared_reads import Read
from heddle.policy.guarding import Guard
from heddle.policy.handle_types import ParamsType, StateType, ViewType
from heddle.policy.own_handles import OwnStateType, OwnViewType
from heddle.policy.state import StateLayout
from heddle.policy.typed_code import columns_read, defined_at, line_that_returns

_EVERY_PATH: Final = "every path must return a whole number"


class SlowLeverWarning(UserWarning):
    """A lever could not be compiled and runs as plain Python."""


class Guarded(NamedTuple):
    """A user's hook, compiled."""

    guard: Guard
    reads: Mapping[Read, int]  # columns of the view, and the lines


def compile_ours(
    function: Hook, about: tuple[str, ...], layout: StateLayout, names: tuple[str, ...]
) -> tuple[str, bytes]:
    """The symbol and the object code of a hook of heddle's own."""
    seen = (OwnViewType(layout.n_resources), OwnStateType(layout), ParamsType(names))
    compiled, wanted = _whole(function, about, seen, INTO_FILES)
    return code_for_words(compiled, wanted.args)


def compile_users(
    function: Hook, about: tuple[str, ...], legal: Legal, layout: StateLayout, names: tuple[str, ...]
) -> Guarded | None:
    """A user's hook behind a guard; None, with a warning, where Numba cannot. BadInput if the user can mend it."""
    view = ViewType(layout.n_resources, writable=False)
    options = {"_nrt": False, "error_model": "numpy", "boundscheck": True}
    try:
        compiled, wanted = _whole(function, about, (view, StateType(layout), ParamsType(names)), options)
        guard = Guard(compiled, wanted, legal, about, options)
    except NumbaError as error:
        refuse_slips(function, layout, names, str(error))
        why, row = why_not(function, str(error))
        warnings.warn(
            f"{function.__code__.co_filename}:{row}: {function.__name__} cannot be compiled and will run as plain "
            f"Python, much more slowly ({why})",
            SlowLeverWarning,
            stacklevel=2,
        )
        return None
    return Guarded(guard, columns_read(overload_of(compiled, wanted.args).type_annotation, view))


def _whole(
    function: Hook, about: tuple[str, ...], seen: tuple[Any, ...], options: Mapping[str, Any]
) -> tuple[Any, Any]:
    """It compiled, and its signature. BadInput if it returns no whole number."""
    given = (*seen, *(types.int64,) * len(about))
    compiled = njit(given, **options)(function)
    first = overload_of(compiled, given)
    _refuse_unless_whole(function, about, first.signature.return_type, first.type_annotation)
    wanted = types.int64(*given)
    return (compiled if first.signature.return_type == types.int64 else njit(wanted, **options)(function)), wanted


def _refuse_unless_whole(function: Hook, about: tuple[str, ...], returned: Any, typed: Any) -> None:
    """Numba would cast a fraction to a whole number, cutting it off, and nothing to 0. `typed`: its typed code."""
    if isinstance(returned, types.Integer | types.Boolean):
        return
    row, is_event = defined_at(function), "kind" in about
    missing = "return 1 if the host must ask again, else 0" if is_event else _EVERY_PATH
    if isinstance(returned, types.Optional):
        what = f"does not return a value on every path; {missing}"
        row = line_that_returns(function, typed, types.NoneType)
    elif returned == types.none:
        what = f"returns nothing; {missing}"
    elif isinstance(returned, types.Float):
        what = "returns a fraction, which would be truncated to an integer; use // and fine enough units"
        row = line_that_returns(function, typed, types.Float)
    elif isinstance(returned, types.IntEnumMember):
        what = f"returns a member of {returned.instance_class.__name__}, not a whole number: {above_it('X')}"
        row = line_that_returns(function, typed, types.IntEnumMember)
    else:
        what = f"returns {returned}; a hook returns a whole number"
    raise BadInput.of(function.__code__.co_filename, f"{function.__name__} {what}", row=row)
