"""Futures to roll out: the workload that goes on from a snapshot, as often as wanted, each time drawn differently.

What runs goes on and what waits is there at once; how long tasks take is drawn (durations.py), and so is who comes
(arrivals.py). Of an application whose tasks nobody has counted yet - its AM waits to start, say - one of the same name
in the past stands in, else one of its queue, else any; each future draws its own. With the same seed, future d is the
same workload for every policy: rollouts are paired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from heddle.experiments.rearrange import rearranged
from heddle.model.workload import INNER, NOT_RUNNING, Workload
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.twin.arrivals import Arrivals
from heddle.twin.durations import CLUSTER, NAME, QUEUE, Past, predict
from heddle.twin.known import WORKING, Application, Snapshot, Stage

MOST_TEMPLATES: Final = 400  # applications of the past that others may be like, the latest
MOST_TEMPLATE_TASKS: Final = 200_000

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Future:
    """`job_of[a]`: the number in the workload of live application a; -1: nothing is known that could stand for it."""

    workload: Workload
    job_of: tuple[int, ...]


class Futures:
    """All futures of a snapshot."""

    def __init__(self, snapshot: Snapshot, horizon_ms: int, n_draws: int, seed: int = 0) -> None:
        self._snapshot, self._seed = snapshot, seed
        self._past = Past.of(snapshot)
        self._arrivals = Arrivals(snapshot.applications, snapshot.watched_ms, horizon_ms)
        self._templates = _templates(snapshot)
        self._place = {app.id: number for number, app in enumerate(self._templates)}
        self._by_key: dict[tuple[str, ...], list[int]] = {}
        for number, app in enumerate(self._templates):
            for key in _kin(app):
                self._by_key.setdefault(key, []).append(number)
        self.basis: list[str] = []  # of each live application: what its durations rest on; "" = nothing
        self._present: list[int] = []  # of each live application: its job in the workload; -1 = another stands in
        specs: list[JobSpec] = []
        running: list[tuple[int, int, int, int]] = []  # job, stage, nodes' number, worked_ms
        drawn = _Drawn(n_draws, seed)
        self._nodes = {node.name: number for number, node in enumerate(snapshot.cluster.nodes)}
        for app in snapshot.live:
            if app.has_started:
                self._present.append(len(specs))
                specs.append(self._present_spec(app, drawn, running, len(specs)))
            else:
                self._present.append(-1)
                self.basis.append(self._stand_in_basis(app))
        self._first_template = len(specs)
        specs += [self._template_spec(app, drawn) for app in self._templates]
        named = [replace(spec, name=str(number)) for number, spec in enumerate(specs)]
        self._base = _with_running(build("twin", named, snapshot.cluster.resources), running, self._nodes)
        self._durations = drawn.matrix()

    @property
    def is_blind(self) -> bool:
        """Whether no task has finished yet that durations could be drawn from."""
        return self._past.is_empty and not any(
            stage.finished_ms for app in self._snapshot.live for stage in app.stages if stage.kind in WORKING
        )

    def future(self, draw: int) -> Future:
        random = np.random.default_rng((self._seed, draw, 1))
        picks: list[tuple[int, int, int]] = []  # submission, order, job
        owners: list[tuple[str, str] | None] = []
        for number, app in enumerate(self._snapshot.live):
            job = self._present[number]
            if job < 0:
                kin = self._kin_of(app)
                job = self._first_template + int(random.choice(kin)) if kin else -1
            picks.append((0, number, job))
            owners.append((app.queue, app.user) if self._present[number] < 0 else None)
        for came in self._arrivals.draw(random):
            kin = [self._place[came.like.id]] if came.like.id in self._place else self._kin_of(came.like)
            if kin:
                picks.append((came.at_ms, len(picks), self._first_template + int(random.choice(kin))))
                owners.append((came.like.queue, came.like.user))
        ordered = sorted(one for one in picks if one[2] >= 0)
        place = {order: at for at, (_, order, _) in enumerate(ordered)}
        base = self._base
        tasks = base.tasks.copy()
        tasks["duration_ms"] = self._durations[draw]
        pick = np.array([job for _, _, job in ordered], np.int64)
        submit = np.array([at_ms for at_ms, _, _ in ordered], np.int64)
        made = rearranged(replace(base, tasks=tasks), pick, submit, np.arange(len(pick)))
        made = _owned(made, [owners[order] for _, order, _ in ordered])
        return Future(made, tuple(place.get(number, -1) for number in range(len(self._snapshot.live))))

    def _kin_of(self, app: Application) -> Sequence[int]:
        return next((self._by_key[key] for key in _kin(app) if key in self._by_key), ())

    def _stand_in_basis(self, app: Application) -> str:
        """Only past applications of the same name show how many tasks it will have."""
        return NAME if _kin(app)[0] in self._by_key else ""

    def _present_spec(
        self, app: Application, drawn: _Drawn, running: list[tuple[int, int, int, int]], job: int
    ) -> JobSpec:
        if app.master_runs is not None:
            running.append((job, 0, self._nodes[app.master_runs.node], app.master_runs.worked_ms))
        drawn.skip(app)
        counts = {place: len(stage.running) + stage.left for place, stage in enumerate(app.stages)}
        stages: list[StageSpec] = []
        bases: list[str] = []
        for place, stage in enumerate(app.stages):
            if not counts[place]:
                continue  # it is done, and nobody waits for it
            bases += drawn.add(app, stage, self._past, whole=False)
            if stage.kind != INNER:
                offset = len(stages) + (app.master is not None)
                running += [(job, offset, self._nodes[one.node], one.worked_ms) for one in stage.running]
            stages.append(_spec(place, stage, counts))
        self.basis.append("" if not app.counted or "" in bases else _weakest(bases))
        return _job(app, stages)

    def _template_spec(self, app: Application, drawn: _Drawn) -> JobSpec:
        drawn.skip(app)
        counts = {place: stage.n_tasks for place, stage in enumerate(app.stages)}
        stages = []
        for place, stage in enumerate(app.stages):
            if counts[place]:
                drawn.add(app, stage, self._past, whole=True)
                stages.append(_spec(place, stage, counts))
        return _job(app, stages)


class _Drawn:
    """Durations of the tasks of a workload in the order in which it is put together, for every future."""

    def __init__(self, n_draws: int, seed: int) -> None:
        self._n_draws, self._pieces = n_draws, [np.zeros((n_draws, 0))]
        self._random = np.random.default_rng((seed, 0))

    def skip(self, app: Application) -> None:
        """The AM, which has none."""
        if app.master is not None:
            self._pieces.append(np.zeros((self._n_draws, 1)))

    def add(self, app: Application, stage: Stage, past: Past, *, whole: bool) -> list[str]:
        """The basis of the draws, if there is anything to draw."""
        if stage.kind not in WORKING:
            count = stage.n_tasks if whole else len(stage.running) + stage.left
            self._pieces.append(np.zeros((self._n_draws, count)))
            return []
        if whole:
            fixed = np.array(stage.finished_ms, float)
            self._pieces.append(np.broadcast_to(fixed, (self._n_draws, len(fixed))))
        if not stage.running and not stage.left:
            return []
        predicted = predict(app, stage, past, self._n_draws, self._random)
        draws = predicted.draws
        if stage.kind == INNER and not whole:  # none can be under way when a run begins: what is left of it is run
            draws[:, : len(stage.running)] -= [one.worked_ms for one in stage.running]
        self._pieces.append(np.maximum(1, draws))
        return [predicted.basis]

    def matrix(self) -> Numbers:
        return np.rint(np.concatenate(self._pieces, axis=1)).astype(np.int64)


def _job(app: Application, stages: Sequence[StageSpec]) -> JobSpec:
    return JobSpec(
        app.id, 0, stages, am=app.master, am_use=app.master_use, queue=app.queue, user=app.user, priority=app.priority
    )


def _spec(place: int, stage: Stage, counts: Mapping[int, int]) -> StageSpec:
    """`counts`: how many tasks each stage of its application has."""
    # What has begun does not wait for what its application says comes before it.
    begun = stage.running and stage.slow_start_permille < 0
    after = tuple(str(one) for one in stage.after if counts[one]) if not begun else ()
    undrawn = TaskSpec(0, None if stage.use is None else constant(*stage.use))
    return StageSpec(
        str(place), stage.demand, [undrawn] * counts[place], after=after, kind=stage.kind, slots=stage.slots,
        slow_start_permille=stage.slow_start_permille, idle_timeout_ms=stage.idle_timeout_ms, label=stage.label,
    )  # fmt: skip


def _with_running(workload: Workload, running: Sequence[tuple[int, int, int, int]], nodes: dict[str, int]) -> Workload:
    on = np.full(len(workload.tasks), NOT_RUNNING, np.int32)
    since = np.zeros(len(workload.tasks), np.int64)
    nth: dict[int, int] = {}
    for job, place, node, worked_ms in running:
        stage = int(workload.jobs["first_stage"][job]) + place
        task = int(workload.stages["first_task"][stage]) + nth.get(stage, 0)
        nth[stage] = nth.get(stage, 0) + 1
        on[task], since[task] = node, -worked_ms
    return replace(workload, running_on=on, started_at_ms=since, hosts=tuple(nodes))


def _owned(workload: Workload, owners: Sequence[tuple[str, str] | None]) -> Workload:
    """Whoever stands in does so in the queue, and for the user, of the one it stands for."""
    queues, users = list(workload.queues), list(workload.users)
    jobs = workload.jobs.copy()
    for job, owner in enumerate(owners):
        if owner is not None:
            for name, known, column in ((owner[0], queues, "queue"), (owner[1], users, "user")):
                if name not in known:
                    known.append(name)
                jobs[column][job] = known.index(name)
    return replace(workload, jobs=jobs, queues=tuple(queues), users=tuple(users))


def _templates(snapshot: Snapshot) -> list[Application]:
    whole = {app.kind for app in snapshot.applications if app.counted and app.stages and not app.in_part}
    counted = [
        app for app in snapshot.applications if app.counted and app.stages and not (app.in_part and app.kind in whole)
    ]
    latest = sorted(counted, key=lambda app: -app.submitted_at_ms)[:MOST_TEMPLATES]
    kept: list[Application] = []
    tasks = 0
    for app in latest:
        tasks += sum(stage.n_tasks for stage in app.stages)
        if tasks > MOST_TEMPLATE_TASKS and kept:
            break
        kept.append(app)
    return kept


def _kin(app: Application) -> list[tuple[str, ...]]:
    return [(NAME, *app.kind), (QUEUE, app.queue), (CLUSTER,)]


def _weakest(bases: Sequence[str]) -> str:
    order = (CLUSTER, QUEUE, NAME)
    return next((one for one in order if one in bases), "stage")
