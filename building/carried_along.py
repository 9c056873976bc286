"""A hook of hatchling: the wheel carries the docs' site and the examples, for `heddle docs`, and compiled code."""

from __future__ import annotations

import os
import platform
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
        if (platform.system(), platform.machine()) == ("Linux", "x86_64"):
            build_data["force_include"] |= self._compiled(root / "src")

    def _compiled(self, sources: Path) -> dict[str, str]:
        """Code for any recent processor, by the folder of each; elsewhere heddle compiles on its first run."""
        sys.path.insert(0, str(sources))
        from heddle.model.code_files import SHIPPED, shipped_features

        into = Path(self._made.name) / "compiled"
        told = {"NUMBA_CACHE_DIR": str(into), "NUMBA_CPU_NAME": SHIPPED, "NUMBA_CPU_FEATURES": shipped_features()}
        ahead = [sys.executable, "-m", "heddle.compiled_ahead"]
        subprocess.run(ahead, env=os.environ | told | {"PYTHONPATH": str(sources)}, check=True)
        return {str(made): f"heddle/compiled/{made.parent.name}/{SHIPPED}" for made in into.glob(f"*/{SHIPPED}")}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._made.cleanup()
