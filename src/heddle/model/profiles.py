"""Profiles of use: the segments of a workload, of which each task that has a use has a run of one or more."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


def profile_begins(segments: Array) -> Mask:
    """Which segments are the first of a profile."""
    return np.concatenate([np.ones(min(1, len(segments)), bool), segments["last"][:-1] != 0])


def segments_of(segments: Array, first: Array) -> Mask:
    """All segments of the profiles that begin at these segments; negative numbers stand for none."""
    begins = profile_begins(segments)
    profile = np.cumsum(begins) - 1
    wanted = np.zeros(int(begins.sum()), bool)
    wanted[profile[first[first >= 0]]] = True
    mask: Mask = wanted[profile]
    return mask
