"""What a declaration alone shows to be wrong: signatures of hooks, events that never come, state without a source.

What only the compiler shows (a fraction, nothing returned) is in policy/compile.py, what only a run shows in
experiments/conformance.py.
"""

from __future__ import annotations

import builtins
import dis
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

from heddle.model.errors import Problem
from heddle.model.suggestion import did_you_mean
from heddle.model.view import EVENT_NAMES, EVENT_TICK, event_constant
from heddle.policy.answers import MOST_POOLS
from heddle.policy.delivery import DELIVERY, OF_TRUTH
from heddle.policy.parameter import Parameter
from heddle.policy.question import HOOKS, Question
from heddle.policy.reserving import RESERVING
from heddle.policy.state import State

if TYPE_CHECKING:
    from heddle.policy.declaration import Lever

FIRST: Final = ("view", "state", "params")
SWITCHED: Final = (
    "may_deadlock", "needs_all_jobs", "reserves", "reservable", "blocking", "blocks_in_job", "by_memory",
    "reads_containers", "reads_failures", "young", "by_stage", "by_data", "by_vetoes", "waits",
)  # fmt: skip


def problems_of(lever: Lever) -> list[str]:
    """All that is wrong with the declaration, in words."""
    return list(_of_types(lever)) or [
        *_of_hooks(lever), *_of_events(lever), *_of_truth(lever), *lever.state.problems, *_of_memory(lever),
        *_of_traits(lever), *_of_reservations(lever), *_of_sizing(lever), *_of_pools(lever),
    ]  # fmt: skip


def declared_at(lever: Lever) -> tuple[str, int | None]:
    """The file and line of the lever's first hook; of one without hooks, its name."""
    for hook in lever.hooks.values():
        if code := getattr(hook, "__code__", None):
            return code.co_filename, code.co_firstlineno
    return lever.name, None


def _of_types(lever: Lever) -> Iterator[str]:
    """What the rest cannot look at: a tuple of one without its comma, mostly."""
    for name, each, example in (
        ("parameters", Parameter, '(Parameter("keep", 0.9, "what it means"),)'),
        ("listens", int, "(EVENT_ALLOCATED,)"),
        ("truth", str, '("workload",)'),
        ("by_data", (bool, str), '("by=load",)'),
        ("by_vetoes", (bool, str), '("by=load",)'),
    ):
        given = getattr(lever, name, ())
        if not isinstance(given, tuple | list) or not all(isinstance(one, each) for one in given):
            yield f"{name} is {given!r}; write a tuple, as in {name}={example}"
    if not isinstance(lever.state, State):
        yield f'state is {lever.state!r}; write State(...), as in state=State(job="seen")'


def _of_hooks(lever: Lever) -> Iterator[str]:
    for name, hook in lever.hooks.items():
        if not callable(hook):
            yield f"{name} is {hook!r}, not a function"
            continue
        wanted = (*FIRST, *HOOKS[lever.question][name])
        parameters = _parameters(hook)
        given = tuple(one.name.lstrip("_") for one in parameters)
        if given != wanted and [one.kind for one in parameters] != [inspect.Parameter.VAR_POSITIONAL]:
            yield f"{name} gets ({', '.join(wanted)}), in this order; the function has ({', '.join(given)})"


@cache  # a policy with other values of its parameters has the same hooks
def _parameters(hook: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(hook).parameters.values())


def _of_events(lever: Lever) -> Iterator[str]:
    for kind in lever.listens:
        if kind not in range(len(EVENT_NAMES)):
            events = ", ".join(map(event_constant, range(len(EVENT_NAMES))))
            yield f"listens to {kind!r}, which is not an event; heddle.model.view has {events}"
        elif kind not in DELIVERY[lever.question].kinds:
            hearers = " and ".join(question for question, one in DELIVERY.items() if kind in one.kinds)
            instead = "leave it out of listens, or poll: listen to EVENT_TICK with every_ms set"
            yield f"{_a(lever.question)} gets no {event_constant(kind)}; only {hearers} do: {instead}"
        elif kind in OF_TRUTH and not lever.truth:
            yield f"no scheduler sees {event_constant(kind)}: only levers with a truth may listen to it"
    if lever.listens and lever.on_event is None:
        yield "listens to events, but has no on_event"
    if lever.on_event is not None and not lever.listens:
        yield "has on_event, but listens to nothing"
    if getattr(lever, "depends_on", "") == "time" and lever.question is Question.ORDERING and lever.every_ms <= 0:
        yield "its key depends on time: set every_ms to say how often the host asks again"
    if EVENT_TICK in lever.listens and lever.every_ms <= 0:
        yield "listens to EVENT_TICK: set every_ms to say how often"
    if lever.every_ms > 0 and EVENT_TICK not in lever.listens and getattr(lever, "depends_on", "") != "time":
        yield "every_ms says how often EVENT_TICK comes, but it does not listen to it"


def _a(question: Question) -> str:
    return f"{'an' if question[0] in 'ao' else 'a'} {question} lever"


def _of_truth(lever: Lever) -> Iterator[str]:
    for one in lever.truth:
        if one not in lever.truths:
            yield f"there is no truth {one!r} for {lever.question}; known: {', '.join(lever.truths)}"
    if "future_peak" in lever.truth and "future_peak" in lever.truths and getattr(lever, "depends_on", "") != "time":
        yield "the future peak changes with time alone: say depends_on='time'"
    if "workload" in lever.truth and lever.prepare is None:
        yield "truth 'workload' is given to prepare(), which it does not have"


def _of_memory(lever: Lever) -> Iterator[str]:
    if lever.state.lists and lever.prepare is None:
        yield f"who makes {', '.join(lever.state.lists)}? Lists are what prepare() returns"
    for parameter in lever.parameters:
        if not parameter.name.isidentifier():
            yield f"a parameter cannot be called {parameter.name!r}"


def _of_traits(lever: Lever) -> Iterator[str]:
    for name in SWITCHED:
        given = getattr(lever, name, "")
        if name == "reserves" and given in RESERVING:
            continue
        for trait in given if isinstance(given, tuple) else (given,):
            if isinstance(trait, str) and trait and trait.partition("=")[0] not in lever.parameter_names:
                yield f"{name} is switched by {trait!r}, which is not one of its parameters"


def _of_reservations(lever: Lever) -> Iterator[str]:
    reserves = getattr(lever, "reserves", False)
    forms = {reserves}
    for parameter in lever.parameters:
        if parameter.name == reserves:
            forms = set(parameter.choices) or {parameter.default}
            if unknown := [form for form in parameter.choices if form not in RESERVING]:
                known = ", ".join(RESERVING)
                yield f"reserves is switched by {reserves!r}, which may be {unknown[0]!r}; known: {known}"
    if "starved" in forms and "keeps" not in lever.hooks:
        yield "reserves='starved' asks keeps(), which it does not have"


def _of_sizing(lever: Lever) -> Iterator[str]:
    if lever.question is Question.SIZING and getattr(lever, "depends_on", "") == "nothing" and not lever.of_yarn:
        yield "a total that depends on nothing is the allowance, and nobody asks for it: say depends_on='allocations'"


def _of_pools(lever: Lever) -> Iterator[str]:
    if lever.question is not Question.PARTITION:
        return
    n_pools, has_pool, has_limit = getattr(lever, "n_pools", 1), "pool" in lever.hooks, "limit" in lever.hooks
    if not isinstance(n_pools, int) or not 1 <= n_pools <= MOST_POOLS:
        yield f"n_pools is {n_pools!r}; there can be 1 to {MOST_POOLS} pools"
    elif has_pool and n_pools < 2:
        yield "says which pool a job draws on, but there is one: say how many with n_pools"
    if has_pool and not has_limit:
        yield "has pools but no limit: declare what each may hold"
    if has_limit and not has_pool:
        yield "has a limit, but does not say which pool a job draws on"


def unknown_names(function: Callable[..., Any]) -> Iterator[Problem]:
    """Names in the function that neither its file nor Python knows, each with its line."""
    known = {*vars(builtins), *function.__globals__}

    def search(code: CodeType) -> Iterator[Problem]:
        line = code.co_firstlineno
        for instruction in dis.get_instructions(code):
            line = instruction.starts_line or line
            if instruction.opname == "LOAD_GLOBAL" and instruction.argval not in known:
                name = instruction.argval
                near = did_you_mean(name, {*known, *code.co_varnames})
                yield Problem(code.co_filename, f"{name} is not defined{near}", row=line)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from search(constant)

    yield from search(function.__code__)
