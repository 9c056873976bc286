"""All runs of the ablation, as a sweep: kept one by one, so that what was broken off goes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from heddle.analysis.measures.edges import NO_EDGES
from heddle.experiments.ablation.factors import FACTORS, Combination, all_combinations, policy_of
from heddle.experiments.ablation.forms import Woven
from heddle.experiments.ablation.scenes import LOADS
from heddle.experiments.compare import Source, sampling_of
from heddle.experiments.effects.scenes import Scene
from heddle.experiments.sweep_file import Sweep
from heddle.experiments.sweep_run import SweepRun
from heddle.policy.parse import parse_policy
from heddle.run import Executor
from heddle.traces.load import load_workload
from heddle.yarn.live.applying.wanted import without_knob
from heddle.yarn.live.levers import unfit

SEEDS: Final = 10
ACTING_SEEDS: Final = 3  # a run by knobs takes as long as ten others
AS_SUBMITTED: Final = 1.0
STOCK: Final = ("fifo", "fair", "drf")  # beside capacity, which is the combination of nothing
Levels = tuple[tuple[str, float | str], ...]  # factor -> 1 or 0; empty: not one of the factorial


@dataclass(frozen=True)
class Extent:
    """How much of the ablation is run: natively at all loads, by knobs as submitted.

    By the bridge a run takes as long as a hundred others: combinations that need it are run natively only.
    """

    scenes: tuple[Scene, ...]
    loads: tuple[float, ...] = LOADS
    seeds: int = SEEDS
    acting_seeds: int = ACTING_SEEDS


def acting_executor(policy: str) -> Executor | None:
    """By what a YARN can be made to do this: by knobs, or it needs the bridge; None: by nothing."""
    asked = parse_policy(policy)
    if unfit(asked):
        return None
    if not without_knob(asked):
        return "yarn-knobs"
    return None if without_knob(asked, bridge=True) else "bridge"


def plan_ablation(extent: Extent) -> Sweep:
    """The whole factorial, and the stock schedulers beside it."""
    factorial: dict[str, Levels] = {policy_of(chosen): _levels(chosen) for chosen in all_combinations()}
    return _plan("ablation", extent, factorial | dict.fromkeys(STOCK, ()))


def plan_forms(extent: Extent, woven: Iterable[Woven]) -> Sweep:
    return _plan("forms", extent, {one.policy: () for one in woven})


def _plan(name: str, extent: Extent, policies: Mapping[str, Levels]) -> Sweep:
    runs: list[SweepRun] = []
    for scene in extent.scenes:
        first = load_workload(scene.workload, 0)
        sampling, block_ms = sampling_of(scene.workload, first, scene.cluster, extent.seeds, None, None)
        for load in extent.loads:
            source = Source(scene.workload, load, block_ms)
            for policy, levels in policies.items():
                seeds: dict[Executor, int] = {"native": extent.seeds}
                if load == AS_SUBMITTED and acting_executor(policy) == "yarn-knobs":
                    seeds["yarn-knobs"] = extent.acting_seeds
                runs += [
                    SweepRun(
                        source, scene.cluster, policy, executor, seed, NO_EDGES, sampling, scene.name, policy,
                        "with pool leaves", levels,
                    )
                    for executor, count in seeds.items()
                    for seed in range(count)
                ]  # fmt: skip
    # Of what is broken off, whole seeds are worth most, and native ones tell most for their time.
    runs.sort(key=lambda one: (one.executor != "native", one.seed))
    return Sweep(name, tuple(runs), tuple(parse_policy(text) for text in policies))


def _levels(chosen: Combination) -> Levels:
    return tuple((factor.name, float(factor.name in chosen)) for factor in FACTORS)
