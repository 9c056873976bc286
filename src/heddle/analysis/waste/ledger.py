"""The waste ledger: every MB-millisecond and millicore-millisecond of a cluster in exactly one line (docs/ledger.md).

Two halves, both exact. What containers reserved is split attempt by attempt; what they did not is split instant by
instant, by what waited meanwhile and why. Neither holds the record: the one goes through its jobs, the other through
its time, some after others. What was promised beyond the hardware cannot be in a sum that is the hardware: it is taken
off the idle reservations and shown apart, as is use beyond a task's own reservation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
import polars as pl

from heddle.analysis.measures.levels import Floats, horizon_ms
from heddle.analysis.measures.steps import Ints
from heddle.analysis.waste.free_capacity import FREE_LINES, free_capacity
from heddle.analysis.waste.held_reservations import with_reservations
from heddle.analysis.waste.ledger_lines import LedgerLines
from heddle.analysis.waste.reserved_capacity import INFERRED, RESERVED_LINES, reserved_capacity
from heddle.analysis.waste.yarn_accounts import YarnAccounts, yarn_accounts
from heddle.model.errors import BadInput
from heddle.model.resources import display_name
from heddle.model.workload import INNER
from heddle.record.run import Run

Amounts = TypeVar("Amounts", Ints, Floats)

_BEFORE_RESERVED: Final = ("away", "background", "outside")
LINES: Final = (
    {name: FREE_LINES[name] for name in _BEFORE_RESERVED}
    | RESERVED_LINES
    | {name: what for name, what in FREE_LINES.items() if name not in _BEFORE_RESERVED}
)
MEMOS: Final = {"oversold": "promised beyond the hardware", "beyond": "used beyond the own reservation"}


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
    yarn: YarnAccounts | None = None  # in records of a real one

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
            "yarn": None if self.yarn is None else self.yarn.document(),
        }


def _share(amount: int, total: int) -> float | None:
    return amount / total if total else None


@dataclass(frozen=True)
class LedgerOverTime:
    """The same lines as shares of the hardware in equal bins of time; in every bin they add up to 1."""

    edges_s: Floats  # from the first submission on
    shares: dict[str, dict[str, Floats]]  # resource -> line -> share in each bin


def waste_ledger(run: Run) -> Ledger:
    """The ledger of a recorded run; BadInput where the record is not complete enough."""
    return _gathered(run, None).ledger()


def ledger_and_course(run: Run, bins: int) -> tuple[Ledger, LedgerOverTime]:
    """The ledger, and how its lines lie in time. A task's use is spread evenly over its run: only its sum is known."""
    gathered = _gathered(run, bins)
    return gathered.ledger(), gathered.over_time()


@dataclass(frozen=True)
class _Gathered:
    """The lines before anything oversold is taken off."""

    run: Run
    begin: int
    end: int
    edges_ms: Floats | None
    lines: LedgerLines
    reserved: Ints
    beyond: Ints  # use beyond reservations
    oversold: Ints  # promises beyond the hardware

    def ledger(self) -> Ledger:
        amounts = _without_oversold(self.lines.sums, self.oversold)
        memos = {"oversold": self.oversold, "beyond": self.beyond}
        return Ledger(
            resources=self.run.resources,
            begin_ms=self.begin,
            end_ms=self.end,
            total=_numbers(_capacity(self.run) * (self.end - self.begin)),
            lines=tuple(Line(name, what, _numbers(amounts[name]), name in INFERRED) for name, what in LINES.items()),
            memos=tuple(Line(name, MEMOS[name], _numbers(value), False) for name, value in memos.items()),
            reserved_by_engine=_numbers(np.array(self.run.manifest["totals"]["reserved_ms"], np.int64)),
            reserved=_numbers(self.reserved),
            yarn=yarn_accounts(self.run),
        )

    def over_time(self) -> LedgerOverTime:
        assert self.edges_ms is not None
        shares = {}
        for r, (name, capacity) in enumerate(zip(self.run.resources, _capacity(self.run).tolist(), strict=True)):
            if not capacity:
                continue
            levels = self.lines.over_time(r)
            levels = _without_oversold(levels, np.maximum(0.0, sum(levels.values()) - capacity))
            shares[name] = {line: levels[line] / capacity for line in LINES}
        return LedgerOverTime((self.edges_ms - self.begin) / 1000, shares)


def _gathered(run: Run, bins: int | None) -> _Gathered:
    if not run.manifest["complete_attempts"] or not run.has_events:
        raise BadInput.of("record", "has no event log; create one with `heddle simulate ... --record DIR`")
    begin, end = horizon_ms(run)
    edges_ms = None if bins is None else np.linspace(begin, max(end, begin + 1), bins + 1)
    lines = LedgerLines(LINES, len(run.resources), edges_ms)
    reserved, beyond = np.zeros(len(run.resources), np.int64), np.zeros(len(run.resources), np.int64)
    for first, last in run.job_ranges():
        attempts = with_reservations(run, run.of_jobs("attempts", first, last), begin, end)
        beyond += reserved_capacity(run, run.of_jobs("stages", first, last), attempts, lines)
        reserved += _total(attempts, run)
    oversold = free_capacity(run, lines, begin, end)
    return _Gathered(run, begin, end, edges_ms, lines, reserved, beyond, oversold)


def _without_oversold(amounts: Mapping[str, Amounts], over: Amounts) -> dict[str, Amounts]:
    """The lines less what could not really be promised: that was idle first of all."""
    left = dict(amounts)
    for name in reversed(RESERVED_LINES):
        taken = np.minimum(over, left[name])
        left[name] = left[name] - taken
        over = over - taken
    return left


def _capacity(run: Run) -> Ints:
    return np.array([run.nodes[f"capacity_{name}"].sum() for name in run.resources], np.int64)


def _numbers(values: Ints) -> tuple[int, ...]:
    return tuple(int(value) for value in values)


def _total(attempts: pl.DataFrame, run: Run) -> Ints:
    containers = attempts.filter(pl.col("kind") != INNER)
    return np.array([(containers[name] * containers["span"]).sum() for name in run.resources], np.int64)
