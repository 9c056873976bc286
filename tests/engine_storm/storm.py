"""`scripts/engine-storm reference|check`: random runs until so many are done; broken off, it goes on where it was.

`reference`: the engine and the reference simulator do the same, attempt by attempt. `check`: what must hold in every
run, as with `--check`, and it ends; levers and faults that the reference does not have take part.
A run that fails is told with its number; `--only NUMBER` runs it again and shows why.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from pathlib import Path

from engine_trace import differences, trace_of
from golden.deeds import STATUS, ended
from golden.runs import GoldenRun
from golden.test_golden import for_the_reference, reference_trace
from heddle.analysis.soundness.happenings import in_order
from heddle.analysis.soundness.invariants import broken_invariants, sums_left
from heddle.model.errors import HeddleError
from heddle.run import check_run
from heddle.sim import codes
from heddle.traces.check import check_structure

from .runs import storm_run

AT_ONCE = 50  # runs of one piece of work


@dataclass
class Tally:
    """What was run so far."""

    against: str
    next_number: int = 0
    runs: int = 0
    refused: int = 0
    cpu_s: float = 0.0
    counted: dict[str, int] = field(default_factory=dict)  # how runs ended, executors, levers, features
    failures: dict[str, list[str]] = field(default_factory=dict)  # number -> what is wrong

    def add(self, piece: Tally) -> None:
        self.next_number = max(self.next_number, piece.next_number)
        self.runs += piece.runs
        self.refused += piece.refused
        self.cpu_s += piece.cpu_s
        self.failures |= piece.failures
        self.counted = dict(Counter(self.counted) + Counter(piece.counted))

    def text(self) -> str:
        return (
            f"{self.runs:,} runs against {self.against} ({self.refused:,} drawn ones cannot be run), "
            f"{len(self.failures)} failed, {self.cpu_s / 3600:.1f} CPU hours"
        )


def wrong_with(run: GoldenRun, against: str) -> tuple[str, list[str]]:
    """How it ended, and what must not be."""
    it = ended(run)
    if against == "reference":
        return STATUS[it.status], differences(trace_of(it), reference_trace(run, for_the_reference(run.policy)))
    finished = it.status == codes.FINISHED
    told = in_order(it.logs, it.attempts, run.workload)
    found = broken_invariants(told, run.workload, run.cluster, it.counts, finished=finished)
    return STATUS[it.status], found + (sums_left(it.sim.shown) if finished else [])


def some_runs(against: str, numbers: range) -> Tally:
    began, tally, counted = time.process_time(), Tally(against, next_number=numbers.stop), Counter[str]()
    for number in numbers:
        try:
            run = storm_run(number, knows_reference=against == "reference")
            if run is None:
                tally.refused += 1
                continue
            check_structure(run.workload, "storm").raise_if_any()
            check_run(run.workload, run.cluster, run.seed)
        except HeddleError:
            tally.refused += 1
            continue
        try:
            status, found = wrong_with(run, against)
        except Exception:
            status, found = "raised", traceback.format_exc().splitlines()[-6:]
        tally.runs += 1
        counted.update(
            [status, run.executor, *run.features, *(part.partition("(")[0] for part in run.policy.split("+"))]
        )
        if found:
            tally.failures[str(number)] = [run.policy, *found[:12]]
    tally.counted, tally.cpu_s = dict(counted), time.process_time() - began
    return tally


def main() -> None:
    options = argparse.ArgumentParser(prog="scripts/engine-storm", description=__doc__)
    options.add_argument("against", choices=("reference", "check"))
    options.add_argument("--runs", type=int, default=1000)
    options.add_argument("--first", type=int, default=0, metavar="NUMBER", help="begin with this run")
    options.add_argument("--state", type=Path, help="go on with, and keep, what was run here")
    options.add_argument("--processes", type=int, default=1)
    options.add_argument("--only", type=int, metavar="NUMBER", help="this run alone")
    chosen = options.parse_args()
    if chosen.only is not None:
        tally = some_runs(chosen.against, range(chosen.only, chosen.only + 1))
        print(json.dumps(asdict(tally), indent=1))
        sys.exit(1 if tally.failures else 0)
    tally = _storm(chosen.against, chosen.first, chosen.runs, chosen.state, chosen.processes)
    print(tally.text())
    for number, found in tally.failures.items():
        print(f"\nrun {number}:", *found, sep="\n  ")
    sys.exit(1 if tally.failures else 0)


def _storm(against: str, first: int, runs: int, state: Path | None, processes: int) -> Tally:
    tally = Tally(against, first)
    if state is not None and state.exists():
        tally = Tally(**json.loads(state.read_text()))
        assert tally.against == against, f"{state} is of runs against {tally.against}"
    pool = ProcessPoolExecutor(processes)
    while tally.runs < runs:
        begin = tally.next_number
        pieces = [range(at, at + AT_ONCE) for at in range(begin, begin + 4 * processes * AT_ONCE, AT_ONCE)]
        works = [pool.submit(some_runs, against, piece) for piece in pieces]
        broken = False
        for piece, work in zip(pieces, works, strict=True):
            try:
                tally.add(work.result())
            except BrokenProcessPool:
                _one_by_one(tally, against, piece)
                broken = True
        if broken:
            pool = ProcessPoolExecutor(processes)
        if state is not None:
            beside = state.with_suffix(".partial")
            beside.write_text(json.dumps(asdict(tally), indent=1))
            beside.replace(state)
        print(tally.text(), file=sys.stderr, flush=True)
    pool.shutdown()
    return tally


def _one_by_one(tally: Tally, against: str, numbers: range) -> None:
    """Some run of these has ended its process, and others with it: each in one of its own."""
    for number in numbers:
        with ProcessPoolExecutor(1) as pool:
            try:
                tally.add(pool.submit(some_runs, against, range(number, number + 1)).result())
            except BrokenProcessPool:
                tally.add(Tally(against, number + 1, 1, failures={str(number): ["its process died"]}))


if __name__ == "__main__":
    main()
