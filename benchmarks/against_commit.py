"""CPU time of the rows that refer to plain FIFO of an older heddle: `python -m benchmarks.against_commit`.

Takes the sources of that commit out of Git, and runs its plain FIFO and this version's runs in turn, each in a process
of its own. Other work on the machine only ever adds, so of each the best counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.heddle_run import CHECKOUT, Wanted


@dataclass(frozen=True)
class Row:
    what: str
    wanted: Wanted
    most: float  # times plain FIFO of the commit
    most_wall: float = 0.0


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


def measured(checkout: Path, wanted: dict[str, object]) -> tuple[float, float]:
    """CPU and wall seconds of the sources in this folder; of what is too old to tell the latter, the former."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(checkout / "src"), str(checkout)])}
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.heddle_run", json.dumps(wanted)]
    done = subprocess.run(command, cwd=checkout, env=env, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout)
    return found["cpu_s"], found.get("wall_s", found["cpu_s"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", default="1767ace")
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(["git", "archive", given.commit], cwd=CHECKOUT, stdout=subprocess.PIPE, check=True)
        subprocess.run(["tar", "x", "-C", folder], input=packed.stdout, check=True)
        before: list[float] = []
        now: dict[Row, list[tuple[float, float]]] = {row: [] for row in rows(given.tasks)}
        for _ in range(given.rounds):
            before.append(measured(Path(folder), {"tasks": given.tasks})[0])
            for row, found in now.items():
                found.append(measured(CHECKOUT, asdict(row.wanted)))
    plain_s = min(before)
    print(f"plain FIFO of {given.commit}: {plain_s * 1e6 / given.tasks:.3f} us of CPU a task, {given.tasks:,} tasks")
    for row, found in now.items():
        cpu_s, wall_s = (min(column) for column in zip(*found, strict=True))
        line = f"{row.what}: {cpu_s * 1e6 / given.tasks:.3f} us, {cpu_s / plain_s:.2f}x (<= {row.most:g}x)"
        print(line + (f", wall {wall_s / plain_s:.2f}x (<= {row.most_wall:g}x)" if row.most_wall else ""))


if __name__ == "__main__":
    main()
