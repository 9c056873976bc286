"""Two halves of a workload: one to search on, the other to report on, so that luck in the search is not reported.

Of a recorded trace the halves are every other block of time, and further seeds draw blocks anew within their half. A
built-in workload is made anew for each seed, so that its halves are disjoint seeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from heddle.analysis.certainty.sampling import THE_TRACE, Sampling
from heddle.experiments.rearrange import (
    FEWEST_BLOCKS,
    TooShort,
    block_length_ms,
    every_other_block,
    n_blocks_of,
    resampled,
)
from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput
from heddle.model.whereabouts import NamesFiles
from heddle.model.workload import Workload
from heddle.traces.load import is_built_in, load_workload

Side = Literal["search", "report"]
_REPORT_SEEDS: Final = 1_000_000  # seeds from here on are for reporting; nobody searches on as many


@dataclass(frozen=True)
class Half(NamesFiles):
    """The jobs of one side."""

    workload: str
    side: Side
    block_ms: int | None = None  # of a recorded trace

    @property
    def files(self) -> tuple[str, ...]:
        return () if is_built_in(self.workload) else (self.workload,)

    def jobs(self, seed: int) -> Workload:
        """The jobs of this seed; of a trace, seed 0 is its half as it was recorded."""
        if self.block_ms is None:
            return load_workload(self.workload, seed + (_REPORT_SEEDS if self.side == "report" else 0))
        half = every_other_block(load_workload(self.workload), self.block_ms, 0 if self.side == "search" else 1)
        return half if seed == THE_TRACE else resampled(half, self.block_ms, seed)


@dataclass(frozen=True)
class Halves:
    """Both, and how the seeds of the reporting one differ."""

    search: Half
    report: Half
    sampling: Sampling


def halves_of(workload: str, first: Workload, cluster: Cluster, block_s: float | None) -> Halves:
    """BadInput where a trace is too short to be cut in two; `first` is the workload of seed 0."""
    if is_built_in(workload):
        if block_s is not None:
            raise BadInput.of("--block-s", f"{workload} is made anew for each seed: there are no blocks of time")
        return Halves(Half(workload, "search"), Half(workload, "report"), Sampling("seeds"))
    try:
        length = block_length_ms(first, cluster) if block_s is None else max(1, round(1000 * block_s))
    except TooShort as error:
        raise BadInput.of(first.name, f"{error} Tuning needs a longer trace, or shorter blocks (--block-s)") from None
    blocks = n_blocks_of(first, length)
    if blocks < 2 * FEWEST_BLOCKS:
        raise BadInput.of(
            "--block-s" if block_s is not None else first.name,
            f"blocks of {length / 1000:,.0f} s cut the trace into {blocks}; to search on one half and report on the "
            f"other {2 * FEWEST_BLOCKS} are needed: a longer trace, or shorter blocks (--block-s)",
        )
    reported = len(range(1, blocks, 2))
    sampling = Sampling("blocks", reported, length / 1000)
    return Halves(Half(workload, "search", length), Half(workload, "report", length), sampling)
