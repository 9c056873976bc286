"""`scripts/mutate`: one operator of the source is swapped, and a test must fail. A seeded sample, one mutant at a time.

Verdicts are lines of verdicts.jsonl, in the repository; called again, anywhere, it goes on behind them. A mutant whose
file has changed since is tried again. Those that are known to be equivalent are not. `--show` says how many were
killed, and which survived.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from .carried import Contents
from .equivalent import EQUIVALENT
from .sites import Mutant, mutants_of
from .targets import TARGETS, Target, target_of
from .trial import Copy, Ran

TOP = Path(__file__).resolve().parents[2]


def main() -> int:
    options = argparse.ArgumentParser(prog="scripts/mutate", description=__doc__)
    options.add_argument("--sample", type=int, default=300, help="so many mutants")
    options.add_argument("--seed", type=int, default=22)
    options.add_argument("--only", choices=[target.name for target in TARGETS], help="mutants of this part alone")
    options.add_argument("--again", action="store_true", help="try those that survived once more, with today's tests")
    options.add_argument("--verdicts", type=Path, default=Path(__file__).with_name("verdicts.jsonl"))
    options.add_argument("--processes", type=int, default=1, help="so many mutants at a time")
    options.add_argument("--show", action="store_true", help="run nothing")
    chosen = options.parse_args()
    sample = sample_of(chosen.sample, chosen.seed)
    wanted = [mutant for mutant in sample if chosen.only in (None, target_of(mutant.file).name)]
    verdicts = read(chosen.verdicts)
    if not chosen.show:
        ahead = [m for m in wanted if is_ahead(m, verdicts, chosen.again)]
        try_them(ahead, chosen.verdicts, chosen.processes)
        verdicts = read(chosen.verdicts)
    print(summary(wanted, verdicts))
    return 0


def sample_of(size: int, seed: int) -> list[Mutant]:
    """Over all parts together, so that each has its share of the sample."""
    return sorted(every_mutant(), key=lambda mutant: mutant.rank(seed))[:size]


@cache
def every_mutant() -> tuple[Mutant, ...]:
    return tuple(mutant for target in TARGETS for file in target.files(TOP) for mutant in mutants_of(file, TOP))


def try_them(mutants: list[Mutant], file: Path, processes: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    copies = [Copy(TOP, (TOP / f"build/mutation/tree-{number}").resolve()) for number in range(processes)]
    for target in TARGETS:
        ahead = deque(mutant for mutant in mutants if target_of(mutant.file) == target)
        if ahead:
            unchanged = copies[0].unchanged(target)
            print(f"{target.name}: its tests take {unchanged.cpu_s:.0f} s of CPU", flush=True)
            contents = copies[0].contents()
            for copy in copies[1:]:
                copy.take_from(copies[0])
            with ThreadPoolExecutor(processes) as pool:
                done = [pool.submit(_try_some, copy, target, unchanged, contents, ahead, file) for copy in copies]
                for one in done:
                    one.result()


def _try_some(copy: Copy, target: Target, unchanged: Ran, contents: Contents, ahead: deque[Mutant], file: Path) -> None:
    """Those that nobody else has begun, until none is left."""
    while ahead:
        mutant = ahead.popleft()
        verdict, ran = copy.tried(mutant, target, unchanged, contents)
        failed = [line for line in ran.said.splitlines() if line.startswith(("FAILED", "ERROR"))]
        entry = {
            "mutant": mutant.name, "line": mutant.begin[0], "part": target.name, "verdict": verdict,
            "source": digest(mutant), "by": failed[0][:200] if failed else "", "cpu_s": round(ran.cpu_s, 1),
        }  # fmt: skip
        with file.open("a") as lines:
            lines.write(json.dumps(entry) + "\n")
        print(f"{verdict:12} {mutant.name} ({ran.cpu_s:.0f} s)", flush=True)


def digest(mutant: Mutant) -> str:
    return hashlib.sha256((TOP / mutant.file).read_bytes()).hexdigest()[:16]


def read(file: Path) -> dict[str, dict[str, Any]]:
    """The last word on each mutant."""
    lines = file.read_text().splitlines() if file.exists() else []
    return {entry["mutant"]: entry for entry in map(json.loads, lines)}


def is_known(mutant: Mutant, verdicts: dict[str, dict[str, Any]]) -> bool:
    return mutant.name in verdicts and verdicts[mutant.name]["source"] == digest(mutant)


def is_ahead(mutant: Mutant, verdicts: dict[str, dict[str, Any]], again: bool) -> bool:
    if mutant.name in EQUIVALENT:
        return False
    return not is_known(mutant, verdicts) or (again and is_alive(verdicts[mutant.name]))


def summary(wanted: list[Mutant], verdicts: dict[str, dict[str, Any]]) -> str:
    """Of those that were tried on the source as it is."""
    different = [mutant for mutant in wanted if mutant.name not in EQUIVALENT]
    tried = [verdicts[mutant.name] for mutant in different if is_known(mutant, verdicts)]
    said = []
    for target in TARGETS:
        found = Counter(one["verdict"] for one in tried if one["part"] == target.name)
        found["equivalent"] = sum(m.name in EQUIVALENT for m in wanted if target_of(m.file) == target)
        if found.total():
            said.append(f"{target.name}: " + ", ".join(f"{n} {verdict}" for verdict, n in sorted(found.items()) if n))
    alive = [one for one in tried if is_alive(one)]
    noticed = len(tried) - len(alive)
    share = f" ({noticed / len(tried):.0%})" if tried else ""
    same = len(wanted) - len(different)
    said.append(f"{same} of {len(wanted)} are equivalent. {len(tried)} of the others tried: {noticed} noticed{share}")
    said += [f"survived: {one['mutant']} (line {one['line']})" for one in alive]
    return "\n".join(said)


def is_alive(entry: dict[str, Any]) -> bool:
    return bool(entry["verdict"] == "survived")


if __name__ == "__main__":
    sys.exit(main())
