"""CPU time of the rows that refer to plain FIFO of an older heddle: `python -m benchmarks.against_commit`.

Takes the sources of that commit out of Git, and does its runs and this version's in turn, each in a process of its own;
what the older one cannot be asked for is left out. Other work on the machine only adds, so the best of each counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.heddle_run import CHECKOUT, Wanted


@dataclass
class Row:
    what: str
    wanted: Wanted
    most: float  # times plain FIFO of the commit
    most_wall: float = 0.0
    before: list[tuple[float, float]] = field(default_factory=list)  # CPU and wall seconds of each round
    now: list[tuple[float, float]] = field(default_factory=list)

    def asks_for(self) -> dict[str, object]:
        usual = asdict(Wanted(self.wanted.tasks))
        return {"tasks": self.wanted.tasks} | {
            name: value for name, value in asdict(self.wanted).items() if value != usual[name]
        }

    def cells(self, plain_s: float) -> list[str]:
        return [self.what, self._figures(self.before, plain_s), self._figures(self.now, plain_s), self._target()]

    def _figures(self, rounds: list[tuple[float, float]], plain_s: float) -> str:
        if not rounds:
            return ""
        cpu_s, wall_s = (min(column) for column in zip(*rounds, strict=True))
        wall = f", wall {wall_s / plain_s:.2f}x" if self.most_wall else ""
        return f"{cpu_s * 1e6 / self.wanted.tasks:.3f} us, {cpu_s / plain_s:.2f}x{wall}"

    def _target(self) -> str:
        return f"<= {self.most:g}x" + (f", wall <= {self.most_wall:g}x" if self.most_wall else "")


def rows(tasks: int) -> list[Row]:
    def run(policy: str = "fifo", **more: bool) -> Wanted:
        return Wanted(tasks, policy=policy, **more)  # type: ignore[arg-type]

    return [
        Row("plain FIFO", run(), 0.75),
        Row("fifo+usage-feedback", run("fifo+usage-feedback", with_use=True), 3.0),
        Row("everything on, engine alone", run(everything=True, record=False), 2.0),
        Row("everything on, with record", run(everything=True), 3.5, 3.0),
        Row("everything on, with record, sizing reads the reports", run("fifo+usage-feedback", everything=True), 6.0),
    ]


def known_by(checkout: Path) -> set[str]:
    """What a run of these sources can be asked for."""
    code = "import dataclasses, json; from benchmarks.heddle_run import Wanted; " \
        "print(json.dumps([one.name for one in dataclasses.fields(Wanted)]))"  # fmt: skip
    return set(json.loads(_python(checkout, ["-c", code])))


def measured(checkout: Path, wanted: dict[str, object]) -> tuple[float, float]:
    """CPU and wall seconds of the sources in this folder; of what is too old to tell the latter, the former."""
    found = json.loads(_python(checkout, ["-m", "benchmarks.heddle_run", json.dumps(wanted)]))
    return found["cpu_s"], found.get("wall_s", found["cpu_s"])


def _python(checkout: Path, arguments: list[str]) -> str:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(checkout / "src"), str(checkout)])}
    command = [sys.executable, "-W", "ignore", *arguments]
    return subprocess.run(command, cwd=checkout, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", default="1767ace")
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    found = rows(given.tasks)
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(["git", "archive", given.commit], cwd=CHECKOUT, stdout=subprocess.PIPE, check=True)
        subprocess.run(["tar", "x", "-C", folder], input=packed.stdout, check=True)
        known = known_by(Path(folder))
        for _ in range(given.rounds):
            for row in found:
                if row.asks_for().keys() <= known:
                    row.before.append(measured(Path(folder), row.asks_for()))
                row.now.append(measured(CHECKOUT, row.asks_for()))
    plain_s = min(cpu_s for cpu_s, _ in found[0].before)
    print(f"CPU a task and times plain FIFO of {given.commit}; {given.tasks:,} tasks, best of {given.rounds} rounds\n")
    for cells in (["what", given.commit, "now", "target"], ["---"] * 4, *(row.cells(plain_s) for row in found)):
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
