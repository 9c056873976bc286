"""How Sphinx makes the site of these pages (`scripts/docs`). Nothing in it is loaded from elsewhere."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

_PROJECT = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text())["project"]

project = "heddle"
author = "the heddle developers"
release = version = _PROJECT["version"]

extensions = ["myst_parser"]
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
exclude_patterns = ["tutorial.ipynb"]  # offered as a file
html_extra_path = ["schemas"]

html_theme = "furo"
html_title = f"heddle {version}"
html_show_copyright = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5fa8", "color-brand-content": "#1f5fa8"},
    "dark_css_variables": {"color-brand-primary": "#7db4f0", "color-brand-content": "#7db4f0"},
}
pygments_style = "tango"
pygments_dark_style = "monokai"


def setup(app: Any) -> None:
    app.add_lexer("csv", TextLexer)  # Pygments knows none
