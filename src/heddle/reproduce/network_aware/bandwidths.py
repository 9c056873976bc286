"""Fig. 3 and Fig. 4: execution time and CPU use over bandwidth, and the bytes that move."""

from __future__ import annotations

from collections.abc import Hashable

from heddle.reproduce.lab import Findings, Part, Work, runs_of
from heddle.reproduce.network_aware.ablation import ablation
from heddle.reproduce.network_aware.beyond import by_fetch_time
from heddle.reproduce.network_aware.dags import dags, paper_cluster
from heddle.reproduce.network_aware.hosts import Hosts
from heddle.reproduce.network_aware.measurements import CPU, MAKESPAN, MOVED, Measurements
from heddle.reproduce.network_aware.widest import widest


def bandwidths(hosts: Hosts) -> Part:
    known = hosts.known
    count = hosts.lab.size(known["dags.jobs"], known["dags.jobs_quick"])
    plan: dict[Hashable, Work] = {}
    for member, made in hosts.members.items():
        for mbps in hosts.bandwidths:
            for policy in [*hosts.policies, *hosts.ablations]:
                source, cluster = dags(known, made, count), paper_cluster(known, mbps, made[1])
                plan.update(runs_of((member, mbps), source, cluster, policy, hosts.seeds))
    captions = {
        member: f"{edge_mb:g} MB on an edge" + (f", hosts of {slots} slots" if slots > 1 else "")
        for member, (edge_mb, slots) in hosts.members.items()
    }
    measured = Measurements(hosts, (yield plan), captions, hosts.bandwidths)
    return Findings(
        claims=[
            *measured.against("paper", "stock"),
            *measured.against("late", "stock"),
            *measured.against("late", "spread"),
            *measured.against("paper", "stock_early"),
            *by_fetch_time(measured, "late"),
            *by_fetch_time(measured, "paper"),
        ],
        drawings=[
            drawing
            for member, (_, slots) in hosts.members.items()
            if slots == 1  # as the figures of the paper are
            for drawing in (
                measured.figure(member, MAKESPAN, "Fig. 3: execution time", "makespan (s)", 1.0),
                measured.figure(member, CPU, "Fig. 4: CPU use", "CPU used (%)", 100.0),
                measured.figure(member, MOVED, "Bytes over the network", "moved (GB)", 1.0),
            )
        ],
        tables=[
            *(measured.table(member) for member in hosts.members),
            ablation(known, measured.scores, captions, hosts.bandwidths),
            widest(measured),
        ],
        remarks=["Random DAGs stand in for the authors', which are not published; recorded ones are run beside them."],
    )
