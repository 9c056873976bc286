"""One process compiles while others wait; what it compiled serves every place that has the same sources."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
from pathlib import Path

from heddle.model.own_sources import PACKAGE

HOLD = """
import sys
from heddle.model.code_folders import compiling_alone
with compiling_alone():
    print("in", flush=True)
    sys.stdin.readline()
print("out", flush=True)
"""
ASK = "from heddle.model.code_folders import another_compiles; print(another_compiles())"
# A loop of the package that Python calls, and whether it had to be compiled.
COMPILE = """
import sys
import numpy as np
from heddle.analysis.best_possible.relaxations import fluid_mean
print(fluid_mean(np.zeros(2), np.ones(2)), "numba" in sys.modules)
"""
RUN = """
import sys
from heddle.cli.main import run
assert run(["simulate", "mix", "--json"]) == 0
print("numba" in sys.modules, file=sys.stderr)
"""


def in_folder(cache: Path, sources: Path = PACKAGE.parent) -> dict[str, str]:
    return {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(sources)}


def test_one_compiles_while_others_wait(tmp_path: Path) -> None:
    def hold() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", HOLD]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=in_folder(tmp_path), stdin=pipe, stdout=pipe, text=True)

    def another_compiles() -> str:
        command = [sys.executable, "-c", ASK]
        return subprocess.run(command, env=in_folder(tmp_path), capture_output=True, text=True, check=True).stdout

    assert another_compiles() == "False\n"
    with hold() as first, hold() as second:
        assert first.stdout is not None
        assert second.stdout is not None
        ready, _, _ = select.select([first.stdout, second.stdout], [], [])
        holder, waiter = (first, second) if ready[0] is first.stdout else (second, first)
        assert len(ready) == 1
        assert another_compiles() == "True\n"
        holder.kill()  # however it ends, the lock is free
        holder.wait()
        told, _ = waiter.communicate("\n")
    assert told == "in\nout\n"
    assert another_compiles() == "False\n"


def test_what_was_compiled_does_not_depend_on_where_heddle_is(tmp_path: Path) -> None:
    copied = tmp_path / "elsewhere"
    shutil.copytree(PACKAGE, copied / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))

    def answer_and_whether_compiled(sources: Path) -> str:
        command = [sys.executable, "-c", COMPILE]
        environment = in_folder(tmp_path / "cache", sources)
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert answer_and_whether_compiled(PACKAGE.parent) == "1.5 True\n"
    assert answer_and_whether_compiled(copied) == "1.5 False\n"
    with (copied / PACKAGE.name / "model" / "draw.py").open("a") as file:
        file.write("# another source\n")
    assert answer_and_whether_compiled(copied) == "1.5 True\n"


def test_what_is_compiled_runs_without_numba() -> None:
    command = [sys.executable, "-c", RUN]
    first, second = (subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2))
    assert second.stderr == "False\n"
    compiled, loaded = (json.loads(done.stdout) for done in (first, second))
    assert all(compiled[what] == loaded[what] for what in ("makespan_s", "jct_s", "slowdown", "utilisation"))


def test_a_cache_that_cannot_be_written_is_said_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    command = [sys.executable, "-c", "from heddle.cli.main import main; main()", "simulate", "burst"]
    done = subprocess.run(command, env=in_folder(tmp_path / "file"), capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert "set NUMBA_CACHE_DIR to a folder that can be" in done.stderr
