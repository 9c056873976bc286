"""Workload files that name real jobs: a YAML list of `kind: replay` and `kind: mapreduce`.

    jobs:
      - {kind: replay, workload: tasks.csv}
      - {kind: mapreduce, program: pi, arguments: [4, 1000], at_s: 5}
      - {kind: mapreduce, name: gen, program: teragen, arguments: [100000, "{work}/in"]}
      - {kind: mapreduce, program: terasort, arguments: ["{work}/in", "{work}/out"], after: gen}

`{work}` is a folder that a run makes and removes. `options` are Hadoop's properties (-D).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from heddle.model.errors import BadInput, Problem
from heddle.traces.load import load_workload
from heddle.yarn.replay.plan import ReplayJob, replay_jobs

SUFFIXES: Final = (".yaml", ".yml")
KINDS: Final = ("replay", "mapreduce")
PROGRAMS: Final = ("pi", "sleep", "teragen", "terasort", "teravalidate", "wordcount")
_KEYS: Final = {
    "replay": {"kind", "workload", "at_s"},
    "mapreduce": {"kind", "name", "program", "arguments", "options", "at_s", "after", "queue"},
}


@dataclass(frozen=True)
class MapReduceJob:
    """A program of Hadoop's examples, run by Hadoop's own client. `after`: places in the list of jobs."""

    name: str
    submit_at_ms: int
    queue: str
    program: str
    arguments: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    after: tuple[int, ...]


RealJob = ReplayJob | MapReduceJob


def load_real_jobs(text: str, seed: int = 0) -> tuple[list[RealJob], list[str]]:
    """The jobs that a workload means on a real cluster, and what is worth saying about them."""
    path = Path(text)
    if path.suffix not in SUFFIXES:
        replayed, notes = replay_jobs(load_workload(text, seed))
        return list(replayed), notes
    try:
        document = yaml.safe_load(path.read_text())
    except OSError as error:
        raise BadInput.of(text, f"cannot be read: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise BadInput.of(text, f"is not YAML: {error}") from None
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
                jobs.append(_mapreduce(where, number, entry, at_ms, [job.name for job in jobs]))
        except BadInput as bad:
            problems += bad.problems
    if problems:
        raise BadInput(problems)
    return jobs, notes


def _check(where: str, number: int, entry: Any) -> None:
    if not isinstance(entry, dict) or entry.get("kind") not in KINDS:
        raise BadInput.of(where, f"job {number} must be a mapping with `kind` one of {', '.join(KINDS)}", field="kind")
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
    if kind == "mapreduce":
        if entry.get("program") not in PROGRAMS:
            known = ", ".join(PROGRAMS)
            wrong.append(
                Problem(where, f"job {number}: must be one of {known}, not {entry.get('program')!r}", field="program")
            )
        if not isinstance(entry.get("arguments", []), list):
            wrong.append(Problem(where, f"job {number}: must be a list", field="arguments"))
        if not isinstance(entry.get("options", {}), dict):
            wrong.append(Problem(where, f"job {number}: must be a mapping of properties", field="options"))
    if wrong:
        raise BadInput(wrong)


def _replayed(where: str, named: str, at_ms: int, before: int, seed: int) -> tuple[list[RealJob], list[str]]:
    beside = Path(where).parent / named
    replayed, notes = replay_jobs(load_workload(str(beside) if beside.is_file() else named, seed))
    moved: list[RealJob] = []
    for job in replayed:
        values = {**vars(job), "submit_at_ms": job.submit_at_ms + at_ms, "after": tuple(a + before for a in job.after)}
        moved.append(ReplayJob(**values))
    return moved, notes


def _mapreduce(where: str, number: int, entry: dict[str, Any], at_ms: int, names: list[str]) -> MapReduceJob:
    after = entry.get("after", [])
    waited_for = [after] if isinstance(after, str) else after
    if unknown := [name for name in waited_for if name not in names]:
        raise BadInput.of(
            where, f"job {number} waits for {unknown[0]!r}, which no earlier job is called", field="after"
        )
    return MapReduceJob(
        name=str(entry.get("name", f"{entry['program']}-{number}")),
        submit_at_ms=at_ms,
        queue=str(entry.get("queue", "root.default")),
        program=entry["program"],
        arguments=tuple(str(argument) for argument in entry.get("arguments", [])),
        options=tuple((str(key), str(value)) for key, value in entry.get("options", {}).items()),
        after=tuple(names.index(name) for name in waited_for),
    )
