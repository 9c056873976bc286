"""What became of what was decided."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What became of a decided change, and why."""

    POSTED = "posted"
    SHADOW = "shadow"  # would have been posted
    UNCHANGED = "unchanged"
    DEAD_BAND = "dead-band"  # too small a change to trouble the RM with
    AWAY = "away"  # the node is lost, or being decommissioned
    FAILED = "failed"  # the RM refused or did not answer
    LEFT_ALONE = "left-alone"  # not ours to change
