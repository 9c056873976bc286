"""Java and Maven on this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from heddle.model.errors import RunRefused

OLDEST, NEWEST = 11, 23  # Hadoop 3.4 asks the security manager, which Java 24 no longer has; tested with 17
_HOW: Final = {
    "java": "install Java 17 (Debian: apt install openjdk-17-jdk-headless) or set JAVA_HOME",
    "javac": "install a JDK, not only a Java runtime (Debian: apt install openjdk-17-jdk-headless)",
    "mvn": "install Apache Maven (Debian: apt install maven); it fetches Hadoop's jars",
}
# Hadoop reaches into java.lang, which newer Javas close. The rest keeps a small machine usable: these JVMs live short
# or do little, and compiling them well costs more than it brings.
JVM_FLAGS: Final = (
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",  # would be files outside the cluster's folder
)


def find_tool(name: str) -> Path:
    """The program `java`, `javac` or `mvn`; RunRefused says how to get it."""
    home = os.environ.get("JAVA_HOME")
    if home and name != "mvn" and (Path(home) / "bin" / name).is_file():
        return Path(home) / "bin" / name
    found = shutil.which(name)
    if found is None:
        raise RunRefused(f"{name} was not found: {_HOW[name]}")
    return Path(found)


def find_java() -> Path:
    """A Java that Hadoop runs on."""
    java = find_tool("java")
    shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)(?:\.(\d+))?', shown)
    major = int(version[2] if version and version[1] == "1" else version[1]) if version else 0
    if not OLDEST <= major <= NEWEST:
        raise RunRefused(f"{java} is Java {major or 'of an unknown version'}, Hadoop 3.4 needs 17: {_HOW['java']}")
    return java.resolve()
