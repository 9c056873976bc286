"""A lever of your own: a declaration for each of the six questions, with the hooks and traits that it has.

A lever is small functions that answer one question. Each is plain Python over the view (model/view.py) that Numba can
compile; the same function decides in the simulator and on a live cluster. Every hook gets `view`, `state` (state.py)
and `params` (`params.damping`, in thousandths) first, and returns a whole number; shares and scores are in units of
`ONE` = 2**20.

    admission   admits(view, state, params, job) -> Reason       may the job start? 0 is yes
    sizing      total(view, state, params, node, r) -> amount    what may be promised on a node
    partition   pool(view, state, params, job) -> number         which pool a job draws on
                limit(view, state, params, pool, r) -> amount    what a pool may hold
    queues      key(view, state, params, queue) -> int           of the children of a queue the smallest goes first
                allows(view, state, params, stage) -> Reason     limits of queues and users; 0 is yes
                user_allows(view, state, params, stage) -> Reason   is its user within limits? 0 is yes
                keeps(view, state, params, stage, jobs) -> 1 or 0   may a node be kept for a request that does not fit
                        yet? jobs: those in its leaf that have arrived and not ended (reserves="starved")
                headroom(view, state, params, stage, r) -> amount   what is left to the stage's job, as YARN would tell
                        its AM; without it, all that is free in the cluster
    ordering    key(view, state, params, stage) -> int           inside a leaf the smallest goes first
                fit(view, state, params, node, stage) -> int     with combine: how well it suits the node
                term(view, state, params, stage) -> int          with combine: a second value that no node changes
                combine(view, state, params, key, fit, term, n, sum_key, sum_fit,
                        min_key, max_key, min_fit, max_fit, min_term, max_term) -> int   larger wins
                offer(view, state, params, node) -> 0            with fit: before those that can go there are compared
    placement   score(view, state, params, node, stage) -> int   larger wins
                allows(view, state, params, node, stage) -> Reason   a veto; 0 is yes
    any         on_event(view, state, params, kind, node, stage, container, value) -> 0, or 1: what the lever
                answered before may be wrong by now, so the host asks again
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeVar

from heddle.model.errors import BadInput, Problem
from heddle.model.suggestion import did_you_mean
from heddle.policy.declaration import Hook, Lever
from heddle.policy.form import Form
from heddle.policy.parameter import Parameter, Value
from heddle.policy.question import HOOKS, Question
from heddle.policy.refused import refused
from heddle.policy.reserving import RESERVING
from heddle.policy.state import Column, State, per_resource, several

__all__ = [
    "Admission", "Column", "Form", "Hook", "Lever", "Ordering", "Parameter", "Partition", "Placement", "Question",
    "Queues", "Sizing", "State", "Value", "admission", "ordering", "partition", "per_resource", "placement", "queues",
    "several", "sizing",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Queues(Lever):
    """How the queue tree is walked. Without a key there is one leaf."""

    question: ClassVar = Question.QUEUES
    key: Hook | None = None
    allows: Hook | None = None
    user_allows: Hook | None = None
    keeps: Hook | None = None
    headroom: Hook | None = None
    # How a node is kept for a request that does not fit yet: one of RESERVING, or a parameter whose value is one.
    # True is "capacity".
    reserves: bool | str = False
    reservable: str = ""  # a parameter: the part of the nodes that may be kept for a job (reserves="starved")
    counts_all: bool = False  # every resource counts, whatever the cluster's calculator
    settings_fixed: bool = False  # nobody can change its queues' settings, or priorities, while YARN runs
    by_label: bool = False  # the nodes of each label have a tree of queues of their own, and those without one another
    by_user: bool = False  # its limits look at users: requests of different users are kept apart
    # What of a queue preemption may not take; "none": there is no preemption.
    dues: Literal["none", "guarantee", "fair-share"] = "none"
    dues_in: Literal["all", "memory"] = "all"  # the resources that preemption looks at

    @property
    def by_queue(self) -> bool:
        return self.key is not None

    @property
    def reserving(self) -> str:
        """The form in which it keeps nodes, one of RESERVING."""
        form: Value = self.reserves
        if isinstance(form, str) and form not in RESERVING:
            form = self.parameter(form)
        return form if isinstance(form, str) else "capacity" if form else "none"


@dataclass(frozen=True, kw_only=True)
class Ordering(Lever):
    """Which request of a leaf goes first."""

    question: ClassVar = Question.ORDERING
    key: Hook | None = None
    fit: Hook | None = None
    term: Hook | None = None
    combine: Hook | None = None
    offer: Hook | None = None
    blocking: bool | str = False  # in a leaf, the first request that does not fit stops those behind (or: a parameter)
    # What blocks stops those behind it in its own job only, unless it got a container in the same offer.
    blocks_in_job: bool | str = False
    by_memory: bool | str = False  # memory alone counts, and exclusive resources, whatever the cluster's calculator
    # When the host asks for a key again: never; when its job asks for, gets or loses a container; then and every_ms.
    depends_on: Literal["nothing", "allocations", "time"] = "nothing"
    form: Form | None = None  # what the bridge needs to know of fit and combine: only heddle's own can be named here


@dataclass(frozen=True, kw_only=True)
class Admission(Lever):
    """Who may start."""

    question: ClassVar = Question.ADMISSION
    admits: Hook | None = None


@dataclass(frozen=True, kw_only=True)
class Sizing(Lever):
    """What a node may promise."""

    question: ClassVar = Question.SIZING
    # "future_peak": state.truth["future_peak"][node, r], what those on the node will use at most. The host writes it.
    truths: ClassVar = ("workload", "future_peak")
    total: Hook | None = None
    # What moves a total: what is allocated; that and what nodes report; time alone. "nothing": it is the allowance, and
    # the simulator never asks for it (stock YARN's own, and no other).
    depends_on: Literal["nothing", "allocations", "reports", "time"] = "reports"
    reads_containers: bool | str = False  # it looks at the use of single containers, which only a simulator tells
    reads_failures: bool | str = False  # it counts containers that failed, which no ResourceManager tells
    # A parameter: for so many reports a new container counts in full. A live host may set it to what it measures.
    young: str = ""


@dataclass(frozen=True, kw_only=True)
class Partition(Lever):
    """Which pool a job draws on, and what pools may hold."""

    question: ClassVar = Question.PARTITION
    pool: Hook | None = None
    limit: Hook | None = None
    n_pools: int = 1  # pools are numbered from 0; at least 2 where there is a `pool`


@dataclass(frozen=True, kw_only=True)
class Placement(Lever):
    """Which node."""

    question: ClassVar = Question.PLACEMENT
    score: Hook | None = None
    allows: Hook | None = None
    # What the score depends on: the node alone (`stage` is then -1), or that and the stage.
    score_by: Literal["node", "pair"] = "pair"
    # Traits with which the score depends on the node alone where nothing in the workload says what is near to what (no
    # dependencies, no preferred nodes).
    by_data: tuple[bool | str, ...] = ()
    # Of the requests in a queue and pool that want the same size and label, the simulator asks about the first alone:
    # if it is vetoed, those behind it wait too. True: it asks about each stage, because their vetoes may differ.
    by_stage: bool | str = False
    waits: str = ""  # parameter, in seconds, after which (and after twice of which) a veto may end
    reads_declared: bool = False  # prepare() reads declared data sizes; refused on a live cluster that is told none
    # Traits with which, where nodes are offered one at a time, its vetoes say all that its scores say elsewhere: then
    # the bridge, which is shown one node at a time, can act as it does.
    by_vetoes: tuple[bool | str, ...] = ()

    @property
    def is_by_data(self) -> bool:
        return any(self.trait(trait) for trait in self.by_data)

    @property
    def is_by_vetoes(self) -> bool:
        return any(self.trait(trait) for trait in self.by_vetoes)


L = TypeVar("L", bound=Lever)


def _decorator(kind: type[L], bare: tuple[Hook, ...], options: dict[str, Any]) -> Callable[[Hook], L]:
    for hook in bare:
        what = f"{hook.__name__}: write @{kind.question}(), with brackets"
        without: Callable[[Hook], L] = refused(
            BadInput.of(hook.__code__.co_filename, what, row=hook.__code__.co_firstlineno)
        )
        return without

    def declare(hook: Hook) -> L:
        try:
            return _declared(kind, hook, options)
        except BadInput as why:
            instead: L = refused(why)
            return instead

    return declare


def _declared(kind: type[L], hook: Hook, options: dict[str, Any]) -> L:
    main = next(iter(HOOKS[kind.question]))
    known = [one.name for one in fields(kind) if one.name not in ("values", main)]
    code, problems = hook.__code__, []
    for option in (one for one in options if one not in known):
        instead = f"{did_you_mean(option, known) or ';'} it has: {', '.join(known)}"
        what = f"{kind.question} has no hook or trait {option!r}{instead}"
        problems.append(Problem(code.co_filename, what, code.co_firstlineno))
    if problems:
        raise BadInput(problems)
    doc = (hook.__doc__ or "").strip().splitlines()
    said: dict[str, Any] = {"name": hook.__name__, "summary": doc[0] if doc else "", main: hook}
    return kind(**(said | options))


def queues(*bare: Hook, **options: Any) -> Callable[[Hook], Queues]:
    """Declares `key(view, state, params, queue)` as a lever of its own."""
    return _decorator(Queues, bare, options)


def ordering(*bare: Hook, **options: Any) -> Callable[[Hook], Ordering]:
    """Declares `key(view, state, params, stage)` as a lever of its own."""
    return _decorator(Ordering, bare, options)


def admission(*bare: Hook, **options: Any) -> Callable[[Hook], Admission]:
    """Declares `admits(view, state, params, job)` as a lever of its own."""
    return _decorator(Admission, bare, options)


def sizing(*bare: Hook, **options: Any) -> Callable[[Hook], Sizing]:
    """Declares `total(view, state, params, node, r)` as a lever of its own."""
    return _decorator(Sizing, bare, options)


def partition(*bare: Hook, **options: Any) -> Callable[[Hook], Partition]:
    """Declares `pool(view, state, params, job)` as a lever of its own."""
    return _decorator(Partition, bare, options)


def placement(*bare: Hook, **options: Any) -> Callable[[Hook], Placement]:
    """Declares `score(view, state, params, node, stage)` as a lever of its own."""
    return _decorator(Placement, bare, options)
