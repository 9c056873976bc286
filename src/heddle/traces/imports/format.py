"""What a format declares, and what it hands back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput
from heddle.model.suggestion import did_you_mean
from heddle.model.workload import Workload
from heddle.traces.imports.source import Head, Source
from heddle.traces.problems import Problems


@dataclass(frozen=True)
class Assumption:
    """A figure that the source does not have and that a user may know better."""

    default: float
    what: str
    low: float = 0.0


@dataclass(frozen=True)
class Given:
    """What the user said: assumed figures, and for `csv` which column means what."""

    assumed: Mapping[str, float] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)  # heddle's name -> the file's


@dataclass
class Imported:
    """What a format made of its files."""

    workload: Workload
    cluster: Cluster | None = None
    notes: list[str] = field(default_factory=list)  # what the user must know about this import


Files = dict[str, list[Source]]  # by role


@dataclass(frozen=True)
class Format:
    """One kind of trace. `role` says what a file is to this format; None: nothing of it."""

    name: str
    summary: str
    roles: Mapping[str, str]  # role -> what such a file holds
    role: Callable[[Head], str | None]
    read: Callable[[Files, Given], Imported]
    has: str  # what the source tells
    models: str  # what is modelled, in words
    needs: tuple[str, ...] = ()  # roles of which at least one file must be there; empty: any role will do
    assumptions: Mapping[str, Assumption] = field(default_factory=dict)
    role_when_asked: Callable[[Head], str | None] | None = None  # where --format may accept more than is recognised
    writes: bool = False

    def given(self, assumed: Mapping[str, str], columns: Mapping[str, str]) -> Given:
        """What the user said, checked and completed by the defaults."""
        problems = Problems("--assume")
        figures: dict[str, float] = {name: one.default for name, one in self.assumptions.items()}
        for name, text in assumed.items():
            if name not in self.assumptions:
                known = ", ".join(self.assumptions) or "none"
                hint = did_you_mean(name, self.assumptions) or f"; {self.name} has: {known}"
                problems.add(f"unknown{hint}", field=name)
                continue
            try:
                figures[name] = float(text)
            except ValueError:
                problems.add(f"must be a number, not {text or 'nothing'}", field=name)
                continue
            if not self.assumptions[name].low <= figures[name] <= 1e12:
                problems.add(f"must be at least {self.assumptions[name].low:g}", field=name)
        problems.raise_if_any()
        return Given(figures, columns)

    def complete(self, files: Files) -> bool:
        """Whether these files are enough to import."""
        return bool(files) and all(role in files for role in self.needs)

    def require(self, files: Files) -> None:
        """BadInput that names the missing kind of file."""
        for role in self.needs:
            if role not in files:
                raise BadInput.of(self.name, f"there is no file with {self.roles[role]} among those given")


def about(format_name: str, files: Files, given: Given, **more: Any) -> dict[str, Any]:
    """Where a workload comes from: the same input gives the same words, wherever it lay."""
    names = [source.name for sources in files.values() for source in sources]
    return {"source": format_name, "files": sorted(names)[:50], "assumed": dict(given.assumed), **more}
