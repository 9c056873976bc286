"""What a random workload and its cluster may contain."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Features:
    """What a generated pair may contain; everything is off unless asked for."""

    heartbeats: bool = False  # else the ideal scheduler (launch and AM start may still take time)
    ams: bool = False
    dag: bool = False  # stages after stages, jobs after jobs
    early_stages: bool = False
    executors: bool = False
    use: bool = False  # recorded use: piecewise, sometimes above the reservation; and all physics rules
    background: bool = False
    faults: bool = False
    queues: bool = False
    labels: bool = False
    gpu: bool = False
    locality: bool = False
    preemption: bool = False  # between queues, of which there may be several
    network: bool = False  # bandwidth, and data to move
    decommissioning: bool = False


EVERYTHING = Features(*[True] * 15)
