"""Where a local cluster keeps things: jars once for each user, everything else in a folder of its own."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from heddle.model.errors import BadInput
from heddle.yarn.live.private_folders import state_folder

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")


def jar_cache() -> Path:
    """Hadoop's jars, one folder for each version."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "heddle" / "hadoop"


def cluster_folder(name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise BadInput.of("--name", f"{name!r} must be small letters, digits and dashes, at most 31")
    return state_folder() / "clusters" / name


def cluster_names() -> list[str]:
    clusters = state_folder() / "clusters"
    return sorted(entry.name for entry in clusters.iterdir() if entry.is_dir()) if clusters.is_dir() else []
