"""All runs of the effect matrix, as a sweep: so they are kept one by one, and a broken-off matrix goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from heddle.analysis.measures.edges import NO_EDGES
from heddle.experiments.compare import Source, sampling_of
from heddle.experiments.effects.scenes import Scene
from heddle.experiments.sweep_file import Sweep
from heddle.experiments.sweep_run import SweepRun
from heddle.policy.papers import paper_policies
from heddle.policy.parse import parse_policy
from heddle.run import Executor
from heddle.traces.load import load_workload
from heddle.yarn.live.applying.wanted import without_knob

QUEUES: Final = ("capacity", "fair")
SEEDS: Final = 5
EXECUTORS: Final[tuple[Executor, ...]] = ("native", "yarn-knobs")


@dataclass(frozen=True)
class Extent:
    """How much of the matrix is run."""

    scenes: tuple[Scene, ...]
    queues: tuple[str, ...]
    seeds: int
    only_with_knobs: bool  # combinations that stock YARN can be driven by, and no others


def policies_of(queues: str, only_with_knobs: bool) -> list[str]:
    """Every combination of the papers behind these queues; the bare queues, which stand for plain FIFO, come first."""
    bare, *joined = paper_policies()
    assert bare == "fifo"
    policies = [queues, *(f"{queues}+{combination}" for combination in joined)]
    return [policy for policy in policies if not (only_with_knobs and without_knob(parse_policy(policy)))]


def plan_effects(extent: Extent) -> Sweep:
    """What can be driven by knobs runs under both executors, the rest natively."""
    runs: list[SweepRun] = []
    for scene in extent.scenes:
        first = load_workload(scene.workload, 0)
        sampling, block_ms = sampling_of(scene.workload, first, scene.cluster, extent.seeds, None, None)
        for seed in range(extent.seeds):
            runs += [
                SweepRun(
                    Source(scene.workload, block_ms=block_ms), scene.cluster, policy, executor, seed, NO_EDGES,
                    sampling, scene.name, policy, "with pool leaves", (),
                )
                for queues in extent.queues
                for policy in policies_of(queues, extent.only_with_knobs)
                for executor in EXECUTORS
                if executor == "native" or not without_knob(parse_policy(policy))
            ]  # fmt: skip
    # A run by knobs takes as long as dozens of others; and of a matrix that is broken off whole seeds are worth most.
    runs.sort(key=lambda one: (EXECUTORS.index(one.executor), one.seed))
    policies = [parse_policy(text) for text in dict.fromkeys(one.policy for one in runs)]
    return Sweep("effects", tuple(runs), tuple(policies))


def explained_runs(runs: Sequence[SweepRun], wanted: set[tuple[str, str, str]], seeds: int) -> list[SweepRun]:
    """Those of the first seeds whose (scene, policy, executor) somebody wants explained."""
    return [one for one in runs if (one.workload_template, one.policy, one.executor) in wanted and one.seed < seeds]
