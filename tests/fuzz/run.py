"""The fuzzer: `scripts/fuzz TARGET --minutes N`. Needs Atheris, which scripts/fuzz installs."""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

import atheris

TESTS = Path(__file__).resolve().parents[1]
for shared in (TESTS, TESTS / "property"):
    sys.path.insert(0, str(shared))

# What Numba compiles cannot be instrumented, so only modules that read are. Atheris takes whole packages in, and leaves
# modules out by name.
READERS = (
    "heddle.traces", "heddle.record", "heddle.policy.parse", "heddle.experiments.sweep_file", "heddle.cli.settings",
    "heddle.yarn.live.rm_answers", "heddle.yarn.live.client", "heddle.yarn.live.wire", "heddle.yarn.live.recognising",
    "heddle.yarn.live.bridge", "heddle.yarn.live.steering.desk", "heddle.yarn.observe", "heddle.model.nested_text",
)  # fmt: skip
SOURCES = TESTS.parent / "src"
ALL = {".".join(path.relative_to(SOURCES).with_suffix("").parts) for path in SOURCES.rglob("*.py")}
MODULES = {name.removesuffix(".__init__") for name in ALL}
with atheris.instrument_imports(
    include=["heddle", "yaml"], exclude=sorted(name for name in MODULES if not name.startswith(READERS))
):
    from fuzz import targets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=sorted(targets.TARGETS), metavar="TARGET")
    parser.add_argument("--minutes", type=float, default=1.0)
    given = parser.parse_args()
    kept = TESTS.parent / ".fuzz" / given.target
    for folder in (kept / "corpus", kept / "found"):
        folder.mkdir(parents=True, exist_ok=True)
    for data in targets.beginnings(given.target):
        (kept / "corpus" / hashlib.sha1(data).hexdigest()).write_bytes(data)
    options = [
        f"-max_total_time={round(60 * given.minutes)}", "-timeout=10", "-rss_limit_mb=3000", "-print_final_stats=1",
        f"-max_len={min(targets.LARGEST, 1 << 16)}", f"-artifact_prefix={kept / 'found'}/", str(kept / "corpus"),
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options], lambda data: targets.refuses_or_reads(given.target, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
