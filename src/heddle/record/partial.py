"""What a killed run left of its record, as a run: everything that happened up to an instant, and nothing after it.

Attempts and events are noted when they happen, so that each table is complete up to its last row; the earlier of the
two instants is how far the run is known. What came of the jobs by then, and the totals, are worked out from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from heddle.model.errors import BadInput
from heddle.model.reasons import JobOutcome, Outcome
from heddle.model.workload import AM, INNER
from heddle.record.journal import Left, read_journal
from heddle.record.manifest import FORMAT_VERSION, PARTIAL, manifest_problems
from heddle.record.parts import part_name, read_part
from heddle.record.run import Run
from heddle.record.schema import SUBMITTED, Table, submitted, tables

_BEFORE_THE_RUN: Final = (SUBMITTED, "shapes", "stages", "nodes")
_WORDS: Final = {int(JobOutcome.FINISHED): "finished", int(JobOutcome.FAILED): "failed"}


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
    frames = {name: _whole_parts(folder, known[name], left) for name in (*_BEFORE_THE_RUN, "attempts", "events")}
    if not (frames["attempts"].height and frames["events"].height):
        what = "the run was ended, or is, before the first parts of both attempts and events: nothing can be told yet"
        raise BadInput.of(str(folder), what)
    until = _known_until(frames["attempts"], frames["events"])
    attempts = frames["attempts"].filter(pl.col("ended_at_ms") <= until)
    events = frames["events"].filter(pl.col("at_ms") <= until)
    manifest = left.known | {
        "outcome": PARTIAL,
        "reason": f"the run was ended before it was over, and is known up to {until / 1000:,.3f} s",
        **dict.fromkeys(("wall_s", "simulate_s", "peak_rss_mb")),
        "totals": _totals(attempts, frames["shapes"], left.known),
    }
    if problems := manifest_problems(manifest, str(folder)):
        raise BadInput(problems)
    return Run(
        manifest=manifest,
        jobs=_jobs(frames[SUBMITTED], attempts, events, known["jobs"]),
        attempts=attempts,
        shapes=frames["shapes"],
        stages=frames["stages"],
        nodes=frames["nodes"],
        events=events,
    )


def _whole_parts(folder: Path, table: Table, left: Left) -> pl.DataFrame:
    """The parts of a table up to the first that is not there as it was written."""
    frames = [table.empty()]
    while (name := part_name(table.name, len(frames) - 1)) in left.parts:
        try:
            frames.append(read_part(folder / name, table, left.parts[name]))
        except BadInput:
            if table.name in _BEFORE_THE_RUN:
                raise
            break
    return pl.concat(frames)


def _known_until(attempts: pl.DataFrame, events: pl.DataFrame) -> int:
    """The instant before the last that both tables tell of: of the last itself rows may be missing."""
    last_end, last_event = attempts["ended_at_ms"].max(), events["at_ms"].max()
    assert isinstance(last_end, int)
    assert isinstance(last_event, int)
    return min(last_end, last_event) - 1


def _jobs(known: pl.DataFrame, attempts: pl.DataFrame, events: pl.DataFrame, table: Table) -> pl.DataFrame:
    containers = attempts.filter(pl.col("kind") != INNER)
    began = pl.col("started_at_ms")
    started = containers.group_by("job").agg(
        am_started_at_ms=began.filter(pl.col("kind") == AM).min(),
        started_at_ms=began.filter(pl.col("kind") != AM).min(),
    )
    ended = events.filter(pl.col("kind") == "job_ended").select(
        "job", ended_at_ms="at_ms", outcome=pl.col("value").replace_strict(_WORDS, return_dtype=pl.String)
    )
    jobs = known.join(started, on="job", how="left", maintain_order="left")
    jobs = jobs.join(ended, on="job", how="left", maintain_order="left")
    return jobs.with_columns(pl.col("outcome").fill_null("unfinished")).select(
        pl.col(column.name).cast(column.dtype) for column in table.columns
    )


def _totals(attempts: pl.DataFrame, shapes: pl.DataFrame, known: Mapping[str, Any]) -> dict[str, Any]:
    """As the engine sums them up, from the attempts that had ended."""
    containers = attempts.filter(pl.col("kind") != INNER).join(shapes, on="shape", how="left")
    span = pl.col("ended_at_ms") - pl.col("allocated_at_ms").clip(0)
    outcome = attempts["outcome"]

    def ended_as(*which: Outcome) -> int:
        return int(outcome.is_in([int(one) for one in which]).sum())

    def total(name: str) -> int:
        return int(attempts[name].sum())

    return {
        "reserved_ms": [int(containers.select((pl.col(name) * span).sum()).item()) for name in known["resources"]],
        "used_ms": [total(f"used_{name}_ms") if known.get("use_known") else None for name in known["resources"]],
        "crashed_tasks": ended_as(Outcome.CRASHED),
        "killed_tasks": ended_as(Outcome.LIMIT_KILLED),
        "retried_tasks": int((attempts["attempt"] > 0).sum()),
        "preempted_tasks": ended_as(Outcome.PREEMPTED),
        "allocations": containers.height,
        # What was read locally is in no table, and the others alone would look like all that was read.
        **dict.fromkeys(("moved_bytes", "cross_rack_bytes", "local_bytes", "fetch_ms")),
    }
