"""The waste ledger: every MB-millisecond and millicore-millisecond of a cluster in exactly one line (docs/ledger.md).

Two halves, both exact. What containers reserved is split attempt by attempt; what they did not is split instant by
instant, by what waited meanwhile and why. What was promised beyond the hardware cannot be in a sum that is the
hardware: it is taken off the idle reservations and shown apart, as is use beyond a task's own reservation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from heddle.analysis.free_capacity import FREE_LINES, free_capacity
from heddle.analysis.steps import Ints
from heddle.model.errors import BadInput
from heddle.model.reasons import Outcome
from heddle.model.resources import display_name
from heddle.model.workload import AM, EXECUTORS, INNER
from heddle.record.run import Run

# Lines in the order in which they take their part: a thing that could stand in two lines stands in the first.
RESERVED_LINES: Final = {
    "lost": "lost to crashes, kills and re-runs",
    "am": "application masters",
    "early": "held by early reducers",
    "used": "used",
    "unrecorded": "reserved, use not recorded",
    "idle": "reserved but idle",
}
MEMOS: Final = {"oversold": "promised beyond the hardware", "beyond": "used beyond the own reservation"}
INFERRED: Final = ("early",)  # lines whose cause is not in the record and is inferred
_WELL_ENDED: Final = (int(Outcome.FINISHED), int(Outcome.RELEASED), -1)


@dataclass(frozen=True)
class Line:
    """A part of the capacity over the time of the run, in resource x ms."""

    name: str
    what: str
    amounts: tuple[int, ...]  # by resource
    inferred: bool


@dataclass(frozen=True)
class Ledger:
    """All lines; they add up to `total` in every resource."""

    resources: tuple[str, ...]
    begin_ms: int
    end_ms: int
    total: tuple[int, ...]
    lines: tuple[Line, ...]
    memos: tuple[Line, ...]
    reserved_by_engine: tuple[int, ...]  # what the run itself summed up while it ran
    reserved: tuple[int, ...]  # the same from the attempts

    def document(self) -> dict[str, object]:
        """For JSON: amounts are resource x ms, exact."""
        shares = {
            display_name(name): {
                line.name: {
                    "amount_ms": line.amounts[r],
                    "share": _share(line.amounts[r], self.total[r]),
                    "inferred": line.inferred,
                }
                for line in self.lines
            }
            for r, name in enumerate(self.resources)
        }
        return {
            "begin_ms": self.begin_ms,
            "end_ms": self.end_ms,
            "total_ms": {display_name(name): self.total[r] for r, name in enumerate(self.resources)},
            "lines": shares,
            "memos": {
                display_name(name): {memo.name: memo.amounts[r] for memo in self.memos}
                for r, name in enumerate(self.resources)
            },
            "reserved_ms": {
                display_name(name): {"record": self.reserved[r], "run": self.reserved_by_engine[r]}
                for r, name in enumerate(self.resources)
            },
        }


def _share(amount: int, total: int) -> float | None:
    return amount / total if total else None


def waste_ledger(run: Run) -> Ledger:
    """The ledger of a recorded run; BadInput where the record is not complete enough."""
    if not run.manifest["complete_attempts"] or run.events is None:
        raise BadInput.of("record", "has no log of events: make it with `heddle simulate ... --record DIR`")
    begin, end = _horizon(run)
    attempts = _attempts(run, begin, end)
    reserved, beyond = _reserved_lines(run, attempts)
    free, oversold = free_capacity(run, attempts, begin, end)
    over = oversold.copy()
    for name in reversed(RESERVED_LINES):  # what could not really be promised was idle first of all
        taken = np.minimum(over, reserved[name])
        reserved[name] = reserved[name] - taken
        over = over - taken
    capacity = np.array([run.nodes[f"capacity_{name}"].sum() for name in run.resources], np.int64)
    amounts = {**free, **reserved}
    labels = {**FREE_LINES, **RESERVED_LINES}
    order = ("away", "outside", *RESERVED_LINES, *(name for name in FREE_LINES if name not in ("away", "outside")))
    lines = tuple(Line(name, labels[name], _numbers(amounts[name]), name in INFERRED) for name in order)
    memos = tuple(
        Line(name, MEMOS[name], _numbers(value), False) for name, value in (("oversold", oversold), ("beyond", beyond))
    )
    return Ledger(
        resources=run.resources,
        begin_ms=begin,
        end_ms=end,
        total=_numbers(capacity * (end - begin)),
        lines=lines,
        memos=memos,
        reserved_by_engine=_numbers(np.array(run.manifest["totals"]["reserved_ms"], np.int64)),
        reserved=_numbers(_total(attempts, run)),
    )


def _numbers(values: Ints) -> tuple[int, ...]:
    return tuple(int(value) for value in values)


def _horizon(run: Run) -> tuple[int, int]:
    """From the first submission to the last thing known."""
    begin = int(run.jobs["submit_at_ms"].to_numpy().min()) if run.jobs.height else 0
    last = [
        run.jobs["ended_at_ms"],
        *(run.attempts[name] for name in ("allocated_at_ms", "started_at_ms", "ended_at_ms")),
    ]
    return begin, max([begin, *(int(column.drop_nulls().to_numpy().max(initial=begin)) for column in last)])


def _attempts(run: Run, begin: int, end: int) -> pl.DataFrame:
    """Containers (inner tasks apart) with the span in which they held their reservation, and its amounts."""
    spans = run.attempts.with_columns(
        pl.col("allocated_at_ms").clip(begin, end),
        ended_at_ms=pl.col("ended_at_ms").fill_null(end).clip(begin, end),
        open=pl.col("ended_at_ms").is_null(),
    )
    return spans.join(run.shapes, on="shape", how="left", maintain_order="left").with_columns(
        span=pl.col("ended_at_ms") - pl.col("allocated_at_ms")
    )


def _total(attempts: pl.DataFrame, run: Run) -> Ints:
    containers = attempts.filter(pl.col("kind") != INNER)
    return np.array([(containers[name] * containers["span"]).sum() for name in run.resources], np.int64)


def _reserved_lines(run: Run, attempts: pl.DataFrame) -> tuple[dict[str, Ints], Ints]:
    """(resource x ms of each line of what was reserved, use beyond the own reservation)."""
    ended_well = pl.col("outcome").is_in(_WELL_ENDED)
    holds = _early_hold_ms(run, attempts)
    containers = attempts.with_columns(hold=pl.Series(holds)).filter(pl.col("kind") != INNER)
    lines = {name: np.zeros(len(run.resources), np.int64) for name in RESERVED_LINES}
    beyond = np.zeros(len(run.resources), np.int64)
    inner_use = attempts.filter(pl.col("kind") == INNER)
    for r, name in enumerate(run.resources):
        used = pl.col(f"used_{name}_ms")
        frame = containers.with_columns(area=pl.col(name) * pl.col("span"))
        lost = frame.filter(~ended_well)
        good = frame.filter(ended_well)
        masters = good.filter(pl.col("kind") == AM)
        lines["lost"][r] = lost["area"].sum()
        lines["am"][r] = masters["area"].sum()
        tasks = good.filter(~pl.col("kind").is_in((AM, EXECUTORS))).with_columns(held=pl.col(name) * pl.col("hold"))
        lines["early"][r] = tasks["held"].sum()
        tasks = tasks.with_columns(rest=pl.col("area") - pl.col("held"))
        known = tasks.filter(used.is_not_null())
        lines["unrecorded"][r] = tasks.filter(used.is_null())["rest"].sum()
        lines["used"][r] = known.select(pl.min_horizontal(used, "rest").sum()).item()
        lines["idle"][r] = known.select((pl.col("rest") - pl.min_horizontal(used, "rest")).sum()).item()
        beyond[r] = known.select((used - pl.col("area")).clip(0).sum()).item()
        for share, of in zip(_executors(good, inner_use, name), ("used", "idle", "unrecorded", "beyond"), strict=True):
            if of == "beyond":
                beyond[r] += share
            else:
                lines[of][r] += share
    return lines, beyond


def _executors(good: pl.DataFrame, inner: pl.DataFrame, name: str) -> tuple[int, int, int, int]:
    """(used, idle, use not recorded, beyond) of executors: their own use and that of the tasks inside, job by job."""
    used = f"used_{name}_ms"
    held = (
        good.filter(pl.col("kind") == EXECUTORS).group_by("job").agg(area=pl.col("area").sum(), own=pl.col(used).sum())
    )
    if not held.height:
        return 0, 0, 0, 0
    within = inner.group_by("job").agg(inside=pl.col(used).sum(), known=pl.col(used).is_not_null().any())
    both = held.join(within, on="job", how="left").with_columns(
        pl.col("inside", "own").fill_null(0), pl.col("known").fill_null(False)
    )
    known = both.filter("known").with_columns(use=pl.col("inside") + pl.col("own"))
    inside = known.select(pl.min_horizontal("use", "area").sum()).item()
    return (
        int(inside),
        int(known["area"].sum() - inside),
        int(both.filter(~pl.col("known"))["area"].sum()),
        int(known.select((pl.col("use") - pl.col("area")).clip(0).sum()).item()),
    )


def _early_hold_ms(run: Run, attempts: pl.DataFrame) -> Ints:
    """How long each attempt held its container while the maps of its job still ran.

    The record does not say which stages may start early, so that this goes by name: a stage `reduce...` that runs
    before the last end of its job's stages `map...` is taken to wait for them.
    """
    kind = run.stages.select("stage", role=pl.col("name").str.extract(r"^(map|reduce)", 1))
    rows = attempts.join(kind, on="stage", how="left", maintain_order="left")
    maps = rows.filter(pl.col("role") == "map").group_by("job").agg(maps_end=pl.col("ended_at_ms").max())
    rows = rows.join(maps, on="job", how="left", maintain_order="left")
    since = pl.coalesce("started_at_ms", "ended_at_ms")
    hold = (pl.min_horizontal("maps_end", "ended_at_ms") - since).clip(0)
    found = rows.select(pl.when(pl.col("role") == "reduce").then(hold).otherwise(0).fill_null(0).cast(pl.Int64))
    return found.to_series().to_numpy()
