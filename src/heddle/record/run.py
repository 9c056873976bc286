"""One run in memory: everything that analysis may look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl


@dataclass(frozen=True)
class Run:
    """What a run was, and what came of it. `record/schema.py` says what each column and manifest field means."""

    manifest: dict[str, Any]
    jobs: pl.DataFrame
    attempts: pl.DataFrame
    shapes: pl.DataFrame
    stages: pl.DataFrame
    nodes: pl.DataFrame
    events: pl.DataFrame | None = None  # None: the run kept no log of events

    @property
    def resources(self) -> tuple[str, ...]:
        return tuple(self.manifest["resources"])

    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables that this run has, by their name in the schema."""
        found = {
            "jobs": self.jobs,
            "attempts": self.attempts,
            "shapes": self.shapes,
            "stages": self.stages,
            "nodes": self.nodes,
        }
        return found if self.events is None else found | {"events": self.events}
