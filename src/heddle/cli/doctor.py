"""`heddle doctor`: is everything here that heddle needs, and what of the rest?"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Final

import typer

from heddle.cli.output import DONE, FAILED, Json, print_json, print_line, print_tables, table
from heddle.cli.settings import SETTINGS_FILE
from heddle.model.errors import RunRefused
from heddle.model.extras import how_to_install
from heddle.model.numba_version import refuse_untried

_NEEDED = ("numba", "numpy", "polars", "pyarrow", "pyyaml", "rich", "typer")
_PATIENCE_S = 10
OK: Final = "ok"
ABSENT: Final = "absent"  # something optional is not there
WEAK: Final = "weak"  # it works, and others could do more than they should
WRONG: Final = "wrong"


@dataclass(frozen=True)
class Finding:
    """One thing that was checked."""

    what: str
    state: str  # one of those above
    detail: str


def doctor(
    security: Annotated[
        bool,
        typer.Option("--security", help="Check who else on this machine could read, change or run heddle's files."),
    ] = False,
    json: Json = False,
) -> int:
    """Look at this machine: versions, cores, memory, the cache of compiled code, Java and Hadoop.

    What only parts of heddle need is `absent`, with what it would be for. Exit code 1 means that something
    which every run needs is wrong. With --security: modes and owners of folders, secrets that others can read, TLS,
    pages that other machines reach; `weak` is what may be meant so, `wrong` what cannot be.

    \b
    Examples:
      heddle doctor
      heddle doctor --security
      heddle doctor --json
    """
    if security:
        from heddle.cli.doctor_security import security_findings

        findings = list(security_findings())
    else:
        findings = list(_findings())
    wrong = [one for one in findings if one.state == WRONG]
    if json:
        print_json({"well": not wrong, "findings": [asdict(one) for one in findings]})
    else:
        print_tables([table(("", "", ""), [(one.what, one.state, one.detail) for one in findings])])
        weak = [one for one in findings if one.state == WEAK]
        well = "nothing is wrong, but see what is weak" if weak else "everything is fine: try `heddle compare`"
        print_line("something is wrong: see above" if wrong else well)
    return FAILED if wrong else DONE


def _findings() -> Iterator[Finding]:
    good = sys.version_info >= (3, 11)
    yield Finding("Python", OK if good else WRONG, platform.python_version() + ("" if good else ": needs 3.11"))
    for name in ("heddle", *_NEEDED):
        try:
            yield Finding(name, OK, version(name))
        except PackageNotFoundError:
            yield Finding(name, WRONG, f"not installed: {how_to_install('')}")
    try:
        refuse_untried()
    except RunRefused as refused:
        yield Finding("Numba's version", WRONG, str(refused))
    cores = f"{os.cpu_count() or 1}; compare and sweep use all of them if that pays off"
    yield Finding("cores", OK, cores)
    yield _memory()
    yield _cache()
    yield _settings()
    yield _optional("Starlette", _version_of("starlette"), f"heddle yarn dashboard: {how_to_install('dashboard')}")
    yield _optional("OR-tools", _version_of("ortools"), f"heddle bound --optimum: {how_to_install('optimum')}")
    yield _optional("Chromium", shutil.which("chromium") or shutil.which("google-chrome"), "tests of the HTML report")
    yield _java()
    yield _optional("Maven", shutil.which("mvn"), "`heddle yarn up`, the first time: it fetches Hadoop")
    yield _optional("Hadoop", _fetched_hadoop(), "`heddle yarn up`, which fetches it the first time")


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _optional(what: str, found: str | None, needed_for: str) -> Finding:
    return Finding(what, OK, found) if found else Finding(what, ABSENT, f"only for {needed_for}")


def _fetched_hadoop() -> str | None:
    """The versions that `heddle yarn up` finds in its own cache: it uses no other installation."""
    from heddle.yarn.testbed.local.folders import jar_cache

    there = sorted(path.name for path in jar_cache().glob("*.*.*") if path.is_dir() and path.name[-1].isdigit())
    return f"{', '.join(there)} in {jar_cache()}" if there else None


def _memory() -> Finding:
    try:
        total_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    except (ValueError, OSError, AttributeError):  # not every system tells
        return Finding("memory", OK, "unknown")
    return Finding("memory", OK, f"{total_mb / 1024:.1f} GB")


def _cache() -> Finding:
    from heddle.model.code_folders import cache_folder
    from heddle.model.resources import BASE_RESOURCES
    from heddle.sim.loading import engine_is_compiled

    folder = cache_folder()
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(nearest, os.W_OK):
        return Finding("cache", WRONG, f"{folder} is not writable: every run would compile again (NUMBA_CACHE_DIR)")
    state = (
        "the engine is compiled"
        if engine_is_compiled(len(BASE_RESOURCES))
        else "empty: the first run compiles the engine"
    )
    return Finding("cache", OK, f"{folder}: {state}")


def _settings() -> Finding:
    if Path(SETTINGS_FILE).is_file():
        return Finding("settings", OK, f"{SETTINGS_FILE} in this folder sets default options")
    return Finding("settings", OK, f"no {SETTINGS_FILE} here: built-in defaults")


def _java() -> Finding:
    java = shutil.which("java")
    if java is None:
        return _optional("Java", None, "a local YARN cluster")
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return Finding("Java", ABSENT, f"{java} does not answer; only for a local YARN cluster")
    return Finding("Java", OK, (told.stderr or told.stdout).partition("\n")[0] or java)
