"""Which rows of a live view are declared stages, and what is declared of them, as levers' prepare() is told it."""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import BYTES_PER_MS_OF_MBPS, MOST_MBPS
from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.policy.policy import Declared
from heddle.yarn.live.columns import STAGE, Rows
from heddle.yarn.live.declared_data import DeclaredData
from heddle.yarn.live.live_memory import NOTHING
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.things_seen import NodeSeen

Numbers = npt.NDArray[np.int64]


class Said(NamedTuple):
    """The end of a Setup: what is said of data."""

    first_preferred: Numbers
    preferred: Numbers
    declared: Declared | None


NOTHING_SAID: Final = Said(np.zeros(0, np.int64), np.zeros(0, np.int64), None)


class _Edge(NamedTuple):
    of: int  # the place of the later stage in its job
    after: int  # that of the earlier one
    n_bytes: int


class _Block(NamedTuple):
    first: int  # the row of the job's first declared stage
    job: int  # in the workload


class DeclaredRows:
    """Of one live view. `version` changes whenever said() says more."""

    def __init__(self, data: DeclaredData) -> None:
        self._data, self._blocks = data, list[_Block]()
        self._nodes: list[NodeSeen] = []
        self._links: list[int] = []  # bytes per ms, by row of node
        self._uplinks: dict[int, int] = {}  # bytes per ms, by number of rack
        self._row_of_host: dict[str, int] = {}
        self.version = 0
        self._edges = cache(self._find_edges)
        self._input = cache(self._find_input)

    @property
    def n_nodes(self) -> int:
        """Those that it has been told of."""
        return len(self._links)

    def meet_node(self, node: NodeSeen, rack: int) -> None:
        """The next row is this node's, in the rack of this number."""
        mbps = self._data.link_mbps_of(node) or MOST_MBPS
        self._row_of_host[self._data.host_of(node)] = len(self._links)
        self._nodes.append(node)
        self._links.append(mbps * BYTES_PER_MS_OF_MBPS)
        self._uplinks[rack] = self._data.uplink_mbps_of(node.rack) * BYTES_PER_MS_OF_MBPS
        self.version += 1

    def stages_of(self, snapshot: Snapshot, rows: Numbers) -> tuple[Numbers, Rows, list[int]]:
        """What is declared of these applications: where the stages of each begin, the stages, and which job each is."""
        found, firsts, jobs = [], [0], []
        for row in rows.tolist():
            app = snapshot.app(row)
            job = self._data.job_of(app)
            stages = self._data.stages_of(job) if job >= 0 else ()
            priorities = self._data.priorities_of(app, stages) if stages else None
            if priorities is not None:
                found += [self._row(job, place, priority) for place, priority in enumerate(priorities)]
            jobs.append(NOTHING if priorities is None else job)
            firsts.append(len(found))
        return np.array(firsts, np.int64), np.array(found, STAGE), jobs

    def lay_out(self, first: int, job: int) -> None:
        """The job's stages have rows now, from this one on."""
        self._blocks.append(_Block(first, job))
        self.version += 1

    def said(self, n_stages: int) -> Said:
        """For a view of so many stages."""
        after, edge_bytes = [], []
        per_stage, preferred, preferred_bytes = np.zeros(n_stages, np.int64), [], []
        for block in self._blocks:  # whose rows ascend, as the edges do
            for edge in self._edges(block.job):
                after.append(block.first + edge.after)
                edge_bytes.append(edge.n_bytes)
            for place, held in enumerate(self._input(block.job)):
                here = {self._row_of_host[host]: n_bytes for host, n_bytes in held.items() if host in self._row_of_host}
                per_stage[block.first + place] = len(here)
                preferred += sorted(here)
                preferred_bytes += [here[node] for node in sorted(here)]
        uplink = np.zeros(max(self._uplinks, default=0) + 1, np.int64)
        for rack, rate in self._uplinks.items():
            uplink[rack] = rate
        declared = Declared(
            after=np.array(after, np.int32),
            edge_bytes=np.array(edge_bytes, np.int64),
            preferred_bytes=np.array(preferred_bytes, np.int64),
            bandwidth=np.array(self._links, np.int64),
            uplink=uplink,
            heartbeats=self._data.one_at_a_time,
            pairs=self._pairs(),
        )
        first_preferred = np.array([0, *accumulate(per_stage.tolist())], np.int64)
        return Said(first_preferred, np.array(preferred, np.int64), declared)

    def _pairs(self) -> Numbers:
        mbps_of, nodes = self._data.pair_mbps_of, self._nodes
        if mbps_of is None:
            return np.zeros(0, np.int64)
        rates = [mbps_of(one, other) if one is not other else 0 for one in nodes for other in nodes]
        return np.array(rates, np.int64) * BYTES_PER_MS_OF_MBPS

    def _row(self, job: int, place: int, priority: int) -> tuple[object, ...]:
        workload = self._data.workload
        spec = workload.stages[self._data.stages_of(job)[place]]
        shape = workload.shapes[spec["shape"]]
        size = int(shape[MEMORY]), -(-int(shape[VCORES]) // MILLI) * MILLI  # YARN knows whole vcores only
        n_after = sum(edge.of == place for edge in self._edges(job))
        return priority, size, spec["n_tasks"], n_after, spec["slow_start_permille"], spec["iteration"]

    def _find_edges(self, job: int) -> tuple[_Edge, ...]:
        """In the order of the stages that come later."""
        workload, stages = self._data.workload, self._data.stages_of(job)
        place_of, found = {stage: place for place, stage in enumerate(stages)}, []
        for place, stage in enumerate(stages):
            first, n_after = (int(workload.stages[name][stage]) for name in ("first_after", "n_after"))
            for edge in range(first, first + n_after):
                before = place_of.get(int(workload.stage_after[edge]))
                if before is not None:
                    n_bytes = 0 if workload.edge_bytes is None else int(workload.edge_bytes[edge])
                    found.append(_Edge(place, before, n_bytes))
        return tuple(found)

    def _find_input(self, job: int) -> tuple[dict[str, int], ...]:
        """Of each stage: the hosts that some of its tasks prefer, and what of their input lies there."""
        workload, found = self._data.workload, []
        for stage in self._data.stages_of(job):
            held: dict[str, int] = {}
            first, n_tasks = (int(workload.stages[name][stage]) for name in ("first_task", "n_tasks"))
            for task in range(first, first + n_tasks) if workload.prefers is not None else ():
                number = int(workload.prefers[task])  # type: ignore[index]
                if number >= 0:
                    host = workload.hosts[number]
                    n_bytes = 0 if workload.input_bytes is None else int(workload.input_bytes[task])
                    held[host] = held.get(host, 0) + n_bytes
            found.append(held)
        return tuple(found)
