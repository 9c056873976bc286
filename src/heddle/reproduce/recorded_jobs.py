"""Jobs of a recorded trace on a paper's cluster: how many tasks they have and how long these take is recorded.

A trace of one day is one sample, so that each seed draws its own jobs from it, with replacement.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from heddle.model.whereabouts import NamesFiles
from heddle.model.workload import AM, INNER, Workload
from heddle.reproduce.lab import Lab
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, Vector, build
from heddle.traces.imports.importing import import_trace
from heddle.traces.parquet import read_parquet, write_parquet

FOLDERS = ("swim_facebook", "alibaba_v2017_batch")


@dataclass(frozen=True)
class RecordedJobs(NamesFiles):
    """So many jobs, one every `interval_ms`; stages of a job one after the other."""

    path: str
    count: int
    interval_ms: int
    most_tasks: int
    longest_ms: int
    am: Vector
    demand: Vector

    @property
    def files(self) -> tuple[str, ...]:
        return (self.path,)

    def jobs(self, seed: int) -> Workload:
        usable = _usable(self.path, self.most_tasks, self.longest_ms)
        drawn = np.random.default_rng([5, seed]).choice(len(usable), self.count)
        specs = []
        for number, one in enumerate(drawn.tolist()):
            stages: list[StageSpec] = []
            for place, durations in enumerate(usable[one]):
                after = (f"stage-{place - 1}",) if place else ()
                tasks = [TaskSpec(max(500, ms)) for ms in durations]
                stages.append(StageSpec(f"stage-{place}", self.demand, tasks, after=after))
            specs.append(JobSpec(f"job-{number}", self.interval_ms * number, stages, am=self.am))
        return build("recorded", specs, about={"generator": "reproduce", "trace": Path(self.path).stem, "seed": seed})


@lru_cache(maxsize=4)
def _usable(path: str, most_tasks: int, longest_ms: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Of each job that can be used, the durations of its tasks, stage by stage."""
    trace = read_parquet(Path(path))
    found = []
    for job in trace.jobs:
        first = int(job["first_stage"])
        stages = [
            tuple(trace.tasks["duration_ms"][stage["first_task"] : stage["first_task"] + stage["n_tasks"]].tolist())
            for stage in trace.stages[first : first + int(job["n_stages"])]
            if stage["kind"] not in (AM, INNER)
        ]
        durations = [ms for stage in stages for ms in stage]
        if durations and len(durations) <= most_tasks and max(durations) <= longest_ms:
            found.append(tuple(stages))
    return tuple(found)


def imported(lab: Lab) -> dict[str, str]:
    """The traces as files that runs can read, by name; none where they are not here."""
    if lab.traces is None or not all((lab.traces / folder).is_dir() for folder in FOLDERS):
        return {}
    paths = {}
    for folder in FOLDERS:
        paths[folder] = str(lab.scratch / f"{folder}.parquet")
        write_parquet(import_trace([str(lab.traces / folder)]).imported.workload, Path(paths[folder]))
    return paths
