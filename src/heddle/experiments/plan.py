"""A comparison before it runs: everything checked, every run named, so that command line and Python say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heddle.analysis.certainty.sampling import Sampling
from heddle.analysis.comparison.compare import ComparedRun, Comparison, compare_runs
from heddle.analysis.measures.edges import NO_EDGES, Edges
from heddle.experiments.compare import PlannedRun, Source, sampling_of, with_queues
from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput, Problem
from heddle.model.workload import Workload
from heddle.policy.parse import parse_policy
from heddle.policy.policy import Policy
from heddle.policy.present import common_policy
from heddle.run import Executor, check_executor, check_run
from heddle.traces.load import is_built_in

DEFAULT_POLICIES = ("fifo", "fair", "drf", "capacity")


@dataclass(frozen=True)
class Contender:
    """What is compared: a policy, with one of several queue configurations where there are several."""

    label: str
    policy: Policy
    clusters: tuple[Cluster, ...]  # in the order in which they were given


@dataclass(frozen=True)
class ComparisonPlan:
    """All runs of a comparison, and how they become one."""

    runs: tuple[PlannedRun, ...]
    contenders: tuple[Contender, ...]
    baseline: str
    baseline_is_present: bool  # it is what the cluster runs today
    sampling: Sampling

    @property
    def policies(self) -> list[Policy]:
        return list({one.policy.name: one.policy for one in self.contenders}.values())

    @property
    def resource_counts(self) -> set[int]:
        """For which numbers of resources the engine must be compiled."""
        return {len(run.cluster.resources) for run in self.runs}

    def comparison(self, done: Mapping[int, ComparedRun], command: str) -> Comparison:
        """The comparison, from the result of each run by its position."""
        order = {one.label: place for place, one in enumerate(self.contenders)}
        runs = [done[number] for number in range(len(self.runs))]
        ordered = sorted(runs, key=lambda run: order[run.policy])  # stable: clusters and seeds keep their order
        return compare_runs(ordered, self.baseline, command, self.sampling, self.baseline_is_present)


def plan_comparison(
    workload: str,
    first: Workload,
    policies: Sequence[Policy],
    clusters: Sequence[Cluster],
    *,
    queues: Sequence[str] = (),
    baseline: str | None = None,
    seeds: int | None = None,
    edges: Edges = NO_EDGES,
    resample: bool | None = None,
    block_s: float | None = None,
    complete: bool = False,
    executor: Executor = "native",
) -> ComparisonPlan:
    """The plan; `first` is the workload of seed 0. BadInput or RunRefused where something cannot run.

    Without a `baseline` it is the policy that the clusters run today, where they say so, else the first.
    """
    names = [on.name for on in clusters]
    if len(set(names)) < len(names):
        listed = ", ".join(name or "no name" for name in names)
        raise BadInput.of("--cluster", f"two clusters have the same name: {listed}")
    present = common_policy(clusters) if baseline is None else None
    if present is not None and str(present) not in map(str, policies):
        policies = [present, *policies]
    contenders = _contenders(policies, clusters, queues)
    base = _baseline(contenders, baseline if present is None else present.name)
    for one in contenders:
        for on in one.clusters:
            check_run(first, on, 0)
            check_executor([one.policy], first, on, executor)
    n_seeds = seeds or (5 if is_built_in(workload) else 10)
    sampling, block_ms = sampling_of(workload, first, clusters[0], n_seeds, resample, block_s)
    runs = [
        PlannedRun(
            source=Source(workload, block_ms=block_ms),
            cluster=one.clusters[place],
            policy=one.policy.name,
            seed=seed,
            label=one.label,
            complete=complete,
            executor=executor,
            edges=edges,
            is_baseline=one is base,
        )
        for seed in range(n_seeds)
        for place in range(len(clusters))
        for one in contenders
    ]
    return ComparisonPlan(tuple(runs), tuple(contenders), base.label, present is not None, sampling)


def read_policies(texts: Sequence[str]) -> list[Policy]:
    """All of them, or everything that is wrong with any of them."""
    found: dict[str, Policy] = {}
    problems: list[Problem] = []
    for text in texts:
        try:
            one = parse_policy(text)
        except BadInput as error:
            problems += error.problems
            continue
        if str(one) in map(str, found.values()):
            problems.append(Problem("--policy", f"{text} is given twice: it would be compared with itself"))
        found[one.name] = one
    if problems:
        raise BadInput(problems)
    return list(found.values())


def _contenders(policies: Sequence[Policy], clusters: Sequence[Cluster], queues: Sequence[str]) -> list[Contender]:
    if not queues:
        return [Contender(one.name, one, tuple(clusters)) for one in policies]
    names = [Path(file).stem for file in queues]
    if len(set(names)) < len(names):
        raise BadInput.of("--queues", f"two files have the same name: {', '.join(queues)}")
    problems: list[Problem] = []
    trees: list[tuple[Cluster, ...]] = []
    for file in queues:
        try:
            trees.append(tuple(with_queues(on, file) for on in clusters))
        except BadInput as error:
            problems += error.problems
    if problems:
        raise BadInput(problems)
    return [
        Contender(one.name if len(queues) == 1 else f"{one.name} with {name}", one, tree)
        for one in policies
        for name, tree in zip(names, trees, strict=True)
    ]


def _baseline(contenders: Sequence[Contender], text: str | None) -> Contender:
    if text is None:
        return contenders[0]
    name, _, queues = text.partition(" with ")
    wanted = str(parse_policy(name))
    for one in contenders:
        if str(one.policy) == wanted and (not queues or one.label.endswith(f" with {queues}")):
            return one
    labels = ", ".join(one.label for one in contenders)
    raise BadInput.of("--baseline", f"{text} is not among the policies compared: {labels}")
