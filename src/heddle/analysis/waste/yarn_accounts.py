"""What a record of a real YARN adds up to, held against YARN's own accounts: memorySeconds and vcoreSeconds.

YARN counts each container in whole MB- and vcore-seconds and drops the rest. So does this, or a difference would show
that is none: of a container of one vcore, half a second on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from heddle.model.resources import MILLI, VCORES, display_name
from heddle.record.run import Run

MS_PER_S: Final = 1000
_NAMED: Final = 5

Pair = tuple[int, int]  # from the attempts, by YARN


@dataclass(frozen=True)
class JobAccounts:
    """A job that has ended; amounts in resource x ms, by resource."""

    job: int
    name: str
    amounts: tuple[Pair, ...]

    @property
    def unseen(self) -> bool:
        """It held containers, YARN says, and the record has none of them."""
        return all(ours == 0 for ours, _ in self.amounts) and any(theirs for _, theirs in self.amounts)

    @property
    def furthest_off(self) -> float:
        return max((abs(off) for pair in self.amounts if (off := off_by(pair)) is not None), default=0.0)


@dataclass(frozen=True)
class YarnAccounts:
    """All jobs that have ended, and each of them; of a record that holds sums only, `jobs` is empty."""

    resources: tuple[str, ...]
    total: tuple[Pair, ...]
    jobs: tuple[JobAccounts, ...]

    @property
    def unseen(self) -> str:
        """Names of jobs of whose containers the record has none, though YARN counted some; empty: there are none."""
        names = [one.name for one in self.jobs if one.unseen]
        more = len(names) - _NAMED
        return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")

    def document(self) -> dict[str, object]:
        """For JSON."""
        jobs = [{"job": one.job, "name": one.name, **self._shown(one.amounts)} for one in self.jobs]
        return {**self._shown(self.total), "jobs": jobs}

    def _shown(self, amounts: tuple[Pair, ...]) -> dict[str, object]:
        return {
            display_name(name): {"record_ms": pair[0], "yarn_ms": pair[1], "off": off_by(pair)}
            for name, pair in zip(self.resources, amounts, strict=True)
        }


def off_by(pair: Pair) -> float | None:
    """How far the record is off, as a share of YARN's account; None: that is nothing."""
    return (pair[0] - pair[1]) / pair[1] if pair[1] else None


def yarn_accounts(run: Run) -> YarnAccounts | None:
    """None for a record that is not of a real YARN."""
    totals = run.manifest["totals"]
    if "yarn_reserved_ms" not in totals:
        return None
    mine = _by_job(run)
    ended = run.jobs.filter(pl.col("ended_at_ms").is_not_null()).select("job", "name")
    names = dict(ended.iter_rows())
    nothing = (0,) * len(run.resources)
    total = tuple(
        (sum(amounts[r] for job, amounts in mine.items() if job in names), int(theirs))
        for r, theirs in enumerate(totals["yarn_reserved_ms"])
    )
    jobs = tuple(
        JobAccounts(int(job), names[int(job)], tuple(zip(mine.get(int(job), nothing), theirs, strict=True)))
        for job, theirs in totals.get("yarn_reserved_by_job_ms", {}).items()
    )
    return YarnAccounts(run.resources, total, jobs)


def _by_job(run: Run) -> dict[int, tuple[int, ...]]:
    """What the containers of each job reserved, counted as YARN does."""
    span = pl.col("ended_at_ms") - pl.col("allocated_at_ms")
    # Vcores are in thousandths here and whole there.
    steps = [MS_PER_S * (MILLI if r == VCORES else 1) for r in range(len(run.resources))]
    counted = [
        (pl.col(name) * span // step * step).sum().alias(name) for name, step in zip(run.resources, steps, strict=True)
    ]
    ended = run.scan("attempts").drop_nulls("ended_at_ms").join(run.shapes.lazy(), on="shape")
    held = ended.group_by("job").agg(counted).collect(engine="streaming")
    return {job: tuple(amounts) for job, *amounts in held.iter_rows()}
