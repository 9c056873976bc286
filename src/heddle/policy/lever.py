"""What a lever is: small functions that answer one question, and a declaration of what they need.

A policy is one lever for each of six questions. Each function is plain Python over the view
(model/view.py) that Numba can compile; the same function decides in the simulator and on a live cluster.
Numbers are integers: parameters reach the functions in thousandths (`params[0] == round(1000 * value)`), shares and
scores in units of `ONE` = 2**20.

    admission   admits(view, state, params, job) -> Reason       may the job start? 0 is yes
    sizing      total(view, state, params, node, r) -> amount    what may be promised on a node
    partition   pool(view, state, params, job) -> number         which pool a job draws on
                limit(view, state, params, pool, r) -> amount    what a pool may hold
    queues      key(view, state, params, queue) -> int           of the children of a queue the smallest goes first
                allows(view, state, params, stage) -> Reason     limits of queues and users; 0 is yes
                user_allows(view, state, params, stage) -> Reason   is its user within limits? 0 is yes
    ordering    key(view, state, params, stage) -> int           inside a leaf the smallest goes first
                fit(view, state, params, node, stage) -> int     with combine: how well it suits the node
                term(view, state, params, stage) -> int          with combine: a second value that no node changes
                combine(view, state, params, key, fit, term, n, sum_key, sum_fit,
                        min_key, max_key, min_fit, max_fit, min_term, max_term) -> int   larger wins
                offer(view, state, params, node)                 with fit: before those that can go there are compared
    placement   score(view, state, params, node, stage) -> int   larger wins
                allows(view, state, params, node, stage) -> Reason   a veto; 0 is yes
    any         on_event(view, state, params, kind, node, stage, container, value) -> 0, or 1: what the lever
                answered before may be wrong by now, so the host asks again (sizing is asked again in any case)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

Hook = Callable[..., Any]
Value = bool | int | float | str


class Question(StrEnum):
    """The six questions, in the order in which a policy string is written out.

    Queues come first: a preset of their name brings other levers along, which those behind it replace.
    """

    QUEUES = "queues"
    ORDERING = "ordering"
    ADMISSION = "admission"
    SIZING = "sizing"
    PARTITION = "partition"
    PLACEMENT = "placement"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a lever. `choices` turns words into 0, 1, 2 ...; the bounds are inclusive.

    With both, it is a number, and the words stand for -1, -2 ...
    """

    name: str
    default: Value
    meaning: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    def thousandths(self, value: Value) -> int:
        if isinstance(value, str):
            place = self.choices.index(value)
            value = place if self.low is None else -1 - place
        return round(1000 * value)


@dataclass(frozen=True)
class Columns:
    """How many int64 columns of state the host keeps for the lever, per thing."""

    node: int = 0
    job: int = 0
    container: int = 0


@dataclass(frozen=True)
class Lever:
    """One answer to one question."""

    name: str
    question: Question
    summary: str
    hooks: Mapping[str, Hook]
    parameters: tuple[Parameter, ...] = ()
    columns: Columns = Columns()
    listens: tuple[int, ...] = ()  # kinds of events for on_event
    tick_ms: int = 0  # for those that listen to EVENT_TICK: how often
    # Before a run: prepare(Setup) fills the lever's columns and returns its table, if any.
    prepare: Callable[[Any], Any] | None = None
    clairvoyant: bool = False  # prepare() reads the truth; refused on a live cluster
    reads_declared: bool = False  # prepare() reads declared data sizes; refused on a live cluster
    # A run may stall although the workload could finish: documented, not a defect (or: parameter=value that does it).
    may_deadlock: bool | str = False
    of_yarn: bool = False  # stock YARN has it itself; every other lever can only turn YARN's knobs
    # Sizing only: it looks at the use of single containers, which only a simulator tells.
    reads_containers: bool | str = False
    # Ordering only.
    blocking: bool | str = False  # in a leaf, the first request that does not fit stops those behind (or: a parameter)
    # Queues only.
    # Keeps a node for a request that does not fit yet, and a leaf for one that the queue's maximum keeps back.
    reserves: bool | str = False
    settings_fixed: bool = False  # nobody can change its queues' settings, or priorities, while YARN runs
    by_user: bool = False  # its limits look at users: requests of different users are kept apart
    # What of a queue preemption may not take; "none": there is no preemption.
    dues: Literal["none", "guarantee", "fair-share"] = "none"
    dues_in: Literal["all", "memory"] = "all"  # the resources that preemption looks at
    # Of an ordering: keys change with the job's containers; of a sizing: totals change.
    changes: Literal["never", "allocation"] = "never"
    # Placement only.
    # What the score depends on: the node alone (`stage` is then -1), that and the stage, or the node alone where
    # nothing in the workload says what is near to what (no dependencies, no preferred nodes).
    score_by: Literal["node", "pair", "pair-if-data"] = "pair"
    by_stage: bool | str = False  # its vetoes differ from stage to stage: no request hides behind one of its own size
    waits: str = ""  # parameter, in seconds, after which (and after twice of which) a veto may end
    # Partition only.
    n_pools: int = 1
    values: Mapping[str, Value] = field(default_factory=dict)  # parameters that differ from their defaults

    @property
    def by_queue(self) -> bool:
        """Queues only: whether the tree is walked at all; without a key there is one leaf."""
        return self.question is Question.QUEUES and "key" in self.hooks

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

    def with_values(self, values: Mapping[str, Value]) -> Lever:
        """The lever with these parameters set; defaults are not kept as values, so that equal levers are equal."""
        defaults = {parameter.name: parameter.default for parameter in self.parameters}
        merged = {**self.values, **values}
        return replace(
            self, values={name: merged[name] for name in defaults if name in merged and merged[name] != defaults[name]}
        )

    def in_thousandths(self) -> list[int]:
        return [parameter.thousandths(self.parameter(parameter.name)) for parameter in self.parameters]

    def __str__(self) -> str:
        if not self.values:
            return self.name
        return f"{self.name}({', '.join(f'{name}={_literal(value)}' for name, value in self.values.items())})"


def _literal(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _named(hook: Hook) -> tuple[str, str]:
    doc = (hook.__doc__ or "").strip().splitlines()
    return hook.__name__.replace("_", "-"), doc[0] if doc else ""


def _decorator(question: Question, main_hook: str, options: dict[str, Any]) -> Callable[[Hook], Lever]:
    def declare(hook: Hook) -> Lever:
        name, summary = _named(hook)
        hooks = {main_hook: hook, **options.pop("hooks", {})}
        return Lever(name=name, question=question, summary=summary, hooks=hooks, **options)

    return declare


def admission(**options: Any) -> Callable[[Hook], Lever]:
    """Declares `admits(view, state, params, job)` as a lever of its own."""
    return _decorator(Question.ADMISSION, "admits", options)


def sizing(**options: Any) -> Callable[[Hook], Lever]:
    """Declares `total(view, state, params, node, r)` as a lever of its own."""
    return _decorator(Question.SIZING, "total", options)


def queues(**options: Any) -> Callable[[Hook], Lever]:
    """Declares `key(view, state, params, queue)` as a lever of its own."""
    return _decorator(Question.QUEUES, "key", options)


def ordering(**options: Any) -> Callable[[Hook], Lever]:
    """Declares `key(view, state, params, stage)` as a lever of its own."""
    return _decorator(Question.ORDERING, "key", options)


def placement(**options: Any) -> Callable[[Hook], Lever]:
    """Declares `score(view, state, params, node, stage)` as a lever of its own."""
    return _decorator(Question.PLACEMENT, "score", options)
