"""A lever with its view and state as they are at time 0, to be called directly and told events by hand."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

from heddle.model.cluster import Cluster, Node
from heddle.model.view import EVENT_ALLOCATED, EVENT_ARRIVED, JOB_ADMITTED, JOB_ARRIVED, View
from heddle.model.workload import AM, Workload
from heddle.policy.handles import ParamsHandle, StateHandle, ViewHandle
from heddle.policy.hooks import layout_of, ready_hook
from heddle.policy.lever import Question
from heddle.policy.parse import parse_policy
from heddle.sim.memory.run_inputs import RunInputs
from heddle.sim.memory.setup import build_sim
from heddle.traces.build import JobSpec, build


def nodes(count: int, memory_mb: int, vcores: int) -> Cluster:
    size = (memory_mb, 1000 * vcores)
    return Cluster(tuple(Node(f"n{i}", size, size) for i in range(count)))


def _call(code: int, *words: int) -> int:
    """What the hook at this address answers: called as hosts call it (policy/native.py)."""
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, *(ctypes.c_int64,) * len(words))
    return int(kind(code)(*(int(word) for word in words)))


class HandMade:
    """`view` and `state` may be written to; `ask` and `tell` call the compiled hooks."""

    def __init__(self, policy: str, question: Question, jobs: list[JobSpec], cluster: Cluster) -> None:
        self.workload: Workload = build("hand-made", jobs)
        chosen = parse_policy(policy)
        sim = build_sim(RunInputs(self.workload, cluster, chosen, 0, False))
        self.lever, self.question = chosen.by_question[question], question
        self.view: View = sim.shown
        kept = sim.levers[question]
        self.state, self.params = kept.state, kept.params

    def ask(self, hook: str, *about: int) -> int:
        n_resources = len(self.workload.resources)
        view, state = ViewHandle(self.view), StateHandle(layout_of(self.lever, n_resources), self.state)
        params = ParamsHandle(self.lever.parameter_names, self.params)
        code = ready_hook(self.lever, hook, n_resources).address
        return _call(code, view.address, state.address, params.address, *about)

    @property
    def named_params(self) -> SimpleNamespace:
        """As hooks have them that run as plain Python."""
        return SimpleNamespace(**dict(zip(self.lever.parameter_names, self.params.tolist(), strict=True)))

    def tell(self, kind: int, node: int = -1, stage: int = -1, container: int = -1, value: int = 0) -> int:
        return self.ask("on_event", kind, node, stage, container, value)

    def at(self, now_ms: int) -> None:
        self.view.clock["now_ms"][0] = now_ms

    def stage(self, job: int, place: int) -> int:
        return int(self.view.job_spec["first_stage"][job]) + place

    def arrive(self, job: int) -> int:
        self.view.job["state"][job] = JOB_ARRIVED
        return self.tell(EVENT_ARRIVED, stage=self.stage(job, 0))

    def book(self, stage: int, node: int, sign: int = 1) -> None:
        """The sums that a host keeps, after a container of the stage was allocated (1) or ended (-1)."""
        view = self.view
        job = int(view.stage_spec["job"][stage])
        amount = sign * view.shape["demand"][view.stage_spec["shape"][stage]]
        view.node["allocated"][node] += amount
        view.job["allocated"][job] += amount
        view.pool["allocated"][view.job["pool"][job]] += amount
        view.stage["held"][stage] += sign
        view.job["held"][job] += sign
        if view.stage_spec["kind"][stage] == AM:
            view.clock["am_allocated"][0] += amount

    def allocate(self, stage: int, node: int, container: int = 0) -> int:
        self.book(stage, node)
        self.view.job["state"][self.view.stage_spec["job"][stage]] = JOB_ADMITTED
        return self.tell(EVENT_ALLOCATED, node, stage, container)

    def release(self, kind: int, stage: int, node: int, container: int = 0, value: int = 0) -> int:
        self.book(stage, node, -1)
        return self.tell(kind, node, stage, container, value)
