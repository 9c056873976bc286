"""A hook of hatchling: the wheel carries the docs' site and the examples, for `heddle docs`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CarriedAlong(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        self._made = tempfile.TemporaryDirectory()
        site = Path(self._made.name) / "site"
        build = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "-d", f"{self._made.name}/doctrees"]
        subprocess.run([*build, str(root / "docs"), str(site)], check=True)
        build_data["force_include"] |= {str(site): "heddle/site", str(root / "examples"): "heddle/examples"}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._made.cleanup()
