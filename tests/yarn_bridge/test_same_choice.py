"""The core inside the ResourceManager and the simulator's levers choose the same request."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from heddle.model.workload import AM
from heddle.policy.handles import ParamsHandle, StateHandle, ViewHandle
from heddle.policy.hooks import layout_of, ready_hook
from heddle.policy.lever import Question
from heddle.stock_yarn.sight import node_id
from heddle.stock_yarn.tabled import TABLED
from heddle.stock_yarn.tabling import Named, write_table
from heddle.traces.build import JobSpec, StageSpec, TaskSpec
from heddle.yarn.live.applying.tables import form_of
from heddle.yarn.live.bridge.table import RequestRow, Table
from heddle.yarn.live.levers import compiled_loops
from levers.hand_made import HandMade, nodes

from .driver import run_core, table_lines

STATES = 10_000
NODES, OWN = 20, (8192, 8)
NO_VETOES = np.zeros((0, 2), np.int64)
SIZES = ((512, 1), (1024, 1), (1024, 2), (2048, 1), (512, 4), (3072, 3))
POLICIES = (
    "ffd-dp", "ffd-dp(ties=even)", "haste", "haste(urgency=assigned)", "haste(fitness=false)", "haste-a",
    "haste-a(aggressiveness=3)", "fifo",
)  # fmt: skip
LEAF = "root.default"


class RandomStates:
    """One policy's lever over the simulator's view; every draw changes what is held, waited for and free."""

    def __init__(self, policy: str, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        jobs = [_job(number, self.random) for number in range(14)]
        self.made = HandMade(policy, Question.ORDERING, jobs, nodes(NODES, *OWN))
        self.view, self.lever = self.made.view, self.made.lever
        if "on_event" in self.lever.hooks:
            for job in range(len(jobs)):
                self.made.arrive(job)
        state, names = StateHandle(layout_of(self.lever, 2), self.made.state), self.lever.parameter_names
        self._kept = ViewHandle(self.view), state, ParamsHandle(names, self.made.params)
        self._given = tuple(one.address for one in self._kept)

    def ask(self, hook: str, *rows: Any) -> Any:
        address = ready_hook(self.lever, hook, 2).address
        loops = compiled_loops()
        if len(rows) == 1:
            answers = np.zeros(len(rows[0]), np.int64)
            loops.ask_each(address, *self._given, rows[0], answers)
        else:
            answers = np.zeros((len(rows[0]), len(rows[1])), np.int64)
            loops.ask_pairs(address, *self._given, rows[0], rows[1], answers)
        return answers

    def draw(self) -> None:
        view, random = self.view, self.random
        n = len(view.stage)
        view.stage["waiting"] = random.integers(0, 6, n) * (random.random(n) < 0.6)
        view.stage["held"], view.stage["done"] = random.integers(0, 9, n), random.integers(0, 9, n)
        ams = view.stage_spec["kind"] == AM
        view.stage["waiting"][ams] = random.random(int(ams.sum())) < 0.03
        view.job["allocated"] = random.integers(0, 9000, view.job["allocated"].shape)
        used = random.random((NODES, 2)) ** 2 * (OWN[0], OWN[1] * 1000)
        view.node["allocated"] = used.astype(np.int64) // (256, 1000) * (256, 1000)
        view.node["allowance"][:, 0] = random.integers(4, 9, NODES) * 1024  # not always what is promised
        if "plan" in self.lever.state.lists:
            plan = random.integers(0, 3, len(self.made.state.plan)) * (random.random() < 0.1)
            self.made.state.plan[:] = plan
            self.made.state.table["planned_node"][0] = random.integers(1, NODES + 1)


def _job(number: int, random: np.random.Generator) -> JobSpec:
    sizes = [(memory, 1000 * vcores) for memory, vcores in random.choice(SIZES, 3).tolist()]
    maps = StageSpec("map", sizes[0], [TaskSpec(1000)] * 9, iteration=int(random.integers(0, 4)))
    reduces = StageSpec("reduce", sizes[1], [TaskSpec(1000)] * 5, after=("map",), slow_start_permille=0)
    priority = int(random.integers(0, 3))
    return JobSpec(f"j{number}", 0, [maps, reduces], am=sizes[2], priority=priority, iterative=bool(number % 3 == 0))


class Draw(NamedTuple):
    """One view, with everything that levers say of it."""

    table: Table
    row_of: dict[int, RequestRow]  # stage -> how the table calls it
    keys: list[int]
    terms: list[int]
    fits: Any  # [nodes, stages]
    waiting: list[int]
    vetoed: set[tuple[int, int]]  # (stage, node)


def drawn(states: RandomStates, step_over: bool, *, redraw: bool = True) -> Draw:
    if redraw:
        states.draw()
    view, lever, random, form = states.view, states.lever, states.random, form_of(states.lever)
    assert form is not None
    stages, all_nodes = np.arange(len(view.stage)), np.arange(NODES)
    keys = states.ask("key", stages).tolist()
    terms = states.ask("term", stages).tolist() if "term" in lever.hooks else [0] * len(stages)
    fits = states.ask("fit", all_nodes, stages) if "fit" in lever.hooks else np.zeros((NODES, len(stages)), np.int64)
    vetoed = {(s, n) for s, n in np.argwhere(random.random((len(stages), NODES)) < 0.1).tolist()}
    row_of = {}
    for stage in stages.tolist():
        memory, vcores = view.shape["demand"][view.stage_spec["shape"][stage]].tolist()
        refused = frozenset(f"n{n}:1" for s, n in vetoed if s == stage)
        app = f"application_1700000000000_{view.stage_spec['job'][stage]:04d}"
        ahead = form.ahead_below is not None and keys[stage] < form.ahead_below
        row = RequestRow(app, stage, -1, LEAF, (memory, vcores), keys[stage], terms[stage], ahead, refused)
        row_of[stage] = row
    own = {f"n{n}:1": tuple(view.node["allowance"][n].tolist()) for n in range(NODES)}
    weight = form.weight(states.made.state, states.made.named_params) if form.weight else 0
    plans = {}
    if "plan" in lever.state.lists:
        planned, plan = int(states.made.state.table["planned_node"][0]) - 1, states.made.state.plan.tolist()
        sizes = [tuple(size) for size in view.shape["demand"].tolist()]
        plans[f"n{planned}:1"] = {size: count for size, count in zip(sizes, plan, strict=True) if count}
    fitness = form.kind != "key" and (not form.fitness or bool(lever.parameter(form.fitness)))
    table = Table(
        form.kind, tuple(row_of.values()), own,
        fitness=fitness, alignment_milli=weight, plans=plans, step_over_vetoed=step_over,
    )  # fmt: skip
    return Draw(table, row_of, keys, terms, fits, view.stage["waiting"].tolist(), vetoed)


def could_go(states: RandomStates, draw: Draw, node: int, step_over: bool) -> list[int]:
    """The first of each size, as far as they fit and are not vetoed."""
    free = (states.view.node["total"][node] - states.view.node["allocated"][node]).tolist()
    heads: dict[tuple[int, int], int] = {}
    for stage in sorted(draw.row_of, key=lambda one: (draw.keys[one], one)):
        if draw.waiting[stage] and not (step_over and (stage, node) in draw.vetoed):
            heads.setdefault(draw.row_of[stage].size, stage)
    return [
        stage
        for size, stage in heads.items()
        if size[0] <= free[0] and size[1] <= free[1] and (stage, node) not in draw.vetoed
    ]


def chosen_by_levers(states: RandomStates, draw: Draw, node: int, step_over: bool) -> int | None:
    """The walk of sim/scheduling/choosing.py: of those that could go the best by combine()."""
    able = could_go(states, draw, node, step_over)
    if not able:
        return None
    free = (states.view.node["total"][node] - states.view.node["allocated"][node]).tolist()
    keys, terms = [draw.keys[stage] for stage in able], [draw.terms[stage] for stage in able]
    fits = [int(draw.fits[node, stage]) for stage in able]
    spread = (min(keys), max(keys), min(fits), max(fits), min(terms), max(terms))
    combine, given = states.lever.hooks.get("combine"), (states.view, states.made.state, states.made.named_params)
    if "least_urgency" in states.lever.state.table:
        states.made.state.table["least_urgency"][0] = _least_term(draw, free)

    def value(i: int) -> int:
        if combine is None:
            return 0
        return int(combine(*given, keys[i], fits[i], terms[i], len(able), sum(keys), sum(fits), *spread))

    return able[min(range(len(able)), key=lambda i: (-value(i), keys[i], able[i]))]


def _least_term(draw: Draw, free: list[int]) -> int:
    """Of all requests that the table names and that fit: terms, and the least of them, are as old as the table."""
    rows = [row for row in draw.row_of.values() if not row.ahead and row.size[0] <= free[0] and row.size[1] <= free[1]]
    return min((row.term for row in rows), default=0)


@pytest.mark.parametrize("policy", ["haste", "haste(urgency=assigned)", "haste-a"])
def test_the_least_term_of_a_new_table_is_what_the_lever_finds(policy: str) -> None:
    states, found = RandomStates(policy, seed=5), set()
    for _ in range(20):
        states.draw()
        states.view.job["waiting"] = 1
        states.view.stage["waiting"][:] = 1  # as in a new table, which names nobody who does not wait
        draw = drawn(states, False, redraw=False)
        for node in range(NODES):
            states.ask("offer", np.array([node]))
            free = (states.view.node["total"][node] - states.view.node["allocated"][node]).tolist()
            found.add(int(states.made.state.table["least_urgency"][0]))
            assert states.made.state.table["least_urgency"][0] == _least_term(draw, free)
    assert len(found) > 1


@pytest.mark.parametrize("policy", POLICIES)
def test_the_core_chooses_what_levers_choose(policy: str) -> None:
    states = RandomStates(policy, seed=POLICIES.index(policy))
    lines, expected, somebody = [], [], 0
    draws = -(-STATES // len(POLICIES) // NODES)
    for number in range(draws):
        step_over = number % 2 == 1
        draw = drawn(states, step_over)
        lines += table_lines(draw.table.text(number + 1, 1000))
        lines += [
            f"gone {row.app} {row.priority} {row.allocation}"
            for stage, row in draw.row_of.items()
            if not draw.waiting[stage]
        ]
        expected.append(f"read {number + 1} 1000 0 60000")
        for node in range(NODES):
            free = (states.view.node["total"][node] - states.view.node["allocated"][node]).tolist()
            lines.append(f"choose n{node}:1 {LEAF} {free[0]} {free[1]} 1")
            stage = chosen_by_levers(states, draw, node, step_over)
            somebody += stage is not None
            row = None if stage is None else draw.row_of[stage]
            expected.append("-" if row is None else f"{row.app} {row.priority} {row.allocation}")
    assert run_core(lines) == expected
    assert somebody > len(expected) // 2  # the states are not idle ones


@pytest.mark.parametrize("policy", POLICIES)
def test_the_simulated_bridge_chooses_what_levers_choose(policy: str) -> None:
    states = RandomStates(policy, seed=100 + POLICIES.index(policy))
    hooks, somebody = TABLED.hooks, 0
    form, n_stages = form_of(states.lever), len(states.view.stage)
    assert form is not None
    lengths = {"keys": n_stages, "terms": n_stages, "least_terms": len(states.view.shape)}
    lists = {name: np.zeros(length, np.int64) for name, length in lengths.items()}
    parts = {part: TABLED.state.zeroed(part, NODES if part == "node" else 1, 2) for part in TABLED.state.parts}
    given = states.view, SimpleNamespace(**lists, **parts), SimpleNamespace(default=0)
    for _ in range(6):
        draw = drawn(states, step_over=True)
        plans = {node_id(int(name[1:].partition(":")[0])): plan for name, plan in draw.table.plans.items()}
        stages = np.arange(n_stages)
        table = Named(replace(draw.table, plans=plans), stages, np.array(draw.keys), np.array(draw.terms), NO_VETOES)
        write_table(table, -(1 << 63) if form.ahead_below is None else form.ahead_below, given[1], states.view)
        for node in range(NODES):
            able = could_go(states, draw, node, step_over=True)
            hooks["offer"](*given, node)
            keys, terms = [hooks["key"](*given, stage) for stage in able], [hooks["term"](*given, s) for s in able]
            fits = [hooks["fit"](*given, node, stage) for stage in able]
            over = [pick(values) for values in (keys, fits, terms) for pick in (min, max) if able]
            values = [hooks["combine"](*given, *one, 0, 0, 0, *over) for one in zip(keys, fits, terms, strict=True)]
            found = min(zip([-value for value in values], keys, able, strict=True), default=(0, 0, None))[2]
            assert found == chosen_by_levers(states, draw, node, step_over=True)
            somebody += found is not None
    assert somebody > 3 * NODES
