"""`python -m tests.yarn_steering.without_guards [--real] [-k TEXT]`: is every guard held by a test?

In a copy of the sources each guard of guards.py is taken out in turn, and its tests are run: every one of them must
fail. Ends with 1 if one does not. --real runs the tests on a real YARN too, which starts a cluster for each.
Run it from the top of the repository.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from .guards import GUARDS, Guard

# Always the same place: compiled code is cached by where its source lies.
COPY = Path("build/without-guards")
FAILED = 1  # of pytest: tests ran, and some failed


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.yarn_steering.without_guards", description=__doc__)
    options.add_argument("--real", action="store_true", help="the tests on a real YARN, in place of the others")
    options.add_argument("-k", dest="only", default="", help="only faults with this text")
    chosen = options.parse_args()
    guards = [guard for guard in GUARDS if chosen.only in guard.fault]
    _copy()
    tests = sorted({test for guard in guards for test in _tests(guard, chosen.real)})
    _, said = _run(tests)
    shaky = [test for test in tests if any(f"{kind} {test}" in said for kind in ("FAILED", "ERROR"))]
    for test in shaky:
        print(f"fails with its guard in place: {test}")
    held = [test not in shaky and _is_held(guard, test) for guard in guards for test in _tests(guard, chosen.real)]
    print(f"{sum(held)} of {len(held)} tests notice that their guard is gone")
    return 0 if all(held) else 1


def _tests(guard: Guard, real: bool) -> list[str]:
    return [test for test in guard.tests if test.startswith("tests/yarn_real") == real]


def _copy() -> None:
    shutil.rmtree(COPY, ignore_errors=True)
    COPY.mkdir(parents=True)
    for folder in ("src", "tests"):
        shutil.copytree(folder, COPY / folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    shutil.copy2("pyproject.toml", COPY)


def _is_held(guard: Guard, test: str) -> bool:
    file = COPY / guard.file
    whole = file.read_text()
    if whole.count(guard.has) != 1:
        print(f"{guard.fault}: {guard.file} has {whole.count(guard.has)} times what is to be taken out")
        return False
    modified_ns = file.stat().st_mtime_ns
    file.write_text(whole.replace(guard.has, guard.without))
    try:
        status, _ = _run([test])
    finally:
        file.write_text(whole)
        os.utime(file, ns=(modified_ns, modified_ns))
    said = {0: "NOT NOTICED", FAILED: "noticed"}.get(status, f"pytest ended with {status}")
    print(f"{said:12} {guard.fault} ({guard.where}) by {test}", flush=True)
    return status == FAILED


def _run(tests: list[str]) -> tuple[int, str]:
    """How pytest ended, and what it said."""
    environment = {**os.environ, "PYTHONPATH": str((COPY / "src").resolve()), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "long or not long", *tests]
    ran = subprocess.run(command, cwd=COPY, env=environment, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr


if __name__ == "__main__":
    sys.exit(main())
