"""The levers of a policy on a live cluster: the same compiled hooks, states and parameters that the simulator has.

Hooks are called in compiled loops, because handing a view over from Python costs more than most levers do.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit, types

from heddle.model.errors import RunRefused
from heddle.model.plan import Plan
from heddle.model.reasons import Reason
from heddle.model.resources import MILLI
from heddle.model.view import EVENT_ALLOCATED, EVENT_TICK, JOB_ARRIVED, View, event_constant
from heddle.policy.carried_state import lengthened
from heddle.policy.form import NodePlans
from heddle.policy.handles import ParamsHandle, StateHandle, ViewHandle
from heddle.policy.hooks import hooks_of, layout_of, raise_what_levers_raised
from heddle.policy.lever import Lever, Placement, Question, Sizing
from heddle.policy.native import calling
from heddle.policy.policy import Policy, Setup
from heddle.policy.state import THINGS, lever_state
from heddle.yarn.live.admitting import compiled_admitting
from heddle.yarn.live.declared_rows import NOTHING_SAID, DeclaredRows, Said
from heddle.yarn.live.differ import OBSERVABLE
from heddle.yarn.live.growing import Growing
from heddle.yarn.live.live_memory import N_RESOURCES
from heddle.yarn.live.live_view import Batch, LiveView

YOUNG_MS: Final = 10_000  # what usually covers launch, report and the filling of memory

Rows = npt.NDArray[np.int64]
_RESOURCES: Final = np.arange(N_RESOURCES)


_call_about = calling(3 + 1)  # view, state, params, then integers
_call_about_pair = calling(3 + 2)
_call_with_event = calling(3 + 5)


def _tell(hook, view, state, params, kind, events):  # type: ignore[no-untyped-def]
    for i in range(events.shape[0]):
        event = events[i, 0], events[i, 1], events[i, 2], events[i, 3]
        _call_with_event(hook, view, state, params, kind, event[0], event[1], event[2], event[3])


def _ask_each(hook, view, state, params, rows, answers):  # type: ignore[no-untyped-def]
    for i in range(rows.shape[0]):
        answers[i] = _call_about(hook, view, state, params, rows[i])


def _ask_pairs(hook, view, state, params, rows, columns, answers):  # type: ignore[no-untyped-def]
    for i in range(rows.shape[0]):
        for j in range(columns.shape[0]):
            answers[i, j] = _call_about_pair(hook, view, state, params, rows[i], columns[j])


class Loops(NamedTuple):
    tell: Any
    ask_each: Any
    ask_pairs: Any


@cache
def compiled_loops() -> Loops:
    """Compiled once for all levers: a hook is given by its address."""
    given = (types.int64,) * 4  # the addresses of the hook, the view, the state and the parameters
    flat, table = types.Array(types.int64, 1, "C"), types.Array(types.int64, 2, "C")

    def loop(function: Any, *rest: Any) -> Any:
        return njit(types.void(*given, *rest), cache=True, error_model="numpy")(function)

    return Loops(
        tell=loop(_tell, types.int64, table),
        ask_each=loop(_ask_each, flat, flat),
        ask_pairs=loop(_ask_pairs, flat, flat, table),
    )


def refuse_unfit(policy: Policy, declared: bool = False) -> None:
    """Levers that a live cluster cannot serve are refused, with the reason, rather than fed with zeros."""
    if why := unfit(policy, declared):
        raise RunRefused("; ".join(why))


def unfit(policy: Policy, declared: bool = False) -> list[str]:
    """Why a live cluster cannot serve the levers of this policy; empty if it can. `declared`: it is told of data."""
    why = []
    for lever in policy.levers:
        heard = OBSERVABLE.union(lever.does_without)
        unheard = [event_constant(kind) for kind in lever.listens if kind not in heard]
        if lever.truth:
            why.append(f"{lever.name} needs to know the future, which a live cluster cannot provide")
        elif isinstance(lever, Placement) and lever.reads_declared and not declared:
            why.append(
                f"{lever.name} needs data sizes and bandwidths, which a ResourceManager does not know: `--declared "
                "WORKLOAD` names the workload that declares them"
            )
        elif isinstance(lever, Placement) and lever.reads_declared and lever.trait(lever.needs_all_jobs):
            why.append(f"{lever} binds the tasks of a job to nodes as it arrives, which is not possible here yet")
        elif unheard:
            why.append(f"{lever.name} listens to events that polling cannot see: {', '.join(unheard)}")
        elif isinstance(lever, Placement) and lever.waits and not lever.reads_declared:
            why.append(f"{lever.name} waits for nodes near a request's input, which the controller does not read yet")
        elif isinstance(lever, Sizing) and lever.trait(lever.reads_containers):
            why.append(f"{lever} looks at the use of each container, which the ResourceManager does not report")
        elif isinstance(lever, Sizing) and lever.trait(lever.reads_failures):
            why.append(f"{lever} counts failed containers, which the ResourceManager does not distinguish")
    return why


def charging_young(policy: Policy, young_ms: int, report_ms: int) -> Policy:
    """The policy as it acts live: new containers count in full for at least this long.

    What a report shows of a container that was just launched says nothing about what it will use.
    """
    return counting_in_full(policy, max(young_reports(policy), -(-young_ms // report_ms)))


def counting_in_full(policy: Policy, reports: int) -> Policy:
    """The policy with new containers counted in full for so many reports, where it can do that."""
    if not policy.sizing.young:
        return policy
    sizing = policy.sizing.with_values({policy.sizing.young: reports})
    return replace(policy, levers=tuple(sizing if isinstance(one, Sizing) else one for one in policy.levers))


def counting_at_least(policy: Policy, reports: int) -> Policy:
    """The policy with new containers counted in full for so many reports or more, if it counts them at all."""
    return counting_in_full(policy, reports_at_least(policy, reports)) if young_reports(policy) else policy


def reports_at_least(policy: Policy, reports: int) -> int:
    """For how many reports new containers then count in full; 0: they do not."""
    least = young_reports(policy)
    return max(least, reports) if least else 0


def young_reports(policy: Policy) -> int:
    """For how many reports the policy counts new containers in full; 0 if it does not."""
    return int(policy.sizing.parameter(policy.sizing.young)) if policy.sizing.young else 0


class _Memory:
    """A lever's state, in rows that grow with the cluster."""

    def __init__(self, lever: Lever) -> None:
        self._lever, state = lever, lever.state
        self.layout = layout_of(lever, N_RESOURCES)
        self._things = {part: Growing(state.dtype(part, N_RESOURCES)) for part in THINGS if part in state.parts}
        self._rest = {"table": state.zeroed("table", 1, N_RESOURCES)} if state.table else {}
        self.params = ParamsHandle(lever.parameter_names, np.array(lever.in_thousandths() or [0], np.int64))
        self._handle: StateHandle | None = None  # until anything grows
        self._fitted: View | None = None

    def prepare(self, view: View, said: Said = NOTHING_SAID) -> None:
        self.fit(view)
        if self._lever.prepare is not None:
            # No truth: a lever that needs it was refused.
            self._rest |= Setup(self._lever, view, self.state(), None, *said).prepared_lists()
            self._handle = None

    def learn(self, view: View, said: Said) -> None:
        """More is said of data: what is remembered of stages stays, behind it is room for new ones."""
        aside = _Memory(self._lever)
        aside.prepare(view, said)
        for name in self._lever.state.lists:
            own, fresh = self._rest[name], aside._rest[name]
            self._rest[name] = fresh if self._lever.state.list_of.get(name) == "given" else lengthened(own, fresh)
        self._handle = None

    def recall(self, before: _Memory) -> None:
        """What another one remembers of jobs, stages and tasks."""
        for name, of in self._lever.state.list_of.items():
            if of != "given":
                self._rest[name] = lengthened(before._rest[name], self._rest[name]).copy()
        if "job" in self._things:
            self._things["job"].rows[: len(before._things["job"])] = before._things["job"].rows
        self._handle = None

    def fit(self, view: View) -> None:
        if view is self._fitted:
            return
        self._fitted = view
        for part, things in self._things.items():
            if len(things) < len(getattr(view, part)):
                things.grow_to(len(getattr(view, part)))
                self._handle = None

    def clear_containers(self, rows: Rows) -> None:
        containers = self._things["container"].rows
        containers[rows] = np.zeros((), containers.dtype)

    def saved(self) -> list[npt.NDArray[Any]]:
        """A copy of all that it holds."""
        return [array.copy() for array in self.state()]

    def restore(self, saved: list[npt.NDArray[Any]]) -> None:
        for array, before in zip(self.state(), saved, strict=True):
            array[:] = before

    def state(self) -> Any:
        return lever_state({part: things.rows for part, things in self._things.items()} | self._rest)

    def handle(self) -> StateHandle:
        if self._handle is None:
            self._handle = StateHandle(self.layout, self.state())
        return self._handle


class LiveLevers:
    """Holds what the levers remember, tells them what happened and asks them what to do."""

    def __init__(
        self, policy: Policy, increment: tuple[int, int], *, per_request: bool = False, declared: bool = False
    ) -> None:
        """`per_request`: whoever acts on plans decides about single requests, and is told what counts for that.
        `declared`: it is told what is declared of data."""
        refuse_unfit(policy, declared)
        self.policy, self._per_request = policy, per_request
        self._levers = policy.by_question
        compiled_hooks = hooks_of(policy.levers, N_RESOURCES)
        self._watched = {hook: compiled for hook, compiled in compiled_hooks.items() if compiled.can_fault}
        self._address_of = {hook: compiled.address for hook, compiled in compiled_hooks.items()}
        self._memory = {question: _Memory(lever) for question, lever in self._levers.items()}
        self._increment = np.array(increment, np.int64)
        self._loops, self._admit_in_turn = compiled_loops(), compiled_admitting()
        self._viewed: ViewHandle | None = None
        self._listeners = {
            kind: [q for q, lever in self._levers.items() if kind in lever.listens] for kind in OBSERVABLE
        }
        self._asked = {(question, hook) for question, lever in self._levers.items() for hook in lever.hooks}
        self._ticking = {question: lever for question, lever in self._levers.items() if lever.every_ms}
        self._said_at, self._said_of_nodes = 0, 0  # what has been said of data: its version, and of how many nodes

    def charge_young(self, reports: int) -> int:
        """As counting_at_least(), from now on. Returns for how many reports; 0: they do not count in full."""
        charged = reports_at_least(self.policy, reports)
        if charged:
            sizing = self.policy.sizing
            self._memory[Question.SIZING].params.params[sizing.parameter_names.index(sizing.young)] = MILLI * charged
        return charged

    def prepare(self, view: View, declared: DeclaredRows | None = None) -> None:
        """Lets the levers fill their state. Once, when the nodes are known and nothing has happened."""
        said = self._said(view, declared) if declared is not None else NOTHING_SAID
        for memory in self._memory.values():
            memory.prepare(view, said)

    def keep_up(self, view: View, declared: DeclaredRows) -> None:
        """Tells those who read it what has been declared since of new jobs and new nodes."""
        if declared.version == self._said_at:
            return
        new_nodes = declared.n_nodes > self._said_of_nodes
        said = self._said(view, declared)
        for question, lever in self._levers.items():
            if isinstance(lever, Placement) and lever.reads_declared:
                if new_nodes:
                    self._begin_anew(question, view, said)
                else:
                    self._memory[question].learn(view, said)

    def _said(self, view: View, declared: DeclaredRows) -> Said:
        self._said_at, self._said_of_nodes = declared.version, declared.n_nodes
        return declared.said(len(view.stage))

    def _begin_anew(self, question: Question, view: View, said: Said) -> None:
        """There are more nodes than it has room for: it hears again of the containers that are there."""
        before, memory = self._memory[question], _Memory(self._levers[question])
        self._memory[question] = memory
        memory.prepare(view, said)
        memory.recall(before)
        there = np.flatnonzero(view.container["stage"] >= 0)
        there = there[np.argsort(view.container["allocated_at_ms"][there], kind="stable")]
        events = np.zeros((len(there), 4), np.int64)
        events[:, 0], events[:, 1], events[:, 2] = view.container["node"][there], view.container["stage"][there], there
        self.tell(question, view, Batch(EVENT_ALLOCATED, events))
        memory.recall(before)  # which container was the last one, it knows better

    def hear(self, view: View, batch: Batch, new_containers: Rows) -> None:
        if len(new_containers):
            self.begin_containers(view, new_containers)
        for question in self._listeners[batch.kind]:
            self.tell(question, view, batch)

    def begin_containers(self, view: View, rows: Rows) -> None:
        """New containers take these rows: nothing is remembered of those that had them before."""
        for question, lever in self._levers.items():
            if lever.state.container:
                self._memory[question].fit(view)
                self._memory[question].clear_containers(rows)

    def tell(self, question: Question, view: View, batch: Batch) -> None:
        """Tells one lever, if it listens to that."""
        if batch.kind in self._levers[question].listens:
            self._memory[question].fit(view)
            self._loops.tell(*self._asking(question, "on_event", view), batch.kind, batch.rows)

    def _asking(self, question: Question, hook: str, view: View) -> tuple[int, int, int, int]:
        """The hook's address and those of what it gets, which are kept: to hand over a number costs a fraction of what
        an object does."""
        memory = self._memory[question]
        address = self._address_of[question, hook]
        return address, self._seen(view).address, memory.handle().address, memory.params.address

    def _seen(self, view: View) -> ViewHandle:
        """The same handle as long as nothing has grown."""
        if self._viewed is None or self._viewed.view is not view:
            self._viewed = ViewHandle(view)
        return self._viewed

    def pass_time(self, live: LiveView, since_ms: int) -> None:
        """Levers that ask for it hear that time has passed since the last poll, as in the simulator: if requests wait.

        However many of their ticks lay between the two polls, they could have seen nothing new: they hear it once.
        """
        now_ms = int(live.view.clock["now_ms"][0])
        for question, lever in self._ticking.items():
            if since_ms // lever.every_ms < now_ms // lever.every_ms and len(live.waiting_stages()):
                self.tell(question, live.view, Batch(EVENT_TICK, np.array([[-1, -1, -1, 0]], np.int64)))

    def decide(self, live: LiveView) -> Plan:
        """What the levers say now. Levers without a hook have no opinion. BadInput: a user's did what it must not."""
        view = live.view
        answers: dict[str, Any] = {}
        for memory in self._memory.values():
            memory.fit(view)
        jobs, nodes, resources = live.live_jobs(), np.arange(len(view.node)), _RESOURCES
        if self._has(Question.PARTITION, "pool"):
            pools = self.each(Question.PARTITION, "pool", view, jobs)
            view.job["pool"][jobs] = pools
            live.add_up()  # what pools hold goes by who is in them
            answers["job_pools"] = dict(zip(jobs.tolist(), pools.tolist(), strict=True))
            answers["pool_limits"] = self.pairs(Question.PARTITION, "limit", view, np.arange(len(view.pool)), resources)
            view.pool["limit"][:] = answers["pool_limits"]
        if self._has(Question.ADMISSION, "admits"):
            if len(view.pool) > 1:  # jobs have been moved out of the leaves where YARN's limits, and a lever's, hold
                with live.as_submitted():
                    answers["one_more"] = self._one_more(live)
                    answers["admission"] = self._admission(live, jobs)
            else:
                answers["admission"] = self._admission(live, jobs)
        if self._has(Question.SIZING, "total"):
            totals = self.pairs(Question.SIZING, "total", view, nodes, resources)
            # The simulator's rule for a node: whole increments, never below what is allocated.
            answers["node_totals"] = np.maximum(totals // self._increment * self._increment, view.node["allocated"])
        if self._has(Question.ORDERING, "key"):
            stages = live.waiting_stages()
            keys = self.each(Question.ORDERING, "key", view, stages)
            answers["request_keys"] = dict(zip(stages.tolist(), keys.tolist(), strict=True))
            if self._per_request:
                answers |= self._beside_keys(view, stages)
        if self._has(Question.PLACEMENT, "allows"):
            there, stages = np.flatnonzero(view.node["alive"]), live.waiting_stages()
            refused = self.pairs(Question.PLACEMENT, "allows", view, there, stages)
            answers["vetoes"] = {
                (int(stages[j]), int(there[i])): Reason(int(refused[i, j])) for i, j in np.argwhere(refused).tolist()
            }
        raise_what_levers_raised(self._watched)
        return Plan(int(view.clock["now_ms"][0]), **answers)

    def _beside_keys(self, view: View, stages: Rows) -> dict[str, Any]:
        """What an ordering weighs requests by, apart from their keys and from what is free when they are weighed."""
        answers: dict[str, Any] = {}
        ordering, memory = self.policy.ordering, self._memory[Question.ORDERING]
        if self._has(Question.ORDERING, "term"):
            terms = self.each(Question.ORDERING, "term", view, stages)
            answers["request_terms"] = dict(zip(stages.tolist(), terms.tolist(), strict=True))
        if ordering.form is not None and ordering.form.weight is not None:
            params = dict(zip(ordering.parameter_names, memory.params.params.tolist(), strict=False))
            answers["alignment_milli"] = int(ordering.form.weight(memory.state(), SimpleNamespace(**params)))
        if ordering.form is not None and ordering.form.plans is not None and ordering.form.plans.due(memory.state()):
            answers["node_plans"] = self._node_plans(view, ordering.form.plans)
        return answers

    def _node_plans(self, view: View, plans: NodePlans) -> dict[int, dict[int, int]]:
        """For each node, how many of which shape go there first. Prepared anew: shapes may have come since."""
        aside = _Memory(self.policy.ordering)
        aside.prepare(view)
        plans.begin(aside.state(), len(view.job))
        offer, seen, answers = self._address_of[Question.ORDERING, "offer"], self._seen(view), np.zeros(1, np.int64)
        found = {}
        for node in np.flatnonzero(view.node["alive"]).tolist():
            given = offer, seen.address, aside.handle().address, aside.params.address
            self._loops.ask_each(*given, np.array([node], np.int64), answers)
            planned = plans.planned(aside.state(), node)
            found[node] = {shape: count for shape, count in enumerate(planned) if count > 0}
        return {node: plan for node, plan in found.items() if plan}

    def _admission(self, live: LiveView, jobs: Rows) -> dict[int, Reason]:
        """Asks about the jobs that have not started, first to go first; each that may start counts for those behind."""
        rows, question = live.view.job, Question.ADMISSION
        held_back = jobs[rows["state"][jobs] == JOB_ARRIVED]
        in_turn = held_back[np.lexsort((held_back, -rows["priority"][held_back]))]
        answers = np.zeros(len(in_turn), np.int64)
        before = self._memory[question].saved()
        hears = EVENT_ALLOCATED in self._levers[question].listens
        event = self._address_of[question, "on_event"] if hears else 0
        admits, _, state, params = self._asking(question, "admits", live.view)
        self._admit_in_turn(admits, event, self._seen(live.view), state, params, in_turn, answers)
        self._memory[question].restore(before)
        return dict(zip(in_turn.tolist(), map(Reason, answers.tolist()), strict=True))

    def _one_more(self, live: LiveView) -> frozenset[int]:
        """The jobs with an AM that would be let in if they came only now, as they are."""
        with_am = live.with_am()
        refused = self.each(Question.ADMISSION, "admits", live.view, with_am)
        return frozenset(with_am[refused == int(Reason.NONE)].tolist())

    def _has(self, question: Question, hook: str) -> bool:
        return (question, hook) in self._asked

    def each(self, question: Question, hook: str, view: View, rows: Rows) -> Rows:
        """What the hook says of each of these rows."""
        answers = np.zeros(len(rows), np.int64)
        self._loops.ask_each(*self._asking(question, hook, view), rows, answers)
        return answers

    def pairs(self, question: Question, hook: str, view: View, rows: Rows, columns: Rows) -> Rows:
        """What it says of each row with each column."""
        answers = np.zeros((len(rows), len(columns)), np.int64)
        self._loops.ask_pairs(*self._asking(question, hook, view), rows, columns, answers)
        return answers
