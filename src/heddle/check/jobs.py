"""The jobs of the past as a workload, each as exactly as it is known.

A job that was watched, or whose history or event log was read, is what these say. For one of the same kind that was not
read, one that was stands in, made as large as YARN's accounts say. Of all others only these accounts are known: they
are taken for equal containers that ran as long as the job.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from heddle.check.present import Present
from heddle.model.resources import MILLI
from heddle.model.workload import PERMYRIAD, Workload
from heddle.traces.build import JobSpec, Profile, StageSpec, TaskSpec, build, constant
from heddle.traces.imports.jobs import Unique, from_zero
from heddle.yarn.observe.outlines import Outline
from heddle.yarn.observe.past_jobs import KINDS, PastJob, am_size

MOST_TASKS: Final = 50_000  # of the jobs that are simulated: the latest ones
MOST_NODE_S: Final = 4e7  # nodes x seconds that are simulated: every node reports its use once a second
MOST_OF_A_JOB: Final = 5000
_PEAK_FROM: Final = 9000  # permyriad: a task reaches its job's peak in the last tenth of its work
_EARLY_REDUCES: Final = 50  # permille of maps after which reduces are asked for: MapReduce's default
_GUESSED_AM: Final = (1024, MILLI)
_LEAST_MB: Final = 128

_NAME: Final = "the last jobs"
# How a job is known.
EXACT, STANDS_IN, ACCOUNTS = "in detail", "by another of its kind", "by YARN's accounts alone"


@dataclass(frozen=True)
class UseShare:
    """What containers really use of what they reserve, over all nodes; None: no node tells."""

    memory: float | None
    vcores: float | None

    def of(self, demand: Sequence[int]) -> Profile | None:
        if self.memory is None or self.vcores is None:
            return None
        return constant(max(1, round(self.memory * demand[0])), round(self.vcores * demand[1]))


@dataclass(frozen=True)
class Jobs:
    """A workload, and how well its jobs are known."""

    workload: Workload
    exact: Workload | None  # those of them that are known in detail: only their use is measured
    mean_s: float  # from submission to end, as it really was
    known: Mapping[str, int]  # how -> how many jobs


def kind_of(name: str) -> str:
    """What jobs that recur have in common: their names but for numbers, dates and other people's marks."""
    return re.sub(r"[0-9a-f]{8,}|\d+", "#", name)


def past_workload(
    outlines: Sequence[Outline],
    details: Mapping[str, JobSpec],
    sample: Mapping[str, PastJob],
    present: Present,
    use: UseShare,
) -> tuple[Jobs | None, Mapping[str, int]]:
    """(the jobs, or None if nothing is known of any; why others are left out -> how many).

    `details`: jobs known from elsewhere, by application; `sample`: MapReduce jobs read from the history server.
    """
    donors = _Donors(outlines, {app: _of_past_job(job, present) for app, job in sample.items()})
    known, left_out = Counter[str](), Counter[str]()
    unique = Unique()
    made: list[JobSpec] = []
    exact: list[JobSpec] = []
    taken_ms = 0
    tasks = 0
    largest = [max(node.allowance[r] for node in present.cluster.nodes) for r in range(2)]
    ordered = sorted(outlines, key=lambda one: (-one.ended_at_ms, one.id))
    stretch_ms = round(1000 * MOST_NODE_S / present.cluster.n_nodes)
    for outline in ordered:
        if outline.ended_at_ms < ordered[0].ended_at_ms - stretch_ms:
            left_out[f"they ended before the latest {stretch_ms / 3_600_000:.1f} h, which are simulated"] += 1
            continue
        leaf = present.leaf(outline.queue)
        if leaf is None:
            left_out["their queue is no longer a leaf queue"] += 1
            continue
        spec, how = details.get(outline.id), EXACT
        if spec is None:
            spec, how = donors.exact(outline.id), EXACT
        if spec is None:
            spec, how = donors.stand_in(outline), STANDS_IN
        if spec is None:
            spec, how = _by_accounts(outline, present, use), ACCOUNTS
        if spec is None or not any(stage.tasks for stage in spec.stages):
            left_out["nothing is known about their containers"] += 1
            continue
        tasks += sum(len(stage.tasks) for stage in spec.stages)
        if tasks > MOST_TASKS and made:
            left_out[f"they ended before the latest {MOST_TASKS:,} tasks"] += 1
            continue
        known[how] += 1
        taken_ms += outline.ended_at_ms - outline.submitted_at_ms
        own = replace(spec, name=outline.name, submit_at_ms=outline.submitted_at_ms, queue=leaf, user=outline.user)
        made.append(_fitted(replace(own, name=unique(own.name)), largest))
        exact += made[-1:] if how == EXACT else []
    whole, part = (build(_NAME, from_zero(some), about={"source": "check"}) if some else None for some in (made, exact))
    return None if whole is None else Jobs(whole, part, taken_ms / 1000 / len(made), known), left_out


class _Donors:
    """Jobs that were read in detail, and whom they can stand in for."""

    def __init__(self, outlines: Sequence[Outline], specs: Mapping[str, JobSpec | None]) -> None:
        self._spec = {app: spec for app, spec in specs.items() if spec is not None}
        self._outline = {one.id: one for one in outlines if one.id in self._spec}
        self._by_kind: dict[tuple[str, ...], list[str]] = {}
        for app, one in self._outline.items():
            for key in _keys(one):
                self._by_kind.setdefault(key, []).append(app)

    def exact(self, app: str) -> JobSpec | None:
        return self._spec.get(app)

    def stand_in(self, outline: Outline) -> JobSpec | None:
        for key in _keys(outline):
            if key in self._by_kind:
                donor = random.Random(outline.id).choice(self._by_kind[key])
                return _resized(self._spec[donor], self._outline[donor], outline)
        return None


def _keys(one: Outline) -> list[tuple[str, ...]]:
    """The nearest kin first."""
    return [(one.kind, kind_of(one.name), one.user), (one.kind, kind_of(one.name)), (one.kind, one.queue), (one.kind,)]


def _resized(spec: JobSpec, donor: Outline, wanted: Outline) -> JobSpec:
    """As many tasks as are told or, where they are not, so many more or fewer as YARN's accounts say."""
    counts = {"map": wanted.maps, "reduce": wanted.reduces}
    factor = 1.0
    if wanted.memory_mb_s and donor.memory_mb_s:
        factor = wanted.memory_mb_s / donor.memory_mb_s
    stages = []
    for stage in spec.stages:
        count = counts.get(stage.name)
        if count is None:
            count = round(factor * len(stage.tasks))
        count = min(MOST_OF_A_JOB, max(count, 1)) if stage.tasks else 0
        longer = factor * len(stage.tasks) / count if count and wanted.memory_mb_s and donor.memory_mb_s else 1.0
        drawn = random.Random(f"{wanted.id} {stage.name}")
        tasks = [
            replace(task, duration_ms=max(1, round(longer * task.duration_ms)))
            for task in (drawn.choice(stage.tasks) for _ in range(count))
        ]
        stages.append(replace(stage, tasks=tasks))
    return replace(spec, stages=stages)


def _of_past_job(job: PastJob, present: Present) -> JobSpec | None:
    last_map_ms = max((task.ended_at_ms for task in job.tasks["MAP"]), default=0)
    stages: list[StageSpec] = []
    for kind in KINDS:
        tasks, use = job.tasks[kind], job.use(kind)
        if not tasks:
            continue
        profile = None if use is None else ((_PEAK_FROM, (use[0], use[2])), (PERMYRIAD, (use[1], use[2])))
        # A reduce that began early waits for the last map: its own work is what comes after that.
        lengths = [
            max(1, task.ended_at_ms - max(task.began_at_ms, last_map_ms if kind == "REDUCE" else 0)) for task in tasks
        ]
        stages.append(
            StageSpec(
                kind.lower(), _rounded(job.size(kind), present), [TaskSpec(length, profile) for length in lengths],
                after=tuple(stage.name for stage in stages), slow_start_permille=_EARLY_REDUCES if stages else -1,
            )
        )  # fmt: skip
    return JobSpec(job.app, 0, stages, am=_rounded(am_size(job), present)) if stages else None


def _by_accounts(outline: Outline, present: Present, use: UseShare) -> JobSpec | None:
    """Containers of one vcore beside an AM, as many and as large as its MB-seconds and vcore-seconds make them."""
    span_ms = outline.ended_at_ms - (outline.launched_at_ms or outline.submitted_at_ms)
    if not outline.memory_mb_s or not outline.vcore_s or span_ms <= 0:
        return None
    am = _rounded(_GUESSED_AM, present)
    vcores, memory_mb = (1000 * amount / span_ms for amount in (outline.vcore_s, outline.memory_mb_s))
    count = min(MOST_OF_A_JOB, max(1, round(vcores - am[1] / MILLI)))
    size_mb = max(_LEAST_MB, round((memory_mb - am[0]) / count))
    demand = _rounded((size_mb, MILLI), present)
    profile = use.of(demand)
    tasks = [TaskSpec(span_ms, profile)] * count
    am_use = None if profile is None or use.memory is None else (max(1, round(use.memory * am[0])), 0)
    return JobSpec(outline.id, 0, [StageSpec("containers", demand, tasks)], am=am, am_use=am_use)


def _rounded(size: Sequence[int], present: Present) -> tuple[int, int]:
    """What YARN makes of a request: at least its smallest, in steps of it."""
    step = max(1, present.smallest_mb)
    return -(-max(1, size[0]) // step) * step, max(MILLI, size[1])


def _fitted(job: JobSpec, largest: Sequence[int]) -> JobSpec:
    """No request larger than every node of today; nodes may have been larger when it ran."""

    def fit(size: Sequence[int]) -> tuple[int, ...]:
        return tuple(min(amount, most) for amount, most in zip(size, largest, strict=False))

    stages = [replace(stage, demand=fit(stage.demand)) for stage in job.stages]
    return replace(job, stages=stages, am=None if job.am is None else fit(job.am))
