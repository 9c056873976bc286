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

    def counted(self, run: Run) -> pl.Series:
        """For each job whether it counts."""
        submit = run.jobs["submit_at_ms"]
        if not (self.warm_up_s or self.cool_down_s) or submit.len() == 0:
            return pl.Series([True]).new_from_index(0, submit.len())
        first, last = int(submit.min()), int(submit.max())  # type: ignore[arg-type]  # not empty
        return (submit >= first + 1000 * self.warm_up_s) & (submit <= last - 1000 * self.cool_down_s)

    def as_json(self, run: Run) -> dict[str, Any]:
        """What was left out; nothing where nothing was asked to be."""
        if not (self.warm_up_s or self.cool_down_s):
            return {}
        left_out = run.jobs.height - int(self.counted(run).sum())
        return {"warm_up_s": self.warm_up_s, "cool_down_s": self.cool_down_s, "left_out_jobs": left_out}


NO_EDGES: Final = Edges()
