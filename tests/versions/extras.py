"""Every extra alone, all of them, and none, each in an environment of its own: `scripts/test-extras`.

In each environment every command that needs an extra is run: where the extra is there it must work, elsewhere it must
name what pip can install. What cannot be built or run on this machine is said, and is no success.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from yarn_live.fake_rm import FakeRm

ROOT = Path(__file__).parents[2]
PLACE = ROOT / ".versions"
SWEEP = "workloads: ['burst(jobs=2)']\npolicies: [fifo]\nclusters: [1x16384x8]\n"
REFUSED = 2


@dataclass(frozen=True)
class Use:
    """Of an extra: its modules, a command of heddle's that needs them, and what that says with and without them."""

    modules: tuple[str, ...]
    command: tuple[str, ...]  # RM: the address of a cluster
    code: int
    says: str
    to_install: str  # begins what it says without
    needs: str = ""  # a program, beside the extra


USES = {
    "optimum": Use(
        ("ortools.sat.python.cp_model",),
        ("bound", "burst(jobs=2)", "--cluster", "1x16384x8", "--optimum", "--limit-s", "60", "--json"),
        0, '"optimum"', "pip install 'ortools>=",
    ),
    "dask": Use(
        ("distributed", "bokeh"), ("sweep", "run", "sweep.yaml", "-o", "on-dask", "--on", "dask:1"),
        0, "5 runs done", "pip install 'bokeh>=",
    ),
    "spark": Use(
        ("pyspark",), ("sweep", "run", "sweep.yaml", "-o", "on-spark", "--on", "spark:local[1]"),
        0, "5 runs done", "pip install 'pyspark<", needs="java",
    ),
    "kerberos": Use(
        ("gssapi",), ("yarn", "observe", "seen", "--rm", "RM that wants Kerberos", "--for", "1"),
        REFUSED, "run kinit", "pip install 'gssapi>=", needs="krb5-config",
    ),
    "dashboard": Use(
        ("starlette", "uvicorn"), ("yarn", "dashboard", "--rm", "RM", "--for", "1"),
        0, "/#token=", "pip install 'starlette>=",
    ),
}  # fmt: skip
# Extras whose use is another program's.
TOOLS = {
    "docs": ("-m", "sphinx", "--quiet", "--fail-on-warning", str(ROOT / "docs"), "site"),
    "dev": ("-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", str(ROOT / "tests/model/test_extras.py")),
}


def parts_of_extras() -> dict[str, set[str]]:
    """Of every extra: itself and those that it is made of."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        declared = tomllib.load(file)["project"]["optional-dependencies"]
    parts = {extra: {extra} for extra in declared}
    for extra, wanted in declared.items():
        for one in wanted:
            if one.startswith("heddle["):
                parts[extra].update(one.removeprefix("heddle[").rstrip("]").split(","))
    untried = [extra for extra, of in parts.items() if not of & {*USES, *TOOLS}]
    assert not untried, f"extras of which nobody knows what they are for: {untried}"
    return parts | {"none": set(), "all": set(declared)}


class Environment:
    """A virtual environment with heddle and some extras, and an empty folder to work in."""

    def __init__(self, name: str, uv: str, work: Path) -> None:
        self._uv, self._place, self._work = uv, PLACE / f"extra-{name}", work
        self._variables = os.environ | {
            "NUMBA_CACHE_DIR": str(PLACE / "compiled-extras"),  # once for all environments
            "XDG_STATE_HOME": str(work / "state"),
            "KRB5CCNAME": str(work / "no-ticket"),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }

    def install(self, extras: str) -> None:
        self._tell("venv", "--clear", "--python", sys.executable, str(self._place))
        python = str(self._place / "bin" / "python")
        self._tell("pip", "install", "--python", python, "--editable", f"{ROOT}[{extras}]" if extras else str(ROOT))
        self._tell("pip", "check", "--python", python)

    def run(self, program: str, *words: str) -> tuple[int, str]:
        command = [str(self._place / "bin" / program), *words]
        done = subprocess.run(command, cwd=self._work, env=self._variables, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def _tell(self, *words: str) -> None:
        subprocess.run([self._uv, *words, "--quiet"], check=True)


@contextmanager
def clusters() -> Iterator[Callable[[str], str]]:
    """A word of a command, with the address of a ResourceManager where it stands for one."""
    with FakeRm() as plain, FakeRm() as closed:
        closed.challenge = "Negotiate"
        closed.get = lambda path, query: (401, "Authentication required")  # type: ignore[method-assign]
        addresses = {"RM": plain.address, "RM that wants Kerberos": closed.address}
        yield lambda word: addresses.get(word, word)


def problems_in(environment: Environment, there: set[str]) -> Iterator[str]:
    """Of every use whether it is as it should be, given the extras that are there."""
    with clusters() as placed:
        for extra, use in USES.items():
            code, said = environment.run("heddle", *map(placed, use.command))
            told = f"heddle {' '.join(use.command)} ended with {code}: {said}"
            if extra in there:
                for module in use.modules:
                    imported, why = environment.run("python", "-c", f"import {module}")
                    if imported != 0:
                        yield f"{module} cannot be imported: {why}"
                if code != use.code or use.says not in said:
                    yield f"with {extra}, {told}"
            elif code != REFUSED or use.to_install not in said or "Traceback" in said:
                yield f"without {extra}, {told}"
    for extra, words in TOOLS.items():
        if extra in there:
            code, said = environment.run("python", *words)
            if code != 0:
                yield f"python {' '.join(words)} ended with {code}: {said}"


def main(uv: str, *wanted: str) -> int:
    parts = parts_of_extras()
    failed = 0
    for name in wanted or parts:
        missing = sorted(
            use.needs
            for extra, use in USES.items()
            if extra in parts[name] and use.needs and not shutil.which(use.needs)
        )
        if missing:
            print(f"{name}: not tried, {' and '.join(missing)} is not here", flush=True)
            failed += 1
            continue
        with TemporaryDirectory() as work:
            (Path(work) / "sweep.yaml").write_text(SWEEP)
            environment = Environment(name, uv, Path(work))
            environment.install(",".join(sorted(parts[name])) if name == "all" else name.replace("none", ""))
            problems = list(problems_in(environment, parts[name]))
        print(f"{name}: {'; '.join(problems) or 'all as it should be'}", flush=True)
        failed += bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
