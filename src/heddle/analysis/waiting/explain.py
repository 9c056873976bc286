"""Why a job took as long as it did: its life in spans, each with what it waited for, from a run's record.

A span is a piece of time in which nothing about the job changes: how it stands (`state`), and why its requests wait
(`reason`, as the scheduler logged it when it passed them over). Neighbouring equal spans are one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.errors import BadInput, RunRefused
from heddle.model.reasons import Outcome, Reason
from heddle.model.suggestion import did_you_mean
from heddle.model.workload import AM, INNER
from heddle.record.run import Run

Numbers = npt.NDArray[np.int64]
State = Literal["comes after", "waits for its AM", "waits", "partly waits", "starts", "fetches", "runs"]

# What each state means; a span of the first four is time that another decision might have saved.
STATES: Final[dict[State, str]] = {
    "comes after": "jobs that it depends on are not done",
    "waits for its AM": "its application master has no container",
    "waits": "nothing of it runs, requests wait",
    "partly waits": "some of it runs, further requests wait",
    "starts": "containers launch, the application master starts or asks",
    "fetches": "all that can run now runs, but its input is still on its way",
    "runs": "all that can run now runs",
}
NOT_REACHED: Final = "the scheduler has not looked at it yet"  # and nobody else waits either
_LOST: Final = (
    Outcome.CRASHED, Outcome.LIMIT_KILLED, Outcome.FAILED, Outcome.NODE_LOST, Outcome.PREEMPTED, Outcome.AM_LOST,
)  # fmt: skip
_NAMES_SEARCHED: Final = 5000  # for a name that is close: more would take seconds
_NEVER: Final = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Span:
    """A piece of a job's life."""

    from_ms: int
    to_ms: int
    state: State
    reason: Reason  # NONE where nothing waits, or where the scheduler has not come to it yet
    stage: int  # the stage that waits, -1 for none; of several the one with the most tasks waiting
    asked_at_ms: int  # when that stage first asked for what it still waits for; -1 for none
    waiting: int  # containers asked for and not given, at most
    running: int  # containers of work, at most

    @property
    def length_ms(self) -> int:
        return self.to_ms - self.from_ms

    @property
    def cause(self) -> str:
        """What this time went to, in words that add up over the spans."""
        if self.state in ("comes after", "starts", "fetches", "runs"):
            return self.state if self.state != "comes after" else "waits for jobs it depends on"
        why = self.reason.phrase if self.reason is not Reason.NONE else NOT_REACHED
        return f"{self.state}: {why}"


@dataclass(frozen=True)
class Explained:
    """The life of one job in one run."""

    job: int
    name: str
    queue: str
    user: str
    policy: str
    outcome: str
    submit_at_ms: int
    end_ms: int  # of the job, or of the run where the job did not end
    alone_ms: int
    spans: tuple[Span, ...]
    stage_names: dict[int, str]
    lost: dict[str, tuple[int, int]]  # outcome -> attempts that ended so, and the ms that they had run

    @property
    def taken_ms(self) -> int:
        return self.end_ms - self.submit_at_ms

    @property
    def causes_ms(self) -> dict[str, int]:
        """Where the time went, the largest first; adds up to `taken_ms`."""
        total: Counter[str] = Counter()
        for span in self.spans:
            total[span.cause] += span.length_ms
        return dict(total.most_common())

    @property
    def main_wait(self) -> str:
        """The cause of most of its waiting; empty if it never waited."""
        goes_on = ("starts", "fetches", "runs")
        waits = {cause: ms for cause, ms in self.causes_ms.items() if cause not in goes_on and ms > 0}
        return max(waits, key=lambda cause: waits[cause]) if waits else ""

    def as_json(self) -> dict[str, Any]:
        return {
            "job": self.job, "name": self.name, "queue": self.queue, "user": self.user, "policy": self.policy,
            "outcome": self.outcome, "submit_s": self.submit_at_ms / 1000, "taken_s": self.taken_ms / 1000,
            "alone_s": self.alone_ms / 1000,
            "causes_s": {cause: ms / 1000 for cause, ms in self.causes_ms.items()},
            "spans": [
                {
                    "from_s": span.from_ms / 1000, "to_s": span.to_ms / 1000, "state": span.state,
                    "reason": span.reason.name, "cause": span.cause, "stage": self.stage_names.get(span.stage),
                    "asked_s": None if span.asked_at_ms < 0 else span.asked_at_ms / 1000, "waiting": span.waiting,
                    "running": span.running,
                }
                for span in self.spans
            ],
            "lost": {name: {"attempts": count, "run_s": ms / 1000} for name, (count, ms) in self.lost.items()},
        }  # fmt: skip


def find_job(run: Run, text: str) -> int:
    """The number of the job with this name, or with this number."""
    jobs = run.scan("jobs")
    found = jobs.filter(pl.col("name") == text).select("job").collect(engine="streaming")["job"]
    if found.len() == 0 and text.isdecimal() and int(text) < jobs.select(pl.len()).collect().item():
        return int(text)
    if found.len() != 1:
        names = jobs.select("name").head(_NAMES_SEARCHED).collect()["name"].to_list()
        what = "several jobs have this name: use the number" if found.len() else "no job of this name in the record"
        raise BadInput.of(text, what + ("" if found.len() else did_you_mean(text, names)))
    return int(found[0])


def explain(run: Run, job: int) -> Explained:
    """The spans of a job. RunRefused if the run was not recorded with everything that this needs."""
    if not run.has_events or not run.manifest["complete_attempts"]:
        raise RunRefused("this record has no wait reasons; record the run with `heddle simulate ... --record`")
    row = run.of_jobs("jobs", job, job).row(0, named=True)
    attempts = run.of_jobs("attempts", job, job).filter(pl.col("kind") != INNER)
    events, stages = run.of_jobs("events", job, job), run.of_jobs("stages", job, job)
    end = row["ended_at_ms"] if row["ended_at_ms"] is not None else _last_ms(run)
    spans = _spans(attempts, events, row["submit_at_ms"], end)
    if row["outcome"] == "unfinished":
        _never_reached(spans, attempts, (stages["kind"] == AM).any())
    spans = _behind_others(run, job, spans)
    lost = {}
    for outcome in _LOST:
        ended = attempts.filter((pl.col("outcome") == int(outcome)) & pl.col("started_at_ms").is_not_null())
        if ended.height:
            lost[outcome.name.lower()] = (ended.height, int((ended["ended_at_ms"] - ended["started_at_ms"]).sum()))
    return Explained(
        job=job,
        name=row["name"],
        queue=row["queue"],
        user=row["user"],
        policy=run.manifest["policy"],
        outcome=row["outcome"],
        submit_at_ms=row["submit_at_ms"],
        end_ms=end,
        alone_ms=row["alone_ms"],
        spans=tuple(spans),
        stage_names=dict(zip(stages["stage"].to_list(), stages["name"].to_list(), strict=True)),
        lost=lost,
    )


def most_delayed(run: Run, count: int) -> list[int]:
    """The jobs that took longest beyond the time they would take alone, the worst first."""
    end = pl.col("ended_at_ms").fill_null(_last_ms(run))
    delay = (end - pl.col("submit_at_ms") - pl.col("alone_ms")).alias("delay")
    jobs = run.scan("jobs").select("job", delay).sort("delay", "job", descending=[True, False]).head(count)
    return jobs.collect(engine="streaming")["job"].to_list()


def _last_ms(run: Run) -> int:
    asked, ended, submitted = (pl.col(f"{name}_at_ms").max() for name in ("asked", "ended", "submit"))
    wanted = [run.scan("jobs").select(submitted), run.scan("attempts").select(asked, ended)]
    if run.has_events:
        wanted.append(run.scan("events").select(pl.col("at_ms").max()))
    instants = [instant for one in wanted for instant in one.collect(engine="streaming").row(0)]
    return max(int(instant) for instant in instants if instant is not None)


def _never_reached(spans: list[Span], attempts: pl.DataFrame, has_am: bool) -> None:
    """A request that the scheduler never came to before the run stalled left no trace but this: nothing goes on."""
    alive = attempts.filter(pl.col("ended_at_ms").is_null())
    if spans and spans[-1].state == "starts" and alive["started_at_ms"].null_count() == 0:
        am_runs = bool((alive["kind"] == AM).any())
        spans[-1] = replace(spans[-1], state="waits for its AM" if has_am and not am_runs else "waits")


def _behind_others(run: Run, job: int, spans: list[Span]) -> list[Span]:
    """A request that the scheduler passed over in silence, while others waited too, is behind these."""
    silent = [span.state in ("waits for its AM", "waits", "partly waits") and not span.reason for span in spans]
    if not any(silent):
        return spans
    begins, ends = (np.array([getattr(span, name) for span in spans]) for name in ("from_ms", "to_ms"))
    waited = np.zeros(len(spans), np.int64)
    for piece in run.attempts_around(int(begins[0]), int(ends[-1])):
        others = piece.filter((pl.col("job") != job) & (pl.col("kind") != INNER))
        asked, allocated = np.sort(others["asked_at_ms"].to_numpy()), np.sort(others["allocated_at_ms"].to_numpy())
        waited += np.searchsorted(asked, ends, side="left") - np.searchsorted(allocated, begins, side="right")
    return [
        replace(span, reason=Reason.BEHIND) if passed and count else span
        for span, passed, count in zip(spans, silent, waited.tolist(), strict=True)
    ]


class _Counts:
    """How many of some intervals hold at each of many instants."""

    def __init__(self, begins: Numbers, ends: Numbers) -> None:
        self._begins, self._ends = np.sort(begins), np.sort(ends)

    def at(self, instants: Numbers) -> Numbers:
        begun = np.searchsorted(self._begins, instants, side="right")
        over = np.searchsorted(self._ends, instants, side="right")
        return begun - over


def _first_open(asked: Numbers, allocated: Numbers, points: Numbers, logged: pl.Series) -> Numbers:
    """At each point the first ask that is still open; what never got a container asked at its first logged wait."""
    never = int(logged[0]) if logged.len() else -1
    if not len(asked):
        return np.full(len(points), never)
    order = np.argsort(allocated, kind="stable")
    earliest = np.minimum.accumulate(asked[order][::-1])[::-1]  # of those allocated at this one's time or later
    place = np.searchsorted(allocated[order], points, side="right")
    return np.where(place < len(asked), earliest[np.minimum(place, len(asked) - 1)], never)


def _spans(attempts: pl.DataFrame, events: pl.DataFrame, submit: int, end: int) -> list[Span]:
    ended = attempts["ended_at_ms"].fill_null(_NEVER)
    started = attempts["started_at_ms"].fill_null(ended).to_numpy()
    asked, allocated = attempts["asked_at_ms"].to_numpy(), attempts["allocated_at_ms"].to_numpy()
    over, is_am, of_stage = ended.to_numpy(), attempts["kind"].to_numpy() == AM, attempts["stage"].to_numpy()

    arrivals = events.filter(pl.col("kind") == "job_arrived")["at_ms"]
    arrived = int(arrivals[0]) if arrivals.len() else end
    waits = events.filter(pl.col("kind") == "wait")
    fetches = attempts.filter(pl.col("fetch_ms") > 0)
    fetched = fetches["fetched_at_ms"].to_numpy()
    fetching_since = fetched - fetches["fetch_ms"].to_numpy()
    instants = [asked, allocated, started, over, fetching_since, fetched, waits["at_ms"].to_numpy(), [arrived, submit]]
    points = np.unique(np.concatenate(instants))
    points = points[(points >= submit) & (points < end)]

    running = _Counts(started[~is_am], over[~is_am]).at(points)
    fetching = _Counts(fetching_since, fetched).at(points)
    am_running = _Counts(started[is_am], over[is_am]).at(points)
    waiting = np.zeros(len(points), np.int64)
    most = np.zeros(len(points), np.int64)  # of any one stage
    since = np.full(len(points), -1, np.int64)
    stage = np.full(len(points), -1, np.int64)
    reason = np.zeros(len(points), np.int64)
    for one in np.unique(np.concatenate([of_stage, waits["stage"].to_numpy()])).tolist():
        own = of_stage == one
        here = _Counts(asked[own], allocated[own]).at(points)
        logged = waits.filter(pl.col("stage") == one)
        place = np.searchsorted(logged["at_ms"].to_numpy(), points, side="right") - 1
        why = np.where(place >= 0, logged["reason"].to_numpy()[np.maximum(place, 0)], 0) if logged.height else 0 * here
        here = np.where(why != 0, np.maximum(here, 1), here)  # what never got a container is in no attempt
        larger = here > most
        first = _first_open(asked[own], allocated[own], points, logged["at_ms"])
        news = ((here, most), (one, stage), (why, reason), (first, since))
        most, stage, reason, since = (np.where(larger, new, old) for new, old in news)
        waiting += here

    am_stages = set(of_stage[is_am].tolist())
    found: list[Span] = []
    for i, begin in enumerate(points.tolist()):
        until = int(points[i + 1]) if i + 1 < len(points) else end
        state: State
        if begin < arrived:
            state = "comes after"
        elif waiting[i]:
            needs_am = int(stage[i]) in am_stages or (not am_stages and not len(of_stage) and not running[i])
            state = "partly waits" if running[i] else "waits for its AM" if needs_am and not am_running[i] else "waits"
        else:
            state = "starts" if not running[i] else "fetches" if fetching[i] == running[i] else "runs"
        span = Span(
            begin, until, state, Reason(int(reason[i])), int(stage[i]) if waiting[i] else -1,
            int(since[i]) if waiting[i] else -1, int(waiting[i]), int(running[i]),
        )  # fmt: skip
        last = found[-1] if found else None
        if last is not None and (last.state, last.reason, last.stage) == (span.state, span.reason, span.stage):
            most_w, most_r = max(last.waiting, span.waiting), max(last.running, span.running)
            found[-1] = replace(last, to_ms=until, waiting=most_w, running=most_r)
        else:
            found.append(span)
    return found
