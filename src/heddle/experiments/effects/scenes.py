"""Where the combinations are tried: built-in workloads and hours of recorded traces, on clusters with pool leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from heddle.model.cluster import Cluster, Queue
from heddle.model.workload import Workload
from heddle.traces.catalogue import describe, suggested_cluster
from heddle.traces.clusters import load_cluster
from heddle.traces.imports.importing import import_trace
from heddle.traces.parquet import write_parquet
from heddle.traces.tools.select import select_jobs
from heddle.yarn.live.applying.wanted import pool_leaf

# Each shows what some paper is about; the day is cut so that a run by knobs takes seconds.
BUILT_IN: Final = ("mix", "am-storm", "burst", "over-reserved-day(tasks=3000)", "network-dags")
POOLS: Final = 2  # DRESS's
WINDOW_S: Final = 3600
LONGEST_S: Final = 300  # a twelfth of the window: longer jobs would leave too few time blocks to resample


@dataclass(frozen=True)
class Recorded:
    """An hour of a recorded trace that knows its tasks' use, and a cluster that this hour keeps busy."""

    name: str
    path: str  # in the folder of traces
    from_s: int  # after its first submission
    cluster: str
    about: str

    def cut(self, trace: Workload) -> Workload:
        """The jobs of its hour, but for the longest."""
        at_s = (trace.jobs["submit_at_ms"] - trace.jobs["submit_at_ms"].min()) / 1000
        longest = [0.0] * trace.n_jobs
        for stage in trace.stages:
            first = int(stage["first_task"])
            longest_ms = trace.tasks["duration_ms"][first : first + int(stage["n_tasks"])].max(initial=0)
            longest[stage["job"]] = max(longest[stage["job"]], float(longest_ms) / 1000)
        chosen = (at_s >= self.from_s) & (at_s < self.from_s + WINDOW_S)
        for job, seconds in enumerate(longest):
            chosen[job] &= seconds <= LONGEST_S
        return replace(select_jobs(trace, chosen)[0], name=self.name)


# The hours with the most jobs that are spread over enough time blocks.
RECORDED: Final = (
    Recorded(
        "ksegments-eager", "ksegments_eager", 477_900, "3x16384x12",
        "the nf-core workflow eager (ancient DNA), with memory and CPU every two seconds "
        "([k-segments](traces/ksegments.md))",
    ),
    Recorded(
        "nextflow-rnaseq", "sizey_nextflow/trace_rnaseq.csv.gz", 4_500, "8x81920x24",
        "the nf-core workflow rnaseq, with what each task reserved and used ([Nextflow trace](traces/nextflow.md))",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Scene:
    """A workload with the cluster on which it is run."""

    name: str
    workload: str  # as a sweep names it
    cluster: Cluster
    about: str  # what it is and how to run it, in a sentence or two of Markdown


def built_in(text: str) -> Scene:
    name, _, given = text.partition("(")
    about = f"Built in: {describe(name.strip()).summary}" + (f" Here with {given.rstrip(' )')}." if given else "")
    return Scene(text, text, with_pool_leaves(suggested_cluster(text)), about)


def recorded(one: Recorded, traces: Path, folder: Path) -> Scene | str:
    """The scene, its workload written into the folder; or why it is left out."""
    path = traces / one.path
    if not path.exists():
        return f"{one.name} is left out: there is no {one.path} among the recorded traces (--traces)"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{one.name}.parquet"
    write_parquet(one.cut(import_trace([str(path)]).imported.workload), target)
    about = (
        f"Recorded: an hour of {one.about}, from second {one.from_s:,} on, without jobs that have tasks of more than "
        f"{LONGEST_S} s. `heddle effects -w {one.name} --traces FOLDER` runs it, with `{one.path}` in that folder."
    )
    return Scene(one.name, str(target), with_pool_leaves(load_cluster(one.cluster)), about)


def with_pool_leaves(cluster: Cluster) -> Cluster:
    """The cluster with the queues that stand for DRESS's pools, so that stock YARN can be driven by it."""
    leaves = tuple(Queue(pool_leaf(pool), guarantee_permille=1000 // POOLS) for pool in range(POOLS))
    return replace(cluster, queues=(*(cluster.queues or (Queue("root"),)), *leaves))
