"""Warm-up and cool-down: the edges of a run in which the cluster was still empty, or the jobs had run out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from heddle.record.run import Run


@dataclass(frozen=True)
class Edges:
    """Jobs submitted within `warm_up_s` of the first submission, or `cool_down_s` of the last, do not count."""

    warm_up_s: float = 0.0
    cool_down_s: float = 0.0

    def counted(self, run: Run) -> pl.Expr:
        """Of rows of jobs, whether they count."""
        if not (self.warm_up_s or self.cool_down_s):
            return pl.lit(value=True)
        submit = pl.col("submit_at_ms")
        first, last = run.scan("jobs").select(first=submit.min(), last=submit.max()).collect(engine="streaming").row(0)
        if first is None:
            return pl.lit(value=True)
        return submit.is_between(first + 1000 * self.warm_up_s, last - 1000 * self.cool_down_s)

    def as_json(self, run: Run) -> dict[str, Any]:
        """What was left out; nothing where nothing was asked to be."""
        if not (self.warm_up_s or self.cool_down_s):
            return {}
        left_out = run.scan("jobs").select((~self.counted(run)).sum()).collect(engine="streaming").item()
        return {"warm_up_s": self.warm_up_s, "cool_down_s": self.cool_down_s, "left_out_jobs": left_out}


NO_EDGES: Final = Edges()
