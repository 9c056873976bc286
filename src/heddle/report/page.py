"""The frame of every HTML report: one file that can load nothing, written whole or not at all."""

from __future__ import annotations

from html import escape
from pathlib import Path

from heddle.model.whole_files import or_bad_input, write_whole
from heddle.report.contents import with_contents
from heddle.report.style import SCRIPT, style_sheet

# The page can load nothing, even if a name in it tried to.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def page(title: str, body: str, n_slots: int) -> str:
    """The text of a page; `n_slots` is how many policies have a colour."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>heddle: {escape(title)}</title>"
        f"<style>{style_sheet(n_slots)}</style></head>\n<body><main>"
        f"<h1>{escape(title)}</h1>{with_contents(body)}</main>"
        f"<script>{SCRIPT}</script></body></html>\n"
    )


def write_page(path: str | Path, text: str) -> None:
    """Write a report; the file appears whole or not at all. BadInput if the place cannot be written."""
    target = Path(path)
    with or_bad_input(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, text)
