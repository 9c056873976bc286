"""Jars of our own few Java classes: compiled once for each Hadoop and each change of the source."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import Final

from heddle.model.errors import RunRefused
from heddle.model.whole_files import whole_file
from heddle.yarn.testbed.local.folders import jar_cache
from heddle.yarn.testbed.local.java import find_tool

_OLDEST_JAVA: Final = "17"  # of the nodes


def own_jar(source: Path, hadoop: str, class_path: str) -> Path:
    """The jar of this source, made first if it is not there. Appears whole or not at all."""
    name = source.stem.lower()
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    jar = jar_cache() / f"{name}-{hadoop}-{digest}.jar"
    if jar.exists():
        return jar
    with tempfile.TemporaryDirectory(dir=jar_cache(), prefix=f".{name}-") as folder:
        classes = Path(folder) / "classes"
        command: list[str | Path] = [
            find_tool("javac"), "--release", _OLDEST_JAVA, "-nowarn", "-cp", class_path, "-d", classes, source,
        ]  # fmt: skip
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise RunRefused(f"{source.name} cannot be compiled against Hadoop {hadoop}:\n{ran.stderr}")
        with whole_file(jar) as fresh, zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as made:
            for file in sorted(classes.rglob("*.class")):
                made.write(file, file.relative_to(classes))
    return jar
