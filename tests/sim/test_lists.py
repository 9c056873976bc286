"""The lists that spare the engine a look at everything hold what a look at everything finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from heddle.model.cluster import Cluster
from heddle.policy.parse import parse_policy
from heddle.sim.codes import FOREVER, FREE
from heddle.sim.memory.tables import Array, Sim
from heddle.sim.run import run_engine
from heddle.sim.scheduling.busy_queues import next_busy
from heddle.traces.catalogue import make_workload, suggested_cluster

MIX = "mix(jobs=60)"
INSTANTS_MS = range(30_000, 900_000, 60_000)


def chain(first: int, following: Array) -> Iterator[int]:
    while first >= 0:
        yield int(first)
        first = int(following[first])


def seen(policy: str) -> list[Sim]:
    """The engine's memory in the midst of runs."""
    cluster: Cluster = suggested_cluster(MIX)
    workload = make_workload(MIX, 3)
    return [run_engine(workload, cluster, parse_policy(policy), 1, False, at_ms).sim for at_ms in INSTANTS_MS]


def slots_of_jobs(sim: Sim) -> int:
    found: dict[int, set[int]] = {}
    for s in range(len(sim.slot)):
        if sim.slot["phase"][s] != FREE:
            found.setdefault(int(sim.slot["job"][s]), set()).add(s)
    for job, first in enumerate(sim.job_run["first_slot"]):
        listed = list(chain(first, sim.slot["next_of_job"]))
        assert set(listed) == found.get(job, set())
        assert [int(sim.slot["previous_of_job"][s]) for s in listed] == [-1, *listed[:-1]][: len(listed)]
    return max(map(len, found.values()), default=0)


def nodes_kept(sim: Sim) -> int:
    kept_for = sim.shown.node["reserved_for"]
    for stage, row in enumerate(sim.keeping):
        listed = list(chain(row["first_node"], sim.node_run["next_kept"]))
        assert set(listed) == {n for n in range(len(kept_for)) if kept_for[n] == stage}
        assert row["count"] == len(listed)
    return int((kept_for >= 0).sum())


def busy_queues(sim: Sim) -> int:
    queue, lane, run = sim.shown.queue, sim.lane, sim.queue_run
    filled = [la for la in range(len(lane)) if lane["first"][la] >= 0]
    for q in range(len(queue)):
        assert list(chain(run["first_lane"][q], lane["next"])) == [la for la in filled if lane["queue"][la] == q]
        children = {child for child in range(len(queue)) if queue["parent"][child] == q and queue["waiting"][child] > 0}
        assert set(chain(run["first_child"][q], run["next"])) == children
    walked, q = [], 0
    while q >= 0:
        walked += chain(run["first_lane"][q], lane["next"])
        q = next_busy.py_func(sim, q)
    assert sorted(walked) == filled
    return len(filled)


def nodes_that_gained(sim: Sim) -> int:
    count = int(sim.control["n_gained"][0])
    places = {int(n): place + 1 for place, n in enumerate(sim.gained[:count])}
    assert [int(place) for place in sim.node_run["gained"]] == [places.get(n, 0) for n in range(len(sim.node_run))]
    return count


def jobs_that_listen(sim: Sim) -> int:
    """In order; and who is not there, nor about to look, has nothing to ask for."""
    looks, heap = sim.looks, sim.listeners[: sim.control["n_listeners"][0]].tolist()
    assert [int(looks["place"][job]) for job in heap] == list(range(len(heap)))
    assert sorted(np.flatnonzero(looks["place"] >= 0).tolist()) == sorted(heap)
    for i in range(1, len(heap)):
        assert looks["needs_mb"][heap[(i - 1) // 2]] <= looks["needs_mb"][heap[i]]
    spec, stages, early = sim.shown.stage_spec, sim.shown.stage, sim.stage_run
    for stage in np.flatnonzero((early["pending"] > 0) & (early["runnable"] != 0) & (early["gave_way"] == 0)).tolist():
        job, first = spec["job"][stage], spec["first_after"][stage]
        maps = sim.after[first : first + spec["n_after"][stage]]
        is_open = sim.job_run["begun"][job] and not early["after_left"][maps].any()
        done = stages["done"][maps].sum() * 1000 >= spec["slow_start_permille"][stage] * spec["n_tasks"][maps].sum()
        if is_open and done:
            assert looks["place"][job] >= 0 or looks["next_ms"][job] < FOREVER
    return len(heap)


@pytest.mark.parametrize("policy", ["capacity", "capacity+usage-feedback+admission-control"])
@pytest.mark.parametrize("look", [slots_of_jobs, nodes_kept, busy_queues, nodes_that_gained])
def test_a_list_is_what_a_look_at_everything_finds(look: Callable[[Sim], int], policy: str) -> None:
    assert max(look(sim) for sim in seen(policy)) > 1, "none of these instants shows anything"


@pytest.mark.parametrize("policy", ["fair", "drf"])
def test_jobs_listen_as_long_as_they_have_something_to_ask_for(policy: str) -> None:
    assert max(jobs_that_listen(sim) for sim in seen(policy)) > 1, "none of these instants shows anything"
