"""The table of contents of a report, made of its headings."""

from __future__ import annotations

import re

_HEADING = re.compile(r"<h2>(.*?)</h2>")


def with_contents(body: str) -> str:
    """The body with a list of links above it, but not to what is folded up; as it is with hardly any headings."""
    titles: list[str] = []

    def marked(found: re.Match[str]) -> str:
        before = body[: found.start()]
        if before.count("<details") > before.count("</details"):
            return found[0]
        titles.append(found[1])
        return f'<h2 id="part-{len(titles) - 1}">{found[1]}</h2>'

    with_places = _HEADING.sub(marked, body)
    if len(titles) < 3:
        return body
    several = any(title.startswith("On ") for title in titles)  # clusters: then these, not what each of them has
    links = "".join(
        f'<a href="#part-{number}">{title}</a>'
        for number, title in enumerate(titles)
        if not several or title.startswith("On ") or number == len(titles) - 1
    )
    return f'<nav class="contents" aria-label="contents">{links}</nav>{with_places}'
