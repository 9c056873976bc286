"""A run cut at an instant: what somebody could have known then, and nothing of what came later.

From the record come containers, with their ends as far as they had ended; from its workload how stages depend on one
another and how many tasks they have, which an AM tells once it runs. Durations are never read from the workload.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.cluster import Cluster, Faults
from heddle.model.errors import BadInput
from heddle.model.reasons import Outcome
from heddle.model.workload import AM, EXECUTORS, INNER, Workload
from heddle.record.run import Run
from heddle.run import Executor
from heddle.twin.known import Application, Running, Snapshot, Stage

NEVER: Final = np.iinfo(np.int64).max
ATTEMPT: Final = ("job", "stage", "kind", "node", "allocated_at_ms", "started_at_ms", "ended_at_ms", "outcome")
Column = npt.NDArray[Any]


@dataclass(frozen=True)
class Lives:
    """What is known about a run: jobs that arrived, and attempts as columns (NEVER: not yet)."""

    policy: str
    jobs: Sequence[Mapping[str, Any]]  # job, name, queue, user, ended_at_ms
    arrived_ms: Mapping[int, int]
    attempts: Mapping[str, Column]


class Cut:
    """A simulated run, over or under way, as somebody outside knows it."""

    def __init__(self, lives: Lives, workload: Workload, cluster: Cluster) -> None:
        self._lives, self._workload, self._of = lives, workload, lives.attempts
        self._arrived_ms = lives.arrived_ms
        # Nobody knows of faults to come, or of the load that others will bring.
        nodes = tuple(replace(node, background=(), decommission_at_ms=-1) for node in cluster.nodes)
        self._cluster = replace(cluster, nodes=nodes, faults=Faults())

    def at(self, at_ms: int) -> Snapshot:
        """What was known then."""
        of = self._of
        here = np.flatnonzero(of["allocated_at_ms"] <= at_ms)
        runs = of["ended_at_ms"][here] > at_ms
        finished = here[~runs & (of["outcome"][here] == int(Outcome.FINISHED))]
        done, held = _by_stage(finished, of["stage"]), _by_stage(here[runs], of["stage"])
        apps = [
            self._application(row, at_ms, done, held)
            for row in self._lives.jobs
            if self._arrived_ms.get(row["job"], NEVER) <= at_ms
        ]
        return Snapshot(self._cluster, self._lives.policy, at_ms, tuple(apps))

    def _application(
        self, row: Mapping[str, Any], at_ms: int, done: Mapping[int, Column], held: Mapping[int, Column]
    ) -> Application:
        workload, job = self._workload, row["job"]
        spec = workload.jobs[job]
        first = int(spec["first_stage"])
        numbers = range(first, first + int(spec["n_stages"]))
        over = row["ended_at_ms"] is not None and row["ended_at_ms"] <= at_ms
        app = Application(
            id=str(job), name=row["name"], queue=row["queue"], user=row["user"], priority=int(spec["priority"]),
            submitted_at_ms=self._arrived_ms[job] - at_ms,
            ended_at_ms=row["ended_at_ms"] - at_ms if over else None,
        )  # fmt: skip
        if spec["has_am"]:
            master = self._running(held.get(first), at_ms, 0)
            app = replace(app, master=self._demand(first), master_runs=master[0] if master else None)
            if not over and not master:
                return replace(app, counted=False)  # its AM, which would tell, does not run yet
        done_ms = {number: self._done_ms(number, at_ms, done) for number in numbers}
        stages = tuple(
            self._stage(number, at_ms, done_ms, done, held, over)
            for number in numbers
            if workload.stages["kind"][number] != AM
        )
        return replace(app, stages=stages)

    def _stage(
        self,
        number: int,
        at_ms: int,
        done_ms: Mapping[int, int],
        done: Mapping[int, Column],
        held: Mapping[int, Column],
        over: bool,
    ) -> Stage:
        workload = self._workload
        spec = workload.stages[number]
        kind, early = int(spec["kind"]), int(spec["slow_start_permille"])
        own = int(workload.jobs["first_stage"][spec["job"]]) + int(workload.jobs["has_am"][spec["job"]])
        first = int(spec["first_after"])
        before = workload.stage_after[first : first + int(spec["n_after"])].tolist()
        # A task that may start early waits, in its container, for those before it: its work begins after them.
        ready_ms = max((done_ms[one] for one in before), default=0) if early >= 0 else 0
        running = () if over else self._running(held.get(number), at_ms, ready_ms)
        took: list[int] = []
        if (ended := done.get(number)) is not None and kind != EXECUTORS:
            began = np.maximum(self._of["started_at_ms"][ended], ready_ms)
            took = np.maximum(1, self._of["ended_at_ms"][ended] - began).tolist()
        if kind == EXECUTORS and over:
            took = [0] * int(spec["n_tasks"])  # they last as long as their job
        left = 0 if over else int(spec["n_tasks"]) - len(took) - len(running)
        return Stage(
            name=workload.stage_name(number), kind=kind, demand=self._demand(number), finished_ms=tuple(took),
            running=running, left=max(0, left), after=tuple(one - own for one in before),
            slow_start_permille=early, slots=int(spec["slots"]), idle_timeout_ms=int(spec["idle_timeout_ms"]),
            label=workload.labels[int(spec["label"])],
        )  # fmt: skip

    def _done_ms(self, number: int, at_ms: int, done: Mapping[int, Column]) -> int:
        """When the stage had all its tasks done; the present instant if it has not."""
        n_tasks, ended = int(self._workload.stages["n_tasks"][number]), done.get(number)
        if self._workload.stages["kind"][number] in (AM, EXECUTORS) or n_tasks == 0:
            return 0
        return int(self._of["ended_at_ms"][ended].max()) if ended is not None and len(ended) >= n_tasks else at_ms

    def _running(self, rows: Column | None, at_ms: int, ready_ms: int) -> tuple[Running, ...]:
        if rows is None:
            return ()
        began = np.minimum(at_ms, np.maximum(self._of["started_at_ms"][rows], ready_ms))
        inner = self._of["kind"][rows] == INNER
        names = self._cluster.nodes
        return tuple(
            Running("" if inside else names[node].name, int(at_ms - since))
            for node, since, inside in zip(self._of["node"][rows].tolist(), began.tolist(), inner.tolist(), strict=True)
        )

    def _demand(self, number: int) -> tuple[int, ...]:
        return tuple(self._workload.shapes[self._workload.stages["shape"][number]].tolist())


class Cutting(Cut):
    """A recorded run that can be cut at any instant."""

    def __init__(self, run: Run, workload: Workload, cluster: Cluster) -> None:
        if not run.manifest["complete_attempts"] or run.events is None:
            raise BadInput.of("record", "does not hold every attempt and event: simulate with --record")
        self._run = run
        self._last_ms = int(run.events["at_ms"].to_numpy().max(initial=0))
        came = run.events.filter(pl.col("kind") == "job_arrived")
        arrived_ms = dict(zip(came["job"].to_list(), came["at_ms"].to_list(), strict=True))
        self.ended_ms = {str(job): ended for job, ended in run.jobs.select("job", "ended_at_ms").iter_rows()}
        attempts = {name: run.attempts[name].fill_null(NEVER).to_numpy() for name in ATTEMPT}
        jobs = list(run.jobs.iter_rows(named=True))
        super().__init__(Lives(run.manifest["policy"], jobs, arrived_ms, attempts), workload, cluster)

    @property
    def executor(self) -> Executor:
        return cast(Executor, self._run.manifest["executor"])

    @property
    def last_ms(self) -> int:
        """When the last thing happened: a job ended or, in a run that stalled, somebody began to wait."""
        return self._last_ms


def _by_stage(rows: Column, stage: Column) -> dict[int, Column]:
    """Rows of attempts by their stage."""
    if not len(rows):
        return {}
    ordered = rows[np.argsort(stage[rows], kind="stable")]
    numbers, starts = np.unique(stage[ordered], return_index=True)
    return dict(zip(numbers.tolist(), np.split(ordered, starts[1:]), strict=True))
