"""One run from start to end: checked input, the engine, the record."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final, Literal, get_args

import polars as pl

from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput, CheckFailed, RunRefused
from heddle.model.own_sources import own_version
from heddle.model.resources import MAX_RESOURCES
from heddle.model.suggestion import did_you_mean
from heddle.model.workload import Workload
from heddle.policy.hooks import hooks_of
from heddle.policy.parse import parse_policy
from heddle.policy.policy import Policy
from heddle.policy.present import present_policy
from heddle.record.files import stored_table
from heddle.record.manifest import FORMAT_VERSION
from heddle.record.run import Run
from heddle.record.writing import record_folder
from heddle.run_blocks import AlignedBlocks, BlockStream
from heddle.run_check import BlocksTogether, BlockWatch, Together, Watch
from heddle.run_record import tables_of, tables_without_jobs, totals
from heddle.run_stream import LogStream
from heddle.sim import codes
from heddle.sim.blocks import refuse_in_blocks
from heddle.sim.loading import load_engine
from heddle.sim.memory.queue_tree import QueueTree
from heddle.sim.run import Ended, run_blocks, run_engine
from heddle.sim.stall import stall_reason
from heddle.traces.align import in_resources_of
from heddle.traces.blocks import JobBlocks
from heddle.traces.check import check_fits
from heddle.traces.identity import cluster_hash, workload_hash

Executor = Literal["native", "yarn-knobs", "bridge"]
EXECUTORS: Final[tuple[Executor, ...]] = get_args(Executor)
MAX_SEED: Final = 2**63 - 1


def simulate(
    workload: Workload | JobBlocks,
    cluster: Cluster,
    policy: Policy | str,
    *,
    seed: int = 0,
    record: bool | Path = False,
    check: bool = False,
    executor: Executor = "native",
    told: Mapping[str, Any] | None = None,
) -> Run:
    """Run the workload on the cluster under the policy.

    A workload may come in blocks (traces/blocks.py, traces/parquet_blocks.py): then memory is bounded, `record` must be
    a folder, and what comes out is the same.
    With `record` every attempt and event is kept, otherwise each task's last attempt. If it is a folder, the record is
    written there while the run goes on; the run that is returned reads attempts and events from it when asked for them.
    `check` verifies that the run can be right: where there is a folder, piece by piece while the run goes on, else from
    the log that is held in memory. A run that fails leaves no record.
    `told`: what whoever starts the run knows better for the manifest. BadInput: the workload does not fit the cluster,
    or the record cannot be written; RunRefused: this cannot be simulated; CheckFailed: the run broke a rule.
    """
    chosen = parse_policy(policy) if isinstance(policy, str) else policy
    if not isinstance(workload, Workload):
        if not isinstance(record, Path) or executor != "native":
            raise RunRefused("jobs that come in blocks need a folder for the record, and the native executor")
        return _simulate_in_blocks(workload, cluster, chosen, seed, record, check, told or {})
    check_executor([chosen], workload, cluster, executor)
    return simulate_by(_executing(executor), workload, cluster, chosen, seed, record, check, executor, told or {})


def simulate_by(
    execute: Callable[..., Ended],
    workload: Workload,
    cluster: Cluster,
    chosen: Policy,
    seed: int,
    record: bool | Path,
    check: bool,
    executor: Executor,
    told: Mapping[str, Any],
    told_after: Callable[[pl.DataFrame], Mapping[str, Any]] = lambda jobs: {},
) -> Run:
    """The same; `execute` runs the engine: (workload, cluster, policy, seed, whether it keeps a log, keeper=).

    `told_after`: what the table of jobs, once all is over, tells for the manifest.
    """
    began = time.perf_counter()
    check_run(workload, cluster, seed)
    aligned = in_resources_of(workload, cluster)
    compile_s = prepare_engine([chosen], len(cluster.resources))
    known = _known_before(workload, workload_hash(workload), cluster, chosen, seed, executor)
    known |= {"compile_s": compile_s} | dict(told)
    known |= {"complete_attempts": record is not False, "use_known": aligned.has_use}
    run = partial(execute, aligned, cluster, chosen, seed)

    def known_after(ended: Ended, jobs: pl.DataFrame) -> dict[str, Any]:
        took = {"wall_s": time.perf_counter() - began, "peak_rss_mb": peak_rss_mb()}
        return known | _known_after(ended, aligned.has_use, cluster) | took | dict(told_after(jobs))

    if isinstance(record, Path):
        with (
            record_folder(record, known) as folder,
            LogStream(folder, aligned, cluster) as stream,
            TemporaryFile(dir=folder.place) as file,
        ):
            watch = Watch(aligned, cluster, file) if check else None
            ended = run(True, keeper=Together(stream, watch) if watch else stream)
            _verify(ended, watch)
            short = stream.finish(ended)
            manifest = known_after(ended, short["jobs"])
            folder.finish(manifest)
        attempts, events = (stored_table(record, name) for name in ("attempts", "events"))
        return Run(manifest=manifest, attempts=attempts, events=events, **short)
    ended = run(record or check)
    watch = Watch(aligned, cluster, BytesIO()) if check else None
    if watch:
        ended.hand_over(watch)
    _verify(ended, watch)
    found = tables_of(ended, aligned, cluster, record=record)
    return Run(manifest=known_after(ended, found["jobs"]), **found)


def _simulate_in_blocks(
    source: JobBlocks,
    cluster: Cluster,
    chosen: Policy,
    seed: int,
    record: Path,
    check: bool,
    told: Mapping[str, Any],
) -> Run:
    began = time.perf_counter()
    check_seed_and_cluster(cluster, seed)
    refuse_in_blocks(chosen)
    blocks, about = AlignedBlocks(source, cluster), in_resources_of(source.about, cluster)
    compile_s = prepare_engine([chosen], len(cluster.resources))
    known = _known_before(source.about, source.hash(), cluster, chosen, seed, "native")
    known |= {"compile_s": compile_s} | dict(told)
    known |= {"complete_attempts": True, "use_known": blocks.facts.use_known}
    with (
        record_folder(record, known) as folder,
        BlockStream(folder, blocks, about, cluster) as stream,
        TemporaryFile(dir=folder.place) as file,
    ):
        watch = BlockWatch(blocks, about, cluster, file) if check else None
        ended = run_blocks(blocks, cluster, chosen, seed, BlocksTogether(stream, watch) if watch else stream)
        _verify(ended, watch)
        stream.finish()
        took = {"wall_s": time.perf_counter() - began, "peak_rss_mb": peak_rss_mb()}
        manifest = known | _known_after(ended, blocks.facts.use_known, cluster) | took
        folder.finish(manifest)
    jobs, stages, attempts, events = (stored_table(record, name) for name in ("jobs", "stages", "attempts", "events"))
    short = tables_without_jobs(about, cluster)
    return Run(manifest=manifest, jobs=jobs, stages=stages, attempts=attempts, events=events, **short)


def _verify(ended: Ended, watch: Watch | None) -> None:
    """CheckFailed if somebody watched the run, and it broke a rule."""
    if ended.status not in (codes.FINISHED, codes.STALLED, codes.LIVELOCK):
        raise RuntimeError(f"the engine stopped with status {ended.status}, which is a defect of heddle")
    if watch is not None and (broken := watch.broken(ended)):
        raise CheckFailed(broken)


def _known_before(
    workload: Workload, workload_hash: str, cluster: Cluster, policy: Policy, seed: int, executor: Executor
) -> dict[str, Any]:
    """Of the manifest, what a run cannot change. Of the workload only what is no job's is looked at."""
    resources = range(len(cluster.resources))
    return {
        "format_version": FORMAT_VERSION,
        "heddle_version": own_version(),
        "policy": policy.name,
        "seed": seed,
        "executor": executor,
        "workload": {"name": workload.name, "hash": workload_hash, "about": workload.about},
        "cluster": {
            "name": cluster.name,
            "hash": cluster_hash(cluster),
            "nodes": cluster.n_nodes,
            "resources": list(cluster.resources),
            "queues": _queue_limits(workload, cluster),
            "background": {
                str(number): [[level.from_at_ms, list(level.use)] for level in node.background]
                for number, node in enumerate(cluster.nodes)
                if node.background
            },
        },
        "resources": list(cluster.resources),
        "capacity_total": [sum(node.capacity[r] for node in cluster.nodes) for r in resources],
        "allowance_total": list(cluster.total_allowance()),
        "started_by": "api",
    }


def _known_after(ended: Ended, use_known: bool, cluster: Cluster) -> dict[str, Any]:
    """What came of it."""
    finished = ended.status == codes.FINISHED
    return {
        "outcome": "finished" if finished else "stalled",
        "reason": None if finished else stall_reason(ended.sim, ended.status),
        "simulate_s": ended.simulate_s,
        "totals": totals(ended.sim, use_known, cluster.has_network),
    }


def _executing(executor: Executor) -> Callable[..., Ended]:
    if executor == "native":
        return run_engine
    from heddle.stock_yarn import (
        outside,  # looks at clusters by code that Numba compiles, and a native run does without
    )

    return outside.run_by_bridge if executor == "bridge" else outside.run_by_knobs


def _queue_limits(workload: Workload, cluster: Cluster) -> dict[str, Any]:
    """What limits each queue, as the run began; parents before their children."""
    tree = QueueTree.of(cluster, workload)
    return {
        queue.name: {
            "parent": None if parent < 0 else tree.names[parent],
            "maximum_permille": queue.maximum_permille,
            "maximum": list(queue.maximum) or None,
            "am_share_permille": queue.am_share_permille,
        }
        for queue, parent in zip(tree.queues, tree.parent, strict=True)
    }


def prepare_engine(policies: Iterable[Policy], n_resources: int) -> float:
    """Compile what these policies need, or load it from the cache; the seconds that this took."""
    began = time.perf_counter()
    load_engine(n_resources)
    for policy in policies:
        hooks_of(policy.levers, n_resources)
    return time.perf_counter() - began


def peak_rss_mb() -> float:
    """The most memory that this process has held so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def check_executor(policies: Iterable[Policy], workload: Workload, cluster: Cluster, executor: Executor) -> None:
    """BadInput if there is no such executor; RunRefused if it cannot do what these policies want."""
    if executor not in EXECUTORS:
        hint = did_you_mean(str(executor), EXECUTORS) or f"; known: {', '.join(EXECUTORS)}"
        raise BadInput.of("--executor", f"{executor} is not known{hint}")
    if executor != "native":
        from heddle.stock_yarn.outside import refuse_without_knobs

        for policy in policies:
            refuse_without_knobs(policy, workload, cluster, bridge=executor == "bridge")


def check_run(workload: Workload, cluster: Cluster, seed: int) -> None:
    """BadInput or RunRefused if this cannot be run, before anything is compiled or started."""
    check_seed_and_cluster(cluster, seed)
    if problems := check_fits(workload, cluster):
        raise BadInput(problems)


def check_seed_and_cluster(cluster: Cluster, seed: int) -> None:
    """The same, as far as it is not about jobs."""
    if not 0 <= seed <= MAX_SEED:
        raise BadInput.of("--seed", f"a seed is a whole number from 0 to {MAX_SEED}, not {seed}")
    present_policy(cluster)
    if len(cluster.resources) > MAX_RESOURCES:
        raise RunRefused(f"{len(cluster.resources)} resources: at most {MAX_RESOURCES} can be simulated")
