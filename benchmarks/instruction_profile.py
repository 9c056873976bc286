"""How many machine instructions a simulated task costs, and where: `python -m benchmarks.instruction_profile`.

Time on a shared machine moves by a factor of two from run to run; the number of instructions does not. Runs the
benchmark workload under valgrind's callgrind (Debian: apt-get install valgrind gcc) and adds up what falls into each
compiled function of the engine, from the first instant to the last. With `--record` the whole of `simulate` is counted,
with its record written to files: what is not the engine's stands under the name of its library.
"""

from __future__ import annotations

import argparse
import bisect
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

from benchmarks.heddle_run import SEED, Wanted, shared_out
from heddle.model.code_files import SHIPPED, shipped_features

# Callgrind knows no AVX-512, so the engine is compiled for a plainer processor, with a cache of its own. Its features
# are named because the processor that valgrind shows has others than this one: it would compile again, slowly.
PLAIN_PROCESSOR = {"NUMBA_CPU_NAME": SHIPPED, "NUMBA_CPU_FEATURES": shipped_features()}
COUNTING = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_START_INSTRUMENTATION; }
void end(void) { CALLGRIND_STOP_INSTRUMENTATION; }
"""
POSITION = re.compile(r"^(0x[0-9a-f]+|\+\d+|-\d+|\*) ")
OBJECT = re.compile(r"^ob=\((\d+)\)(?: (.*))?$")
CALLED_OBJECT = re.compile(r"^cob=\((\d+)\) (.*)$")


class Code(NamedTuple):
    """A compiled function: where it is, how long, its name."""

    start: int
    size: int
    name: str


def _run_engine(wanted: Wanted, listing: Path) -> None:
    """In the child: runs the workload, then lists where compiled code lies."""
    from heddle.model import code_files

    loaded: list[Path] = []
    load = code_files.load_code

    def remember(files: Sequence[Path]) -> list[int]:
        loaded.extend(files)
        return load(files)

    code_files.load_code = remember

    from heddle.model.cluster import YARN
    from heddle.policy.parse import parse_policy
    from heddle.run import simulate
    from heddle.sim.codes import FOREVER
    from heddle.sim.run import Run
    from heddle.traces.catalogue import make_workload, suggested_cluster

    name = wanted.workload()
    workload, cluster = shared_out(make_workload(name, SEED), suggested_cluster(name), wanted.queues, wanted.users)
    if wanted.everything:
        cluster = replace(cluster, timing=YARN)
    policy = parse_policy(wanted.policy)
    counting = ctypes.CDLL(str(listing.with_name("counting.so")))
    if wanted.record:
        few = make_workload(replace(wanted, tasks=1000).workload(), SEED)
        simulate(few, cluster, policy, record=listing.with_name("few"))  # loads and imports all
        counting.begin()
        simulate(workload, cluster, policy, seed=SEED, record=listing.with_name("record"))
        counting.end()
    else:
        run = Run(workload, cluster, policy, SEED, False)
        run.engine.start(run.handle)
        counting.begin()  # not before: loading all this takes more instructions than the run
        run.go_on(int(FOREVER))
        counting.end()
    lines = []
    for function in loaded:
        with tempfile.NamedTemporaryFile(suffix=".o") as file:
            file.write(function.read_bytes().split(b"\n", 1)[1])
            file.flush()
            symbols = subprocess.run(["nm", "-S", file.name], capture_output=True, text=True, check=True).stdout
        for symbol in symbols.splitlines():
            parts = symbol.split()
            if len(parts) == 4 and parts[2] in "TtWw":
                address = code_files.linker().get_function_address(parts[3])
                lines.append(f"{address} {int(parts[1], 16)} {function.stem}")
    listing.write_text("\n".join(lines))


def _costs(profile: Path, codes: list[Code], others: bool) -> Counter[str]:
    """Instructions by function of the engine and, for `others`, by library, from callgrind's output.

    There, positions may be relative to the line before, and a library has its name only where it is first met.
    """
    codes.sort()
    starts = [code.start for code in codes]
    found: Counter[str] = Counter()
    address, inclusive = 0, False
    libraries: dict[str, str] = {}
    library = ""
    for line in profile.read_text().splitlines():
        if of_library := OBJECT.match(line):
            if of_library[2]:
                libraries[of_library[1]] = Path(of_library[2]).name
            library = libraries[of_library[1]]
            continue
        if named := CALLED_OBJECT.match(line):
            libraries[named[1]] = Path(named[2]).name
            continue
        if line.startswith("calls="):
            inclusive = True  # the next line has the cost of the call, counted where it arises
            continue
        match = POSITION.match(line)
        if match is None:
            continue
        position = match[1]
        if position.startswith("0x"):
            address = int(position, 16)
        elif position != "*":
            address += int(position)
        if inclusive:
            inclusive = False
            continue
        i = bisect.bisect_right(starts, address) - 1
        if i >= 0 and address < codes[i].start + codes[i].size:
            found[codes[i].name] += int(line.split()[-1])
        elif others:
            found[f"[{library}]"] += int(line.split()[-1])
    return found


def _compile_counting(folder: Path) -> None:
    """A library by which the child tells valgrind when to count; without valgrind it does nothing."""
    (folder / "counting.c").write_text(COUNTING)
    command = ["cc", "-O1", "-shared", "-fPIC", "-o", str(folder / "counting.so"), str(folder / "counting.c")]
    subprocess.run(command, check=True)


def _under_callgrind(wanted: Wanted) -> Counter[str]:
    with tempfile.TemporaryDirectory() as folder:
        listing, profile = Path(folder) / "listing", Path(folder) / "profile"
        child = [sys.executable, "-W", "ignore", "-m", "benchmarks.instruction_profile", "--child", str(listing)]
        few, all_of_it = (json.dumps(asdict(one)) for one in (replace(wanted, tasks=1000), wanted))
        _compile_counting(Path(folder))
        env = {**os.environ, **PLAIN_PROCESSOR, "NUMBA_CACHE_DIR": str(Path(tempfile.gettempdir()) / "heddle-profile")}
        subprocess.run([*child, "--wanted", few], env=env, check=True)  # compiles, outside of the profile
        watch = ["valgrind", "--tool=callgrind", "--smc-check=all-non-file", "--dump-instr=yes", "--instr-atstart=no"]
        watch += [f"--callgrind-out-file={profile}", *child, "--wanted", all_of_it]
        subprocess.run(watch, env=env, check=True, stderr=subprocess.DEVNULL)
        lines = (line.split() for line in listing.read_text().splitlines())
        codes = [Code(int(start), int(size), name) for start, size, name in lines]
        return _costs(profile, codes, others=wanted.record)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--load", type=float, default=0.8)
    parser.add_argument("--policy", default="fifo")
    parser.add_argument("--with-use", action="store_true", help="tasks use less than they reserve")
    parser.add_argument("--everything", action="store_true", help="AMs, heartbeats, reports, contention")
    parser.add_argument("--record", action="store_true", help="the whole of a run that writes its record")
    for what, usual in (("nodes", 150), ("queues", 1), ("users", 1), ("job-tasks", 10)):
        parser.add_argument(f"--{what}", type=int, default=usual)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--wanted", help=argparse.SUPPRESS)
    given = vars(parser.parse_args())
    listing, described = given.pop("child"), given.pop("wanted")
    if listing:
        _run_engine(Wanted(**json.loads(described)), listing)
        return
    wanted = Wanted(**given)
    costs = _under_callgrind(wanted)
    print(f"{wanted.policy} at {wanted.load:.0%} load: {costs.total() / wanted.tasks:,.0f} instructions a task")
    if wanted.record:
        engine = sum(cost for name, cost in costs.items() if not name.startswith("["))
        print(f"{engine / wanted.tasks:8,.0f}  engine and levers")
    for name, cost in costs.most_common(12):
        print(f"{cost / wanted.tasks:8,.0f}  {name}")


if __name__ == "__main__":
    main()
