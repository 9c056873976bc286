"""Every parser that is fuzzed, by name, with where it begins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from heddle.model.errors import HeddleError

from . import of_answers, of_kept, of_settings, of_traces

FAMILIES = (of_traces, of_settings, of_answers, of_kept)
TARGETS: dict[str, Callable[[bytes], object]] = {name: read for one in FAMILIES for name, read in one.TARGETS.items()}
CORPUS = Path(__file__).parent / "corpus"
FINDINGS = Path(__file__).parent / "findings"  # inputs that once broke something
LARGEST = 1 << 20


def refuses_or_reads(target: str, data: bytes) -> None:
    """Whatever it is given: an answer, or an error that a user can act on. Anything else is a defect."""
    try:
        TARGETS[target](data)
    except HeddleError:
        return


def beginnings(target: str) -> list[bytes]:
    """Small files of our own, and what was found before."""
    files = [path for folder in (CORPUS, FINDINGS) for path in sorted((folder / target).glob("*"))]
    return of_traces.seeds(target) + [path.read_bytes() for path in files]
