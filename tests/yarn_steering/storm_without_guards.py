"""`python -m tests.yarn_steering.storm_without_guards [-k TEXT] [--after FAULT]`: does the storm find that a guard is
gone?

Each guard of guards.py that lies above the simulated clock, network, disk and processes is taken out of the code as it
is imported, and storms are run until one breaks something, for at most MOST_STEPS steps. Faults are drawn from the
kinds that have to do with the guard, so that few storms are enough. Ends with 1 if what is found is not what
storm_finds.py says. Run it from the top of the repository.
"""

import argparse
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from random import Random
from types import CodeType

from .guards import GUARDS, Guard
from .storm_finds import FOUND, MOST_STEPS, NEEDS, OF_POOLS, is_below


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


def storms(guard: Guard) -> int:
    """In a process of its own. The steps that it took to find out; -1: it did not."""
    Without(guard).install()
    from heddle.storm.faults import Kind, draw_faults
    from heddle.storm.storm import FAULTS_UNTIL_S, Storm

    kinds = tuple(Kind[name] for name in NEEDS[guard.fault].split()) if guard.fault in NEEDS else tuple(Kind)
    steps = seed = 0
    while steps < MOST_STEPS:
        faults = draw_faults(Random(f"{seed} faults"), FAULTS_UNTIL_S, kinds)
        storm = Storm(seed, faults, chooses=guard.fault.startswith("another policy"))
        seed += 1
        if guard.fault in OF_POOLS and not storm.has_pools:
            continue
        outcome = storm.run()
        steps += outcome.steps
        if outcome.broken:
            print(f"seed {outcome.seed}: {outcome.broken[0].splitlines()[0][:110]}", file=sys.stderr)
            return steps
    return -1


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.yarn_steering.storm_without_guards", description=__doc__)
    options.add_argument("-k", dest="only", default="", help="only faults with this text")
    options.add_argument("--after", default="", help="only guards behind the one of this fault, to go on where it was")
    options.add_argument("--one", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.one:
        print(storms(next(guard for guard in GUARDS if guard.fault == chosen.one)))
        return 0
    first = 1 + [guard.fault for guard in GUARDS].index(chosen.after) if chosen.after else 0
    right = [_is_as_said(guard) for guard in GUARDS[first:] if chosen.only in guard.fault and not is_below(guard)]
    print(f"{sum(right)} of {len(right)} guards as storm_finds.py says")
    return 0 if all(right) else 1


def _is_as_said(guard: Guard) -> bool:
    command = [sys.executable, "-m", "tests.yarn_steering.storm_without_guards", "--one", guard.fault]
    told = subprocess.run(command, capture_output=True, text=True)
    if told.returncode:
        print(f"{guard.fault}: {told.stderr}", flush=True)
        return False
    steps, why = int(told.stdout), " ".join(told.stderr.splitlines()[-1:])
    outcome = f"found within {steps:,} steps" if steps >= 0 else f"NOT FOUND within {MOST_STEPS:,} steps"
    print(f"{guard.fault}: {outcome} {why}".rstrip(), flush=True)
    return (steps >= 0) == (guard.fault in FOUND)


if __name__ == "__main__":
    sys.exit(main())
