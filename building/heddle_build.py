"""The build backend: hatchling's, and Sphinx beside it where a wheel is built, because that carries the docs' site.

An editable install needs no site: it has docs/ itself.
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
    return [*_hatchlings_own(config_settings), *project["optional-dependencies"]["docs"]]
