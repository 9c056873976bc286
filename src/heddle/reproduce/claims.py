"""A paper's claim beside what was measured, and all that one paper's experiments brought."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from heddle.reproduce.verdicts import Interval, Judgement, Seeds, Verdict, over_seeds


class Source(StrEnum):
    """Who makes a claim. The paper's, tried on data or with a policy that it does not have, is ours."""

    PAPER = "paper"
    OURS = "ours"


@dataclass(frozen=True)
class Claim:
    """One row of the table."""

    id: str
    statement: str
    paper: str  # what the paper says
    unit: str  # of `measured`: "%", "% points", "tasks", ...
    judgement: Judgement
    note: str = ""  # how it was measured, and what the same runs say about why
    source: Source = Source.PAPER

    @property
    def measured(self) -> float | None:
        return self.judgement.measured

    @property
    def ci95(self) -> Interval | None:
        return self.judgement.ci95

    @property
    def verdict(self) -> str:
        return self.judgement.verdict.value

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "source": self.source.value,
            "statement": self.statement,
            "paper": self.paper,
            "measured": self.measured,
            "ci95": None if self.ci95 is None else list(self.ci95),
            "unit": self.unit,
            "kind": self.judgement.kind,
            "verdict": self.verdict,
            "note": self.note,
        }


@dataclass(frozen=True)
class Drawing:
    """A figure: an SVG that takes its colours from the page, and the names of its lines."""

    title: str
    svg: str
    caption: str
    key: tuple[tuple[int, str], ...] = ()  # slot of the colour, name


@dataclass(frozen=True)
class Table:
    """Numbers that are no claim."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class Reproduction:
    """Everything that came of one paper."""

    paper: str
    title: str
    claims: tuple[Claim, ...]
    drawings: tuple[Drawing, ...]
    tables: tuple[Table, ...]
    remarks: tuple[str, ...]  # what stands in for what, what was left out
    constants_hash: str
    quick: bool
    runs: int
    wall_s: float

    def as_json(self) -> dict[str, Any]:
        return {
            "paper": self.paper,
            "claims": [claim.as_json() for claim in self.claims],
            "counts": {source.value: verdict_counts(self.claims, source) for source in Source},
            "constants_hash": self.constants_hash,
            "quick": self.quick,
            "runs": self.runs,
            "remarks": list(self.remarks),
            "wall_s": self.wall_s,
        }


def verdict_counts(claims: Sequence[Claim], source: Source) -> dict[str, int]:
    """How many claims of this source have each verdict."""
    counts = Counter(claim.verdict for claim in claims if claim.source is source)
    return {verdict.value: counts[verdict.value] for verdict in Verdict}


def headline(claims: Sequence[Claim]) -> str:
    """`The paper's claims: 5 of 8 reproduced, 2 direction, 1 not reproduced; 1 not judged. Ours: ...`."""
    said = []
    for source, name in ((Source.PAPER, "The paper's claims"), (Source.OURS, "Ours")):
        counts = verdict_counts(claims, source)
        unjudged = counts.pop(Verdict.NOT_JUDGED.value)
        judged = sum(counts.values())
        words = []
        if judged:
            first, *others = counts.items()
            words.append(", ".join([f"{first[1]} of {judged} {first[0]}", *(f"{n} {word}" for word, n in others if n)]))
        if unjudged:
            words.append(f"{unjudged} {Verdict.NOT_JUDGED.value}")
        if words:
            said.append(f"{name}: {'; '.join(words)}.")
    return " ".join(said)


def mean_text(seeds: Seeds, digits: int = 1) -> str:
    """The mean with its interval, for a table."""
    mean, interval = over_seeds({"": seeds})
    return "-" if mean is None else f"{mean:.{digits}f}{interval_text(interval, digits)}"


def interval_text(interval: Interval | None, digits: int = 1) -> str:
    return "" if interval is None else f" ({interval[0]:.{digits}f} to {interval[1]:.{digits}f})"
