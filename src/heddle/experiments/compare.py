"""Policies against each other: the same workloads, clusters and seeds for all, wherever an engine computes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Protocol

from heddle.analysis.best_possible.bounds import bounds
from heddle.analysis.certainty.sampling import THE_TRACE, Sampling
from heddle.analysis.comparison.compare import ComparedRun
from heddle.analysis.measures.edges import NO_EDGES, Edges
from heddle.analysis.measures.metrics import run_metrics
from heddle.experiments.rearrange import FEWEST_BLOCKS, TooShort, at_load, block_length_ms, n_blocks_of, resampled
from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput
from heddle.model.whereabouts import NamesFiles, brought_by
from heddle.model.workload import Workload
from heddle.policy.users import own_lever_files
from heddle.record.run import Run
from heddle.run import Executor, simulate
from heddle.traces.align import in_resources_of
from heddle.traces.cluster_import.scheduler_xml import read_queues_xml
from heddle.traces.clusters import load_cluster
from heddle.traces.load import is_built_in, load_workload

EXPLAINED: Final = 12  # most delayed jobs of a run whose reasons go into the report


class Jobs(Protocol):
    """Which jobs: small and hashable, so that another process can be sent it and make them of it."""

    def jobs(self, seed: int) -> Workload:
        """The jobs of this seed."""
        ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True)
class Source(NamesFiles):
    """Jobs that a user named."""

    workload: str
    load: float = 1.0  # how much faster they are submitted
    block_ms: int | None = None  # of a trace that is resampled

    @property
    def files(self) -> tuple[str, ...]:
        return () if is_built_in(self.workload) else (self.workload,)

    def jobs(self, seed: int) -> Workload:
        """The jobs of this seed."""
        loaded = at_load(load_workload(self.workload, seed), self.load)
        if self.block_ms is None or seed == THE_TRACE:
            return loaded
        return resampled(loaded, self.block_ms, seed)


@dataclass(frozen=True)
class PlannedRun(NamesFiles):
    """One run of a comparison: a pure function of this, wherever it is computed."""

    source: Jobs
    cluster: Cluster
    policy: str
    seed: int
    label: str = ""  # what the comparison calls this policy; empty: its own name
    complete: bool = False  # keep every attempt: curves over time are exact, and waits have reasons
    executor: Executor = "native"
    edges: Edges = NO_EDGES
    is_baseline: bool = False  # then bring along what is the same for all: names of jobs, bounds

    @property
    def files(self) -> tuple[str, ...]:
        return own_lever_files(self.policy)


def jobs_of(source: Jobs, seed: int) -> Workload:
    """Made once for runs that follow each other: a plan has those of the same jobs together."""
    return _jobs(source, seed, brought_by())


@lru_cache(maxsize=1)
def _jobs(source: Jobs, seed: int, _files: str) -> Workload:
    return source.jobs(seed)


def run_one(planned: PlannedRun) -> ComparedRun:
    """The metrics and curves of one run; its large tables are gone afterwards."""
    workload = jobs_of(planned.source, planned.seed)
    return ComparedRun.of(
        _simulated(planned, workload),
        policy=planned.label or None,
        edges=planned.edges,
        explained=EXPLAINED if planned.complete and planned.seed == 0 else 0,
        with_jobs=planned.is_baseline,
        bounds=bounds(in_resources_of(workload, planned.cluster), planned.cluster) if planned.is_baseline else (),
    )


def metrics_alone(planned: PlannedRun) -> Mapping[str, Any]:
    """Of one run among thousands, which nobody draws."""
    return run_metrics(_simulated(planned, jobs_of(planned.source, planned.seed)), planned.edges)


def _simulated(planned: PlannedRun, workload: Workload) -> Run:
    return simulate(
        workload,
        planned.cluster,
        planned.policy,
        seed=planned.seed,
        record=planned.complete,
        executor=planned.executor,
    )


def sampling_of(
    workload: str, first: Workload, cluster: Cluster, seeds: int, resample: bool | None, block_s: float | None
) -> tuple[Sampling, int | None]:
    """How the seeds of this workload differ, and the length of blocks in ms where a trace is resampled.

    `resample` None: if it can be. True: BadInput if it cannot.
    """
    if is_built_in(workload):
        if block_s is not None:
            raise BadInput.of("--block-s", f"{workload} is made anew for each seed: there is no trace to resample")
        return Sampling("seeds"), None
    if resample is False or seeds == 1:
        return Sampling("chance"), None
    try:
        length = block_length_ms(first, cluster) if block_s is None else round(1000 * block_s)
    except TooShort as error:
        if resample is None:
            return Sampling("chance", too_short=str(error)), None
        what = f"{error} Say how long blocks are to be (--block-s: at most a fifth of it)"
        raise BadInput.of(first.name, what) from None
    blocks = n_blocks_of(first, length)
    if blocks < FEWEST_BLOCKS:
        raise BadInput.of("--block-s", f"blocks of {block_s} s cut the trace into {blocks}: at least {FEWEST_BLOCKS}")
    return Sampling("blocks", blocks, length / 1000), length


def with_queues(cluster: Cluster, file: str) -> Cluster:
    """The cluster with the queue tree of another cluster file, or of a scheduler's XML."""
    if file.endswith(".xml"):
        return replace(cluster, queues=read_queues_xml(Path(file), cluster.total_allowance()).queues)
    return replace(cluster, queues=load_cluster(file).queues)
