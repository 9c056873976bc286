"""The bridge in a simulated YARN: takes tables, and holds what they do not name."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from heddle.model.plan import Plan
from heddle.model.resources import MEMORY, VCORES
from heddle.model.view import View
from heddle.model.workload import AM
from heddle.policy.lever import Question
from heddle.policy.policy import Policy
from heddle.sim.codes import FOREVER
from heddle.sim.handle import SimHandle
from heddle.sim.loading import Engine
from heddle.sim.memory.tables import Sim
from heddle.stock_yarn.sight import app_number, node_number
from heddle.stock_yarn.tabled import KINDS, NOT_NAMED
from heddle.stock_yarn.vetoed import write_vetoes
from heddle.yarn.live.applying.form import form_of
from heddle.yarn.live.applying.table_knob import HOLD_STEPS
from heddle.yarn.live.applying.tables import table_of
from heddle.yarn.live.bridge.table import Table
from heddle.yarn.live.live_view import LiveView

NO_KEY: Final = -(1 << 63)
Numbers = npt.NDArray[np.int64]


class Named(NamedTuple):
    """A table whose requests are stages of the engine: how a ResourceManager names them need not be looked up."""

    table: Table  # without requests
    stages: Numbers
    keys: Numbers
    terms: Numbers
    vetoes: Numbers  # rows of (stage, node)


class SimulatedBridge:
    """`step_ms`: a table comes at least so often."""

    def __init__(self, policy: Policy, step_ms: int) -> None:
        """`policy`: what is asked outside."""
        self._policy, self._hold_ms = policy, int(HOLD_STEPS * step_ms)
        self._vetoes = policy.placement.allows is not None
        form = form_of(policy.ordering)
        assert form is not None, "whoever calls has seen to it that the policy is not refused"
        self._ahead_below = NO_KEY if form.ahead_below is None else form.ahead_below

    def name(self, plan: Plan, live: LiveView, sim: Sim) -> Named:
        """What the plan says of each request, in the engine's numbers."""
        table = table_of(plan, live, self._policy, {})
        assert table is not None
        keys, terms = plan.request_keys, plan.request_terms or {}
        if keys is None:  # vetoes alone leave the order to stages' numbers
            keys = dict.fromkeys(live.waiting_stages().tolist(), 0)
        rows = np.array(list(keys), np.int64)
        spec, number_of = live.view.stage_spec, {job: app_number(app) for app, job in live.job_row.items()}
        jobs = np.array([number_of[job] for job in spec["job"][rows].tolist()], np.int64)
        # A request's priority is its stage's number in the job (looking.py).
        of_job = np.array([live.priority_of(row) for row in keys], np.int64)
        of_job[spec["kind"][rows] == AM] = 0
        stages = sim.shown.job_spec["first_stage"][jobs] + of_job
        term_of = np.array([terms.get(row, 0) for row in keys], np.int64)
        stage_of = dict(zip(keys, stages.tolist(), strict=True))
        node_of = {row: node_number(name) for name, row in live.node_row.items()}
        vetoes = [(stage_of[stage], node_of[node]) for stage, node in plan.vetoes or {}]
        return Named(
            table, stages, np.array(list(keys.values()), np.int64), term_of, np.array(vetoes, np.int64).reshape(-1, 2)
        )

    def put(self, named: Named, engine: Engine, handle: SimHandle) -> None:
        """From now on it decides, and whoever waits is looked at again."""
        sim = handle.sim
        write_table(named, self._ahead_below, sim.levers[Question.ORDERING].state, sim.shown)
        if self._vetoes:
            write_vetoes(named.vetoes, len(sim.shown.stage), sim.levers[Question.PLACEMENT].state.vetoed)
        sim.stage_run["named"][:] = 0
        sim.stage_run["named"][named.stages] = 1
        sim.control["hold_ms"] = self._hold_ms
        sim.control["idle"] = 0
        engine.rekey_all(handle)

    def let_go(self, sim: Sim, now: int) -> int:
        """Looks again at requests that were held long enough, now; when those that are held now will be, or FOREVER."""
        if not sim.control["hold_ms"][0]:
            return int(FOREVER)
        held = (sim.shown.stage["waiting"] > 0) & (sim.stage_run["named"] == 0) & (sim.shown.stage_spec["kind"] != AM)
        until = sim.stage_run["waits_since_ms"][held] + int(sim.control["hold_ms"][0])
        if (until == now).any():
            sim.control["news"] = 1
            sim.control["epoch"] += 1
            sim.control["idle"] = 0
        later = until[until > now]
        return int(later.min()) if len(later) else int(FOREVER)


def write_table(named: Named, ahead_below: int, state: Any, view: View) -> None:
    """Into the state of the ordering that goes by it (tabled.py)."""
    table, row = named.table, state.table
    row["kind"], row["fitness"] = KINDS.index(table.kind), table.fitness
    row["alignment_milli"], row["ahead_below"] = table.alignment_milli, ahead_below
    state.keys[:], state.terms[:], state.least_terms[:] = NOT_NAMED, 0, NOT_NAMED
    state.keys[named.stages], state.terms[named.stages] = named.keys, named.terms
    behind = named.keys >= ahead_below
    np.minimum.at(state.least_terms, view.stage_spec["shape"][named.stages[behind]], named.terms[behind])
    state.node["n_planned"] = 0
    if table.plans:
        demands = view.shape["demand"].tolist()
        shape_of = {(demand[MEMORY], demand[VCORES]): shape for shape, demand in enumerate(demands)}
        for name, plan in table.plans.items():
            node, n = node_number(name), len(plan)
            state.node["n_planned"][node] = n
            state.node["planned_shape"][node, :n] = [shape_of[size] for size in plan]
            state.node["planned_left"][node, :n] = list(plan.values())
