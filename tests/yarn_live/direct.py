"""The simulator's way of running a sizing lever: a view made by hand, hooks called directly, as plain Python."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from heddle.model.view import EVENT_ALLOCATED, EVENT_FINISHED, EVENT_REPORTED, View, view_dtypes
from heddle.model.workload import JOB, STAGE
from heddle.policy.parse import parse_policy
from heddle.policy.policy import Setup
from heddle.policy.state import lever_state

SIZES = ((1024, 1000), (2048, 1000), (512, 2000), (3072, 3000))  # one stage for each


class DirectSizing:
    """Nodes of one size; containers are known by name."""

    def __init__(self, policy: str, n_nodes: int, memory_mb: int, vcores: int, report_ms: int) -> None:
        self.lever = parse_policy(policy).sizing
        dtypes = view_dtypes(2)
        self.view = View(
            clock=np.zeros(1, dtypes.clock),
            node=np.zeros(n_nodes, dtypes.node),
            queue=np.zeros(1, dtypes.queue),
            member=np.zeros(1, dtypes.member),
            pool=np.zeros(1, dtypes.pool),
            shape=np.zeros(len(SIZES), dtypes.shape),
            container=np.zeros(256, dtypes.container),
            job_spec=np.zeros(1, JOB),
            job=np.zeros(1, dtypes.job),
            stage_spec=np.zeros(len(SIZES), STAGE),
            stage=np.zeros(len(SIZES), dtypes.stage),
        )
        self.view.clock["report_ms"] = report_ms
        self.view.node["allowance"] = self.view.node["capacity"] = (memory_mb, 1000 * vcores)
        self.view.node["first_container"] = -1
        self.view.shape["demand"] = SIZES
        self.view.stage_spec["shape"] = np.arange(len(SIZES))
        state = self.lever.state
        rows = {"node": n_nodes, "container": 256, "table": 1}
        arrays = {part: state.zeroed(part, rows[part], 2) for part in state.parts}
        if self.lever.prepare is not None:
            nowhere = np.zeros(0, np.int64)
            setup = Setup(self.lever, self.view, lever_state(arrays), None, nowhere, nowhere)
            arrays |= setup.prepared_lists()
        self.state = lever_state(arrays)
        values = zip(self.lever.parameter_names, self.lever.in_thousandths(), strict=True)
        self.params = SimpleNamespace(**dict(values))
        self.reports = [0] * n_nodes
        self.held: dict[str, tuple[int, int, int, int]] = {}  # name -> node, stage, reports before, row

    def allocate(self, name: str, node: int, stage: int) -> None:
        row = min(set(range(256)) - {held[3] for held in self.held.values()})
        self.held[name] = node, stage, self.reports[node], row
        self.view.node["allocated"][node] += self.view.shape["demand"][stage]
        self.view.container["stage"][row] = stage
        if self.lever.state.container:
            self.state.container[row] = np.zeros((), self.state.container.dtype)
        self._chain(node)
        self._tell(EVENT_ALLOCATED, node, stage, row, 0)

    def _chain(self, node: int) -> None:
        """Links the rows of the node's containers."""
        rows = [held[3] for held in self.held.values() if held[0] == node]
        following = -1
        for row in rows:
            self.view.container["next"][row], following = following, row
        self.view.node["first_container"][node] = following

    def end(self, name: str) -> None:
        node, stage, before, row = self.held.pop(name)
        self.view.node["allocated"][node] -= self.view.shape["demand"][stage]
        self._tell(EVENT_FINISHED, node, stage, row, self.reports[node] - before)
        self._chain(node)

    def report(self, node: int, used: tuple[int, int], containers_used: tuple[int, int], count: int) -> None:
        self.view.node["used"][node], self.view.node["containers_used"][node] = used, containers_used
        self.reports[node] += count
        self._tell(EVENT_REPORTED, node, -1, -1, count)

    def totals(self) -> list[list[int]]:
        """By the simulator's rule: whole vcores, never below what is allocated."""
        found = []
        for node in range(len(self.view.node)):
            wanted = [int(self.lever.hooks["total"](self.view, self.state, self.params, node, r)) for r in (0, 1)]
            held = self.view.node["allocated"][node].tolist()
            found.append([max(wanted[0], held[0]), max(wanted[1] // 1000 * 1000, held[1])])
        return found

    def _tell(self, kind: int, node: int, stage: int, container: int, value: int) -> None:
        if kind in self.lever.listens and "on_event" in self.lever.hooks:
            self.lever.hooks["on_event"](self.view, self.state, self.params, kind, node, stage, container, value)
