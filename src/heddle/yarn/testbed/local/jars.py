"""Hadoop's jars: fetched from Maven Central once, by Maven, and kept for all clusters of a user.

They are laid out like an unpacked Hadoop as far as YARN's default class path looks, so that what finds its classes
here finds them on any other cluster in the same way.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from heddle.model.errors import BadInput, RunRefused
from heddle.model.whole_files import remove_partials, whole_folder
from heddle.yarn.live.files import DISK
from heddle.yarn.testbed.local.folders import jar_cache
from heddle.yarn.testbed.local.java import find_tool

DEFAULT_HADOOP: Final = "3.4.2"
_ARTIFACTS: Final = (
    "hadoop-common",
    "hadoop-hdfs",
    "hadoop-yarn-server-resourcemanager",
    "hadoop-yarn-server-nodemanager",
    "hadoop-yarn-server-web-proxy",
    "hadoop-yarn-server-timelineservice",  # the ResourceManager dies without it
    "hadoop-yarn-client",
    "hadoop-mapreduce-client-app",
    "hadoop-mapreduce-client-hs",
    "hadoop-mapreduce-client-shuffle",
    "hadoop-mapreduce-client-jobclient",
    "hadoop-mapreduce-client-jobclient:tests",  # the sleep job
    "hadoop-mapreduce-examples",
)
# What our own code for the ResourceManager is compiled against; Hadoop's servlet API is the same in all of them.
_RM_API: Final = (
    "hadoop-annotations", "hadoop-auth", "hadoop-common", "hadoop-yarn-api", "hadoop-yarn-common",
    "hadoop-yarn-server-common", "hadoop-yarn-server-resourcemanager",
)  # fmt: skip
_ALONE: Final = ("-DexcludeTransitive=true",)
_LOAD_SIMULATOR: Final = ("hadoop-sls", "hadoop-rumen")  # the rest of what it needs is above


def lib_of(home: Path) -> Path:
    return home / "share" / "hadoop" / "common" / "lib"


def is_fetched(version: str) -> bool:
    return _home(version).is_dir()


def announce_fetching(version: str, say: Callable[[str], None]) -> None:
    if not is_fetched(version):
        say(f"fetching Hadoop {version} from Maven Central, once: about 95 MB, 2 to 3 minutes ...")


def hadoop_home(version: str) -> Path:
    """The folder with this Hadoop, fetched first if it is not there. Appears whole or not at all."""
    return _fetched(_home(version), version, lambda fresh: _fetch(version, _ARTIFACTS, lib_of(fresh)))


def load_simulator_jars(version: str) -> Path:
    """The folder with the jars of Hadoop's scheduler load simulator, fetched first: 2 MB beside Hadoop's own."""
    folder = _home(version).with_name(f"{version}-sls")
    return _fetched(folder, version, lambda fresh: _fetch(version, _LOAD_SIMULATOR, fresh, _ALONE))


def rm_api_jars(version: str) -> Path:
    """The folder with what a ResourceManager's plug-ins of this Hadoop are compiled against, fetched first: 12 MB."""
    folder = _home(version).with_name(f"{version}-rm-api")
    return _fetched(folder, version, lambda fresh: _fetch(version, _RM_API, fresh, _ALONE))


def _fetched(folder: Path, version: str, fetch: Callable[[Path], None]) -> Path:
    if folder.is_dir():
        return folder
    cache = jar_cache()
    with DISK.lock(cache / f".{folder.name}.lock", f"another heddle is fetching Hadoop {version} at this moment"):
        remove_partials(cache, folder.name)
        with whole_folder(folder) as fresh:
            fetch(fresh)
    return folder


def _home(version: str) -> Path:
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise BadInput.of("--hadoop", f"{version!r} is not a version like {DEFAULT_HADOOP}")
    return jar_cache() / version


def _fetch(version: str, artifacts: Sequence[str], into: Path, options: Sequence[str] = ()) -> None:
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        pom = Path(folder) / "pom.xml"
        pom.write_text(_pom(version, artifacts))
        command: list[str | Path] = [
            find_tool("mvn"), "-B", "-q", "-f", pom, "dependency:copy-dependencies", f"-DoutputDirectory={into}",
            *options,
        ]  # fmt: skip
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        why = [line for line in ran.stdout.splitlines() if line.startswith("[ERROR]")]
        raise RunRefused(f"Maven could not fetch Hadoop {version}: {why[0] if why else ran.stdout[-400:]}")


def _pom(version: str, artifacts: Sequence[str]) -> str:
    wanted = ""
    for artifact in artifacts:
        name, _, classifier = artifact.partition(":")
        extra = f"<classifier>{classifier}</classifier>" if classifier else ""
        wanted += (
            f"<dependency><groupId>org.apache.hadoop</groupId><artifactId>{name}</artifactId>"
            f"<version>{version}</version>{extra}</dependency>\n"
        )
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>heddle</groupId><artifactId>hadoop</artifactId>"
        f"<version>1</version><packaging>pom</packaging>\n<dependencies>\n{wanted}</dependencies></project>\n"
    )
