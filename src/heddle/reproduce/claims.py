"""A paper's claim beside what was measured, and all that one paper's experiments brought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heddle.reproduce.verdicts import Interval, Judgement, Seeds, over_seeds


@dataclass(frozen=True)
class Claim:
    """One row of the table."""

    id: str
    statement: str
    paper: str  # what the paper says
    unit: str  # of `measured`: "%", "% points", "tasks", ...
    judgement: Judgement
    note: str = ""  # how it was measured; where it did not come out, why

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
            "constants_hash": self.constants_hash,
            "quick": self.quick,
            "runs": self.runs,
            "remarks": list(self.remarks),
            "wall_s": self.wall_s,
        }


def mean_text(seeds: Seeds, digits: int = 1) -> str:
    """The mean with its interval, for a table."""
    mean, interval = over_seeds({"": seeds})
    return "-" if mean is None else f"{mean:.{digits}f}{interval_text(interval, digits)}"


def interval_text(interval: Interval | None, digits: int = 1) -> str:
    return "" if interval is None else f" ({interval[0]:.{digits}f} to {interval[1]:.{digits}f})"
