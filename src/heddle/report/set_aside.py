"""What an import made of the rows it read, for those who judge by its result."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from heddle.report.tables import Cell, sortable_table


def set_aside_section(account: Mapping[str, Any] | None) -> str:
    """The account that `heddle traces import` left beside the workload; empty where there is none."""
    if account is None:
        return ""
    found = account["reconciliation"]
    rows: list[list[Cell]] = [_row("rows read", found["rows"], _files(len(account["files"])))]
    rows.append(_row("became tasks", found["task_rows"], f"{account['tasks']:,} tasks of {account['jobs']:,} jobs"))
    rows += [_row("merged", count, what) for what, count in found["merged"].items()]
    rows += [_row("metadata", count, what) for what, count in found["metadata"].items()]
    rows += [
        _row("set aside", count, f"{reason} ({', '.join(found['examples'][reason])})")
        for reason, count in found["set_aside"].items()
    ]
    aside = sum(found["set_aside"].values())
    share = f" ({100 * aside / found['rows']:.2g} %)" if found["rows"] and aside else ""
    said = f"{aside:,} of {found['rows']:,} rows{share} could not be used and were set aside" if aside else (
        f"Nothing of {found['rows']:,} rows was set aside"
    )  # fmt: skip
    kept = f"; they are in {account['set_aside_rows']}" if account["set_aside_rows"] else ""
    notes = "".join(f"<li>{escape(note)}</li>" for note in account["notes"])
    assumed = ", ".join(f"{name} = {value}" for name, value in account["assumed"].items())
    return (
        f"<h2>What the import made of its source</h2><p>Format {escape(account['format'])}. {escape(said + kept)}.</p>"
        + sortable_table("Every row, counted once", ("What", "Rows", "Of what"), rows, "rows of the import", "text")
        + (f"<ul>{notes}</ul>" if notes else "")
        + (f"<p><small>Assumed: {escape(assumed)}.</small></p>" if assumed else "")
    )


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _row(what: str, count: int, of: str) -> list[Cell]:
    return [Cell(what, what), Cell(f"{count:,}", float(count)), Cell(of, of)]
