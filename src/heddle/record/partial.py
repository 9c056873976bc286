"""What a killed run left of its record, as a run: everything that happened up to an instant, and nothing after it.

Attempts and events are noted when they happen, so that each table is complete up to its last row; the earlier of the
two instants is how far the run is known. What came of the jobs by then, and the totals, are worked out from them.
Tables with several parts stay on disk, as those of a whole record do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from heddle.model.errors import BadInput
from heddle.model.reasons import JobOutcome, Outcome
from heddle.model.workload import INNER
from heddle.record.jobs_so_far import JobsSoFar
from heddle.record.journal import JOURNAL_FILE, Left, read_journal
from heddle.record.manifest import FORMAT_VERSION, PARTIAL, manifest_problems
from heddle.record.parts import part_name, read_part
from heddle.record.run import Run
from heddle.record.schema import SUBMITTED, Table, submitted, tables
from heddle.record.stored import StoredTable

_BEFORE_THE_RUN: Final = (SUBMITTED, "shapes", "stages", "nodes")
_NOTED_AT: Final = {"attempts": "ended_at_ms", "events": "at_ms"}


def read_partial(folder: Path) -> Run:
    """The run up to the last instant of which everything was written; BadInput where there is none."""
    left = read_journal(folder)
    if left.known["format_version"] != FORMAT_VERSION:
        what = f"is format {left.known['format_version']!r}, written by heddle {left.known['heddle_version']}"
        raise BadInput.of(str(folder), f"{what}; partial records are read in format {FORMAT_VERSION} only")
    resources = left.known.get("resources")
    if not isinstance(resources, list) or not all(isinstance(name, str) for name in resources):
        raise BadInput.of(str(folder), "its journal does not name the resources of the run")
    known = tables(resources) | {SUBMITTED: submitted()}
    parts = {name: _whole_parts(folder, known[name], left) for name in (*_BEFORE_THE_RUN, *_NOTED_AT)}
    last_end, last_event = parts["attempts"].last_ms, parts["events"].last_ms
    if last_end is None or last_event is None:
        what = "the run was ended, or is, before the first parts of both attempts and events: nothing can be told yet"
        raise BadInput.of(str(folder), what)
    until = min(last_end, last_event) - 1  # of the last instant itself rows may be missing
    attempts, events = (parts[name].stored(_up_to(until, at_ms)) for name, at_ms in _NOTED_AT.items())
    shapes = parts["shapes"].stored().whole()
    manifest = left.known | {
        "outcome": PARTIAL,
        "reason": f"the run was ended before it was over, and is known up to {until / 1000:,.3f} s",
        **dict.fromkeys(("wall_s", "simulate_s", "peak_rss_mb")),
        "totals": _totals(attempts, shapes, left.known),
    }
    if problems := manifest_problems(manifest, str(folder)):
        raise BadInput(problems)
    return Run(
        manifest=manifest,
        jobs=_jobs(parts[SUBMITTED], attempts, events, known["jobs"], str(folder)).held(),
        attempts=attempts.held(),
        shapes=shapes,
        stages=parts["stages"].stored().held(),
        nodes=parts["nodes"].stored().whole(),
        events=events.held(),
    )


class _Parts(NamedTuple):
    """The parts of a table up to the first that is not there as it was written."""

    rows: dict[Path, int]  # of each file
    last_ms: int | None  # when the last of them was noted; None: there are none, or they were known before the run

    def stored(self, read: Callable[[Path], pl.LazyFrame] | None = None) -> StoredTable:
        return StoredTable(list(self.rows), read)


def _whole_parts(folder: Path, table: Table, left: Left) -> _Parts:
    """Each is looked at, one after another, and none is held."""
    rows: dict[Path, int] = {}
    last_ms: int | None = None
    while (name := part_name(table.name, len(rows))) in left.parts:
        try:
            part = read_part(folder / name, table, left.parts[name])
        except BadInput:
            if table.name in _BEFORE_THE_RUN:
                raise
            break
        rows[folder / name] = part.height
        if table.name in _NOTED_AT and part.height:
            last_ms = part.select(pl.col(_NOTED_AT[table.name]).max()).item()
    if not rows and table.name in _BEFORE_THE_RUN:
        raise BadInput.of(str(folder / JOURNAL_FILE), f"lists no file of the table {table.name}")
    return _Parts(rows, last_ms)


def _up_to(until: int, at_ms: str) -> Callable[[Path], pl.LazyFrame]:
    return lambda file: pl.scan_parquet(file).filter(pl.col(at_ms) <= until)


def _jobs(submitted: _Parts, attempts: StoredTable, events: StoredTable, table: Table, where: str) -> StoredTable:
    """What was known of them before the run, and beside it what came of them."""
    count = sum(submitted.rows.values())
    came_of = JobsSoFar(count)
    for piece in attempts.pieces():
        _must_be(piece["job"].is_between(0, count - 1), where, "attempts", "job")
        came_of.add_attempts(piece)
    for piece in events.pieces():
        ended = piece.filter(pl.col("kind") == "job_ended")
        _must_be(ended["job"].is_between(0, count - 1), where, "events", "job")
        _must_be(ended["value"].is_in([int(JobOutcome.FINISHED), int(JobOutcome.FAILED)]), where, "events", "value")
        came_of.add_events(piece)
    first, begins = 0, {}
    for file, count in submitted.rows.items():
        begins[file] = first
        first += count

    def read(file: Path) -> pl.LazyFrame:
        beside = came_of.columns(begins[file], submitted.rows[file])
        both = pl.concat([pl.scan_parquet(file), beside.lazy()], how="horizontal")
        return both.select(pl.col(column.name).cast(column.dtype) for column in table.columns)

    return submitted.stored(read)


def _must_be(known: pl.Series, where: str, table: str, column: str) -> None:
    if not known.all():
        raise BadInput.of(where, f"{table} tell of jobs or outcomes that there are not", field=column)


def _totals(attempts: StoredTable, shapes: pl.DataFrame, known: Mapping[str, Any]) -> dict[str, Any]:
    """As the engine sums them up, from the attempts that had ended."""
    resources, is_container = known["resources"], pl.col("kind") != INNER
    span = pl.col("ended_at_ms") - pl.col("allocated_at_ms").clip(0)

    def ended_as(which: Outcome) -> pl.Expr:
        return (pl.col("outcome") == int(which)).sum()

    sums = {f"reserved {name}": (pl.col(name) * span).filter(is_container).sum() for name in resources}
    sums |= {f"used {name}": pl.col(f"used_{name}_ms").sum() for name in resources}
    sums |= {
        "crashed_tasks": ended_as(Outcome.CRASHED),
        "killed_tasks": ended_as(Outcome.LIMIT_KILLED),
        "retried_tasks": (pl.col("attempt") > 0).sum(),
        "preempted_tasks": ended_as(Outcome.PREEMPTED),
        "allocations": is_container.sum(),
    }
    rows = attempts.scan().join(shapes.lazy(), on="shape", how="left")
    found = rows.select(**sums).collect(engine="streaming").row(0, named=True)
    reserved, used = ([found.pop(f"{word} {name}") for name in resources] for word in ("reserved", "used"))
    return {
        "reserved_ms": reserved,
        "used_ms": used if known.get("use_known") else [None] * len(resources),
        **found,
        # What was read locally is in no table, and the others alone would look like all that was read.
        **dict.fromkeys(("moved_bytes", "cross_rack_bytes", "local_bytes", "fetch_ms")),
    }
