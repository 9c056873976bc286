"""Nothing silent: a row without a fate, or with two, is a defect that shows."""

import numpy as np
import pytest

from heddle.model.errors import CheckFailed
from heddle.traces.imports.rows import Fate, Reconciliation, Rows


def five_rows() -> Rows:
    rows = Rows("log")
    rows.add(np.arange(10, 15))
    return rows


def test_every_row_is_counted_once_by_fate() -> None:
    rows = five_rows()
    rows.tasks([0, 3])
    rows.merged(1, "its task")
    rows.metadata(np.array([False, False, True, False, False]), "header")
    rows.set_aside([4], "odd")
    account = Reconciliation.close([rows], [])
    assert account.rows == 5
    assert account.counts() == {
        Fate("task"): 2,
        Fate("merged", "its task"): 1,
        Fate("metadata", "header"): 1,
        Fate("set_aside", "odd"): 1,
    }
    assert account.examples("odd") == ["log:14"]


def test_a_row_that_got_no_fate_is_named() -> None:
    rows = five_rows()
    rows.tasks([0, 1, 2, 4])
    with pytest.raises(CheckFailed, match=r"log:13: read, but not accounted for \(1 rows\)"):
        Reconciliation.close([rows], [])


def test_a_second_fate_is_refused() -> None:
    rows = five_rows()
    rows.tasks([0, 1])
    with pytest.raises(CheckFailed, match="log:11: decided twice"):
        rows.set_aside([1, 2], "odd")


def test_a_row_named_twice_in_one_go_is_found_at_the_end() -> None:
    rows = five_rows()
    rows.tasks([0, 0, 1, 2, 3, 4])
    with pytest.raises(CheckFailed, match="6 decisions on 5 rows"):
        rows.close()


def test_rows_grow_beyond_the_first_room() -> None:
    rows = Rows("log")
    for line in range(3000):
        rows.tasks(rows.add_one(line))
    rows.close()
    assert rows.counts() == {Fate("task"): 3000}
    assert rows.line(2999) == 2999
