"""Workload files that name real jobs: a YAML list of `kind: replay`, `kind: mapreduce` and `kind: spark`.

    jobs:
      - {kind: replay, workload: tasks.csv}
      - {kind: mapreduce, program: pi, arguments: [4, 1000], at_s: 5}
      - {kind: mapreduce, name: gen, program: teragen, arguments: [100000, "{work}/in"]}
      - {kind: mapreduce, program: terasort, arguments: ["{work}/in", "{work}/out"], after: gen}
      - {kind: spark, program: sleep, arguments: [8, 2000], options: {spark.executor.instances: 2}}
      - {kind: spark, application: mine.py, queue: root.default}

`{work}` is a folder that a run makes and removes. `options` are Hadoop's properties (-D) or Spark's (--conf).
"""

from __future__ import annotations

from dataclasses import dataclass
from os.path import isfile
from pathlib import Path
from typing import Any, Final

from heddle.model.errors import BadInput, Problem
from heddle.traces.load import load_workload
from heddle.traces.problems import Problems
from heddle.traces.yaml_text import from_yaml
from heddle.yarn.testbed.replay.plan import ReplayJob, replay_jobs

SUFFIXES: Final = (".yaml", ".yml")
PROGRAMS: Final = ("pi", "sleep", "teragen", "terasort", "teravalidate", "wordcount")
SPARK_PROGRAMS: Final = {"pi": "tasks, darts of each", "sleep": "tasks, ms of each", "sort": "tasks, rows of each"}
_OF_PROGRAMS: Final = {"kind", "name", "program", "arguments", "options", "at_s", "after", "queue"}
_KEYS: Final = {
    "replay": {"kind", "workload", "at_s"},
    "mapreduce": _OF_PROGRAMS,
    "spark": _OF_PROGRAMS | {"application"},
}


@dataclass(frozen=True)
class ProgramJob:
    """A program that a client of its own framework submits. `after`: places in the list of jobs."""

    name: str
    submit_at_ms: int
    queue: str
    program: str
    arguments: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    after: tuple[int, ...]

    def arguments_in(self, work: Path) -> list[str]:
        """The arguments, with the folder of the run put in."""
        return [argument.replace("{work}", work.as_uri()) for argument in self.arguments]


@dataclass(frozen=True)
class MapReduceJob(ProgramJob):
    """A program of Hadoop's examples."""


@dataclass(frozen=True)
class SparkJob(ProgramJob):
    """A program of ours, or an application of the user's."""

    application: Path | None = None


RealJob = ReplayJob | MapReduceJob | SparkJob


def load_real_jobs(text: str, seed: int = 0) -> tuple[list[RealJob], list[str]]:
    """The jobs that a workload means on a real cluster, and what is worth saying about them."""
    path = Path(text)
    if path.suffix not in SUFFIXES:
        replayed, notes = replay_jobs(load_workload(text, seed))
        return list(replayed), notes
    try:
        written = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput.of(text, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadInput.of(text, f"not YAML: {error}") from None
    problems = Problems(text)
    document = from_yaml(written, problems)
    problems.raise_if_any()
    entries = document.get("jobs") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not entries:
        raise BadInput.of(text, "needs a list of jobs under `jobs`")
    return _jobs(text, entries, seed)


def _jobs(where: str, entries: list[Any], seed: int) -> tuple[list[RealJob], list[str]]:
    jobs: list[RealJob] = []
    notes: list[str] = []
    problems: list[Problem] = []
    for number, entry in enumerate(entries, 1):
        try:
            _check(where, number, entry)
            at_ms = round(1000 * float(entry.get("at_s", 0)))
            if entry["kind"] == "replay":
                more, said = _replayed(where, entry["workload"], at_ms, len(jobs), seed)
                jobs += more
                notes += said
            else:
                jobs.append(_program(where, number, entry, at_ms, [job.name for job in jobs]))
        except BadInput as bad:
            problems += bad.problems
    if problems:
        raise BadInput(problems)
    return jobs, notes


def _check(where: str, number: int, entry: Any) -> None:
    if not isinstance(entry, dict) or entry.get("kind") not in tuple(_KEYS):
        raise BadInput.of(where, f"job {number} must be a mapping with `kind` one of {', '.join(_KEYS)}", field="kind")
    kind = entry["kind"]
    wrong = [
        Problem(
            where, f"job {number} ({kind}) does not know this; known: {', '.join(sorted(_KEYS[kind]))}", field=str(key)
        )
        for key in entry
        if key not in _KEYS[kind]
    ]
    at_s = entry.get("at_s", 0)
    if isinstance(at_s, bool) or not isinstance(at_s, int | float) or not 0 <= at_s < 1e9:
        wrong.append(Problem(where, f"job {number}: must be seconds from the start, not {at_s!r}", field="at_s"))
    if kind == "replay" and not isinstance(entry.get("workload"), str):
        wrong.append(Problem(where, f"job {number}: names a workload to replay", field="workload"))
    if kind != "replay":
        wrong += _wrong_program(where, number, entry)
    if wrong:
        raise BadInput(wrong)


def _wrong_program(where: str, number: int, entry: dict[str, Any]) -> list[Problem]:
    def wrong(field: str, what: str) -> Problem:
        return Problem(where, f"job {number}: {what}", field=field)

    found = []
    spark = entry["kind"] == "spark"
    application = entry.get("application") if spark else None
    known = tuple(SPARK_PROGRAMS) if spark else PROGRAMS
    if application is not None and "program" in entry:
        found.append(wrong("application", "name either a program or an application"))
    elif application is not None:
        if not isinstance(application, str) or not isfile(Path(where).parent / application):
            found.append(wrong("application", f"must be a file, from the folder of this one on, not {application!r}"))
    elif entry.get("program") not in known:
        found.append(wrong("program", f"must be one of {', '.join(known)}, not {entry.get('program')!r}"))
    after = entry.get("after", [])
    if not isinstance(after, str) and not (isinstance(after, list) and all(isinstance(one, str) for one in after)):
        found.append(wrong("after", "must be the name of an earlier job, or a list of such names"))
    arguments, options = entry.get("arguments", []), entry.get("options", {})
    if not isinstance(arguments, list):
        found.append(wrong("arguments", "must be a list"))
    elif spark and entry.get("program") in known and not _two_counts(arguments):
        meaning = SPARK_PROGRAMS[entry["program"]]
        found.append(wrong("arguments", f"must be two whole numbers above 0 ({meaning}), not {arguments}"))
    if not isinstance(options, dict):
        found.append(wrong("options", "must be a mapping of properties"))
    elif spark and (strange := [key for key in options if not str(key).startswith("spark.")]):
        found.append(wrong("options", f"{strange[0]!r} is no property of Spark: those begin with spark."))
    return found


def _two_counts(arguments: list[Any]) -> bool:
    return len(arguments) == 2 and all(type(one) is int and one > 0 for one in arguments)


def _replayed(where: str, named: str, at_ms: int, before: int, seed: int) -> tuple[list[RealJob], list[str]]:
    beside = Path(where).parent / named
    replayed, notes = replay_jobs(load_workload(str(beside) if isfile(beside) else named, seed))
    moved: list[RealJob] = []
    for job in replayed:
        values = {**vars(job), "submit_at_ms": job.submit_at_ms + at_ms, "after": tuple(a + before for a in job.after)}
        moved.append(ReplayJob(**values))
    return moved, notes


def _program(where: str, number: int, entry: dict[str, Any], at_ms: int, names: list[str]) -> MapReduceJob | SparkJob:
    after = entry.get("after", [])
    waited_for = [after] if isinstance(after, str) else after
    if unknown := [name for name in waited_for if name not in names]:
        raise BadInput.of(
            where, f"job {number} waits for {unknown[0]!r}, but no earlier job has that name", field="after"
        )
    application = Path(where).parent / entry["application"] if entry.get("application") is not None else None
    program = entry["program"] if application is None else application.stem
    common: dict[str, Any] = {
        "name": str(entry.get("name", f"{program}-{number}")),
        "submit_at_ms": at_ms,
        "queue": str(entry.get("queue", "root.default")),
        "program": program,
        "arguments": tuple(str(argument) for argument in entry.get("arguments", [])),
        "options": tuple((str(key), _property(value)) for key, value in entry.get("options", {}).items()),
        "after": tuple(names.index(name) for name in waited_for),
    }
    return MapReduceJob(**common) if entry["kind"] == "mapreduce" else SparkJob(**common, application=application)


def _property(value: Any) -> str:
    """As Hadoop and Spark write it: YAML reads true and false as truth values."""
    return str(value).lower() if isinstance(value, bool) else str(value)
