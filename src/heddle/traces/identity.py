"""Which workload, which cluster: a hash of everything a run depends on.

Names of the whole (`name`) and its origin (`about`) do not count: the same tasks read from another file are the
same workload. Fields are hashed one by one, since structured arrays have padding between them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.cluster import Cluster, Observation
from heddle.model.workload import Workload

_DIGITS: Final = 16
_ROWS_AT_ONCE: Final = 1 << 18  # a field of a structured array is copied to be hashed: in pieces, to stay lean


def workload_hash(workload: Workload) -> str:
    """16 hexadecimal digits that change with any job, stage, task, use, size or name inside the workload."""
    digest = hashlib.sha256()
    names = (workload.resources, workload.queues, workload.users, workload.labels, workload.hosts)
    digest.update(json.dumps(names).encode())
    for table in (workload.jobs, workload.stages, workload.tasks, workload.segments):
        for field in table.dtype.names or ():
            _add(digest, table[field])
    for column in (workload.shapes, workload.stage_after, workload.job_after, workload.prefers):
        _add(digest, column)
    if workload.running_on is not None:  # without it the hash is what it was before workloads could have it
        _add(digest, workload.running_on)
        _add(digest, workload.started_at_ms)
    for data in (workload.edge_bytes, workload.input_bytes):
        if data is not None:
            _add(digest, data)
    for series in (workload.job_names, workload.stage_names):
        _add_names(digest, series)
    return digest.hexdigest()[:_DIGITS]


def cluster_hash(cluster: Cluster) -> str:
    """16 hexadecimal digits that change with anything in the cluster that a run depends on."""
    content = dataclasses.asdict(dataclasses.replace(cluster, nodes=()))
    # Thousands of nodes are taken as they are where nothing in them has parts: copying them would take seconds.
    content["nodes"] = [dataclasses.asdict(node) if node.background else vars(node) for node in cluster.nodes]
    del content["name"], content["about"], content["policy"]
    for queue in content["queues"]:
        del queue["stopped"]  # decides whether a workload is taken, not how it runs
    # The hash is what it was before there were these: what stands at its default is left out.
    defaults = {"decommission_at_ms": -1, "labels": ()}
    for kind in ("nodes", "queues"):
        content[kind] = [
            {key: value for key, value in one.items() if key not in defaults or value != defaults[key]}
            for one in content[kind]
        ]
    if cluster.observation.latency_ms == Observation().latency_ms:
        del content["observation"]["latency_ms"]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:_DIGITS]


def _add(digest: Any, column: npt.NDArray[Any] | None) -> None:
    if column is None:
        digest.update(b"none;")
        return
    digest.update(f"{column.dtype.str}{column.shape};".encode())
    for start in range(0, len(column), _ROWS_AT_ONCE):
        digest.update(np.ascontiguousarray(column[start : start + _ROWS_AT_ONCE]).tobytes())


def _add_names(digest: Any, names: pl.Series | None) -> None:
    if names is None:
        digest.update(b"none;")
        return
    digest.update(f"{len(names)};".encode())
    for start in range(0, len(names), _ROWS_AT_ONCE):
        digest.update(json.dumps(names.slice(start, _ROWS_AT_ONCE).to_list()).encode())
