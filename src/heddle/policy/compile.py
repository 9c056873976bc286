"""Compiles hooks, with one signature per kind, so that the engine compiles once for all levers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from numba import njit, objmode, types
from numba.core.errors import NumbaError

from heddle.model.compiled import among_levers
from heddle.model.errors import BadInput
from heddle.policy.handles import AddressType, ParamsType, StateType, ViewType, as_python
from heddle.policy.lever import Hook, Lever, Question
from heddle.policy.native import address_of


class SlowLeverWarning(UserWarning):
    """A lever could not be compiled and runs as plain Python."""


class Hooks(NamedTuple):
    """Every function the engine may call, in the order of its signature."""

    admits: Any
    total: Any
    pool: Any
    limit: Any
    key: Any
    queue_key: Any
    queue_allows: Any
    user_allows: Any
    fit: Any
    term: Any
    combine: Any
    offer: Any
    score: Any
    place_allows: Any
    queues_event: Any
    admission_event: Any
    sizing_event: Any
    partition_event: Any
    ordering_event: Any
    placement_event: Any


# hook of Hooks -> (question, name in Lever.hooks, how many integers follow view, state, params)
HOOKS: Final[dict[str, tuple[Question, str, int]]] = {
    "admits": (Question.ADMISSION, "admits", 1),
    "total": (Question.SIZING, "total", 2),
    "pool": (Question.PARTITION, "pool", 1),
    "limit": (Question.PARTITION, "limit", 2),
    "key": (Question.ORDERING, "key", 1),
    "queue_key": (Question.QUEUES, "key", 1),
    "queue_allows": (Question.QUEUES, "allows", 1),
    "user_allows": (Question.QUEUES, "user_allows", 1),
    "fit": (Question.ORDERING, "fit", 2),
    "term": (Question.ORDERING, "term", 1),
    "combine": (Question.ORDERING, "combine", 12),
    "offer": (Question.ORDERING, "offer", 1),
    "score": (Question.PLACEMENT, "score", 2),
    "place_allows": (Question.PLACEMENT, "allows", 2),
    "queues_event": (Question.QUEUES, "on_event", 5),
    "admission_event": (Question.ADMISSION, "on_event", 5),
    "sizing_event": (Question.SIZING, "on_event", 5),
    "partition_event": (Question.PARTITION, "on_event", 5),
    "ordering_event": (Question.ORDERING, "on_event", 5),
    "placement_event": (Question.PLACEMENT, "on_event", 5),
}


def _zero_1(view, state, params, a):
    return 0


def _zero_2(view, state, params, a, b):
    return 0


def _no_combine(view, state, params, key, fit, term, n, sum_key, sum_fit, a, b, c, d, e, f):
    return 0


def _no_event(view, state, params, kind, node, stage, container, value):
    return 0


_DEFAULTS: Final[dict[int, Hook]] = {1: _zero_1, 2: _zero_2, 5: _no_event, 12: _no_combine}


@cache
def signature(hook: str, n_resources: int) -> Any:
    """The one signature that every lever's hook of this name has."""
    integers = (types.int64,) * HOOKS[hook][2]
    return types.int64(ViewType(n_resources), StateType(), ParamsType(), *integers)


@cache
def compile_hook(function: Hook, hook: str, n_resources: int, own: bool) -> Any:
    """The function compiled for the engine; where Numba cannot, a shim that steps out to plain Python."""
    wanted = signature(hook, n_resources)
    try:
        with among_levers():
            return njit(wanted, cache=own, _nrt=False, error_model="numpy")(function)
    except NumbaError as error:
        if own:
            raise
        first = next((line for line in str(error).splitlines() if line.strip()), "")
        warnings.warn(
            f"{function.__name__} cannot be compiled and will run as plain Python, far slower ({first.strip()})",
            SlowLeverWarning,
            stacklevel=2,
        )
        return _stepping_out(function, wanted)


def _stepping_out(function: Hook, wanted: Any) -> Any:
    """A compiled function of the wanted signature that calls the plain one.

    Compiled code cannot be left by an exception, so the first one is kept and raised when the run is over.
    """
    raised: list[Exception] = []

    def answer(*arguments: Any) -> int:
        try:
            return int(function(*arguments) or 0) if not raised else 0
        except Exception as error:
            raised.append(error)
            return 0

    names = [f"a{i}" for i in range(len(wanted.args))]
    lines = [f"def shim({', '.join(names)}):"]
    for name, kind in zip(names, wanted.args, strict=True):
        if isinstance(kind, AddressType):
            lines.append(f"    {name}_whole = as_python({name})")
            names[names.index(name)] = f"{name}_whole"
    lines += ["    with objmode(value='int64'):", f"        value = answer({', '.join(names)})", "    return value", ""]
    source = "\n".join(lines)
    scope: dict[str, Any] = {"objmode": objmode, "answer": answer, "as_python": as_python}
    exec(source, scope)
    shim = njit(wanted)(scope["shim"])
    _RAISED[shim] = (function, raised)
    return shim


_RAISED: Final[dict[Any, tuple[Hook, list[Exception]]]] = {}


def raise_what_levers_raised(hooks: Hooks) -> None:
    """If a lever that runs as plain Python raised in the run that just ended: BadInput that says where."""
    for shim in hooks:
        function, raised = _RAISED.get(shim, (None, []))
        if function is not None and raised:
            error = raised.pop()
            place = f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"
            raise BadInput.of(place, f"{function.__name__} raised {type(error).__name__}: {error}") from error


def hooks_of(levers: Sequence[Lever], n_resources: int) -> Hooks:
    """The compiled hooks of a whole policy; what a lever leaves out answers 0."""
    by_question = {lever.question: lever for lever in levers}
    found: dict[str, Any] = {}
    for hook, (question, name, integers) in HOOKS.items():
        function = by_question[question].hooks.get(name, _DEFAULTS[integers])
        found[hook] = compile_hook(function, hook, n_resources, function.__module__.startswith("heddle."))
    return Hooks(**found)


def hook_addresses(hooks: Hooks, n_resources: int) -> list[int]:
    """Where the code of each hook is, in the order of HOOKS."""
    return [address_of(function, signature(hook, n_resources)) for hook, function in zip(HOOKS, hooks, strict=True)]
