"""`python -m tests.golden.record`: runs all 400 and writes what they do now to digests.json, and what was in them.

`python -m tests.golden.record --show 17` prints what run 17 is and does, row by row: do that before and after a change
(`git stash`, or a worktree of the commit that last wrote digests.json), and compare the two with diff.
Run it from the top of the repository.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from heddle.model.reasons import Outcome, Reason
from heddle.record.run import Run
from heddle.run import check_run

from .deeds import digest, done, lines
from .runs import CLASS_A, CLASS_B, GoldenRun, golden_run

DIGESTS = Path(__file__).with_name("digests.json")


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m tests.golden.record", description=__doc__)
    options.add_argument("--show", type=int, metavar="NUMBER", help="what this run is and does; writes nothing")
    chosen = options.parse_args()
    if chosen.show is not None:
        show(golden_run(chosen.show))
        return
    classes = {name: dict(_recorded(name, numbers)) for name, numbers in (("A", CLASS_A), ("B", CLASS_B))}
    # A line for each run, so that a diff shows which ones changed.
    text = ",\n".join(
        f'"{name}": {{\n' + ",\n".join(f'"{number}": {json.dumps(row)}' for number, row in rows.items()) + "\n}"
        for name, rows in classes.items()
    )
    DIGESTS.write_text(f"{{\n{text}\n}}\n")


def show(run: GoldenRun) -> None:
    print(f"run {run.number}: {run.policy}, seed {run.seed}, {run.executor}; {' '.join(sorted(run.features))}")
    print(run.cluster)
    for row in (*run.workload.jobs, *run.workload.stages, *run.workload.tasks):
        print(row)
    for line in lines(*done(run)):
        print(line)


def _recorded(name: str, numbers: Iterable[int]) -> Iterable[tuple[int, dict[str, str]]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for number in numbers:
        run = golden_run(number)
        check_run(run.workload, run.cluster, run.seed)
        status, record = done(run)
        _count(counts, run, status, record)
        yield number, {"policy": run.policy, "executor": run.executor, "digest": digest(status, record)}
    print(f"class {name}")
    for kind, counted in counts.items():
        print(f"  {kind}: " + ", ".join(f"{what} {n}" for what, n in counted.most_common()))


def _count(counts: dict[str, Counter[str]], run: GoldenRun, status: str, record: Run) -> None:
    assert record.events is not None
    counts["runs"].update(["all", status, run.executor])
    counts["jobs"].update(record.jobs["outcome"])
    counts["features"].update(run.features)
    counts["levers"].update(part.partition("(")[0] for part in run.policy.split("+"))
    attempts, events = record.attempts, record.events
    counts["attempts"].update(Outcome(o).name if o >= 0 else "unended" for o in attempts["outcome"])
    counts["attempts"]["waited"] += attempts.filter(pl.col("allocated_at_ms") > pl.col("asked_at_ms")).height
    counts["attempts"]["again"] += attempts.filter(pl.col("attempt") > 0).height
    counts["attempts"]["fetched"] += attempts["fetched_at_ms"].count()
    counts["waits"].update(Reason(reason).name for reason in events["reason"] if reason)
    counts["other"].update(kind for kind in events["kind"] if kind != "wait")


if __name__ == "__main__":
    main()
