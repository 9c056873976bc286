"""A fuzzer of the importers: `python tests/traces/fuzz_imports.py --seconds 3600 [--real ../shared/traces]`.

It damages traces in many ways. An import of what remains must either succeed with an account of every row or fail
with BadInput; anything else - another exception, rows unaccounted for - is a defect, and is printed with the seed that
brings it about again.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from heddle.model.errors import BadInput
from heddle.traces.imports.importing import import_trace
from heddle.traces.imports.source import find_sources
from heddle.traces.imports.store import store
from traces.formats.samples import SAMPLES

_SPICE = (
    b"-1",
    b"NaN",
    b"inf",
    b"1e400",
    b"99999999999999999999",
    b"",
    b'"',
    b"null",
    b"{",
    b"]",
    b"\x00",
    b"\xff\xfe",
    b"-",
    b"0.5",
    b"|",
)
_HEAD = 40_000  # of a real file: enough to be itself, short enough for thousands of runs


def damaged(content: bytes, random: np.random.Generator) -> bytes:
    """One to four kinds of damage."""
    for _ in range(int(random.integers(1, 5))):
        if not content:
            return content
        kind, at = int(random.integers(0, 8)), int(random.integers(0, len(content)))
        width = int(random.integers(1, 40))
        if kind == 0:
            content = content[:at]
        elif kind == 1:
            content = content[:at] + bytes(random.integers(0, 256, width, np.uint8)) + content[at + width :]
        elif kind == 2:
            content = content[:at] + content[at + width :]
        elif kind == 3:
            content = content[:at] + _SPICE[int(random.integers(0, len(_SPICE)))] + content[at:]
        elif kind in (4, 5):
            content = _on_lines(content, random, kind)
        else:
            content = _on_fields(content, random)
    return content


def _on_lines(content: bytes, random: np.random.Generator, kind: int) -> bytes:
    """A line twice, or two lines exchanged."""
    lines = content.split(b"\n")
    one, other = (int(number) for number in random.integers(0, len(lines), 2))
    if kind == 4:
        lines.insert(one, lines[other])
    else:
        lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _on_fields(content: bytes, random: np.random.Generator) -> bytes:
    """One field of one line becomes something odd."""
    lines = content.split(b"\n")
    number = int(random.integers(0, len(lines)))
    for separator in (b",", b"\t", b" ", b":"):
        fields = lines[number].split(separator)
        if len(fields) > 1:
            fields[int(random.integers(0, len(fields)))] = _SPICE[int(random.integers(0, len(_SPICE)))]
            lines[number] = separator.join(fields)
            break
    return b"\n".join(lines)


def seeds(real: Path | None) -> list[tuple[str, dict[str, bytes]]]:
    """The made-up samples and, where they are, heads of the real files, each by the format that it is."""
    found = list(SAMPLES.items())
    if real is not None and real.is_dir():
        for folder in sorted(path for path in real.iterdir() if path.is_dir()):
            for source in find_sources([str(folder)]):
                head = source.head()
                content = Path(source.path).read_bytes() if head.columns else head.text.encode()[:_HEAD]
                name = Path(source.name).name.removesuffix(".gz").removesuffix(".zstd")
                if content and len(content) < 1 << 20 and (kind := _format_of(name, content)) is not None:
                    found.append((kind, {name: content}))
    return found


def _format_of(name: str, content: bytes) -> str | None:
    """The format of a file that can be imported by itself; None for any other."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(content)
        try:
            return import_trace([folder]).format.name
        except BadInput:
            return None


def one_run(files: dict[str, bytes], name: str | None, random: np.random.Generator, folder: Path) -> str:
    """Damage one of the files, import; what came of it: `imported` or the first words of BadInput."""
    for old in folder.iterdir():
        old.unlink()
    victim = sorted(files)[int(random.integers(0, len(files)))]
    for file, content in files.items():
        if file == victim:
            content = damaged(content, random)
            if random.uniform() < 0.2:
                content = (
                    damaged(gzip.compress(content, 1, mtime=0), random)
                    if random.uniform() < 0.5
                    else gzip.compress(content, 1)
                )
        (folder / file).write_bytes(content)
    try:
        result = import_trace([str(folder)], name)
        account = result.account
        assert sum(account.counts().values()) == account.rows
        store(result, folder / "out.parquet")
    except BadInput:
        return "refused"
    return "imported"


def fuzz(seconds: float, seed: int, real: Path | None, most: int | None = None) -> tuple[Counter[str], list[str]]:
    """(what came of the runs, defects)."""
    material = seeds(real)
    outcomes: Counter[str] = Counter()
    defects: list[str] = []
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for number in _counting(most):
            if time.monotonic() - began > seconds:
                break
            random = np.random.default_rng((seed, number))
            name, files = material[number % len(material)]
            asked = name if random.uniform() < 0.5 else None
            try:
                outcomes[one_run(files, asked, random, Path(folder))] += 1
            except Exception:  # every other exception is what we look for
                outcomes["defect"] += 1
                defects.append(f"--seed {seed}, run {number} ({name}):\n{traceback.format_exc()}")
                if len(defects) >= 20:
                    break
    return outcomes, defects


def _counting(most: int | None) -> Iterator[int]:
    number = 0
    while most is None or number < most:
        yield number
        number += 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--real", type=Path, default=Path("../shared/traces"))
    given = parser.parse_args()
    outcomes, defects = fuzz(given.seconds, given.seed, given.real)
    for defect in defects:
        print(defect)
    print(dict(outcomes))
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
