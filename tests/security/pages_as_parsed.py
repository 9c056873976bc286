"""What an HTML parser makes of a page, held against the elements and attributes that pages of heddle have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Final

PLAIN: Final = re.compile(
    "head|title|style|script|body|main|h[123]|p|div|span|b|i|g|small|section|nav|figure|figcaption|details|summary|"
    "table|thead|tbody|tr|label|pre|dl|dt|dd|ul|ol|li|wbr|tspan"
)  # without attributes of their own
ANYWHERE: Final = {"class", "id", "title", "role", "aria-label", "tabindex"}
ATTRIBUTES: Final = {
    "meta": {"charset", "name", "content", "http-equiv"}, "html": {"lang"}, "a": {"href"},
    "th": {"scope", "data-v"}, "td": {"data-v", "colspan"}, "button": {"data-s", "aria-pressed"},
    "input": {"type", "placeholder"}, "svg": {"viewbox"}, "path": {"d"},
    "rect": {"x", "y", "width", "height", "opacity"}, "text": {"x", "y", "dy", "text-anchor"},
}  # fmt: skip
VOID: Final = {"meta", "input", "wbr"}
_CSS: Final = re.compile(r"[a-z]+\d*")


class Parsed(HTMLParser):
    """`strange`: what is none of a page's own; `scripts` and `styles`: what they hold; `texts`: everything else."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.strange: list[str] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.texts: list[str] = []
        self.policy = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()
        self.strange += [f"<{tag}> is never closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._look_at(tag, attrs)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._look_at(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.strange.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        {"script": self.scripts, "style": self.styles}.get(inside, self.texts).append(data)

    def handle_comment(self, data: str) -> None:
        self.strange.append(f"a comment: {data}")

    def _look_at(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.strange += [f"<{tag} {what}" for what in _strange(tag, dict(attrs))]
        if ("http-equiv", "Content-Security-Policy") in attrs:
            self.policy = dict(attrs)["content"] or ""


def _strange(tag: str, attributes: dict[str, str | None]) -> Iterator[str]:
    if tag not in ATTRIBUTES and not PLAIN.fullmatch(tag):
        yield "is no element of a page"
        return
    for name, value in attributes.items():
        if name not in ATTRIBUTES.get(tag, set()) | ANYWHERE:
            yield f'{name}="{value}"'
        if name == "class" and not all(map(_CSS.fullmatch, (value or "").split())):
            yield f'class="{value}"'
        if name == "href" and not re.fullmatch(r"#part-\d+", value or ""):
            yield f'href="{value}"'
