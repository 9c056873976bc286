"""V-A and V-B on recorded traces, in place of the authors' day: tasks drawn anew from them for each seed.

`ksegments_eager` has use over time; `sizey_nextflow` has peaks alone: its tasks use their peak from start to end here,
which hides every ramp - fewer crashes than in life, and nothing to gain from a use that is mostly below its peak.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster, Node
from heddle.model.profiles import profile_begins
from heddle.model.resources import MILLI
from heddle.model.whereabouts import NamesFiles
from heddle.model.workload import NO_SEGMENTS, Workload
from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Source, Table, mean_text
from heddle.reproduce.lab import Findings, Part, Scores, Work, runs_of
from heddle.reproduce.usage_feedback.budget import budget
from heddle.reproduce.usage_feedback.day import fitting
from heddle.reproduce.usage_feedback.settings import Settings
from heddle.traces.imports.importing import import_trace
from heddle.traces.parquet import read_parquet, write_parquet
from heddle.traces.synthetic.one_stage import one_stage_jobs

FOLDERS: Final = {"ksegments_eager": "use over time", "sizey_nextflow": "peaks only"}
Column = npt.NDArray[Any]


@dataclass(frozen=True)
class Drawn(NamesFiles):
    """So many tasks of a trace, drawn with replacement and submitted at once, in the order in which they were drawn.

    With several workflows these are drawn first, as many as there are: tasks of one workflow resemble each other. With
    a single one every process keeps its part; then the interval says nothing about other workflows.
    """

    path: str
    tasks: int
    longest_ms: int
    reservation: Literal["users", "extreme-fit"]
    fit_steps: tuple[int, int]

    @property
    def files(self) -> tuple[str, ...]:
        return (self.path,)

    def jobs(self, seed: int) -> Workload:
        trace, usable = _trace(self.path, self.longest_ms)
        drawn = self._drawn(trace, usable, seed)
        reserved = trace.shapes[trace.stages["shape"][drawn]]
        first = trace.tasks["first_segment"][drawn]
        if self.reservation == "extreme-fit":
            begins = np.flatnonzero(profile_begins(trace.segments))
            peak = np.maximum.reduceat(trace.segments["use"], begins, axis=0)
            reserved = fitting(np.maximum(1, peak[np.searchsorted(begins, first)]), self.fit_steps)
        shapes, shape = np.unique(reserved, axis=0, return_inverse=True)
        made = one_stage_jobs(
            "recorded",
            {"generator": "reproduce usage-feedback recorded", "seed": seed, "trace": Path(self.path).stem},
            submit_at_ms=np.zeros(len(drawn), np.int64),
            n_tasks=1,
            shape=shape.reshape(-1),
            shapes=shapes,
            duration_ms=trace.tasks["duration_ms"][drawn],
        )
        made.tasks["first_segment"] = first
        return replace(made, segments=trace.segments)

    def _drawn(self, trace: Workload, usable: Column, seed: int) -> Column:
        random = np.random.default_rng([2, seed])
        workflows = np.unique(trace.jobs["queue"][usable])
        of_task = trace.jobs["queue"] if len(workflows) > 1 else trace.jobs["user"]
        groups = np.unique(of_task[usable])
        if len(workflows) > 1:
            chosen = random.choice(groups, len(groups))
            sizes = np.full(len(groups), self.tasks // len(groups))
        else:
            chosen = groups
            sizes = np.rint(self.tasks * np.array([(of_task[usable] == one).mean() for one in groups])).astype(int)
        picked = [
            random.choice(usable[of_task[usable] == group], max(1, size))
            for group, size in zip(chosen, sizes, strict=True)
        ]
        return random.permutation(np.concatenate(picked))


@lru_cache(maxsize=2)
def _trace(path: str, longest_ms: int) -> tuple[Workload, Column]:
    """The trace, and which of its tasks can be used: with use recorded, and not too long."""
    trace = read_parquet(Path(path))
    known = trace.tasks["first_segment"] != NO_SEGMENTS
    return trace, np.flatnonzero(known & (trace.tasks["duration_ms"] <= longest_ms) & (trace.tasks["duration_ms"] > 0))


def recorded(settings: Settings) -> Part:
    known, lab = settings.known, settings.lab
    if lab.traces is None or not all((lab.traces / folder).is_dir() for folder in FOLDERS):
        yield {}
        return Findings(
            remarks=[
                "The recorded traces are not here (--traces): their claims R.1 to R.4 and budget-real were left out."
            ]
        )
    kinds: tuple[Literal["users", "extreme-fit"], ...] = ("users", "extreme-fit")
    plan: dict[Hashable, Work] = {}
    for folder in FOLDERS:
        path = str(lab.scratch / f"{folder}.parquet")
        write_parquet(import_trace([str(lab.traces / folder)]).imported.workload, Path(path))
        for kind in kinds:
            tasks = lab.size(known["real.tasks"], known["real.tasks_quick"])
            drawn = Drawn(path, tasks, 1000 * known["real.longest_s"], kind, settings.fit_steps)
            fixed = [settings.damped(damping) for damping in known["budget.dampings_real"]]
            for policy in dict.fromkeys((settings.reservation, settings.feedback, settings.tuned, *fixed)):
                plan.update(runs_of((folder, kind), drawn, _cluster(settings, kind), policy, settings.seeds))
    scores = Scores((yield plan))
    change = {
        (folder, kind): verdicts.sooner_pct(
            scores.metric((folder, kind), settings.reservation, "makespan_s"),
            scores.metric((folder, kind), settings.feedback, "makespan_s"),
        )
        for folder in FOLDERS
        for kind in kinds
    }
    failed = {name: scores.failed_pct(name, settings.feedback) for name in change}
    users = {folder: change[folder, "users"] for folder in FOLDERS}
    exact = {folder: {seed: -sooner for seed, sooner in change[folder, "extreme-fit"].items()} for folder in FOLDERS}
    fails_users, fails_exact = (
        {seed: failed["ksegments_eager", kind][seed] for seed in failed["ksegments_eager", kind]} for kind in kinds
    )
    one_task = 100.0 / tasks
    found = Findings(
        claims=[
            Claim(
                "R.1", "V-A on recorded traces: all tasks complete sooner than under reservation",
                f"{known['v_a.sooner_pct']:g} % sooner", "%", verdicts.effect(users, known["v_a.sooner_pct"]),
                _by_trace(users, "% sooner"), Source.OURS,
            ),
            Claim(
                "R.2", "V-A on the trace with use over time: no task fails for want of memory", "0 failed tasks",
                "% of tasks", verdicts.limit(fails_users, one_task, one_task), "Limit: fewer than one in a run.",
                Source.OURS,
            ),
            Claim(
                "R.3", "V-B on recorded traces: completion is almost that of reservation", "almost identical",
                "% change of the makespan", verdicts.sameness(exact), _by_trace(exact, "%"),
                Source.OURS,
            ),
            Claim(
                "R.4", "V-B on the trace with use over time: few tasks fail", f"{known['v_b.failed_pct']:g} %",
                "% of tasks", verdicts.limit(fails_exact, known["v_b.failed_limit_pct"], one_task),
                f"Limit {known['v_b.failed_limit_pct']:g} %.", Source.OURS,
            ),
        ],
        tables=[
            Table(
                "Recorded traces in place of the authors' day",
                ("trace", "has", "reservations", "sooner than reservation (%)", "failed (%)"),
                tuple(
                    (folder, FOLDERS[folder], kind, mean_text(change[folder, kind]), mean_text(failed[folder, kind], 3))
                    for folder, kind in change
                ),
                f"Tasks of at most {known['real.longest_s']:,} s, all submitted at once. ksegments_eager is one "
                "workflow: its tasks are drawn process by process, and the intervals do not speak of other workflows. "
                "sizey_nextflow: four workflows, drawn first; peaks only, so that ramps are hidden.",
            )
        ],
    )  # fmt: skip
    names = {f"{folder}, {kind}": (folder, kind) for folder, kind in change}
    found.add(budget(settings, scores, names, known["budget.dampings_real"], "budget-real", "on recorded traces"))
    return found


def _cluster(settings: Settings, kind: str) -> Cluster:
    given = settings.known.of("real")
    vcores = (
        ("capacity_vcores", "allowance_vcores") if kind == "users" else ("capacity_vcores_fit", "allowance_vcores_fit")
    )
    node = Node(
        "",
        (given["capacity_mb"], given[vcores[0]] * MILLI),
        (given["allowance_mb"], given[vcores[1]] * MILLI),
    )
    return settings.of_nodes(node, given["nodes"], "recorded")


def _by_trace(values: dict[str, dict[int, float]], unit: str) -> str:
    return "; ".join(f"{folder} {mean_text(seeds)} {unit}" for folder, seeds in values.items()) + "."
