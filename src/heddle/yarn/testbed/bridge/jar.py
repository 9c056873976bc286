"""The jar of the bridge: for any Java from 8 on, since ResourceManagers often run on an old one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from heddle.yarn.testbed.local.jars import DEFAULT_HADOOP, hadoop_home, lib_of
from heddle.yarn.testbed.local.own_jar import digest_of, jar_of

SOURCES: Final = Path(__file__).with_name("java")
RELEASE: Final = 8
BUILD_FILE: Final = "heddle/bridge/build"  # in the jar: which sources it was made of; the endpoint tells it
# Without any type of Hadoop: what decides, and can be tried without a ResourceManager.
CORE: Final = (
    "App", "Ask", "Breaker", "Candidates", "Form", "Group", "Host", "Node", "Request", "Size", "Table", "TableReader",
    "TableRefused",
)  # fmt: skip


def sources() -> list[Path]:
    return sorted(SOURCES.rglob("*.java"))


def core_sources() -> list[Path]:
    return [path for path in sources() if path.stem in CORE]


def build_id() -> str:
    """The same wherever the same sources are compiled."""
    return digest_of(sources(), RELEASE)


def bridge_jar(hadoop: str = DEFAULT_HADOOP) -> Path:
    """The jar, made first if it is not there. RunRefused where there is no JDK to make it with."""
    class_path = f"{lib_of(hadoop_home(hadoop))}/*"
    return jar_of("heddle-bridge", sources(), hadoop, class_path, RELEASE, {BUILD_FILE: build_id()})


def core_jar() -> Path:
    """What decides, alone."""
    return jar_of("heddle-bridge-core", core_sources(), "none", "", RELEASE)
