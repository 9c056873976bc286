"""What became of each claim before a mistake of ours was mended, beside what becomes of it now.

The constants of a paper have it in the group `before`, by claim: the verdict and, where there was one, the number.
"""

from __future__ import annotations

from collections.abc import Sequence

from heddle.reproduce.claims import Claim, Table
from heddle.reproduce.constants import Constants


def before_and_after(known: Constants, claims: Sequence[Claim]) -> Table:
    """A row for each claim; a claim that is new has nothing before."""
    given = known.of("before")
    rows = []
    for claim in claims:
        was, *number = given.get(claim.id, ("new",))
        rows.append((claim.id, claim.paper, _said(was, *number), _said(claim.verdict, claim.measured)))
    return Table(
        "Before and after the mistakes of our own were mended", ("claim", "paper", "before", "now"), tuple(rows)
    )


def _said(verdict: str, number: float | None = None) -> str:
    return verdict if number is None else f"{number:.3g}: {verdict}"
