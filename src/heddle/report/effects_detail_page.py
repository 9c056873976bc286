"""The second page of the effect matrix: what is worse than its best part, and what its jobs waited for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from heddle.analysis.comparison.effects import NATIVE, Behind
from heddle.report.effects import Matrix, behind_sentence, behind_words, waits_rows, worse_parts
from heddle.report.markdown import markdown_table


def detail_name(first_page: str) -> str:
    """Of the file, beside that of the first page."""
    name = PurePath(first_page)
    return f"{name.stem}-in-detail{name.suffix}"


def detail_markdown(matrix: Matrix, first_page: str) -> str:
    """The page's text."""
    parts = [
        "# Combinations that are worse than their best part",
        f"Written by `{matrix.command}`, with [what combinations of levers do]({first_page}), where the words are "
        "explained. Against the best of its single levers behind the same queues. What jobs waited for is computed "
        "from recorded runs of the first seeds, as `heddle explain` does it: its share, and seconds a job.",
        *_behind(matrix),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _behind(matrix: Matrix) -> Iterator[str]:
    effects = matrix.effects
    if not effects.behind:
        yield "There is none." if effects.has_intervals else behind_sentence(effects)
    for one in effects.behind:
        yield f"## {one.policy} on {one.workload}"
        yield " ".join([behind_words(one) + ".", *(f"{part}." for part in worse_parts(effects, one))])
        yield _waits(matrix, one)


def _waits(matrix: Matrix, one: Behind) -> str:
    sides = [matrix.waits.get((one.workload, policy, NATIVE)) for policy in (one.policy, one.best_part)]
    known = [side for side in sides if side is not None]
    if len(known) < len(sides):
        return ""
    return markdown_table(("why jobs waited", one.policy, one.best_part), waits_rows(known))
