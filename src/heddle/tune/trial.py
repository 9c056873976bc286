"""One run of the search: a pure function of its configuration, computed anywhere, kept by its key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from heddle.experiments.compare import jobs_of
from heddle.experiments.sweep_run import RUN_SOURCES, file_digest, policy_identity
from heddle.model.cluster import Cluster
from heddle.model.own_sources import source_digest
from heddle.model.whereabouts import NamesFiles
from heddle.policy.users import own_lever_files
from heddle.run import Executor, simulate
from heddle.traces.identity import cluster_hash
from heddle.traces.load import is_built_in
from heddle.tune.aims import Measure
from heddle.tune.halves import Half


@dataclass(frozen=True)
class Trial(NamesFiles):
    """A policy on the jobs of one seed."""

    half: Half
    cluster: Cluster
    policy: str
    executor: Executor
    seed: int
    measures: tuple[Measure, ...]

    @property
    def files(self) -> tuple[str, ...]:
        return own_lever_files(self.policy)

    @cached_property
    def key(self) -> str:
        """The same for equal configurations run by the same heddle, and for no others: contents of files included."""
        workload = self.half.workload
        content = {
            "heddle": source_digest(*RUN_SOURCES, "tune/*.py"),
            "workload": workload if is_built_in(workload) else file_digest(workload),
            "half": [self.half.side, self.half.block_ms],
            "cluster": cluster_hash(self.cluster),
            "policy": policy_identity(self.policy),
            "executor": self.executor,
            "seed": self.seed,
            "measures": [str(one) for one in self.measures],
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Tried:
    """What came out of a trial."""

    key: str
    stalled: bool
    failed_jobs: int
    values: tuple[float | None, ...]  # of each measure

    def as_json(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "stalled": self.stalled,
            "failed_jobs": self.failed_jobs,
            "values": list(self.values),
        }

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> Tried:
        """KeyError, TypeError or ValueError where it is none."""
        values = tuple(None if one is None else float(one) for one in read["values"])
        return cls(str(read["key"]), bool(read["stalled"]), int(read["failed_jobs"]), values)


def run_trial(trial: Trial) -> Tried:
    run = simulate(
        jobs_of(trial.half, trial.seed), trial.cluster, trial.policy, seed=trial.seed, executor=trial.executor
    )
    stalled = run.manifest["outcome"] == "stalled"
    failed = int((run.jobs["outcome"] == "failed").sum())
    values = tuple(None if stalled else one.of(run) for one in trial.measures)
    return Tried(trial.key, stalled, failed, values)
