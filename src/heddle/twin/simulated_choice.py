"""`heddle simulate --choose`: the twin beside a simulated YARN, which knows what somebody outside would know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from heddle.check.jobs import kind_of
from heddle.model.cluster import Cluster
from heddle.model.resources import VCORES
from heddle.model.workload import Workload
from heddle.policy.policy import Policy
from heddle.record.run import Run
from heddle.run import check_executor, prepare_engine, simulate_by
from heddle.sim.memory.tables import Sim
from heddle.sim.run import Ended, Keeper
from heddle.stock_yarn.changing import run_changing
from heddle.traces.align import in_resources_of
from heddle.twin.choosing import Choice, Choosing, Rule
from heddle.twin.rollouts import Candidate
from heddle.twin.under_way import UnderWay
from heddle.twin.use import USE_EVERY_MS, ObservedUse
from heddle.yarn.live.snapshot import Snapshot as Look


class _Beside:
    """After each look at the cluster: takes in use, and chooses when it is time."""

    def __init__(self, workload: Workload, cluster: Cluster, choosing: Choosing) -> None:
        self._choosing, self._under_way = choosing, UnderWay(workload, cluster)
        vcores = np.array([node.capacity[VCORES] for node in cluster.nodes], np.int64)
        self._use = ObservedUse(
            lambda look: vcores[look.columns.nodes["node"]],
            lambda job: (kind_of(workload.job_name(job)), workload.users[workload.jobs["user"][job]]),
        )
        self._has_use = workload.has_use
        self._use_ms, self._choice_ms = 0, choosing.rule.every_ms  # when it is time next

    def __call__(self, snapshot: Look, sim: Sim) -> int:
        choosing, now = self._choosing, snapshot.at_ms
        if self._has_use and now >= self._use_ms:
            self._use_ms = _next(now, USE_EVERY_MS)
            self._use.look(snapshot)
        if now >= self._choice_ms:
            self._choice_ms = _next(now, choosing.rule.every_ms)
            if choosing.may_change(now):
                policy = choosing.candidates[choosing.in_force].name
                choosing.choose(self._use.told(self._under_way.at(sim, policy)), now)
        return choosing.in_force


def _next(now_ms: int, every_ms: int) -> int:
    return now_ms - now_ms % every_ms + every_ms


def simulate_choosing(
    workload: Workload,
    cluster: Cluster,
    policies: Sequence[Policy],
    rule: Rule,
    *,
    seed: int = 0,
    record: bool | Path = False,
    check: bool = False,
    told: Mapping[str, Any] | None = None,
) -> Run:
    """One run that begins under the first of these policies, by knobs; its manifest has what was chosen and what came.

    Raises as simulate() does; BadInput also if YARN would need another scheduler for one of them.
    """
    check_executor(policies, workload, cluster, "yarn-knobs")
    prepare_engine(policies, len(cluster.resources))
    aligned = in_resources_of(workload, cluster)
    candidates = [Candidate(policy.name, policy, "yarn-knobs") for policy in policies]
    choosing = Choosing(candidates, rule, seed)
    beside = _Beside(aligned, cluster, choosing)

    def execute(
        workload: Workload, cluster: Cluster, policy: Policy, seed: int, logging: bool, keeper: Keeper | None = None
    ) -> Ended:
        return run_changing(workload, cluster, policies, seed, logging, beside, keeper=keeper)

    def choices(jobs: pl.DataFrame) -> dict[str, Any]:
        made = (replace(one, came=came_of(jobs, one)) if one.prospects else one for one in choosing.choices)
        return {"choices": [one.as_json() for one in made]}

    return simulate_by(
        execute, workload, cluster, policies[0], seed, record, check, "yarn-knobs", told or {}, told_after=choices
    )


def came_of(jobs: pl.DataFrame, choice: Choice) -> float:
    """Applications that there really were on average until the horizon, whatever was in force by then."""
    begin, end = choice.at_ms, choice.at_ms + choice.horizon_ms
    finished = pl.when(pl.col("outcome") == "finished").then(pl.col("ended_at_ms"))
    there = jobs.select(
        pl.col("submit_at_ms").clip(begin, end).alias("from"),
        finished.fill_null(end).clip(begin, end).alias("until"),
    )
    return float((there["until"] - there["from"]).sum()) / choice.horizon_ms
