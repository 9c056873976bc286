"""The build backend: hatchling's; where a wheel is built, Sphinx beside it and all that heddle needs itself, because
a wheel carries the docs' site and compiled code.

An editable install needs no site, as it has docs/ itself, and compiles on its first run.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from hatchling.build import (  # noqa: F401  # what a build frontend asks a backend for
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
)
from hatchling.build import get_requires_for_build_wheel as _hatchlings_own


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    return [*_hatchlings_own(config_settings), *project["optional-dependencies"]["docs"], *project["dependencies"]]
