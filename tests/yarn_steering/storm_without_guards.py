"""`python -m tests.yarn_steering.storm_without_guards [-k TEXT] [--seeds N]`: does the storm find that a guard is gone?

Each guard of guards.py that lies above the simulated clock, network, disk and processes is taken out of the code as it
is imported, and storms are run until one breaks something. Faults are drawn from the kinds that have to do with the
guard, so that few storms are enough. Ends with 1 if a guard is not missed. Run it from the top of the repository.
"""

import argparse
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from random import Random
from types import CodeType

from .guards import GUARDS, Guard

BELOW = {
    "two controllers": "the lock of the file system",
    "slow answer": "the timeout of a real connection",
    "applications without number come and go": "memory, which a storm does not look at",
    "RM away for an hour when the controller dies": "longer than a storm lasts",
    "bridge: a leaf switched where a ResourceManager lacks the jar": "the command that installs the bridge",
    "bridge: the jar is deleted while it is in use": "the command that removes the bridge",
}
# What has to happen: names of kinds of faults. Of a guard that is not named here: nothing but the storm's own.
NEEDS = {
    "controller killed": "CONTROLLER_KILLED",
    "controller hangs": "CONTROLLER_HANGS",
    "controller hung and goes on": "CONTROLLER_HANGS RM_SLOW",
    "controller hung within a step and goes on": "CONTROLLER_HANGS RM_SLOW RM_TIMES_OUT_AFTER",
    "watchdog killed": "WATCHDOG_KILLED CONTROLLER_KILLED",
    "both killed, next start": "BOTH_KILLED",
    "both killed, restore": "BOTH_KILLED",
    "killed before what was found is on disk": "NODE_LOST",
    "NodeManager killed or hanging": "NODE_HANGS",
    "NodeManager starts anew with its own size": "NODE_ANEW NODE_LOST",
    "RM restarted, its nodes not back yet": "RM_RESTARTS",
    "RM restarted, nodes come one by one": "RM_RESTARTS BOTH_KILLED",
    "RM restarted, or hung (SIGSTOP), for longer than the lease": "RM_RESTARTS RM_TIMES_OUT_BEFORE",
    "RM away for longer than the lease": "RM_RESTARTS RM_TIMES_OUT_BEFORE",
    "RM away when the controller dies": "RM_RESTARTS CONTROLLER_KILLED",
    "RM restarted: containers are numbered from 1 again": "RM_RESTARTS",
    "node added": "NODE_LOST",
    "node removed": "RM_RESTARTS RM_FAILS_OVER CONTROLLER_ENDS",
    "node resized by somebody else": "NODE_RESIZED",
    "node that joined later, resized by somebody else": "NODE_RESIZED RM_RESTARTS NODE_LOST",
    "queue or application changed by somebody else": "QUEUE_CHANGED NODE_RESIZED APP_CHANGED",
    "changed by somebody else just before the end": "NODE_RESIZED QUEUE_CHANGED CONTROLLER_ENDS",
    "answers are stale when things are put back": "RM_STALE BOTH_KILLED CONTROLLER_ENDS",
    "answer without a field": "RM_GARBLES",
    "answer of another shape": "RM_GARBLES",
    "answer that is not JSON, or half of it": "RM_GARBLES RM_CUTS_OFF",
    "answer cut off": "RM_CUTS_OFF",
    "401, 403, 500": "RM_REFUSES",
    "a change refused, or made and denied": "RM_REFUSES_CHANGES RM_CUTS_OFF",
    "clock jumps: lease": "CLOCK_JUMPS CONTROLLER_HANGS",
    "clock jumps: heartbeat": "CLOCK_JUMPS CONTROLLER_HANGS",
    "disk full under the baseline": "DISK_FULL DISK_READ_ONLY",
    "observer killed": "OBSERVER_KILLED",
    "observer killed within a line": "OBSERVER_KILLED",
    "disk full under the record": "DISK_FULL DISK_READ_ONLY",
    "job that came and went while the observer was away": "OBSERVER_KILLED RM_TIMES_OUT_BEFORE",
    "changed by somebody else when the controller is dead": "NODE_RESIZED BOTH_KILLED CONTROLLER_HANGS",
    "disk that refuses under the watchdog": "DISK_READ_ONLY CONTROLLER_KILLED RM_RESTARTS",
    "failover": "RM_FAILS_OVER",
    "bridge: a table left behind at the end": "CONTROLLER_ENDS BRIDGE_FORGETS",
    "applications missing from an answer: looking": "RM_REORDERS",
    "applications missing from an answer: putting back": "RM_REORDERS BOTH_KILLED CONTROLLER_ENDS",
    "node decommissioned and taken back: levers": "NODE_DECOMMISSIONED",
    "node decommissioned and taken back: putting back": "NODE_DECOMMISSIONED",
}


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


def storms(guard: Guard, seeds: int) -> int:
    """In a process of its own. 0: it was missed."""
    Without(guard).install()
    from heddle.storm.faults import Kind, draw_faults
    from heddle.storm.storm import FAULTS_UNTIL_S, Storm

    kinds = tuple(Kind[name] for name in NEEDS[guard.fault].split()) if guard.fault in NEEDS else tuple(Kind)
    steps = 0
    for seed in range(seeds):
        faults = draw_faults(Random(f"{seed} faults"), FAULTS_UNTIL_S, kinds)
        outcome = Storm(seed, faults, chooses=guard.fault.startswith("another policy")).run()
        steps += outcome.steps
        if outcome.broken:
            print(f"missed after {steps} steps: {outcome.broken[0].splitlines()[0][:110]}")
            return 0
    print(f"NOT MISSED in {steps} steps")
    return 1


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.yarn_steering.storm_without_guards", description=__doc__)
    options.add_argument("-k", dest="only", default="", help="only faults with this text")
    options.add_argument("--after", default="", help="only guards behind the one of this fault, to go on where it was")
    options.add_argument("--seeds", type=int, default=40, help="so many storms at most for each guard")
    options.add_argument("--one", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.one:
        return storms(next(guard for guard in GUARDS if guard.fault == chosen.one), chosen.seeds)
    failed, first = 0, 0
    if chosen.after:
        first = 1 + next(number for number, guard in enumerate(GUARDS) if guard.fault == chosen.after)
    for guard in GUARDS[first:]:
        if chosen.only not in guard.fault:
            continue
        below = "Java, inside the ResourceManager" if guard.file.endswith(".java") else BELOW.get(guard.fault)
        if below:
            print(f"{guard.fault}: left out ({below})", flush=True)
            continue
        again = [sys.executable, "-m", "tests.yarn_steering.storm_without_guards", "--one", guard.fault]
        told = subprocess.run([*again, "--seeds", str(chosen.seeds)], capture_output=True, text=True)
        last = (told.stdout or told.stderr).strip().splitlines()[-1:]
        print(f"{guard.fault}: {' '.join(last)}", flush=True)
        failed += told.returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
