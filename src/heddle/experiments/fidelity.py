"""How well the simulator predicts what really happened: a recorded run, simulated, beside the record.

The jobs, sizes and nodes are those of the record, what AMs take is taken from *another* record of the same cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Final

import polars as pl

from heddle.analysis.comparison.ranks import spearman
from heddle.experiments.replaying import Overheads, replay_of
from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput
from heddle.record.run import Run
from heddle.record_workload import job_name

DRAWS: Final = 5


@dataclass(frozen=True)
class Fidelity:
    """A prediction beside what happened. Errors are parts of the real value."""

    jobs: int
    real_makespan_s: float
    predicted_makespan_s: float
    makespan_error: float
    jct_error: float  # mean over jobs of |predicted - real| / real
    spearman: float | None  # of completion times; None: all alike
    naive_spearman: float | None  # of the naive predictor: who comes first is served first
    overheads: Overheads


def fidelity(run: Run, overheads: Overheads, cluster: Cluster | None = None, policy: str | None = None) -> Fidelity:
    """The record's jobs simulated under its policy; `cluster` as for replay_of()."""
    replay = replay_of(run, overheads, cluster)
    # Nobody knows when in a second each heartbeat of the real run came: several draws, and their mean.
    predicted = pl.concat([replay.under(policy or run.manifest["policy"], seed=s).jobs for s in range(DRAWS)])
    ended = run.jobs.filter(pl.col("outcome") == "finished")
    names = pl.Series("name", [job_name(row) for row in ended.iter_rows(named=True)], pl.String)
    real = ended.select(names, "submit_at_ms", "ended_at_ms")
    guessed = predicted.group_by("name").agg(guess=pl.col("ended_at_ms").mean() + overheads.ending_ms)
    both = real.join(guessed, on="name").sort("submit_at_ms", "name").drop_nulls()
    if not len(both):
        raise BadInput.of("record", "no job finished in it")
    began = int(both["submit_at_ms"].min())  # type: ignore[arg-type]
    real_jct = (both["ended_at_ms"] - both["submit_at_ms"]).to_list()
    guessed_jct = (both["guess"] - both["submit_at_ms"]).to_list()
    real_ms, guessed_ms = (float(both[name].max()) - began for name in ("ended_at_ms", "guess"))  # type: ignore[arg-type]
    return Fidelity(
        jobs=len(both),
        real_makespan_s=real_ms / 1000,
        predicted_makespan_s=guessed_ms / 1000,
        makespan_error=guessed_ms / real_ms - 1,
        jct_error=fmean(abs(guess - real) / real for guess, real in zip(guessed_jct, real_jct, strict=True)),
        spearman=spearman(guessed_jct, real_jct),
        naive_spearman=spearman(list(range(len(both))), real_jct),
        overheads=overheads,
    )
