"""Recorded DAGs in place of random ones: workflows of WfCommons, TPC-H queries on Spark, and shuffles at Facebook.

The workflows' edges have the bytes of the files that one task writes and another reads, the coflows those of their
shuffles. Of the queries no bytes are recorded: a stage hands on so many to each that follows for every second that its
tasks worked. Entry tasks read their input at no cost. The coflows also say how busy the network is with others.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from heddle.model.cluster import Cluster, Network
from heddle.model.whereabouts import NamesFiles
from heddle.model.workload import Workload
from heddle.reproduce.claims import Table
from heddle.reproduce.lab import Findings, Part, Work, runs_of
from heddle.reproduce.network_aware.beyond import RIVALS, by_fetch_time
from heddle.reproduce.network_aware.dags import BYTES_PER_MB, paper_cluster, task_demand
from heddle.reproduce.network_aware.hosts import Hosts
from heddle.reproduce.network_aware.measurements import Measurements
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.imports.importing import import_trace
from heddle.traces.parquet import read_parquet, write_parquet

WORKFLOWS, QUERIES, COFLOWS = "wfinstances", "tpch_spark_decima", "coflow_fb2010"
TRACES = {WORKFLOWS: "workflows", QUERIES: "queries", COFLOWS: "coflows"}
MOST_NAMED = 30
MOST_TRAFFIC_PERMILLE = 500  # of a link, what the network model gives to others at most


@dataclass(frozen=True)
class RecordedDags(NamesFiles):
    """So many DAGs of a trace, drawn with replacement, all at once; every task has a host for itself."""

    path: str
    count: int
    most_tasks: int
    longest_ms: int
    least_bytes: int
    bytes_per_ms: int  # of each stage's work, where no bytes are recorded; 0: they are
    demand: tuple[int, int]

    @property
    def files(self) -> tuple[str, ...]:
        return (self.path,)

    def jobs(self, seed: int) -> Workload:
        trace = _trace(self.path)
        chosen = np.random.default_rng([3, seed]).choice(usable(self), self.count).tolist()
        specs = [
            JobSpec(f"{trace.job_name(number)}-{place}", 0, self.stages(trace, number))
            for place, number in enumerate(chosen)
        ]
        return build("recorded dags", specs, about={"generator": "reproduce network-aware recorded", "seed": seed})

    def stages(self, trace: Workload, job: int) -> list[StageSpec]:
        first = int(trace.jobs["first_stage"][job])
        numbers = range(first, first + int(trace.jobs["n_stages"][job]))
        work_ms = {number: sum(_durations(trace, number)) for number in numbers}
        stages = []
        for number in numbers:
            begin = int(trace.stages["first_after"][number])
            edges = range(begin, begin + int(trace.stages["n_after"][number]))
            before = [int(trace.stage_after[edge]) for edge in edges]
            if self.bytes_per_ms:
                carried = [self.bytes_per_ms * work_ms[parent] for parent in before]
            else:
                carried = [0 if trace.edge_bytes is None else int(trace.edge_bytes[edge]) for edge in edges]
            tasks = [TaskSpec(one, constant(*self.demand)) for one in _durations(trace, number)]
            after = tuple(f"s{parent}" for parent in before)
            stages.append(StageSpec(f"s{number}", self.demand, tasks, after, after_bytes=tuple(carried)))
        return stages


@lru_cache
def usable(source: RecordedDags) -> tuple[int, ...]:
    """The numbers of the DAGs that are within the bounds."""
    trace = _trace(source.path)
    found = []
    for number in range(trace.n_jobs):
        stages = source.stages(trace, number)
        durations = [task.duration_ms for stage in stages for task in stage.tasks]
        moved = sum(sum(stage.after_bytes) for stage in stages)
        if len(durations) <= source.most_tasks and max(durations) <= source.longest_ms and moved >= source.least_bytes:
            found.append(number)
    return tuple(found)


def _durations(trace: Workload, stage: int) -> list[int]:
    first = int(trace.stages["first_task"][stage])
    found: list[int] = trace.tasks["duration_ms"][first : first + int(trace.stages["n_tasks"][stage])].tolist()
    return found


@lru_cache(maxsize=2)
def _trace(path: str) -> Workload:
    return read_parquet(Path(path))


def recorded(hosts: Hosts) -> Part:
    known, lab = hosts.known, hosts.lab
    folder = lab.traces
    if folder is None or not all((folder / name).is_dir() for name in TRACES):
        yield {}
        return Findings(remarks=["The recorded traces are not here (--traces): recorded DAGs were left out."])
    coflows = import_trace([str(folder / COFLOWS)]).imported.workload
    sent_mbps = mean_port_mbps(coflows)
    traffic = min(MOST_TRAFFIC_PERMILLE, round(1000 * sent_mbps / known["recorded.port_mbps"]))
    slots, most_slots = 1, int(known["recorded.slots"])
    kinds = {"": (0, slots), ", busy network": (traffic, slots), f", hosts of {most_slots} slots": (0, most_slots)}
    members = {f"{name}{kind}": (name, *made) for name in TRACES for kind, made in kinds.items()}
    bandwidths = lab.size(known["recorded.bandwidths_mbps"], known["recorded.bandwidths_quick_mbps"])
    sources = {name: _source(hosts, name) for name in TRACES}
    seeds = lab.scored(known["recorded.seeds"], known["recorded.seeds_quick"])
    plan: dict[Hashable, Work] = {}
    for member, (name, busy, at_a_time) in members.items():
        for mbps in bandwidths:
            cluster = _with_traffic(paper_cluster(known, mbps, at_a_time), busy)
            for policy in hosts.policies:
                plan.update(runs_of((member, mbps), sources[name], cluster, policy, seeds))
    results = yield plan
    found = Findings()
    for name, short in TRACES.items():
        ours = {member: member for member, (of, *_) in members.items() if of == name}
        runs = {key: metrics for key, metrics in results.items() if key[0][0] in ours}
        measured = Measurements(hosts, runs, ours, bandwidths)
        if name != COFLOWS:  # run for the sake of fetch times alone
            as_the_paper = {member: member for member in ours if members[member][2] == slots}
            found.claims += Measurements(hosts, runs, as_the_paper, bandwidths).recorded(short)
        for rival in RIVALS:
            found.claims += by_fetch_time(measured, rival, short)
        found.tables += [measured.table(member) for member in ours]
    found.tables.append(_drawn_from(sources))
    found.remarks.append(
        f"Recorded DAGs: {WORKFLOWS} and {COFLOWS} have the bytes of their edges; {QUERIES} have none, and each stage "
        f"hands on {known['recorded.mb_per_task_s']:g} MB for every second its tasks worked. Busy network: {COFLOWS} "
        f"sent {sent_mbps:.0f} Mbit/s to a port on average, {sent_mbps / known['recorded.port_mbps']:.2f} of what it "
        f"can take; so much of every link, but at most {MOST_TRAFFIC_PERMILLE / 1000:g} of it, others have on average."
    )
    return found


def mean_port_mbps(coflows: Workload) -> float:
    """What a port received over the time of the trace, on average."""
    ports = len(coflows.hosts)
    seconds = (int(coflows.jobs["submit_at_ms"].max()) - int(coflows.jobs["submit_at_ms"].min())) / 1000
    total = 0 if coflows.edge_bytes is None else int(coflows.edge_bytes.sum())
    return 8 * total / 1e6 / max(1, ports) / max(1.0, seconds)


def _source(hosts: Hosts, name: str) -> RecordedDags:
    known, lab = hosts.known, hosts.lab
    assert lab.traces is not None
    path = lab.scratch / f"{name}.parquet"
    write_parquet(import_trace([str(lab.traces / name)]).imported.workload, path)
    rate = round(BYTES_PER_MB * known["recorded.mb_per_task_s"] / 1000) if name == QUERIES else 0
    return RecordedDags(
        path=str(path),
        count=known["recorded.coflows" if name == COFLOWS else "recorded.jobs"],
        most_tasks=known["recorded.most_tasks"],
        longest_ms=1000 * known["recorded.coflows_longest_s" if name == COFLOWS else "recorded.longest_s"],
        least_bytes=round(BYTES_PER_MB * known["recorded.least_mb"]),
        bytes_per_ms=rate,
        demand=task_demand(known),
    )


def _with_traffic(cluster: Cluster, permille: int) -> Cluster:
    assert cluster.network is not None
    return replace(cluster, network=Network(cluster.network.rack_uplink_mbps, traffic_permille=permille))


def _drawn_from(sources: dict[str, RecordedDags]) -> Table:
    rows = []
    for name, source in sources.items():
        trace = _trace(source.path)
        drawn = [trace.job_name(number) for number in usable(source)]
        named = ", ".join(drawn) if len(drawn) <= MOST_NAMED else f"{drawn[0]} to {drawn[-1]}"
        rows.append((name, str(trace.n_jobs), str(len(drawn)), named))
    return Table("Recorded DAGs: what is drawn from", ("trace", "DAGs", "used", "which"), tuple(rows))
