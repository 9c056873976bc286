"""The functions of `import heddle`. They take what the command line takes, or the objects that these functions give."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from heddle.analysis.best_possible.bounds import bounds
from heddle.analysis.measures.edges import Edges
from heddle.api.results import ComparisonResult, Result
from heddle.experiments.attempts import results_or_raise
from heddle.experiments.compare import run_one
from heddle.experiments.engines import LocalProcesses
from heddle.experiments.plan import DEFAULT_POLICIES, plan_comparison, read_policies
from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput
from heddle.model.workload import Workload
from heddle.policy.policy import Policy
from heddle.record.files import read_record as read_run
from heddle.run import Executor, check_run
from heddle.run import simulate as run_simulation
from heddle.traces.align import in_resources_of
from heddle.traces.blocks import JobBlocks
from heddle.traces.catalogue import suggested_cluster
from heddle.traces.clusters import load_cluster
from heddle.traces.load import is_built_in, load_blocks, load_workload
from heddle.traces.parquet import write_parquet


def workload(spec: str, seed: int = 0) -> Workload:
    """A workload: a built-in name such as `mix(jobs=80)`, a .csv of tasks, or a .parquet file."""
    return load_workload(spec, seed)


def cluster(spec: str) -> Cluster:
    """A cluster: `20x65536x24`, a .yaml or .json file, or the name of a built-in workload for what it suggests."""
    return suggested_cluster(spec) if is_built_in(spec) else load_cluster(spec)


def simulate(
    workload: str | Workload,
    policy: str | Policy = "fifo",
    cluster: str | Cluster | None = None,
    *,
    seed: int = 0,
    record: bool | str | Path = False,
    check: bool = False,
    executor: Executor = "native",
    blocks: bool = False,
) -> Result:
    """One run. With `record` every attempt and the reason of every wait is kept, as `Result.explain` needs it; if it is
    a folder, in a record that is written there while the run goes on, as by `heddle simulate --record`.

    Under the executor "yarn-knobs" a stock YARN decides, and the policy turns its knobs from outside; under "bridge" it
    also orders its requests, through the bridge in its ResourceManager.

    With `blocks` a .parquet file is read block by block, as the clock comes to its jobs, so that it need not fit into
    memory; `record` must be a folder. What comes out is the same. The frames of the result are read when they are asked
    for; `metrics` and `explain` hold none of them.
    """
    if blocks and not isinstance(workload, str):
        raise BadInput.of("blocks", "only a .parquet file is read in blocks: name one")
    jobs: Workload | JobBlocks
    if isinstance(workload, str):
        jobs = load_blocks(workload) if blocks else load_workload(workload, seed)
    else:
        jobs = workload
    on = _cluster(workload, cluster)
    keep = Path(record) if isinstance(record, str) else record
    return Result(run_simulation(jobs, on, policy, seed=seed, record=keep, check=check, executor=executor))


def compare(
    workload: str | Workload,
    policies: Sequence[str] = DEFAULT_POLICIES,
    cluster: str | Cluster | Sequence[str | Cluster] | None = None,
    *,
    seeds: int | None = None,
    baseline: str | None = None,
    warm_up_s: float = 0.0,
    cool_down_s: float = 0.0,
    resample: bool | None = None,
    block_s: float | None = None,
    processes: int = 1,
    record: bool = True,
    executor: Executor = "native",
) -> ComparisonResult:
    """Policies against each other, paired over seeds, as `heddle compare` does it.

    A workload in memory is a trace like one from a file: it is resampled in time blocks. `record` keeps what the
    report's figures over time and reasons need. More than one of `processes` needs a script with a main guard.
    `executor` is as in `simulate`, for all runs.
    """
    if isinstance(workload, Workload):
        with tempfile.TemporaryDirectory(prefix="heddle-") as folder:
            path = Path(folder) / f"{workload.name or 'workload'}.parquet"
            write_parquet(workload, path)
            if cluster is None:
                raise BadInput.of("cluster", "a workload in memory suggests no cluster: name one")
            return compare(
                str(path), policies, cluster, seeds=seeds, baseline=baseline, warm_up_s=warm_up_s,
                cool_down_s=cool_down_s, resample=resample, block_s=block_s, processes=processes, record=record,
                executor=executor,
            )  # fmt: skip
    chosen = [cluster] if cluster is None or isinstance(cluster, str | Cluster) else list(cluster)
    plan = plan_comparison(
        workload,
        load_workload(workload, 0),
        read_policies(policies),
        [_cluster(workload, one) for one in chosen],
        baseline=baseline,
        seeds=seeds,
        edges=Edges(warm_up_s, cool_down_s),
        resample=resample,
        block_s=block_s,
        complete=record,
        executor=executor,
    )
    done = dict(results_or_raise(LocalProcesses(processes).run(run_one, plan.runs)))
    by = "" if executor == "native" else f", executor={executor!r}"
    arguments = f"{workload!r}, {list(policies)!r}, seeds={seeds}, baseline={baseline!r}{by}"
    return ComparisonResult(plan.comparison(done, f"heddle.compare({arguments})"))


def bound(workload: str | Workload, cluster: str | Cluster | None = None, *, seed: int = 0) -> pl.DataFrame:
    """What no scheduler can beat, in seconds: one row for those that honour reservations, one for any at all."""
    jobs = load_workload(workload, seed) if isinstance(workload, str) else workload
    on = _cluster(workload, cluster)
    check_run(jobs, on, seed)
    rows = [(one.kind, one.makespan_s, one.mean_jct_s) for one in bounds(in_resources_of(jobs, on), on)]
    return pl.DataFrame(rows, schema=("schedulers", "makespan_s", "mean_jct_s"), orient="row")


def read_record(folder: str | Path) -> Result:
    """The run of a record that `heddle simulate --record` or `Result.save` wrote."""
    return Result(read_run(folder))


def _cluster(workload: str | Workload, given: str | Cluster | None) -> Cluster:
    if isinstance(given, Cluster):
        return given
    if given is not None:
        return cluster(given)
    if isinstance(workload, str) and is_built_in(workload):
        return suggested_cluster(workload)
    raise BadInput.of("cluster", "this workload suggests no cluster: name one, as in 20x65536x24")
