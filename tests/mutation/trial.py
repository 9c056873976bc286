"""Tries one mutant: in a copy of the tree, with compiled code of its own, against the tests of its folder.

Compiled code is kept by a digest of its sources, so a mutant never runs that of another, and what is compiled of it
goes into folders of this copy and is thrown away. Pieces that do not contain the mutant are linked into these folders
from those of the unchanged sources. Limits, of all tests together and of each, count the processor's time: a busy
machine kills no mutant.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from heddle.model.code_folders import cache_folder

from . import one_test
from .carried import Contents
from .sites import Mutant
from .targets import ABOUT_TEXT, Target

COPIED = ("src", "tests", "benchmarks", "docs", "examples", "scripts")
TO_COMPILE_S = 240.0  # of a mutant of compiled code, beyond what the tests take
WALL_TIMES = 20  # beyond that it waits for something that never comes, however busy the machine is
PASSED = 0  # of pytest
FOLDERS = "from heddle.model.code_folders import *; print(engine_folder(), levers_folder(), live_folder(), sep='\\n')"


@dataclass(frozen=True)
class Ran:
    status: int
    cpu_s: float
    said: str


class Copy:
    """The tree as it was when this began, and a copy of what was compiled of it so far."""

    def __init__(self, top: Path, place: Path) -> None:
        self.place, self._code, self._took = place, place / "compiled", place / "took.json"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for folder in COPIED:
            shutil.copytree(top / folder, place / folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        for file in ("pyproject.toml", "README.md", "CHANGELOG.md"):
            shutil.copy2(top / file, place)
        if cache_folder().exists():
            shutil.copytree(cache_folder(), self._code)
        heddle = self._asked("-c", "import heddle; print(heddle.__file__)").strip()
        assert Path(heddle).is_relative_to(place / "src"), f"tests would run {heddle}"

    def unchanged(self, target: Target) -> Ran:
        """Also compiles what mutants have in common. They must pass."""
        ran = self._test(target, 3600.0, {one_test.TOOK: str(self._took)})
        if ran.status != PASSED:
            raise SystemExit(f"{target.name}: its tests do not pass without a mutant\n{ran.said[-4000:]}")
        return ran

    def contents(self) -> Contents:
        """Of the compiled code of the unchanged sources."""
        return Contents.read(self._asked("-m", "tests.mutation.contents"))

    def take_from(self, other: Copy) -> None:
        """What another copy has compiled of the unchanged sources, and how long each of their tests took."""
        shutil.rmtree(self._code, ignore_errors=True)
        shutil.copytree(other._code, self._code)
        shutil.copy2(other._took, self._took)

    def tried(self, mutant: Mutant, target: Target, unchanged: Ran, contents: Contents) -> tuple[str, Ran]:
        """(killed, out of time or survived; how the tests ran)."""
        file, before = self.place / mutant.file, set(self._compiled())
        whole, folders = file.read_text(encoding="utf-8"), self._unchanged_folders
        file.write_text(mutant.applied(whole), encoding="utf-8")
        limit_s = one_test.TIMES_AS_LONG * unchanged.cpu_s + (TO_COMPILE_S if target.compiled else 10.0)
        try:
            own = self._folders() if target.compiled else folders
            for folder, mutants in zip(folders, own, strict=True):
                contents.carry(folder, mutants, mutant)
            carried = contents.pieces_in(own)
            ran = self._test(target, limit_s, {one_test.UNCHANGED: str(self._took)})
            new = contents.pieces_in(own) - carried
        finally:
            file.write_text(whole, encoding="utf-8")
            for name in set(self._compiled()) - before:
                shutil.rmtree(self._code / name)
        if ran.status == PASSED and contents.pieces_with(mutant, folders) and not new:
            raise SystemExit(f"{mutant.name}: nothing of it was compiled")
        if ran.status < 0:
            return "out of time", ran
        return "survived" if ran.status == PASSED else "killed", ran

    @cached_property
    def _unchanged_folders(self) -> list[Path]:
        return self._folders()

    def _compiled(self) -> list[str]:
        return sorted(os.listdir(self._code)) if self._code.exists() else []

    def _folders(self) -> list[Path]:
        """Of compiled code, for the sources as they are now."""
        return [Path(line) for line in self._asked("-c", FOLDERS).splitlines()]

    def _asked(self, *what: str) -> str:
        ran = self._run([sys.executable, *what], 240.0)
        if ran.status != PASSED:
            raise SystemExit(ran.said)
        return ran.said

    def _test(self, target: Target, limit_s: float, to_plugin: Mapping[str, str]) -> Ran:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider", "-p", one_test.__name__]
        ignored = (f"--ignore={file}" for file in ABOUT_TEXT)
        return self._run([*command, *target.tests, *ignored], limit_s, to_plugin)

    def _run(self, command: list[str], limit_s: float, more: Mapping[str, str] = MappingProxyType({})) -> Ran:
        environment = {
            **os.environ,
            "PYTHONPATH": f"{self.place / 'src'}:{self.place}",
            "NUMBA_CACHE_DIR": str(self._code),
            "PYTHONDONTWRITEBYTECODE": "1",
            **more,
        }

        log, began_s = self.place / "said", time.monotonic()
        with log.open("w") as said:
            process = subprocess.Popen(command, cwd=self.place, env=environment, stdout=said, stderr=said)
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (int(limit_s) + 1, int(limit_s) + 5))
        ended = 0
        while not ended:  # os.wait4() knows the CPU of this child, whatever else runs beside it
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
            if not ended and time.monotonic() - began_s > WALL_TIMES * limit_s:
                process.kill()
            time.sleep(0 if ended else 0.05)
        process.returncode = os.waitstatus_to_exitcode(status)
        return Ran(process.returncode, used.ru_utime + used.ru_stime, log.read_text(errors="replace"))
