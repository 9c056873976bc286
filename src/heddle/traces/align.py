"""A workload in the resources of a cluster: both name theirs, the engine wants one list."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster
from heddle.model.workload import Workload, segment_dtype


def in_resources_of(workload: Workload, cluster: Cluster) -> Workload:
    """The workload with one column for each resource of the cluster, 0 where it names none.

    Ask check_fits first: what the workload needs and the cluster has not would get lost here.
    """
    if workload.resources == cluster.resources:
        return workload
    column = {name: r for r, name in enumerate(workload.resources)}
    segments = np.zeros(len(workload.segments), segment_dtype(len(cluster.resources)))
    for field in ("until_permyriad", "last"):
        segments[field] = workload.segments[field]
    segments["use"] = _pick(workload.segments["use"], column, cluster.resources)
    shapes = _pick(workload.shapes, column, cluster.resources)
    return replace(workload, resources=cluster.resources, shapes=shapes, segments=segments)


def _pick(table: npt.NDArray[np.int64], column: dict[str, int], wanted: tuple[str, ...]) -> npt.NDArray[np.int64]:
    picked = np.zeros((len(table), len(wanted)), np.int64)
    for r, name in enumerate(wanted):
        if name in column:
            picked[:, r] = table[:, column[name]]
    return picked
