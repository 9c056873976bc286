"""One run of a sweep: a pure function from its configuration to one row of the data set."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

from heddle.analysis.certainty.sampling import Sampling
from heddle.analysis.comparison.compare import COMPARED, metric_value
from heddle.analysis.measures.edges import Edges
from heddle.analysis.measures.metrics import run_metrics
from heddle.experiments.compare import Source, jobs_of
from heddle.model.cluster import Cluster
from heddle.model.own_sources import source_digest
from heddle.model.whereabouts import NamesFiles
from heddle.policy.parse import parse_policy
from heddle.policy.users import own_lever_files
from heddle.run import Executor, simulate
from heddle.traces.identity import cluster_hash
from heddle.traces.load import is_built_in

# Whatever the numbers of a run rest on: a change of how they are printed does not make a sweep start anew.
RUN_SOURCES: Final = (
    *("run*.py", "experiments/compare.py", "experiments/rearrange.py", "experiments/sweep_run.py"),
    *(
        f"{part}/**/*.py"
        for part in ("model", "policy", "record", "traces", "sim", "stock_yarn", "yarn/live", "analysis")
    ),
)
METRIC_COLUMNS: Final = {metric.name: metric.name.replace(".", "_") for metric in COMPARED}


@dataclass(frozen=True)
class SweepRun(NamesFiles):
    """A configuration. What follows `edges` only says how its seeds differ and where it stands in the sweep."""

    source: Source
    cluster: Cluster
    policy: str
    executor: Executor
    seed: int
    edges: Edges
    sampling: Sampling
    workload_template: str
    policy_template: str
    cluster_text: str
    parameters: tuple[tuple[str, float | str], ...]

    @property
    def files(self) -> tuple[str, ...]:
        return own_lever_files(self.policy)

    @property
    def words(self) -> str:
        """Which of the sweep's it is, for people."""
        load = "" if self.source.load == 1.0 else f" at load {self.source.load:g}"
        by = "" if self.executor == "native" else f" by {self.executor}"
        return f"{self.policy} on {self.source.workload}{load}, {self.cluster_text}{by}, seed {self.seed}"

    @cached_property
    def key(self) -> str:
        """The same for equal configurations run by the same heddle, and for no others: contents of files included."""
        workload = self.source.workload
        content = {
            "heddle": source_digest(*RUN_SOURCES),
            "workload": workload if is_built_in(workload) else file_digest(workload),
            "load": self.source.load,
            "block_ms": self.source.block_ms,
            "sampling": self.sampling.as_json(),
            "cluster": cluster_hash(self.cluster),
            "policy": policy_identity(self.policy),
            "executor": self.executor,
            "seed": self.seed,
            "edges": [self.edges.warm_up_s, self.edges.cool_down_s],
            "place": [self.workload_template, self.policy_template, self.cluster_text, list(self.parameters)],
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]


@lru_cache(maxsize=256)
def file_digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


@lru_cache(maxsize=4096)
def policy_identity(text: str) -> list[str]:
    """The policy written out, and what stands in the files of a user's own levers."""
    return [str(parse_policy(text)), *(file_digest(file) for file in own_lever_files(text))]


def run_row(one: SweepRun) -> dict[str, Any]:
    """The row of a run: where it stands, how it ended, and every compared metric."""
    run = simulate(jobs_of(one.source, one.seed), one.cluster, one.policy, seed=one.seed, executor=one.executor)
    metrics = run_metrics(run, one.edges)
    numbers = {column: metric_value(metrics, name) for name, column in METRIC_COLUMNS.items()}
    return {
        "key": one.key,
        "workload": one.source.workload,
        "workload_template": one.workload_template,
        "load": one.source.load,
        "cluster": one.cluster_text,
        "nodes": one.cluster.n_nodes,
        "policy": one.policy,
        "policy_template": one.policy_template,
        "executor": one.executor,
        "seed": one.seed,
        "sampling": one.sampling.kind,
        "blocks": one.sampling.blocks,
        "block_s": one.sampling.block_s,
        "too_short": one.sampling.too_short,
        **{f"param_{name}": value for name, value in one.parameters},
        "outcome": metrics["outcome"],
        "reason": metrics["reason"],
        "jobs": metrics["jobs"],
        "tasks": metrics["tasks"],
        **numbers,
        "workload_hash": metrics["workload_hash"],
        "cluster_hash": metrics["cluster_hash"],
        "heddle_version": metrics["heddle_version"],
        "simulate_s": metrics["simulate_s"],
    }
