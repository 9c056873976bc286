"""Where the ablation runs: ten workloads at three loads.

They were split before the first run into those by which `weave` was chosen and those by which it is scored. Five are
built in, five recorded. Of these three record what tasks use, and two what they read from each other; hosts have room
for several containers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from heddle.experiments.effects import scenes as effects
from heddle.experiments.effects.scenes import BUILT_IN, RECORDED, Recorded, Scene, built_in, with_pool_leaves
from heddle.experiments.rearrange import rearranged
from heddle.model.cluster import YARN, Cluster
from heddle.model.workload import Workload
from heddle.traces.clusters import in_racks, load_cluster
from heddle.traces.imports.importing import import_trace
from heddle.traces.parquet import write_parquet
from heddle.traces.tools.select import select_jobs

LOADS: Final = (0.7, 1.0, 1.4)  # times as fast as submitted
MOST_TASKS: Final = 200  # of a job that is drawn
LONGEST_MS: Final = 300_000
NODES_PER_RACK: Final = 4


@dataclass(frozen=True)
class WithBytes:
    """Jobs of a trace that records bytes, on hosts with links; half of a rack's bandwidth leaves it."""

    name: str
    path: str
    about: str
    hosts: str
    mbps: int
    jobs: Callable[[Workload], Workload]

    def cluster(self) -> Cluster:
        return replace(in_racks(load_cluster(self.hosts), NODES_PER_RACK, self.mbps), timing=YARN)


def drawn_workflows(trace: Workload) -> Workload:
    """A hundred and twenty of the workflows that are short enough, drawn with replacement, one a minute on average: 26
    are too few to tell chance from gain."""
    short = np.flatnonzero(_is_short(trace))
    chance = np.random.default_rng(26)
    pick = chance.choice(short, 120)
    submit = np.sort(chance.integers(0, 7_200_000, len(pick)))
    copy = np.array([int(np.sum(pick[:place] == job)) for place, job in enumerate(pick)])
    return rearranged(trace, pick, submit, copy)


def an_hour_of_coflows(trace: Workload) -> Workload:
    """All but the largest jobs: what is left keeps a dozen hosts busy."""
    return select_jobs(trace, _is_short(trace))[0]


def _is_short(trace: Workload) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    longest, tasks = np.zeros(trace.n_jobs), np.zeros(trace.n_jobs)
    stage_of = np.repeat(np.arange(len(trace.stages)), trace.stages["n_tasks"])
    np.maximum.at(longest, trace.stages["job"][stage_of], trace.tasks["duration_ms"])
    np.add.at(tasks, trace.stages["job"], trace.stages["n_tasks"])
    return (longest <= LONGEST_MS) & (tasks <= MOST_TASKS)


CHIPSEQ: Final = Recorded(
    "nextflow-chipseq", "sizey_nextflow/trace_chipseq.csv.gz", 1_800, "3x65536x24",
    "the nf-core workflow chipseq, with what each task reserved and used ([Nextflow trace](traces/nextflow.md))",
)  # fmt: skip
WITH_BYTES: Final = (
    WithBytes(
        "workflows", "wfinstances", "120 WfCommons workflows with the bytes of their files, drawn with replacement "
        "([WfCommons](traces/wfcommons.md))", "3x16384x8", 1000, drawn_workflows,
    ),
    WithBytes(
        "coflows", "coflow_fb2010", "an hour of MapReduce shuffles at Facebook ([coflows](traces/coflow.md))",
        "12x16384x8", 1000, an_hour_of_coflows,
    ),
)  # fmt: skip
NAMES: Final = (*BUILT_IN, *(one.name for one in (*RECORDED, CHIPSEQ)), *(one.name for one in WITH_BYTES))

CHOOSING: Final = ("mix", "am-storm", "network-dags", "ksegments-eager", "coflows")
SCORING: Final = tuple(name for name in NAMES if name not in CHOOSING)


def scene_of(name: str, traces: Path, folder: Path) -> Scene | str:
    """The scene, its workload written into the folder where it is a recorded one; or why it is left out."""
    for hour in (*RECORDED, CHIPSEQ):
        if hour.name == name:
            return effects.recorded(hour, traces, folder)
    for one in WITH_BYTES:
        if one.name == name:
            return _with_bytes(one, traces, folder)
    return built_in(name)


def _with_bytes(one: WithBytes, traces: Path, folder: Path) -> Scene | str:
    if not (traces / one.path).exists():
        return f"{one.name} is left out: there is no {one.path} among the recorded traces (--traces)"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{one.name}.parquet"
    trace = import_trace([str(traces / one.path)]).imported.workload
    write_parquet(replace(one.jobs(trace), name=one.name), target)
    return Scene(one.name, str(target), with_pool_leaves(one.cluster()), f"Recorded: {one.about}.")
