"""The jar of the application master that replays jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from heddle.yarn.testbed.local.jars import hadoop_home, lib_of
from heddle.yarn.testbed.local.own_jar import own_jar

SOURCE: Final = Path(__file__).with_name("ReplayMaster.java")
MAIN_CLASS: Final = SOURCE.stem


def master_jar(hadoop: str) -> Path:
    """The jar, made first if it is not there."""
    return own_jar(SOURCE, hadoop, f"{lib_of(hadoop_home(hadoop))}/*")
