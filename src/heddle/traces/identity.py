"""Which workload, which cluster: a hash of everything a run depends on.

Names of the whole (`name`) and its origin (`about`) do not count: the same tasks read from another file are the
same workload. Fields are hashed one by one, since structured arrays have padding between them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.cluster import Cluster, Observation
from heddle.model.workload import Workload

_DIGITS: Final = 16
ROWS_AT_ONCE: Final = 1 << 18  # a field of a structured array is copied to be hashed: in pieces, to stay lean


def workload_hash(workload: Workload) -> str:
    """16 hexadecimal digits that change with any job, stage, task, use, size or name inside the workload."""
    tables = (workload.jobs, workload.stages, workload.tasks, workload.segments)
    fields: list[Pieces | None] = [_pieces(table[field]) for table in tables for field in table.dtype.names or ()]
    columns = (workload.shapes, workload.stage_after, workload.job_after, workload.prefers)
    fields += [None if column is None else _pieces(column) for column in columns]
    # Without these the hash is what it was before workloads could have them.
    later = (workload.running_on, workload.started_at_ms, workload.edge_bytes, workload.input_bytes)
    fields += [_pieces(column) for column in later if column is not None]
    names = [None if series is None else _slices(series) for series in (workload.job_names, workload.stage_names)]
    return hash_of_columns(workload, fields, names)


class Pieces(NamedTuple):
    """A column that need not be in memory as a whole."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    content: Iterable[npt.NDArray[Any]]  # however it is cut


def hash_of_columns(
    about: Workload, columns: Iterable[Pieces | None], names: Iterable[tuple[int, Iterable[pl.Series]] | None]
) -> str:
    """The same, of columns that come piece by piece in the order of workload_hash(); of names slice by slice."""
    digest = hashlib.sha256()
    digest.update(json.dumps((about.resources, about.queues, about.users, about.labels, about.hosts)).encode())
    for column in columns:
        digest.update(b"none;" if column is None else f"{column.dtype.str}{column.shape};".encode())
        for piece in () if column is None else column.content:
            digest.update(np.ascontiguousarray(piece).tobytes())
    for series in names:
        digest.update(b"none;" if series is None else f"{series[0]};".encode())
        for names_at_once in () if series is None else series[1]:
            digest.update(json.dumps(names_at_once.to_list()).encode())
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


def _pieces(column: npt.NDArray[Any]) -> Pieces:
    cuts = range(0, len(column), ROWS_AT_ONCE)
    return Pieces(column.shape, column.dtype, (column[start : start + ROWS_AT_ONCE] for start in cuts))


def _slices(names: pl.Series) -> tuple[int, Iterable[pl.Series]]:
    cuts = range(0, len(names), ROWS_AT_ONCE)
    return len(names), (names.slice(start, ROWS_AT_ONCE) for start in cuts)
