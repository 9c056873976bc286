"""The fuzzer: `scripts/fuzz TARGET --minutes N`. Needs Atheris, which scripts/fuzz installs."""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import atheris

os.environ["POLARS_MAX_THREADS"] = "1"  # inputs are small, and targets are fuzzed side by side

TESTS = Path(__file__).resolve().parents[1]
for shared in (TESTS, TESTS / "property"):
    sys.path.insert(0, str(shared))

# What Numba compiles cannot be instrumented, so only modules that read are. Atheris takes whole packages in, and leaves
# modules out by name.
READERS = (
    "heddle.traces", "heddle.record", "heddle.policy.parse", "heddle.experiments.sweep_file", "heddle.cli.settings",
    "heddle.experiments.sweep_store", "heddle.check.since", "heddle.tune.journal", "heddle.tune.trial",
    "heddle.twin.keeping", "heddle.twin.masters", "heddle.twin.shadow_time", "heddle.twin.spark_stages",
    "heddle.dashboard.controls", "heddle.dashboard.forecasts", "heddle.yarn.testbed.mixture",
    "heddle.yarn.testbed.local.layout", "heddle.yarn.live.applying.ownership", "heddle.yarn.live.applying.standing",
    "heddle.yarn.live.steering.showing",
    "heddle.yarn.live.rm_answers", "heddle.yarn.live.client", "heddle.yarn.live.wire", "heddle.yarn.live.recognising",
    "heddle.yarn.live.bridge", "heddle.yarn.live.steering.desk", "heddle.yarn.observe", "heddle.yarn.live.polling",
    "heddle.yarn.live.snapshot", "heddle.model.nested_text", "heddle.model.cluster", "heddle.model.suggestion",
    "heddle.policy.checking", "heddle.policy.declaration", "heddle.policy.parameter", "heddle.policy.state",
)  # fmt: skip
SOURCES = TESTS.parent / "src"
ALL = {".".join(path.relative_to(SOURCES).with_suffix("").parts) for path in SOURCES.rglob("*.py")}
MODULES = {name.removesuffix(".__init__") for name in ALL}
with atheris.instrument_imports(
    include=["heddle", "yaml", "tomllib"], exclude=sorted(name for name in MODULES if not name.startswith(READERS))
):
    from fuzz import targets
    from fuzz.limits import CPU_S
    from fuzz.words import dictionary

HANGS_S = 120  # libFuzzer's limit, of wall-clock time: for an input that never ends
MOST_MB = 1000  # with the interpreter and its libraries, which take 200, and with what they have not given back
SHORTEST_LIMIT = 4096  # of an input's bytes
LONGEST_BEGINNING = 10_000  # longer ones were found by hand, and would only slow everything down


def timed(read: Callable[[bytes], object]) -> Callable[[bytes], None]:
    """Memory is libFuzzer's to look after: what an input took would take a quarter of the time to find out."""

    def one_input(data: bytes) -> None:
        began_s = time.process_time()
        read(data)
        took_s = time.process_time() - began_s
        if took_s > CPU_S:
            raise TimeoutError(f"{took_s:.1f} s of CPU time for {len(data)} bytes")

    return one_input


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=sorted(targets.TARGETS), metavar="TARGET")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--merge-into", metavar="FOLDER", help="only put what reaches all known edges there")
    given, passed_on = parser.parse_known_args()
    kept = TESTS.parent / ".fuzz" / given.target
    for folder in (kept / "corpus", kept / "found"):
        folder.mkdir(parents=True, exist_ok=True)
    read = partial(targets.refuses_or_reads, given.target)
    beginnings = [data for data in targets.beginnings(given.target) if len(data) <= LONGEST_BEGINNING]
    for data in beginnings:
        (kept / "corpus" / hashlib.sha1(data).hexdigest()).write_bytes(data)
    words = kept / "words"
    words.write_text(dictionary(read, beginnings))
    longest = max(SHORTEST_LIMIT, 2 * max(map(len, beginnings)))
    options = [
        f"-max_total_time={round(60 * given.minutes)}", f"-timeout={HANGS_S}", f"-report_slow_units={HANGS_S}",
        f"-rss_limit_mb={MOST_MB}", "-print_final_stats=1", f"-max_len={longest}", f"-dict={words}",
        f"-artifact_prefix={kept / 'found'}/", str(kept / "corpus"),
    ]  # fmt: skip
    if given.merge_into:
        # Edges alone, not how often each is reached: a tenth of the inputs.
        options = ["-merge=1", "-use_counters=0", f"-max_len={longest}", given.merge_into, str(kept / "corpus")]
    if passed_on:  # by libFuzzer, which merges in a process that it starts with a shell, by the name it was given
        options = passed_on
    atheris.Setup([f"{sys.executable} {__file__} {given.target}", *options], timed(read))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
