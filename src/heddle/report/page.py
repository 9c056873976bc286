"""The frame of every HTML report: one file that can load nothing, written whole or not at all."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from html import escape
from pathlib import Path

from heddle.model.visible_text import visible, visible_lines
from heddle.model.whole_files import or_bad_input, write_whole
from heddle.report.contents import with_contents
from heddle.report.style import SCRIPT, style_sheet


def page(title: str, body: str, n_slots: int) -> str:
    """The text of a page; `n_slots` is how many policies have a colour."""
    name, style = escape(visible(title)), style_sheet(n_slots)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style)}">'
        f"<title>heddle: {name}</title>"
        f"<style>{style}</style></head>\n<body><main>"
        f"<h1>{name}</h1>{with_contents(visible_lines(body))}</main>"
        f"<script>{SCRIPT}</script></body></html>\n"
    )


def _policy(style: str) -> str:
    """The page can load nothing and run nothing but its own script, even if a name in it tried to."""
    return (
        f"default-src 'none'; script-src {_source(SCRIPT)}; style-src {_source(style)}; base-uri 'none'; "
        "form-action 'none'"
    )


def _source(content: str) -> str:
    """By what it holds, as a browser checks it."""
    return f"'sha256-{b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def write_page(path: str | Path, text: str) -> None:
    """Write a report; the file appears whole or not at all. BadInput if the place cannot be written."""
    target = Path(path)
    with or_bad_input(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, text)
