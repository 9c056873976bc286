"""Tries one mutant: in a copy of the tree, with compiled code of its own, against the tests of its folder.

Compiled code is kept by a digest of its sources, so a mutant never runs that of another, and what is compiled of it
goes into a folder of this copy and is thrown away. Limits count the processor's time: a busy machine kills no mutant.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from heddle.model.code_folders import cache_folder

from .sites import Mutant
from .targets import ABOUT_TEXT, Target

COPIED = ("src", "tests", "benchmarks", "docs", "examples", "scripts")
TIMES_AS_LONG = 3
TO_COMPILE_S = 240.0  # of a mutant of compiled code, beyond what the tests take
WALL_TIMES = 20  # beyond that it waits for something that never comes, however busy the machine is
PASSED, FAILED = 0, 1  # of pytest


@dataclass(frozen=True)
class Ran:
    status: int
    cpu_s: float
    wall_s: float
    said: str


class Copy:
    """The tree as it was when this began, and a copy of what was compiled of it so far."""

    def __init__(self, top: Path, place: Path) -> None:
        self.place, self._code = place, place / "compiled"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for folder in COPIED:
            shutil.copytree(top / folder, place / folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        for file in ("pyproject.toml", "README.md", "CHANGELOG.md"):
            shutil.copy2(top / file, place)
        if cache_folder().exists():
            shutil.copytree(cache_folder(), self._code)
        heddle = self._run([sys.executable, "-c", "import heddle; print(heddle.__file__)"], 60.0).said.strip()
        assert Path(heddle).is_relative_to(place / "src"), f"tests would run {heddle}"

    def unchanged(self, target: Target) -> Ran:
        """Also compiles what every mutant elsewhere needs. They must pass."""
        ran = self._test(target, 3600.0)
        if ran.status != PASSED:
            raise SystemExit(f"{target.name}: its tests do not pass without a mutant\n{ran.said[-4000:]}")
        return ran

    def tried(self, mutant: Mutant, target: Target, unchanged_s: float) -> tuple[str, Ran]:
        """(killed, out of time or survived; how the tests ran)."""
        file, before = self.place / mutant.file, set(self._compiled())
        whole = file.read_text(encoding="utf-8")
        file.write_text(mutant.applied(whole), encoding="utf-8")
        limit_s = TIMES_AS_LONG * unchanged_s + (TO_COMPILE_S if target.compiled else 10.0)
        try:
            ran = self._test(target, limit_s)
            new = set(self._compiled()) - before
        finally:
            file.write_text(whole, encoding="utf-8")
            for folder in set(self._compiled()) - before:
                shutil.rmtree(self._code / folder)
        if target.compiled and ran.status == PASSED and not new:
            raise SystemExit(f"{mutant.name}: nothing of it was compiled")
        if ran.status < 0:
            return "out of time", ran
        return "survived" if ran.status == PASSED else "killed", ran

    def _compiled(self) -> list[str]:
        return sorted(os.listdir(self._code)) if self._code.exists() else []

    def _test(self, target: Target, limit_s: float) -> Ran:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider", *target.tests]
        return self._run([*command, *(f"--ignore={file}" for file in ABOUT_TEXT)], limit_s)

    def _run(self, command: list[str], limit_s: float) -> Ran:
        environment = {
            **os.environ,
            "PYTHONPATH": f"{self.place / 'src'}:{self.place}",
            "NUMBA_CACHE_DIR": str(self._code),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit_s) + 1, int(limit_s) + 5))

        began_s, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        log = self.place / "said"
        with log.open("w") as said:
            process = subprocess.Popen(
                command, cwd=self.place, env=environment, stdout=said, stderr=said, preexec_fn=limit, text=True
            )
            try:
                status = process.wait(WALL_TIMES * limit_s)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Ran(status, cpu_s, time.monotonic() - began_s, log.read_text(errors="replace"))
