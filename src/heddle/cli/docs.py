"""`heddle docs`: the documentation and the examples, offline."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from heddle.cli.output import Json, print_json, print_line, say
from heddle.model.errors import BadInput, RunRefused
from heddle.model.own_sources import PACKAGE
from heddle.model.suggestion import did_you_mean


@dataclass(frozen=True)
class Installed:
    """Where docs and examples are: inside an installed package, or in the checkout that it is run from."""

    pages: Path  # Markdown
    suffix: str  # of a page's file
    site: Path | None  # HTML
    examples: Path

    def names(self) -> list[str]:
        found = (path.relative_to(self.pages).as_posix() for path in self.pages.rglob(f"*{self.suffix}"))
        return sorted(name.removesuffix(self.suffix) for name in found)


def installed() -> Installed:
    carried = PACKAGE / "site"
    if carried.is_dir():
        return Installed(carried / "_sources", ".md.txt", carried, PACKAGE / "examples")
    checkout = PACKAGE.parents[1]
    if (checkout / "docs" / "index.md").is_file():
        built = checkout / "build" / "site"
        return Installed(checkout / "docs", ".md", built if built.is_dir() else None, checkout / "examples")
    raise RunRefused("this heddle was installed without its docs; install a wheel built by `python -m build`")


def docs(
    page: Annotated[str, typer.Argument(metavar="[PAGE]", help="Name of a page: guide, yarn, papers/dress.")] = (
        "index"
    ),
    text: Annotated[bool, typer.Option("--text", help="Print the page here instead of opening a browser.")] = False,
    examples: Annotated[
        Path | None, typer.Option(help="Copy the examples (levers, workloads, clusters) into this new folder.")
    ] = None,
    json: Json = False,
) -> None:
    """Open the documentation, which is installed with heddle and needs no network.

    Prints the page's address and opens it in a browser if there is one. In a source checkout `scripts/docs` makes
    the site; until then, and with --text, the page is printed.

    \b
    Examples:
      heddle docs
      heddle docs yarn --text
      heddle docs --examples heddle-examples
    """
    found = installed()
    if examples is not None:
        if examples.exists():
            raise BadInput.of(str(examples), "already exists: name a new folder", field="--examples")
        shutil.copytree(found.examples, examples, ignore=shutil.ignore_patterns("__pycache__"))
        say(f"wrote {examples}: `heddle docs guide` explains how to use levers")
        return
    names = found.names()
    if page not in names:
        raise BadInput.of("heddle docs", f"no page {page}{did_you_mean(page, names) or '; see heddle docs --json'}")
    address = None if found.site is None else (found.site / f"{page}.html")
    if json:
        shown = {"page": page, "file": None if address is None else str(address)}
        print_json({**shown, "pages": names, "examples": str(found.examples)})
    elif text or address is None:
        _print_page((found.pages / f"{page}{found.suffix}").read_text())
    else:
        print_line(address.as_uri())
        _open(address.as_uri())


def _print_page(markdown: str) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    if sys.stdout.isatty():
        Console().print(Markdown(markdown))
    else:
        print(markdown, end="")


def _open(address: str) -> None:
    """In a browser, where somebody sits in front of one."""
    import webbrowser

    if sys.stdout.isatty() and (
        sys.platform == "darwin" or os.environ.get("DISPLAY") or "WAYLAND_DISPLAY" in os.environ
    ):
        webbrowser.open(address)
