"""What came of each job by some instant, worked out from the attempts and events up to then, piece by piece.

It takes 25 bytes a job: jobs neither start nor end in the order of their numbers.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.reasons import JobOutcome
from heddle.model.workload import AM, INNER

_NEVER: Final = np.iinfo(np.int64).max
_UNFINISHED: Final = -1
_WORDS: Final = {
    int(JobOutcome.FINISHED): "finished",
    int(JobOutcome.FAILED): "failed",
    _UNFINISHED: "unfinished",
}
_INSTANTS: Final = ("am_started_at_ms", "started_at_ms", "ended_at_ms")


class JobsSoFar:
    def __init__(self, n_jobs: int) -> None:
        self._at_ms = {name: np.full(n_jobs, _NEVER) for name in _INSTANTS}
        self._outcome = np.full(n_jobs, _UNFINISHED, np.int8)

    def add_attempts(self, attempts: pl.DataFrame) -> None:
        began = attempts.filter(pl.col("kind") != INNER).drop_nulls("started_at_ms")
        for name, which in (("am_started_at_ms", pl.col("kind") == AM), ("started_at_ms", pl.col("kind") != AM)):
            rows = began.filter(which)
            np.minimum.at(self._at_ms[name], rows["job"].to_numpy(), rows["started_at_ms"].to_numpy())

    def add_events(self, events: pl.DataFrame) -> None:
        ended = events.filter(pl.col("kind") == "job_ended")
        job = ended["job"].to_numpy()
        self._at_ms["ended_at_ms"][job] = ended["at_ms"].to_numpy()
        self._outcome[job] = ended["value"].to_numpy()

    def columns(self, first: int, count: int) -> pl.DataFrame:
        """Of so many jobs from one number on: what a table of jobs says beside what was known before the run."""
        jobs = slice(first, first + count)
        found: dict[str, Any] = {name: _or_null(at_ms[jobs]) for name, at_ms in self._at_ms.items()}
        words = pl.Series(self._outcome[jobs]).replace_strict(_WORDS, return_dtype=pl.String)
        return pl.DataFrame(found | {"outcome": words})


def _or_null(at_ms: npt.NDArray[np.int64]) -> pl.Series:
    series = pl.Series(at_ms)
    return series.set(series == _NEVER, None)
