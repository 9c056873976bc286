"""The jar of the application master that replays jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from heddle.yarn.testbed.local.jars import hadoop_home, lib_of
from heddle.yarn.testbed.local.own_jar import jar_of

MAIN_CLASS: Final = "ReplayMaster"
SOURCES: Final = tuple(
    Path(__file__).with_name(f"{name}.java") for name in (MAIN_CLASS, "Data", "EarlyRule", "Gate", "Stage")
)


def master_jar(hadoop: str) -> Path:
    """The jar, made first if it is not there."""
    return jar_of(MAIN_CLASS.lower(), SOURCES, hadoop, f"{lib_of(hadoop_home(hadoop))}/*")
