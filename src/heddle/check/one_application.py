"""One application: what is wrong with it, how badly, and the setting that would change it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from heddle.check.findings import ORDER, Severity
from heddle.check.gathering import Sources
from heddle.check.spark import SPARK
from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.model.workload import EXECUTORS, INNER
from heddle.report.wording import write_s
from heddle.traces.build import JobSpec
from heddle.yarn.live.rm_answers import Reading
from heddle.yarn.live.wire import YarnError
from heddle.yarn.observe.history import MAPREDUCE
from heddle.yarn.observe.outlines import Outline, outline_of
from heddle.yarn.observe.past_jobs import KINDS, PastJob, read_past_job

SKEW: Final = 3.0  # the longest task, over the median
SKEW_MATTERS: Final = 0.2  # of the job's time that the longest one adds
HEAD_ROOM: Final = 1.1
STEP_MB: Final = 64
MUCH_IDLE: Final = 0.25
SPILLS: Final = 2.0  # records written to disk, over records put out
GC: Final = 0.1  # of the time that tasks run
LONG_START_S: Final = 60.0
_WORD: Final = {"MAP": "map", "REDUCE": "reduce"}


@dataclass(frozen=True)
class JobFinding:
    key: str
    severity: Severity
    says: str
    setting: str


@dataclass(frozen=True)
class OneApplication:
    outline: Outline
    findings: tuple[JobFinding, ...]
    verdict: str
    read: tuple[str, ...]  # what it was judged by, and what is missing


def application_findings(sources: Sources, application: str) -> OneApplication:
    """BadInput where the ResourceManager does not know it."""
    answer = sources.rm.app(application)
    if answer is None:
        raise BadInput.of("--application", f"the ResourceManager does not know {application}")
    with Reading(f"{sources.rm.address}: {application}"):
        outline = outline_of(answer["app"])
    found = [*_failure(outline), *_start(outline)]
    read = []
    if outline.ended_at_ms <= 0:
        raise BadInput.of("--application", f"{application} has not finished, so there is nothing to judge yet")
    if outline.kind == MAPREDUCE and sources.history is not None:
        try:
            job = read_past_job(sources.history, application)
        except YarnError as error:
            read.append(f"its history cannot be read: {error}")
        else:
            read.append("based on its history: tasks, counters and settings")
            found += [*_skew(job), *_requests(job), *_idle_reduces(job), *_spills(job), *_gc(job)]
    elif outline.kind == SPARK and sources.spark is not None:
        troubles: list[str] = []
        spec = sources.spark.read([application], troubles, lambda _: None).get(application)
        read += troubles
        if spec is not None:
            read.append("based on its event log")
            found += [*_spark_skew(spec), *_executors(spec, outline), *_executor_memory(spec)]
    else:
        which = {MAPREDUCE: "--history URL", SPARK: "--spark-history URL or FOLDER"}.get(outline.kind)
        would = f"use {which}" if which else f"there is no history for applications of type {outline.kind}"
        read.append(f"its tasks are unknown: {would}")
    ordered = tuple(sorted(found, key=lambda one: ORDER.index(one.severity)))
    took = write_s((outline.ended_at_ms - outline.submitted_at_ms) / 1000)
    ended = "succeeded" if outline.succeeded else "failed or was killed"
    what = ordered[0].says if ordered else "Nothing stands out."
    return OneApplication(outline, ordered, f"{outline.name} {ended} after {took}. {what}", tuple(read))


def _failure(outline: Outline) -> Iterator[JobFinding]:
    if not outline.succeeded:
        says = f"YARN says: {outline.why_failed.rstrip('.')}." if outline.why_failed else "YARN gives no reason."
        yield JobFinding("failed", "high", says, f"see yarn logs -applicationId {outline.id}")


def _start(outline: Outline) -> Iterator[JobFinding]:
    if outline.launched_at_ms is not None:
        waited_s = (outline.launched_at_ms - outline.submitted_at_ms) / 1000
        if waited_s >= LONG_START_S:
            yield JobFinding(
                "am-wait", "medium", f"It waited {write_s(waited_s)} for its application master.",
                f"maximum-am-resource-percent of {outline.queue}",
            )  # fmt: skip


def _skewed(lengths_ms: Sequence[int], whole_ms: int) -> tuple[float, float] | None:
    """The longest task over the median, and its excess, where both matter."""
    if len(lengths_ms) < 3 or whole_ms <= 0:
        return None
    middle, longest = median(lengths_ms), max(lengths_ms)
    much = longest > SKEW * max(1, middle) and longest - middle > SKEW_MATTERS * whole_ms
    return (longest / max(1, middle), (longest - middle) / 1000) if much else None


def _skew(job: PastJob) -> Iterator[JobFinding]:
    every = [task for kind in KINDS for task in job.tasks[kind]]
    whole_ms = max((t.ended_at_ms for t in every), default=0) - min((t.began_at_ms for t in every), default=0)
    last_map_ms = max((task.ended_at_ms for task in job.tasks["MAP"]), default=0)
    for kind in KINDS:
        own = [
            task.ended_at_ms - max(task.began_at_ms, last_map_ms if kind == "REDUCE" else 0) for task in job.tasks[kind]
        ]
        if skew := _skewed(own, whole_ms):
            setting = (
                "mapreduce.input.fileinputformat.split.maxsize (smaller)"
                if kind == "MAP"
                else "mapreduce.job.reduces (more), or a partitioner that spreads its keys"
            )
            said = f"The longest {_WORD[kind]} took {skew[0]:.1f} times the median: {write_s(skew[1])} longer."
            yield JobFinding(f"{_WORD[kind]}-skew", "high", said, setting)


def _requests(job: PastJob) -> Iterator[JobFinding]:
    for kind in KINDS:
        use, size_mb = job.use(kind), job.size(kind)[0]
        if use is None:
            continue
        enough_mb = -(-round(HEAD_ROOM * use[1]) // STEP_MB) * STEP_MB
        if enough_mb <= (1 - MUCH_IDLE) * size_mb:
            said = f"Its {_WORD[kind]}s requested {size_mb:,} MB and used at most {use[1]:,} MB."
            name = f"mapreduce.{_WORD[kind]}"
            setting = f"{name}.memory.mb={enough_mb} and {name}.java.opts to fit"
            yield JobFinding(f"{_WORD[kind]}-request", "medium", said, setting)


def _idle_reduces(job: PastJob) -> Iterator[JobFinding]:
    last_map_ms = max((task.ended_at_ms for task in job.tasks["MAP"]), default=0)
    held_ms = sum(task.length_ms for task in job.tasks["REDUCE"])
    idle_ms = sum(max(0, min(last_map_ms, task.ended_at_ms) - task.began_at_ms) for task in job.tasks["REDUCE"])
    if held_ms and idle_ms > MUCH_IDLE * held_ms:
        said = (
            f"Reduces held their containers {100 * idle_ms / held_ms:.0f} % of their time while maps still ran "
            f"({write_s(idle_ms / 1000)} in total)."
        )
        yield JobFinding("idle-reduces", "medium", said, "mapreduce.job.reduce.slowstart.completedmaps (0.8 or more)")


def _spills(job: PastJob) -> Iterator[JobFinding]:
    told = job.counters["MAP"]
    spilled, put_out = told.get("SPILLED_RECORDS", 0), told.get("MAP_OUTPUT_RECORDS", 0)
    if put_out and spilled > SPILLS * put_out:
        said = f"Maps wrote every record to disk {spilled / put_out:.1f} times before sending it."
        yield JobFinding("spills", "medium", said, "mapreduce.task.io.sort.mb (larger, within the heap)")


def _gc(job: PastJob) -> Iterator[JobFinding]:
    for kind in KINDS:
        gc_ms, run_ms = job.counters[kind].get("GC_TIME_MILLIS", 0), sum(task.length_ms for task in job.tasks[kind])
        if run_ms and gc_ms > GC * run_ms:
            said = f"Its {_WORD[kind]}s spent {100 * gc_ms / run_ms:.0f} % of their time in garbage collection."
            yield JobFinding(f"{_WORD[kind]}-gc", "medium", said, f"mapreduce.{_WORD[kind]}.java.opts (a larger -Xmx)")


def _spark_skew(spec: JobSpec) -> Iterator[JobFinding]:
    inner = [stage for stage in spec.stages if stage.kind == INNER]
    whole_ms = sum(max((task.duration_ms for task in stage.tasks), default=0) for stage in inner)
    for stage in inner:
        if skew := _skewed([task.duration_ms for task in stage.tasks], whole_ms):
            said = f"In {stage.name} the longest task took {skew[0]:.1f} times the median: {write_s(skew[1])} longer."
            yield JobFinding("stage-skew", "high", said, "spark.sql.adaptive.skewJoin.enabled=true, or more partitions")
            return


def _executors(spec: JobSpec, outline: Outline) -> Iterator[JobFinding]:
    """Slots that had nothing to do, or tasks that had to queue for one."""
    executors = [stage for stage in spec.stages if stage.kind == EXECUTORS]
    slots = sum(len(stage.tasks) * stage.slots for stage in executors)
    work = [task.duration_ms for stage in spec.stages if stage.kind == INNER for task in stage.tasks]
    span_ms = outline.ended_at_ms - (outline.launched_at_ms or outline.submitted_at_ms)
    if not slots or not work or span_ms <= 0:
        return
    busy = sum(work) / (slots * span_ms)
    count = sum(len(stage.tasks) for stage in executors)
    if busy < MUCH_IDLE and count > 1:
        enough = max(1, round(count * busy / 0.6))
        said = f"Its {count} executors were busy {100 * busy:.0f} % of the time."
        yield JobFinding(
            "too-many-executors", "medium", said,
            f"spark.executor.instances={enough}, or spark.dynamicAllocation.enabled=true",
        )  # fmt: skip
        return
    widest = max(len(stage.tasks) for stage in spec.stages if stage.kind == INNER)
    if busy > 0.8 and widest > 4 * slots:
        said = f"Its {slots} slots were busy {100 * busy:.0f} % of the time, with up to {widest} tasks ready at once."
        yield JobFinding("too-few-executors", "low", said, f"spark.executor.instances={2 * count}")


def _executor_memory(spec: JobSpec) -> Iterator[JobFinding]:
    for stage in spec.stages:
        if stage.kind == EXECUTORS and stage.tasks and stage.tasks[0].use:
            peak_mb, size_mb = stage.tasks[0].use[0][1][0], stage.demand[0]
            enough_mb = -(-round(HEAD_ROOM * peak_mb) // STEP_MB) * STEP_MB
            if peak_mb and enough_mb <= (1 - MUCH_IDLE) * size_mb:
                said = (
                    f"Executors of {stage.demand[1] // MILLI} cores had {size_mb:,} MB and used at most {peak_mb:,} MB."
                )
                setting = f"spark.executor.memory plus overhead = {enough_mb} MB"
                yield JobFinding("executor-memory", "medium", said, setting)
                return
