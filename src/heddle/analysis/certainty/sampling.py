"""Where the differences between the runs of one policy come from, and so what an interval over them means.

- seeds: each seed makes the workload anew. Runs are independent days; the interval is Student's, of their mean.
- blocks: the workload is one recorded trace. Seed 0 runs the trace itself and is the estimate; the other seeds run
  traces put together from blocks of its time. Their spread stands for the spread between days, so the interval is the
  estimate -+ t times their distance from it (root of the mean square). It is not divided by the root of their number:
  more resamples make it steadier, never narrower, because there still was only one day. Blocks drawn again vary less
  than days would, by the factor (blocks - 1) / blocks of the variance, which is put right; and that variance is known
  from few resamples of few blocks, so that t has the degrees of freedom of both (Satterthwaite's rule).
- chance: the trace itself, several times; only what chance decides on the cluster differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from statistics import fmean
from typing import Final, Literal

from heddle.analysis.certainty.student import t_interval, t_quantile

Interval = tuple[float, float]
THE_TRACE = 0  # the seed whose run is the trace as it was recorded


@dataclass(frozen=True)
class Sampling:
    """How the runs of one policy differ from each other."""

    kind: Literal["seeds", "blocks", "chance"] = "seeds"
    blocks: int = 0  # of a trace, where it is resampled
    block_s: float = 0.0
    too_short: str = ""  # why a trace was not resampled although nobody forbade it

    def __post_init__(self) -> None:
        if self.kind == "blocks" and self.blocks < 2:
            raise ValueError(f"{self.blocks} blocks: without their number no interval can be told")

    def estimate(self, values: Mapping[int, float], confidence: float = 0.95) -> tuple[float | None, Interval | None]:
        """The estimate from the values of each seed, with its interval; None where it cannot be said."""
        if self.kind != "blocks":
            return (fmean(values.values()), t_interval(list(values.values()), confidence)) if values else (None, None)
        if THE_TRACE not in values:
            return None, None
        centre = values[THE_TRACE]
        resampled = [value for seed, value in values.items() if seed != THE_TRACE]
        if len(resampled) < 2:
            return centre, None
        distance = sqrt(fmean((value - centre) ** 2 for value in resampled) * self.blocks / (self.blocks - 1))
        degrees = max(1, round(1 / (1 / len(resampled) + 1 / (self.blocks - 1))))
        half = t_quantile(confidence, degrees) * distance
        return centre, (centre - half, centre + half)

    def over(self, pairs: int) -> str:
        """What an estimate rests on, in words."""
        if self.kind == "blocks":
            return f"on the trace, judged by {pairs - 1} resamples of its {self.blocks} time blocks"
        seeds = f"over {pairs} seed{'s' if pairs > 1 else ''}"
        return f"on this one trace, {seeds} that vary only events on the cluster" if self.kind == "chance" else seeds

    @property
    def caution(self) -> str:
        """What a reader must know about the intervals; empty where nothing is unusual."""
        if self.kind == "blocks":
            return (
                "The workload is one recorded trace. Intervals come from simulating it again with its time blocks "
                f"({self.block_s:,.0f} s each) resampled; they cannot cover what never happened in the trace."
            )
        if self.kind == "chance":
            return f"{self.too_short} ".lstrip() + (
                "The workload is one recorded trace, run as it is: seeds differ only in random events on the cluster, "
                "and the intervals say nothing about other days."
            )
        return ""

    def as_json(self) -> dict[str, object]:
        more = {"blocks": self.blocks, "block_s": self.block_s} if self.kind == "blocks" else {}
        why = {"too_short": self.too_short} if self.too_short else {}
        return {"kind": self.kind, **more, **why}


SEEDS: Final = Sampling()
