"""Choosing live in the simulator: what it knows, when it changes, and what becomes of knobs and of what was learnt."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from heddle.model.cluster import Cluster, Faults
from heddle.model.errors import BadInput
from heddle.model.resources import MEMORY
from heddle.model.workload import TASKS, Workload
from heddle.policy.parse import parse_policy
from heddle.record.run import Run
from heddle.sim.memory.tables import Sim
from heddle.stock_yarn.changing import common_stock, run_changing
from heddle.stock_yarn.levers import posted
from heddle.traces.catalogue import make_workload, suggested_cluster
from heddle.traces.clusters import uniform_cluster
from heddle.twin.choosing import Choosing, Rule, policies_to_choose
from heddle.twin.known import Application, Snapshot, Stage
from heddle.twin.rollouts import Candidate
from heddle.twin.simulated_choice import simulate_choosing
from heddle.yarn.live.applying.standing import AM_SHARE, GUARANTEE, Standing
from heddle.yarn.live.snapshot import Snapshot as Look

PHASES = "phases(phase_s=60)"
QUICK = Rule(every_ms=15_000, horizon_ms=60_000, rollouts=5, rest_ms=45_000)
NAMES = ("capacity", "capacity+usage-feedback(young_reports=2)", "capacity+dress")


@pytest.fixture(scope="module")
def phases() -> tuple[Workload, Cluster]:
    return make_workload(PHASES, 1), suggested_cluster(PHASES)


def choose(workload: Workload, cluster: Cluster) -> Run:
    return simulate_choosing(workload, cluster, [parse_policy(name) for name in NAMES], QUICK, seed=1, record=True)


@pytest.fixture(scope="module")
def chosen(phases: tuple[Workload, Cluster]) -> Run:
    return choose(*phases)


def decided(run: Run, until_ms: int) -> list[dict[str, Any]]:
    """All that was thought by then; not what came of it."""
    return [one | {"came": None} for one in run.manifest["choices"] if one["at_ms"] <= until_ms]


def test_it_changes_and_keeps_what_it_thought_and_what_came(chosen: Run) -> None:
    changes = [one for one in chosen.manifest["choices"] if one["chosen"] != one["in_force"]]
    assert changes
    for one in changes:
        assert one["prospects"][0]["policy"] == one["in_force"]
        assert one["predicted"] < one["prospects"][0]["present"]
        assert one["came"] > 0
    at_ms = [one["at_ms"] for one in changes]
    assert all(later - earlier >= QUICK.rest_ms for earlier, later in pairwise(at_ms))


@pytest.mark.parametrize("at_s", [75, 150])
def test_what_tasks_will_take_changes_no_decision_before(
    phases: tuple[Workload, Cluster], chosen: Run, at_s: int
) -> None:
    workload, cluster = phases
    at_ms = 1000 * at_s
    over = chosen.attempts.filter((chosen.attempts["ended_at_ms"] <= at_ms) & (chosen.attempts["outcome"] == 0))
    open_still = np.ones(len(workload.tasks), bool)
    open_still[over["task"].to_numpy()] = False
    open_still &= workload.tasks["duration_ms"] > 0
    tasks = workload.tasks.copy()
    # Those that run may not end before the instant: longer is the only way to change them.
    tasks["duration_ms"][open_still] = tasks["duration_ms"][open_still] * 3 + at_ms
    other = choose(replace(workload, tasks=tasks), cluster)
    assert other.jobs["ended_at_ms"].to_list() != chosen.jobs["ended_at_ms"].to_list()
    assert decided(chosen, at_ms)
    assert decided(other, at_ms) == decided(chosen, at_ms)


class Scripted:
    """Takes the second policy from an instant on and the third, if there is one, from another; looks at the knobs."""

    def __init__(self, *turns_ms: int) -> None:
        self.turns_ms = turns_ms
        self.sizes: dict[int, list[int]] = {}
        self.am_shares: dict[int, list[int]] = {}
        self.leaves: dict[int, set[int]] = {}

    def __call__(self, snapshot: Look, sim: Sim) -> int:
        now = snapshot.at_ms
        self.sizes[now] = posted(sim)[:, MEMORY].tolist()
        self.am_shares[now] = sim.shown.queue["am_share_permille"].tolist()
        live = np.isin(sim.shown.job["state"], (1, 2))
        self.leaves[now] = set(sim.shown.job["queue"][live].tolist())
        return sum(now >= turn for turn in self.turns_ms)


def test_what_the_next_policy_does_not_speak_of_is_put_back(phases: tuple[Workload, Cluster]) -> None:
    workload, cluster = phases
    everything = parse_policy("capacity+dress+admission-control+usage-feedback(young_reports=2)")
    seen = Scripted(60_000)
    run_changing(workload, cluster, [everything, parse_policy("capacity")], 1, False, seen, 90_000)
    own = [node.allowance[MEMORY] for node in cluster.nodes]
    shares = [queue.am_share_permille for queue in cluster.queues]
    pools = {n for n, queue in enumerate(cluster.queues) if queue.name.startswith("root.pool")}
    assert seen.sizes[60_000] != own
    assert seen.am_shares[60_000] != shares
    assert seen.leaves[60_000] & pools
    assert seen.sizes[61_000] == own
    assert seen.am_shares[61_000] == shares
    assert not seen.leaves[61_000] & pools
    assert seen.sizes[89_000] == own


def test_a_policy_has_learnt_before_it_is_in_force(phases: tuple[Workload, Cluster]) -> None:
    """Sizes as it wants them stand at the next look, although its containers must grow up before they count."""
    workload, cluster = phases
    policies = [parse_policy(name) for name in NAMES[:2]]
    late, all_along = Scripted(30_000), Scripted(0)
    for seen in (late, all_along):
        run_changing(workload, cluster, policies, 1, False, seen, 45_000)
    own = [node.allowance[MEMORY] for node in cluster.nodes]
    assert late.sizes[30_000] == own
    assert max(late.sizes[31_000]) > own[0]
    assert max(all_along.sizes[1_000]) == own[0]


def test_of_a_queue_the_settings_are_put_back_that_nobody_speaks_of() -> None:
    found = Standing({"n": (1, 1)}, {"q": {AM_SHARE: "0.1", GUARANTEE: "50"}, "p": {AM_SHARE: None}}, {"a": 3})
    wanted = Standing({"n": (2, 2)}, {"q": {AM_SHARE: "0.3"}})
    assert found.without(wanted.every_part()) == Standing({}, {"q": {GUARANTEE: "50"}, "p": {AM_SHARE: None}}, {"a": 3})


def test_schedulers_of_yarn_cannot_be_chosen_between(phases: tuple[Workload, Cluster]) -> None:
    with pytest.raises(BadInput, match="another scheduler"):
        common_stock([parse_policy("capacity"), parse_policy("fair")])
    policies, refused = policies_to_choose(parse_policy("fair"), None, *phases)
    assert policies[0].name == "fair"
    assert any("admission-control" in name for name in refused)


def test_the_usual_candidates_begin_with_the_present_policy(phases: tuple[Workload, Cluster]) -> None:
    present = parse_policy("capacity+dress")
    policies, refused = policies_to_choose(present, None, *phases)
    assert policies[0] is present
    assert not refused
    assert len({policy.name for policy in policies}) == len(policies) == 6


def test_lost_nodes_do_not_stop_it(phases: tuple[Workload, Cluster]) -> None:
    workload, cluster = phases
    shaky = replace(cluster, faults=Faults(node_mtbf_s=150, node_repair_s=60))
    run = simulate_choosing(workload, shaky, [parse_policy(name) for name in NAMES], QUICK, seed=1, record=True)
    assert run.events is not None
    assert (run.events["kind"] == "node_lost").any()
    assert any(one["prospects"] for one in run.manifest["choices"])


def test_a_cluster_that_has_no_room_left_is_a_reason_not_to_change() -> None:
    work = Stage("work", TASKS, (4096, 1000), finished_ms=(1000,), left=1)
    waiting = Application("a", "a", "root.default", "u", -5000, stages=(work,))
    choosing = Choosing([Candidate.of(name, "yarn-knobs") for name in NAMES[:2]], QUICK)
    choice = choosing.choose(Snapshot(uniform_cluster(1, 2048, 4), NAMES[0], 5000, (waiting,)), 15_000)
    assert not choice.changes
    assert "4096" in choice.why
