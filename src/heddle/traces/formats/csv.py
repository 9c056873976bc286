"""A CSV of tasks, heddle's own columns or others by `--map` (docs/traces/csv.md).

It is read as a workload is read directly; but what is wrong with a row sets that row aside.
"""

from __future__ import annotations

import csv

from heddle.model.errors import BadInput
from heddle.model.suggestion import did_you_mean
from heddle.traces.assemble import assemble
from heddle.traces.csv_tasks.columns import NAMES, REQUIRED, SEPARATORS
from heddle.traces.csv_tasks.read import joined, read_tasks
from heddle.traces.csv_tasks.verdicts import SettingAside
from heddle.traces.imports.columns import rows_of
from heddle.traces.imports.format import Files, Format, Given, Imported, about
from heddle.traces.imports.source import Head


def _role(head: Head) -> str | None:
    separator = max(SEPARATORS, key=head.first.count)
    names = {name.strip() for name in next(csv.reader([head.first], delimiter=separator), [])}
    return "tasks" if names.issuperset(REQUIRED) else None


def _role_when_asked(head: Head) -> str | None:
    return "tasks" if any(separator in head.first for separator in SEPARATORS) else None


def _read(files: Files, given: Given) -> Imported:
    for name in given.columns:
        if name not in NAMES:
            hint = did_you_mean(name, NAMES) or f"; known are {', '.join(NAMES)}"
            raise BadInput.of("--map", f"not a column of heddle{hint}", field=name)
    notes: list[str] = []
    parts = []
    for source in files["tasks"]:
        verdicts = SettingAside(source)
        tasks = read_tasks(source, verdicts, given.columns)
        source.rows.tasks(rows_of(tasks.rows))
        notes += verdicts.notes
        parts.append(tasks.of_jobs_in(f"{source.stem}/") if len(files["tasks"]) > 1 else tasks)
    every = joined(parts)
    if not every.rows.height:
        raise BadInput.of("csv", "no usable task in these files")
    name = files["tasks"][0].stem if len(parts) == 1 else "csv"
    return Imported(assemble(name, every.table(about("csv", files, given))), notes=notes)


FORMAT = Format(
    name="csv",
    summary="a CSV of tasks; columns of other names by --map",
    roles={"tasks": f"a header with {', '.join(REQUIRED)} and one task to a line"},
    role=_role,
    role_when_asked=_role_when_asked,
    needs=("tasks",),
    read=_read,
    has="all that its columns say: jobs, stages, reservations, durations; use, AMs, queues, users, data and "
    "where tasks run already, if they are there",
    models="nothing",
)
