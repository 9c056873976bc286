"""`scripts/fuzz --all --minutes N`: every target in turn, a slice at a time, until each has had enough.

Enough: 30 CPU minutes that brought no new edge, after 20 at least; or 120. What each target has had is in had.json,
and `--keep` packs the inputs that reach all known edges into corpus/TARGET/learnt.zip: with both in the repository, the
next call goes on there, on whatever machine. `--show` prints what they have had as a table.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))

from fuzz.targets import CORPUS, LEARNT, TARGETS  # noqa: E402

SLICE_S = 300
LEAST_S, QUIET_S, MOST_S = 20 * 60, 30 * 60, 120 * 60
_EDGES = re.compile(r"\bcov: (\d+)")
_RUNS = re.compile(r"stat::number_of_executed_units: +(\d+)")


@dataclass
class Had:
    """What one target has had so far, in CPU time."""

    cpu_s: float = 0.0
    grew_at_s: float = 0.0  # the last slice that brought a new edge ended then
    edges: int = 0
    runs: int = 0
    broke: int = 0  # slices that ended early: what broke is in the folder `found`

    @property
    def is_enough(self) -> bool:
        return self.cpu_s >= MOST_S or (self.cpu_s >= LEAST_S and self.cpu_s - self.grew_at_s >= QUIET_S)

    def add(self, cpu_s: float, edges: int, runs: int, broke: bool) -> None:
        self.cpu_s += cpu_s
        if edges > self.edges:
            self.edges, self.grew_at_s = edges, self.cpu_s
        self.runs += runs
        self.broke += broke


class Book:
    """What all targets have had, in a file that is written after each slice."""

    def __init__(self, file: Path) -> None:
        self._file, self._writing = file, Lock()
        kept = json.loads(file.read_text()) if file.exists() else {}
        self._had = {target: Had(**kept.get(target, {})) for target in TARGETS}

    def __getitem__(self, target: str) -> Had:
        return self._had[target]

    def add(self, target: str, cpu_s: float, edges: int, runs: int, broke: bool) -> None:
        with self._writing:
            self._had[target].add(round(cpu_s, 1), edges, runs, broke)
            rows = (f"{json.dumps(target)}: {json.dumps(asdict(had))}" for target, had in sorted(self._had.items()))
            self._file.write_text("{\n" + ",\n".join(rows) + "\n}\n")


def _folder(target: str) -> Path:
    return TOP / ".fuzz" / target


def fuzz(target: str, seconds: int, book: Book) -> None:
    """One slice, in a process of its own."""
    log = _folder(target) / "log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(TOP / "tests/fuzz/run.py"), target, "--minutes", str(seconds / 60)]
    with log.open("w") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, cwd=TOP)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    told = log.read_text(errors="replace")
    edges, runs = (max(map(int, found), default=0) for found in (_EDGES.findall(told), _RUNS.findall(told)))
    book.add(target, used.ru_utime + used.ru_stime, edges, runs, process.returncode != 0)
    if process.returncode:
        print(f"{target}: broke, exit code {process.returncode}; {log}", file=sys.stderr, flush=True)


def keep(target: str) -> None:
    """The inputs that reach every edge known, the smallest first, as one file in the repository."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, str(TOP / "tests/fuzz/run.py"), target, "--merge-into", place]
        subprocess.run(command, check=True, cwd=TOP, capture_output=True)
        # Also those that are in the corpus as files are packed: which of them is needed changes with what is learnt.
        inputs = {path.name: path.read_bytes() for path in sorted(Path(place).iterdir())}
    packed = CORPUS / target / LEARNT
    packed.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, data in inputs.items():
            without_a_date = zipfile.ZipInfo(name)  # the same inputs make the same file
            file.writestr(without_a_date, data, zipfile.ZIP_DEFLATED)


def table(book: Book) -> str:
    rows = [
        "| target | CPU minutes | since the last new edge | edges | inputs | broke | |",
        "|---|---|---|---|---|---|---|",
    ]
    for target in sorted(TARGETS):
        one = book[target]
        quiet_s = one.cpu_s - one.grew_at_s
        rows.append(
            f"| {target} | {one.cpu_s / 60:.0f} | {quiet_s / 60:.0f} | {one.edges:,} | {one.runs:,} | {one.broke} | "
            f"{'enough' if one.is_enough else ''} |"
        )
    return "\n".join(rows)


def main() -> None:
    options = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    options.add_argument("--all", action="store_true")
    options.add_argument("--show", action="store_true")
    options.add_argument("--keep", action="store_true", help="pack what was learnt into the repository")
    options.add_argument("--minutes", type=float, default=60.0)
    options.add_argument("--processes", type=int, default=1)
    given = options.parse_args()
    book = Book(Path(__file__).with_name("had.json"))
    if given.all:
        until_s = time.monotonic() + 60 * given.minutes
        busy: set[str] = set()
        choosing = Lock()

        def slices() -> None:
            while time.monotonic() < until_s:
                with choosing:
                    left = [target for target in TARGETS if target not in busy and not book[target].is_enough]
                    if not left:
                        return
                    target = min(left, key=lambda one: book[one].cpu_s)
                    busy.add(target)
                fuzz(target, round(min(SLICE_S, max(10.0, until_s - time.monotonic()))), book)
                busy.remove(target)

        with ThreadPoolExecutor(given.processes) as pool:
            for work in [pool.submit(slices) for _ in range(given.processes)]:
                work.result()
    if given.keep:
        for target in TARGETS:
            if (_folder(target) / "corpus").exists():
                keep(target)
    print(table(book))


if __name__ == "__main__":
    main()
