"""When jobs arrive."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def poisson_at_ms(random: np.random.Generator, n_jobs: int, span_ms: float) -> npt.NDArray[np.int64]:
    """Arrivals of a Poisson process, given that n_jobs of them fall into the span: gaps scaled to fill it.

    The gap after the last one counts too, so that the rate over the span is as asked, whatever the seed.
    """
    gaps = random.standard_exponential(n_jobs)
    closing_gap = random.standard_exponential()
    np.cumsum(gaps, out=gaps)
    gaps *= span_ms / (gaps[-1] + closing_gap)
    return gaps.astype(np.int64)


def span_for_load_ms(work_ms: tuple[float, ...], totals: tuple[float, ...], load: float) -> float:
    """How long arrivals take if the work (resource x ms, per resource) is to be `load` of the scarcest total."""
    return max(work / total for work, total in zip(work_ms, totals, strict=True)) / load
