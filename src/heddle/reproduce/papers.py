"""The papers whose experiments can be run again, by name."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from heddle.reproduce.claims import Reproduction
from heddle.reproduce.constants import read_constants
from heddle.reproduce.lab import Findings, Lab


@dataclass(frozen=True)
class Paper:
    """A paper: its experiments are `heddle.reproduce.<name>.experiment`, its constants `constants/<name>.toml`."""

    name: str
    title: str


PAPERS: Final = {
    paper.name: paper
    for paper in (
        Paper("usage-feedback", "Usage feedback: schedule by what nodes really use (paper 1)"),
        Paper("haste", "HaSTE and HaSTE-A: fitness, urgency, alignment (paper 2)"),
        Paper("admission-control", "Admission control against the deadlock of application masters (paper 3)"),
        Paper("network-aware", "Network-aware placement of DAGs (paper 4)"),
        Paper("dress", "DRESS: a share of the cluster kept for small jobs (paper 5)"),
    )
}


def reproduce(paper: Paper, lab: Lab) -> Reproduction:
    """Run everything of one paper."""
    constants = read_constants(paper.name)
    began, before = time.perf_counter(), lab.runs
    experiment = import_module(f"heddle.reproduce.{paper.name.replace('-', '_')}.experiment")
    found: Findings = experiment.experiment(lab, constants)
    return Reproduction(
        paper=paper.name,
        title=paper.title,
        claims=tuple(found.claims),
        drawings=tuple(found.drawings),
        tables=tuple(found.tables),
        remarks=tuple(found.remarks),
        constants_hash=constants.hash,
        quick=lab.quick,
        runs=lab.runs - before,
        wall_s=time.perf_counter() - began,
    )
