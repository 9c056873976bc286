"""Every parser that is fuzzed, by name, with where it begins."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

from heddle.model.errors import HeddleError

from . import of_answers, of_kept, of_records, of_settings, of_traces

FAMILIES = (of_traces, of_settings, of_answers, of_kept, of_records)
TARGETS: dict[str, Callable[[bytes], object]] = {name: read for one in FAMILIES for name, read in one.TARGETS.items()}
CORPUS = Path(__file__).parent / "corpus"
FINDINGS = Path(__file__).parent / "findings"  # inputs that once broke something
LEARNT = "learnt.zip"  # what the fuzzer has found its way with, packed by `scripts/fuzz --keep`
LARGEST = 1 << 20


def refuses_or_reads(target: str, data: bytes) -> None:
    """Whatever it is given: an answer, or an error that a user can act on. Anything else is a defect."""
    try:
        TARGETS[target](data)
    except HeddleError:
        return


def beginnings(target: str) -> list[bytes]:
    """Small files of our own, what was found before, and what the fuzzer has learnt."""
    files = [path for folder in (CORPUS, FINDINGS) for path in sorted((folder / target).glob("*"))]
    seeds = of_settings.seeds(target) + of_traces.seeds(target)
    return seeds + [data for path in files for data in _inputs(path)]


def small_beginnings(target: str) -> list[bytes]:
    """Those of our own: what a file of the format looks like."""
    files = [path for path in sorted((CORPUS / target).glob("*")) if path.name != LEARNT]
    return of_settings.seeds(target)[:1] + of_traces.seeds(target) + [path.read_bytes() for path in files]


def _inputs(path: Path) -> list[bytes]:
    if path.name != LEARNT:
        return [path.read_bytes()]
    with zipfile.ZipFile(path) as packed:
        return [packed.read(name) for name in packed.namelist()]
