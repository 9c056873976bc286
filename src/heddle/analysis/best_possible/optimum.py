"""The best schedule there is, for small instances: an exact model solved by OR-tools' CP-SAT.

The model is that of the bounds of kind `reservations` without relaxation: containers are placed on nodes and never
exceed what a node may promise; AMs hold from their launch to the end of their job; nothing waits for heartbeats and
nothing contends. So it is a bound for every run that honours reservations, and one that some schedule reaches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Literal

from heddle.model.cluster import Cluster
from heddle.model.errors import RunRefused
from heddle.model.extras import how_to_install
from heddle.model.resources import MEMORY
from heddle.model.workload import AM, TASKS, Workload

Objective = Literal["makespan", "mean completion"]
MOST_PLACES: Final = 4000  # containers x nodes: beyond this it would not end in the time that people wait


@dataclass(frozen=True)
class Optimum:
    """What was found: a schedule of this value, and that none can be below `bound_s`."""

    objective: Objective
    value_s: float | None  # None: no schedule was found in the time given
    bound_s: float

    @property
    def proven(self) -> bool:
        return self.value_s is not None and self.value_s <= self.bound_s * (1 + 1e-9) + 1e-9

    @property
    def gap_pct(self) -> float | None:
        """How far the schedule found may be above the true optimum."""
        return None if self.value_s is None or self.bound_s <= 0 else 100.0 * (self.value_s / self.bound_s - 1.0)

    def as_json(self) -> dict[str, Any]:
        return {
            "objective": self.objective,
            "value_s": self.value_s,
            "bound_s": self.bound_s,
            "gap_pct": self.gap_pct,
            "proven": self.proven,
        }


def optimum(workload: Workload, cluster: Cluster, objective: Objective, limit_s: float) -> Optimum:
    """Solve for at most `limit_s` seconds. RunRefused where the model does not hold, is too large, or has no solver."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise RunRefused(f"the optimum needs OR-tools: {how_to_install('optimum')}") from None
    _refuse_what_is_not_modelled(workload, cluster)
    model = cp_model.CpModel()
    ends = _Model(model, workload, cluster).job_ends()
    submits = workload.jobs["submit_at_ms"].tolist()
    if objective == "makespan":
        last = model.new_int_var(0, _horizon_ms(workload, cluster), "last")
        model.add_max_equality(last, ends)
        model.minimize(last)
        offset, count = min(submits), 1
    else:
        model.minimize(sum(ends))
        offset, count = sum(submits), len(ends)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit_s
    solver.parameters.num_workers = 2
    status = solver.solve(model)
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    bound_s = max(0.0, (solver.best_objective_bound - offset) / count / 1000)
    return Optimum(objective, (solver.objective_value - offset) / count / 1000 if found else None, bound_s)


def _refuse_what_is_not_modelled(workload: Workload, cluster: Cluster) -> None:
    if not set(workload.stages["kind"].tolist()) <= {TASKS, AM}:
        raise RunRefused("the optimum supports plain tasks only, and this workload has executors")
    places = len(workload.tasks) * cluster.n_nodes
    if places > MOST_PLACES:
        raise RunRefused(
            f"too large for an exact optimum: {len(workload.tasks)} containers on {cluster.n_nodes} nodes; "
            f"their product may be {MOST_PLACES}"
        )


def _horizon_ms(workload: Workload, cluster: Cluster) -> int:
    slowest = min(node.speed_permille for node in cluster.nodes)
    stage_of = workload.stages["n_tasks"].sum()
    work = int(workload.tasks["duration_ms"].sum() + (workload.stages["shuffle_ms"] * workload.stages["n_tasks"]).sum())
    overhead = int(stage_of) * (cluster.timing.launch_ms + cluster.timing.am_start_ms)
    return int(workload.jobs["submit_at_ms"].max()) + math.ceil(work * 1000 / slowest) + 2 * overhead + 1


class _Model:
    """The containers of a workload as intervals on nodes."""

    def __init__(self, model: Any, workload: Workload, cluster: Cluster) -> None:
        self.model, self.workload, self.cluster = model, workload, cluster
        self.horizon = _horizon_ms(workload, cluster)
        self.on_node: list[list[tuple[Any, int]]] = [[] for _ in cluster.nodes]  # interval, shape
        self.stage_end: list[Any] = []

    def job_ends(self) -> list[Any]:
        """One variable per job, with everything that holds it back."""
        jobs, stages = self.workload.jobs, self.workload.stages
        ends = [self.model.new_int_var(0, self.horizon, f"end {job}") for job in range(len(jobs))]
        self.stage_end = [self.model.new_int_var(0, self.horizon, f"stage {stage}") for stage in range(len(stages))]
        for job in range(len(jobs)):
            arrival = self.model.new_int_var(int(jobs["submit_at_ms"][job]), self.horizon, "")
            first = int(jobs["first_after"][job])
            for before in self.workload.job_after[first : first + int(jobs["n_after"][job])].tolist():
                self.model.add(arrival >= ends[before])
            self.model.add(ends[job] >= arrival)
            begin = arrival
            first_stage = int(jobs["first_stage"][job])
            for stage in range(first_stage, first_stage + int(jobs["n_stages"][job])):
                if stages["kind"][stage] == AM:
                    begin = self._place_am(stage, arrival, ends[job])
                else:
                    self._place_tasks(stage, begin)
                    self.model.add(ends[job] >= self.stage_end[stage])
        self._keep_promises()
        return ends

    def _place_am(self, stage: int, arrival: Any, end: Any) -> Any:
        """From its allocation to the job's end; returns the instant from which the job may ask."""
        start = self.model.new_int_var(0, self.horizon, "")
        length = self.model.new_int_var(0, self.horizon, "")
        self.model.add(start >= arrival)
        timing = self.cluster.timing
        begin = self.model.new_int_var(0, self.horizon, "")
        self.model.add(begin == start + timing.launch_ms + timing.am_start_ms)
        self._place(stage, start, end, [length] * self.cluster.n_nodes)
        return begin

    def _place_tasks(self, stage: int, begin: Any) -> None:
        row, launch = self.workload.stages[stage], self.cluster.timing.launch_ms
        first_after = int(row["first_after"])
        before = self.workload.stage_after[first_after : first_after + int(row["n_after"])].tolist()
        early = row["slow_start_permille"] >= 0  # its containers may launch while the stages before it run
        self.model.add(self.stage_end[stage] >= begin)
        for earlier in before:
            self.model.add(self.stage_end[stage] >= self.stage_end[earlier])
        for task in range(int(row["first_task"]), int(row["first_task"]) + int(row["n_tasks"])):
            start, end = (self.model.new_int_var(0, self.horizon, "") for _ in range(2))
            self.model.add(start >= begin)
            for earlier in before:
                self.model.add(start + (launch if early else 0) >= self.stage_end[earlier])
            work = int(self.workload.tasks["duration_ms"][task]) + int(row["shuffle_ms"])
            lengths = [launch + work * 1000 // node.speed_permille for node in self.cluster.nodes]
            self._place(stage, start, end, lengths)
            self.model.add(self.stage_end[stage] >= end)

    def _place(self, stage: int, start: Any, end: Any, lengths: list[Any]) -> None:
        """On exactly one of the nodes that could ever take it."""
        shape = int(self.workload.stages["shape"][stage])
        label = self.workload.labels[int(self.workload.stages["label"][stage])]
        chosen = []
        for number, node in enumerate(self.cluster.nodes):
            if (label and node.label != label) or not self._fits(shape, number):
                continue
            here = self.model.new_bool_var("")
            interval = self.model.new_optional_interval_var(start, lengths[number], end, here, "")
            self.on_node[number].append((interval, shape))
            chosen.append(here)
        self.model.add_exactly_one(chosen)

    def _counts(self, resource: int) -> bool:
        cluster = self.cluster
        name = cluster.resources[resource]
        return cluster.calculator == "dominant" or resource == MEMORY or name in cluster.exclusive

    def _fits(self, shape: int, node: int) -> bool:
        allowed = self.cluster.nodes[node].allowance
        return all(int(self.workload.shapes[shape, r]) <= allowed[r] for r in range(len(allowed)) if self._counts(r))

    def _keep_promises(self) -> None:
        for node, held in zip(self.cluster.nodes, self.on_node, strict=True):
            for r, allowed in enumerate(node.allowance):
                if held and self._counts(r):
                    demands = [int(self.workload.shapes[shape, r]) for _, shape in held]
                    self.model.add_cumulative([interval for interval, _ in held], demands, allowed)
