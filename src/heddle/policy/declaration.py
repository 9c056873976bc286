"""What all levers have in common: a name, hooks, parameters, state, the events they hear, the truth they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Self

from heddle.model.errors import BadInput, Problem
from heddle.policy.checking import declared_at, problems_of
from heddle.policy.parameter import Parameter, Value, literal
from heddle.policy.question import HOOKS, Question
from heddle.policy.state import State

Hook = Callable[..., Any]
NO_STATE: Final = State()


def is_ours(function: Hook) -> bool:
    """heddle's own, which tests look at; a user's is checked as it is loaded and as it runs."""
    return function.__module__.startswith("heddle.")


@dataclass(frozen=True, kw_only=True)
class Lever:
    """One answer to one question. What is declared wrongly is refused at once."""

    question: ClassVar[Question]
    truths: ClassVar[tuple[str, ...]] = ("workload",)  # what a lever of this question may be told

    name: str
    summary: str
    # What a policy string may set: Parameter(name, default, meaning, low=, high=, choices=)
    parameters: tuple[Parameter, ...] = ()
    state: State = NO_STATE  # what it remembers: State(node=, job=, container=, table=, lists=)
    on_event: Hook | None = None
    listens: tuple[int, ...] = ()  # kinds of events for on_event: see the table of events
    does_without: tuple[int, ...] = ()  # those of them that a host need not tell: it then acts on what it hears later
    every_ms: int = 0  # how often EVENT_TICK comes, as long as requests wait
    # Before a run: prepare(Setup) may fill the lever's columns; returns its lists, by name, if it has any.
    prepare: Callable[[Any], Any] | None = None
    # What no scheduler can know; refused on a live cluster. "workload": prepare() gets it, with all true durations.
    truth: tuple[str, ...] = ()
    # A run may stall although the workload could finish: documented, not a defect (or: parameter=value that does it).
    may_deadlock: bool | str = False
    # It draws or plans by rows of all jobs, so that it cannot run where they come in blocks (or: a parameter does it).
    needs_all_jobs: bool | str = False
    of_yarn: bool = False  # stock YARN has it itself; every other lever can only turn YARN's knobs
    values: Mapping[str, Value] = field(default_factory=dict)  # parameters that differ from their defaults

    def __post_init__(self) -> None:
        if problems := problems_of(self):
            file, line = declared_at(self)
            raise BadInput([Problem(file, f"{self.name}: {what}", row=line) for what in problems])

    @property
    def hooks(self) -> dict[str, Hook]:
        """Those that it has, by name."""
        found = {hook: getattr(self, hook) for hook in HOOKS[self.question]}
        return {name: hook for name, hook in found.items() if hook is not None}

    @property
    def clairvoyant(self) -> bool:
        return bool(self.truth)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    def parameter(self, name: str) -> Value:
        for parameter in self.parameters:
            if parameter.name == name:
                return self.values.get(name, parameter.default)
        raise KeyError(name)

    def trait(self, trait: bool | str) -> bool:
        """A trait that is fixed, or that a parameter switches: by its name, or by `name=value`."""
        if isinstance(trait, bool):
            return trait
        name, equals, value = trait.partition("=")
        return self.parameter(name) == value if equals else bool(self.parameter(name))

    def with_values(self, values: Mapping[str, Value]) -> Self:
        """The lever with these parameters set; defaults are not kept as values, so that equal levers are equal."""
        defaults = {parameter.name: parameter.default for parameter in self.parameters}
        merged = {**self.values, **values}
        kept = {name: merged[name] for name in defaults if name in merged and merged[name] != defaults[name]}
        return self if kept == self.values else replace(self, values=kept)

    def silent(self) -> Self:
        """A lever of the same name and parameters that has no opinion."""
        return type(self)(
            name=self.name, summary=self.summary, parameters=self.parameters, values=self.values, of_yarn=self.of_yarn
        )

    def in_thousandths(self) -> list[int]:
        return [parameter.thousandths(self.parameter(parameter.name)) for parameter in self.parameters]

    def __str__(self) -> str:
        if not self.values:
            return self.name
        return f"{self.name}({', '.join(f'{name}={literal(value)}' for name, value in self.values.items())})"
