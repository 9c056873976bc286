"""One colour for one thing, whatever the panel."""

import re

import numpy as np

from heddle.analysis.waste.ledger import LINES, LedgerOverTime
from heddle.report.waste_figures import ledger_figures


def over_time(**shares: dict[str, float]) -> LedgerOverTime:
    made = {resource: {name: np.full(2, given.get(name, 0.0)) for name in LINES} for resource, given in shares.items()}
    return LedgerOverTime(np.array([0.0, 1.0, 2.0]), made)


def keys(drawn: str) -> list[tuple[str, str]]:
    """Colour and name."""
    return re.findall(r'<span class="q(\d+)"><i></i>(.+?) [\d.]+ %</span>', drawn)


def test_a_line_has_the_same_colour_in_every_panel() -> None:
    first = over_time(memory={"used": 0.5, "am": 0.2, "idle": 0.3}, vcores={"am": 0.6, "nothing_pending": 0.4})
    second = over_time(memory={"idle": 0.9, "lost": 0.1}, vcores={"used": 1.0})
    drawn = ledger_figures({": a": first, ": b": second})
    found = keys(drawn)
    assert len({name for _, name in found}) == len({slot for slot, _ in found}) == len(set(found))
    assert len(found) == 8


def test_small_ones_share_a_colour_that_nothing_else_has() -> None:
    many = {name: 0.01 * (1 + number) for number, name in enumerate(LINES)}
    found = re.findall(
        r'<span class="q(\d+)"><i></i>(.+?) [\d.]+ %</span>', ledger_figures({"": over_time(memory=many)})
    )
    assert len({slot for slot, _ in found}) == len(found) == 8
    assert found[-1][1] == "everything else"
