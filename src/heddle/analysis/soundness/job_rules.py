"""The rules that are about jobs and their tasks, looked up in all rows about some neighbouring jobs at once.

Only the order of rows counts, not their times alone: within one instant ends come before what they make possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.analysis.soundness.findings import Findings
from heddle.analysis.soundness.happenings import ALLOCATED, ENDED, FETCHED, HAPPENED, STARTED
from heddle.model.cluster import Cluster
from heddle.model.reasons import Outcome
from heddle.model.resources import ONE
from heddle.model.view import JOB_FINISHED
from heddle.model.workload import AM, EXECUTORS, Workload
from heddle.sim.codes import LOG_JOB_ENDED

Rows = npt.NDArray[Any]
Places = npt.NDArray[np.int64]

ABOUT_JOBS: Final = (ALLOCATED, STARTED, FETCHED, ENDED, LOG_JOB_ENDED)
_COLUMNS: Final = ("place", "at_ms", "job", "stage", "node", "task", "attempt", "kind", "code")
ROW: Final = np.dtype([(name, HAPPENED[name]) for name in _COLUMNS])
_NEVER: Final = np.iinfo(np.int64).max


def rows_about_jobs(rows: Rows) -> Rows:
    """Those among them that these rules need, and of these what they need."""
    rows = rows[np.isin(rows["kind"], ABOUT_JOBS)]
    found = np.empty(len(rows), ROW)
    for name in _COLUMNS:
        found[name] = rows[name]
    return found


@dataclass(frozen=True)
class _Block:
    """Jobs, and all rows about them; the numbers of jobs, stages and tasks count from the first of them."""

    rows: Rows
    workload: Workload
    first_task: int
    kind: Places
    job: Places
    stage: Places
    task: Places

    @cached_property
    def begun(self) -> Places:
        return np.flatnonzero(np.isin(self.kind, (ALLOCATED, STARTED)))

    @cached_property
    def done(self) -> Places:
        return np.flatnonzero((self.kind == ENDED) & (self.rows["code"] == Outcome.FINISHED))


class JobRules:
    """Looks at one block of jobs after another."""

    def __init__(self, cluster: Cluster, found: Findings, *, finished: bool, follow: int) -> None:
        """`finished`: whether the run is; `follow`: how many jobs there are if some come after others, else 0."""
        self._found, self._finished = found, finished
        self._fastest = max([1000, *(node.speed_permille for node in cluster.nodes)])
        self._job_ended = np.full(follow, _NEVER)  # the place of its end
        self._jobs = self._stages = self._tasks = 0  # in blocks before

    def look_at(self, rows: Rows, workload: Workload) -> None:
        """The next jobs, and all rows about them, in order (ROW). Jobs that these come after are in this block, or in
        one before it; `job_after` has the numbers of the whole workload."""
        job, stage, task = rows["job"] - self._jobs, rows["stage"] - self._stages, rows["task"] - self._tasks
        block = _Block(rows, workload, self._tasks, rows["kind"], job, stage, task)
        self._attempts(block)
        self._finishes(block)
        self._predecessors(block)
        self._inputs(block)
        self._jobs += workload.n_jobs
        self._stages += len(workload.stages)
        self._tasks += len(workload.tasks)

    def _attempts(self, block: _Block) -> None:
        """Each attempt begins and ends at most once, in this order."""
        ended_key, ended_at = self._in_order_of_keys(block, ENDED, "ended")
        for kind, word in ((ALLOCATED, "allocated"), (STARTED, "started")):
            key, places = self._in_order_of_keys(block, kind, word)
            at = np.minimum(np.searchsorted(ended_key, key), max(0, len(ended_key) - 1))
            known = ended_key[at] == key if len(ended_key) else np.zeros(len(key), bool)
            late = known & (ended_at[at] < places) if len(ended_key) else known
            self._add(f"an attempt was {word} after it had ended", block, places[late])
            if self._finished:
                self._add(f"an attempt was {word} and never ended", block, places[~known])

    def _in_order_of_keys(self, block: _Block, kind: int, word: str) -> tuple[Places, Places]:
        """Of all rows of this kind: the number of their attempt, and where they stand."""
        places = np.flatnonzero(block.kind == kind)
        key = (block.task[places].astype(np.int64) << 16) | block.rows["attempt"][places].astype(np.uint16)
        order = np.argsort(key, kind="stable")
        key, places = key[order], places[order]
        self._add(f"an attempt was {word} twice", block, places[1:][key[1:] == key[:-1]])
        return key, places

    def _finishes(self, block: _Block) -> None:
        """Each task of a finished job finishes exactly once, and does not run after that."""
        workload, done = block.workload, block.done
        first = np.full(len(workload.tasks), _NEVER)
        np.minimum.at(first, block.task[done], done)
        self._add("a task finished more than once", block, done[first[block.task[done]] < done])
        begun = block.begun
        self._add("a finished task ran again", block, begun[first[block.task[begun]] < begun])

        job_finished = (block.kind == LOG_JOB_ENDED) & (block.rows["code"] == JOB_FINISHED)
        good = np.zeros(workload.n_jobs, bool)
        good[block.job[job_finished]] = True
        works = ~np.isin(workload.stages["kind"], (AM, EXECUTORS))
        due = np.repeat(works & good[workload.stages["job"]], workload.stages["n_tasks"])
        lost = np.flatnonzero(due & (first == _NEVER))
        example = f": task {block.first_task + lost[0]}" if len(lost) else ""
        self._found.add_at_the_end("a task of a finished job never finished", example, len(lost))

    def _predecessors(self, block: _Block) -> None:
        """No task (early ones: no work of theirs) before the stages it comes after are done, no job before its jobs."""
        workload, stages = block.workload, block.workload.stages
        done, begun = block.done, block.begun
        first = np.full(len(stages), _NEVER)
        np.minimum.at(first, block.stage[begun], begun)
        if len(workload.stage_after):
            finished = np.bincount(block.stage[done], minlength=len(stages))
            last = np.full(len(stages), -1)
            np.maximum.at(last, block.stage[done], done)
            last[finished < stages["n_tasks"]] = _NEVER
            gate = np.full(len(stages), -1)
            np.maximum.at(gate, np.repeat(np.arange(len(stages)), stages["n_after"]), last[workload.stage_after])
            early = stages["slow_start_permille"] >= 0
            wrong = ~early & (first != _NEVER) & (first < gate)
            self._add("a task began before its predecessors ended", block, first[wrong])
            self._early_work(block, done[early[block.stage[done]]], gate)
        if len(self._job_ended):
            self._jobs_before(block, first)

    def _early_work(self, block: _Block, ends: Places, gate: Places) -> None:
        """A task that held its container early still does all its work after its predecessors. `gate`: of each stage,
        where the last of them ended; -1: it has none."""
        after = gate[block.stage[ends]]
        self._add("an early task ended before its predecessors", block, ends[after > ends])
        known = (after >= 0) & (after <= ends)
        ends, after = ends[known], after[known]
        workload = block.workload
        work_ms = workload.tasks["duration_ms"][block.task[ends]] + workload.stages["shuffle_ms"][block.stage[ends]]
        short = self._too_short(block.rows["at_ms"][ends] - block.rows["at_ms"][after], work_ms)
        self._add("an early task worked before its predecessors ended", block, ends[short])

    def _jobs_before(self, block: _Block, first: Places) -> None:
        """`first`: where each stage began."""
        workload, place = block.workload, block.rows["place"]
        over = np.flatnonzero(block.kind == LOG_JOB_ENDED)
        self._job_ended[self._jobs + block.job[over]] = place[over]
        first_of_job = np.full(workload.n_jobs, _NEVER)
        np.minimum.at(first_of_job, workload.stages["job"], first)
        waits = np.repeat(np.arange(workload.n_jobs), workload.jobs["n_after"])
        begins, before = first_of_job[waits], workload.job_after
        ran = begins != _NEVER
        begins, before = begins[ran], before[ran]
        self._add("a job began before the jobs it comes after", block, begins[place[begins] < self._job_ended[before]])

    def _inputs(self, block: _Block) -> None:
        """No work is done before all that it needs is there."""
        fetches = np.flatnonzero(block.kind == FETCHED)
        if not len(fetches):
            return
        done, n_tasks, at_ms = block.done, len(block.workload.tasks), block.rows["at_ms"]
        end = np.full(n_tasks, _NEVER)
        end[block.task[done]] = done
        last = np.full(n_tasks, -1)
        np.maximum.at(last, block.task[fetches], fetches)  # the attempt that finished is a task's last
        both = np.flatnonzero((last >= 0) & (end != _NEVER))
        short = self._too_short(at_ms[end[both]] - at_ms[last[both]], block.workload.tasks["duration_ms"][both])
        self._add("a task worked before its input was there", block, last[both][short])

    def _too_short(self, span_ms: Places, work_ms: Places) -> npt.NDArray[np.bool_]:
        """Even on the fastest node."""
        short: npt.NDArray[np.bool_] = span_ms * (ONE * self._fastest // 1000) < work_ms * ONE
        return short

    def _add(self, what: str, block: _Block, places: Places) -> None:
        self._found.add_rows(what, block.rows[np.sort(places)])
