"""`python -m tests.yarn_steering.storm_without_guards [-k TEXT] [--after FAULT]`: does the storm find that a guard is
gone? With `--first SEED --seeds N` instead: do storms hold that have all guards, and few kinds of faults at a time?

Each guard of guards.py that lies above the simulated clock, network, disk and processes is taken out of the code as it
is imported, and storms are run until one breaks something, for at most MOST_STEPS steps. With the guard, the same storm
has to hold. Faults are drawn from the kinds that have to do with the guard, so that few storms are enough. Ends with 1
if what is found is not what storm_finds.py says. Run it from the top of the repository.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from random import Random
from types import CodeType
from typing import TYPE_CHECKING

from .guards import GUARDS, Guard
from .storm_finds import FOUND, MOST_STEPS, NEEDS, OF_POOLS, is_below

if TYPE_CHECKING:  # importing it imports the code that a guard is taken out of
    from heddle.storm.storm import Outcome, Storm


class Without:
    """Imports the guard's file without the guard."""

    def __init__(self, guard: Guard) -> None:
        self._guard, self._get_code = guard, SourceFileLoader.get_code

    def install(self) -> None:
        without = self

        def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
            path = loader.get_filename(name)
            if not path.endswith(without._guard.file):
                return without._get_code(loader, name)
            text = Path(path).read_text()
            assert text.count(without._guard.has) == 1
            return compile(text.replace(without._guard.has, without._guard.without), path, "exec", dont_inherit=True)

        SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def storms(guard: Guard) -> tuple[int, int]:
    """In a process of its own. The steps that it took to find out, and the seed that did; -1: it did not."""
    Without(guard).install()
    steps = seed = 0
    while steps < MOST_STEPS:
        outcome = storm_of(guard, seed)
        if outcome is not None:
            steps += outcome.steps
            if outcome.broken:
                print(f"seed {seed}: {outcome.broken[0].splitlines()[0][:110]}", file=sys.stderr)
                return steps, seed
        seed += 1
    return -1, -1


def storm_of(guard: Guard, seed: int) -> Outcome | None:
    """With faults that have to do with the guard; None if the seed draws no world that has."""
    storm = drawn(NEEDS.get(guard.fault), seed, chooses=guard.fault.startswith("another policy"))
    return storm.run() if storm.has_pools or guard.fault not in OF_POOLS else None


def drawn(kinds: str | None, seed: int, chooses: bool = False) -> Storm:
    """With faults of these kinds, or of any."""
    from heddle.storm.faults import Kind, draw_faults
    from heddle.storm.storm import FAULTS_UNTIL_S, Storm

    some = tuple(Kind) if kinds is None else tuple(Kind[name] for name in kinds.split())
    return Storm(seed, draw_faults(Random(f"{seed} faults"), FAULTS_UNTIL_S, some), chooses)


def hold(seeds: range) -> int:
    """Few kinds of faults at a time show what many together hide: those of one guard after the other."""
    storms = steps = broken = 0
    for seed in seeds:
        for kinds in sorted(set(NEEDS.values())):
            outcome = drawn(kinds, seed).run()
            storms, steps = storms + 1, steps + outcome.steps
            if outcome.broken:
                broken += 1
                print(f"seed {seed}, {kinds}: {outcome.broken[0]}", flush=True)
        print(f"up to seed {seed}: {storms:,} storms, {steps:,} steps, {broken} broke", flush=True)
    return 1 if broken else 0


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.yarn_steering.storm_without_guards", description=__doc__)
    options.add_argument("-k", dest="only", default="", help="only faults with this text")
    options.add_argument("--after", default="", help="only guards behind the one of this fault, to go on where it was")
    options.add_argument("--first", type=int, default=0, help="with --seeds: the first of them")
    options.add_argument("--seeds", type=int, help="storms with all guards: one for each guard's faults and seed")
    options.add_argument("--one", help=argparse.SUPPRESS)
    options.add_argument("--intact", type=int, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.seeds is not None:
        return hold(range(chosen.first, chosen.first + chosen.seeds))
    if chosen.one:
        guard = next(guard for guard in GUARDS if guard.fault == chosen.one)
        if chosen.intact is None:
            print(*storms(guard))
            return 0
        outcome = storm_of(guard, chosen.intact)
        assert outcome is not None
        print(*outcome.broken[:1], file=sys.stderr)
        return 1 if outcome.broken else 0
    first = 1 + [guard.fault for guard in GUARDS].index(chosen.after) if chosen.after else 0
    right = [_is_as_said(guard) for guard in GUARDS[first:] if chosen.only in guard.fault and not is_below(guard)]
    print(f"{sum(right)} of {len(right)} guards as storm_finds.py says")
    return 0 if all(right) else 1


def _is_as_said(guard: Guard) -> bool:
    told = _apart("--one", guard.fault)
    if told.returncode:
        print(f"{guard.fault}: {told.stderr}", flush=True)
        return False
    (steps, seed), why = map(int, told.stdout.split()), " ".join(told.stderr.splitlines()[-1:])
    outcome = f"found within {steps:,} steps" if steps >= 0 else f"NOT FOUND within {MOST_STEPS:,} steps"
    print(f"{guard.fault}: {outcome} {why}".rstrip(), flush=True)
    if steps >= 0 and (intact := _apart("--one", guard.fault, "--intact", str(seed))).returncode:
        print(f"  BUT with the guard as well: {intact.stderr}", flush=True)
        return False
    return (steps >= 0) == (guard.fault in FOUND)


def _apart(*options: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, which imports the code once."""
    command = [sys.executable, "-m", "tests.yarn_steering.storm_without_guards", *options]
    return subprocess.run(command, capture_output=True, text=True)


if __name__ == "__main__":
    sys.exit(main())
