"""How many machine instructions a simulated task costs, and where: `python -m benchmarks.instruction_profile`.

Time on a shared machine moves by a factor of two from run to run; the number of instructions does not. Runs the
benchmark workload under valgrind's callgrind (Debian: apt-get install valgrind) and adds up what falls into each
compiled function of the engine. Takes a minute or two.
"""

from __future__ import annotations

import argparse
import bisect
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

# Callgrind knows no AVX-512, so the engine is compiled for a plainer processor, with a cache of its own.
PLAIN_PROCESSOR = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""}
POSITION = re.compile(r"^(0x[0-9a-f]+|\+\d+|-\d+|\*) ")


class Code(NamedTuple):
    """A compiled function: where it is, how long, its name."""

    start: int
    size: int
    name: str


def _run_engine(tasks: int, load: float, policy: str, listing: Path) -> None:
    """In the child: runs the workload, then lists where compiled code lies."""
    from numba.core import codegen

    objects: list[tuple[Any, bytes]] = []
    keep = codegen.CPUCodeLibrary._set_compiled_object

    def remember(library: Any, code: bytes) -> None:
        objects.append((library, code))
        keep(library, code)

    codegen.CPUCodeLibrary._set_compiled_object = remember

    from heddle.policy.parse import parse_policy
    from heddle.sim.run import run_engine
    from heddle.traces.catalogue import make_workload, suggested_cluster

    name = f"bench(tasks={tasks}, load={load})"
    run_engine(make_workload(name, 1), suggested_cluster(name), parse_policy(policy), 1, False)
    lines = []
    for library, code in objects:
        with tempfile.NamedTemporaryFile(suffix=".o") as file:
            file.write(code)
            file.flush()
            symbols = subprocess.run(["nm", "-S", file.name], capture_output=True, text=True, check=True).stdout
        for symbol in symbols.splitlines():
            parts = symbol.split()
            if len(parts) == 4 and parts[2] in "TtWw":
                address = library.codegen._engine._ee.get_function_address(parts[3])
                lines.append(f"{address} {int(parts[1], 16)} {library.name}")
    listing.write_text("\n".join(lines))


def _costs(profile: Path, codes: list[Code]) -> Counter[str]:
    """Instructions by function, from callgrind's output (positions may be relative to the line before)."""
    codes.sort()
    starts = [code.start for code in codes]
    found: Counter[str] = Counter()
    address, inclusive = 0, False
    for line in profile.read_text().splitlines():
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
    return found


def _under_callgrind(tasks: int, load: float, policy: str) -> Counter[str]:
    with tempfile.TemporaryDirectory() as folder:
        listing, profile = Path(folder) / "listing", Path(folder) / "profile"
        child = [sys.executable, "-W", "ignore", "-m", "benchmarks.instruction_profile", "--child", str(listing)]
        child += ["--load", str(load), "--policy", policy, "--tasks"]
        env = {**os.environ, **PLAIN_PROCESSOR, "NUMBA_CACHE_DIR": str(Path(tempfile.gettempdir()) / "heddle-profile")}
        subprocess.run([*child, "1000"], env=env, check=True)  # compiles, outside of the profile
        watch = ["valgrind", "--tool=callgrind", "--smc-check=all-non-file", "--dump-instr=yes"]
        watch += [f"--callgrind-out-file={profile}", *child, str(tasks)]
        subprocess.run(watch, env=env, check=True, stderr=subprocess.DEVNULL)
        lines = (line.split() for line in listing.read_text().splitlines())
        return _costs(profile, [Code(int(start), int(size), name) for start, size, name in lines])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--load", type=float, default=0.8)
    parser.add_argument("--policy", default="fifo")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.child:
        _run_engine(wanted.tasks, wanted.load, wanted.policy, wanted.child)
        return
    costs = _under_callgrind(wanted.tasks, wanted.load, wanted.policy)
    print(f"{wanted.policy} at {wanted.load:.0%} load: {costs.total() / wanted.tasks:,.0f} instructions a task")
    for name, cost in costs.most_common(12):
        print(f"{cost / wanted.tasks:8,.0f}  {name}")


if __name__ == "__main__":
    main()
