"""Jars of our own few Java classes: compiled once for each Hadoop and each change of the sources.

The same sources and the same compiler make the same bytes: entries are sorted and have no time.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from heddle.model.errors import RunRefused
from heddle.model.whole_files import whole_file
from heddle.yarn.testbed.local.folders import jar_cache
from heddle.yarn.testbed.local.java import find_tool

OF_NODES: Final = 17  # the oldest Java that our own clusters run on
_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)  # the first time that a zip file can tell


def own_jar(source: Path, hadoop: str, class_path: str) -> Path:
    """The jar of one source file, made first if it is not there. Appears whole or not at all."""
    return jar_of(source.stem.lower(), [source], hadoop, class_path)


def jar_of(
    name: str,
    sources: Sequence[Path],
    hadoop: str,
    class_path: str,
    release: int = OF_NODES,
    beside: Mapping[str, str] | None = None,
) -> Path:
    """The jar of these sources for Javas from `release` on. `beside`: texts that go into it, by their places."""
    jar = jar_cache() / f"{name}-{hadoop}-{digest_of(sources, release, beside)}.jar"
    if jar.exists():
        return jar
    javac = find_tool("javac")
    jar_cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=jar_cache(), prefix=f".{name}-") as folder:
        classes = Path(folder) / "classes"
        command: list[str | Path] = [
            javac, "--release", str(release), "-nowarn", "-Xlint:-options", "-cp", class_path, "-d", classes, *sources,
        ]  # fmt: skip
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise RunRefused(f"{name} cannot be compiled against Hadoop {hadoop}:\n{ran.stderr}")
        entries = {str(file.relative_to(classes)): file.read_bytes() for file in classes.rglob("*.class")}
        entries |= {place: text.encode() for place, text in (beside or {}).items()}
        with whole_file(jar) as fresh, zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as made:
            for place, content in sorted(entries.items()):
                made.writestr(zipfile.ZipInfo(place, _LONG_AGO), content, zipfile.ZIP_DEFLATED)
    return jar


def digest_of(sources: Sequence[Path], release: int = OF_NODES, beside: Mapping[str, str] | None = None) -> str:
    """What tells one jar from another."""
    told = hashlib.sha256(f"{release}".encode())
    for source in sorted(sources, key=lambda one: one.name):
        told.update(source.read_bytes())
    for place, text in sorted((beside or {}).items()):
        told.update(f"{place} {text}".encode())
    return told.hexdigest()[:16]
