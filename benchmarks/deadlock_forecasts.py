"""`python -m benchmarks.deadlock_forecasts`: how far ahead the twin tells of the AM deadlock, and how often in vain.

Runs are drawn (deadlock_scenes.py) and simulated; then the twin forecasts every 30 s, as the live one does, with what
was known by then. It alarms where three quarters of the futures end in the deadlock under the policy in force.

- A ramp is told in time if it alarms from 60 s before the deadlock on, which begins when the last AM finds room.
- A sudden storm is told in time if it alarms from the second cycle on after the submission that makes it certain: the
  first after which the run would end in the deadlock even if nobody else came.
- Alarms that stop before the deadlock begins do not count, and one before the storm's first submission is a false one.
- A quiet run has a false alarm if any of its cycles alarms; its work goes on for a horizon after the last of them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.deadlock_scenes import FAMILIES, HORIZON_MS, Family, Scene, scene
from heddle.analysis.trace_contents.advice import wilson
from heddle.twin.cutting import Cutting
from heddle.twin.deadlock import ALARM
from heddle.twin.forecast import DRAWS
from heddle.twin.futures import Futures
from heddle.twin.known import Snapshot
from heddle.twin.rollouts import Candidate, check_future, run_future

EVERY_MS: Final = 30_000
FAR_AHEAD_MS: Final = 60_000
BEFORE_MS: Final = 120_000  # a storm's forecasts begin so long before its first submission
COUNTS: Final[dict[Family, int]] = {"ramp": 10, "sudden": 10, "quiet": 20, "halted": 10}


@dataclass(frozen=True)
class Told:
    """Of one run. `cycles`: instants, and whether it alarmed; the others: None where there is no deadlock."""

    family: Family
    number: int
    kind: str
    policy: str
    began_ms: int  # the first submission of what is not ordinary work; -1: there is none
    certain_ms: int | None
    stuck_ms: int | None
    cycles: tuple[tuple[int, bool], ...]

    @property
    def alarmed_ms(self) -> int | None:
        """Since when it alarms without a break: of ramps until the deadlock begins, else for as long as it matters."""
        if self.stuck_ms is None or self.certain_ms is None:
            return None
        since = None
        for at_ms, alarm in self.cycles:
            if not alarm and at_ms <= self.stuck_ms:
                since = None
            elif alarm and since is None:
                since = at_ms
        return since

    @property
    def in_time(self) -> bool:
        since = self.alarmed_ms
        if since is None or self.stuck_ms is None or self.certain_ms is None:
            return False
        if self.family == "ramp":
            return since <= self.stuck_ms - FAR_AHEAD_MS
        return sum(self.certain_ms < at_ms <= since for at_ms, _ in self.cycles) <= 2

    @property
    def false_alarms(self) -> int:
        """Cycles that alarm though nothing comes of it: of a storm, those before it begins."""
        until = self.began_ms if self.stuck_ms is not None else np.inf
        return sum(alarm and at_ms < until for at_ms, alarm in self.cycles)


def tell(family: Family, number: int, seed: int) -> Told:
    drawn = scene(family, number, seed)
    cutting = Cutting(drawn.ended, drawn.workload, drawn.cluster)
    stuck_ms = drawn.stuck_ms
    certain_ms = _certain_ms(drawn) if drawn.is_stuck else None
    phase_ms = int(np.random.default_rng((seed, number)).integers(EVERY_MS))
    first_ms = drawn.storm_at_ms[0] - BEFORE_MS if drawn.is_stuck else 0
    last_ms = drawn.told_until_ms
    if stuck_ms is not None and certain_ms is not None:
        last_ms = certain_ms + 2 * EVERY_MS if family == "sudden" else stuck_ms
    candidate = Candidate.of(drawn.policy, "native")
    instants = [at_ms for at_ms in range(phase_ms, last_ms + 1, EVERY_MS) if at_ms >= first_ms]
    cycles = tuple((at_ms, alarms(cutting.at(at_ms), candidate)) for at_ms in instants)
    began_ms = drawn.storm_at_ms[0] if drawn.storm_at_ms else -1
    return Told(family, number, drawn.kind, drawn.policy, began_ms, certain_ms, stuck_ms, cycles)


def alarms(snapshot: Snapshot, candidate: Candidate) -> bool:
    """What a forecast would say, of which no more futures are rolled out than it takes to know."""
    if not snapshot.live:
        return False
    futures = Futures(snapshot, HORIZON_MS, DRAWS)
    check_future(futures.future(0), snapshot.cluster, [candidate])
    stuck = 0
    for draw in range(DRAWS):
        future = futures.future(draw)
        stuck += run_future(future, snapshot.cluster, candidate, HORIZON_MS, draw).stuck is not None
        if stuck >= ALARM * DRAWS or stuck + DRAWS - draw - 1 < ALARM * DRAWS:
            break
    return stuck >= ALARM * DRAWS


def _certain_ms(drawn: Scene) -> int:
    """By halving: before it the run would not end in the deadlock, with it it does."""
    enough = len(drawn.specs)
    too_few = sum(spec.submit_at_ms < drawn.storm_at_ms[0] for spec in drawn.specs)
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if drawn.with_the_first(middle):
            enough = middle
        else:
            too_few = middle
    return drawn.specs[enough - 1].submit_at_ms


def show(rows: Sequence[Told]) -> None:
    print(f"{'run':12}{'kind':12}{'certain':>9}{'deadlock':>9}{'alarm':>8}{'ahead':>8}  in time  false  policy")
    for row in rows:
        ahead = None if row.alarmed_ms is None or row.stuck_ms is None else row.stuck_ms - row.alarmed_ms
        times = "".join(f"{_s(ms):>9}" for ms in (row.certain_ms, row.stuck_ms))
        in_time = "" if row.stuck_ms is None else "yes" if row.in_time else "no"
        print(
            f"{f'{row.family} {row.number}':12}{row.kind:12}{times}{_s(row.alarmed_ms):>8}{_s(ahead):>8}  {in_time:7}"
            f"{row.false_alarms or '':>7}  {row.policy}"
        )
    for family in FAMILIES:
        some = [row for row in rows if row.family == family]
        if not some:
            continue
        if family in ("ramp", "sudden"):
            _count(f"{family}: told in time", [row.in_time for row in some])
        _count(f"{family}: runs with a false alarm", [row.false_alarms > 0 for row in some])
    storms = [row for row in rows if row.stuck_ms is not None]
    if storms:
        _count("storms told in time", [row.in_time for row in storms])


def _count(what: str, held: Sequence[bool]) -> None:
    low, high = wilson(sum(held), len(held))
    print(f"{what}: {sum(held)} of {len(held)} (95 % interval {100 * low:.0f} to {100 * high:.0f} %)")


def _s(ms: int | None) -> str:
    return "" if ms is None else f"{ms / 1000:.0f} s"


def read_rows(path: Path) -> list[Told]:
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [Told(**{**row, "cycles": tuple((at_ms, alarm) for at_ms, alarm in row["cycles"])}) for row in rows]


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.deadlock_forecasts", description=__doc__)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--family", action="append", choices=FAMILIES, help="may be repeated (default: all)")
    options.add_argument("--processes", type=int, default=1)
    options.add_argument("--keep", type=Path, help="what each run gave; the same command goes on with it")
    chosen = options.parse_args()
    rows = read_rows(chosen.keep) if chosen.keep else []
    done = {(row.family, row.number) for row in rows}
    wanted = [(family, n) for family in chosen.family or FAMILIES for n in range(COUNTS[family])]
    left = [one for one in wanted if one not in done]
    with ProcessPoolExecutor(chosen.processes) as pool:
        for row in pool.map(tell, *zip(*left, strict=True), [chosen.seed] * len(left)) if left else ():
            rows.append(row)
            if chosen.keep:
                with chosen.keep.open("a") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
    show(sorted(rows, key=lambda row: (FAMILIES.index(row.family), row.number)))


if __name__ == "__main__":
    main()
