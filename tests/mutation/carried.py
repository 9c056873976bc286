"""What compiled code a mutant has in common with the unchanged sources, and so need not be compiled again."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .sites import Mutant

COMPILERS = "src/heddle/sim/numba/"  # what is in here makes the code of all others
SUFFIX = re.compile(r"(-\d+\.py\d+(\.\d+)?\.nb[ci]|(-[0-9a-f]{12})?\.code)$")  # of Numba's files, and of ours
COMPLETE = "complete"  # beside the pieces of an engine of which none is missing


@dataclass(frozen=True)
class Contents:
    """The functions in each piece (contents.py), and those that ran while they were compiled."""

    pieces: Mapping[str, frozenset[str]]
    ran: frozenset[str]

    @classmethod
    def read(cls, text: str) -> Contents:
        told = json.loads(text)
        return cls({piece: frozenset(inside) for piece, inside in told["pieces"].items()}, frozenset(told["ran"]))

    def carry(self, folder: Path, into: Path, mutant: Mutant) -> None:
        """Links into a mutant's folder what does not contain it."""
        if folder == into or self._is_everywhere(mutant):
            return
        for file in [file for file in folder.rglob("*") if file.is_file()]:
            if not self._may_contain(file, mutant):
                link = into / file.relative_to(folder)
                link.parent.mkdir(parents=True, exist_ok=True)
                os.link(file, link)

    def _is_everywhere(self, mutant: Mutant) -> bool:
        """A value of a module, or what makes the code of others."""
        return not mutant.function or mutant.file.startswith(COMPILERS) or function_of(mutant) in self.ran

    def _may_contain(self, file: Path, mutant: Mutant) -> bool:
        if file.name == COMPLETE:
            return any(function_of(mutant) in self.pieces[piece] for piece in self.pieces if is_of_engine(piece))
        inside = self.pieces.get(piece_of(file))
        return inside is None or function_of(mutant) in inside

    def pieces_in(self, folders: Iterable[Path]) -> set[Path]:
        return {file for folder in folders for file in folder.rglob("*") if piece_of(file) in self.pieces}

    def pieces_with(self, mutant: Mutant, folders: Iterable[Path]) -> set[Path]:
        """What is compiled there and contains it."""
        return {file for file in self.pieces_in(folders) if function_of(mutant) in self.pieces[piece_of(file)]}


def function_of(mutant: Mutant) -> str:
    return f"{mutant.file.removeprefix('src/heddle/')}:{mutant.function}"


def is_of_engine(piece: str) -> bool:
    return piece.startswith(("units/", "entries/"))


def piece_of(file: Path) -> str:
    """By its name: a hook has its module in it, anything else the folder that it is in."""
    name = SUFFIX.sub("", file.name)
    return name if name.startswith("heddle.") else f"{file.parent.name}/{name}"
