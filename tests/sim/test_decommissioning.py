"""Nodes that are decommissioned: what the record tells of them, and what is left when all are."""

from __future__ import annotations

import polars as pl

from heddle.model.cluster import Cluster, Node
from heddle.model.reasons import Outcome
from heddle.record.run import Run
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

SIZE = (4096, 4000)


def run_with(*nodes: Node) -> Run:
    """Twelve containers of 1024 MB for 10 s; the run keeps all rules that every run must keep."""
    work = StageSpec("work", (1024, 1000), [TaskSpec(10_000)] * 12)
    return simulate(build("w", [JobSpec("j", 0, [work])]), Cluster(nodes), "capacity", record=True, check=True)


def test_it_takes_nothing_and_shrinks_to_what_it_holds() -> None:
    run = run_with(Node("stays", SIZE, SIZE), Node("leaves", SIZE, SIZE, decommission_at_ms=5000))
    leaving = run.attempts.filter(pl.col("node") == 1)
    assert leaving["allocated_at_ms"].to_list() == [0] * 4, "what it has stays, and nothing comes"
    assert set(leaving["outcome"]) == {Outcome.FINISHED}
    assert run.attempts["allocated_at_ms"].max() == 10_000, "the last four wait for the other node"
    assert run.events is not None
    sizes = run.events.filter((pl.col("node") == 1) & (pl.col("kind").cast(pl.String) == "size_memory_mb"))
    assert sizes.select("at_ms", "value").rows() == [(10_000, 0)], "it was full, and is gone when all have ended"


def test_a_run_stalls_when_all_are_gone() -> None:
    run = run_with(Node("leaves", SIZE, SIZE, decommission_at_ms=5000))
    assert run.manifest["outcome"] == "stalled"
    assert run.manifest["reason"].startswith("nodes-lost: all 1 nodes are lost or decommissioned")
