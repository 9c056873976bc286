"""The jar of the application master: compiled from ReplayMaster.java once for each Hadoop and each change of it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import Final

from heddle.model.errors import RunRefused
from heddle.yarn.local.folders import jar_cache
from heddle.yarn.local.jars import hadoop_home, lib_of
from heddle.yarn.local.java import find_tool

SOURCE: Final = Path(__file__).with_name("ReplayMaster.java")
MAIN_CLASS: Final = "ReplayMaster"
_OLDEST_JAVA: Final = "17"  # of the nodes


def master_jar(hadoop: str) -> Path:
    """The jar, made first if it is not there. Appears whole or not at all."""
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    jar = jar_cache() / f"replay-{hadoop}-{digest}.jar"
    if jar.exists():
        return jar
    lib = lib_of(hadoop_home(hadoop))
    with tempfile.TemporaryDirectory(dir=jar_cache(), prefix=".replay-") as folder:
        classes = Path(folder) / "classes"
        command: list[str | Path] = [
            find_tool("javac"),
            "--release",
            _OLDEST_JAVA,
            "-nowarn",
            "-cp",
            f"{lib}/*",
            "-d",
            classes,
            SOURCE,
        ]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise RunRefused(f"the application master cannot be compiled against Hadoop {hadoop}:\n{ran.stderr}")
        fresh = Path(folder) / jar.name
        with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as made:
            for file in sorted(classes.glob("*.class")):
                made.write(file, file.name)
        os.replace(fresh, jar)
    return jar
