"""The claims of a paper as a page of the docs: `<paper>-claims.md` with its figures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heddle.report.page import write_page
from heddle.report.style import N_COLOURS, chart_style
from heddle.reproduce.claims import Drawing, Reproduction, headline
from heddle.reproduce.page import interval_text, measured_text


def write_markdown(folder: Path, one: Reproduction) -> list[Path]:
    """Write the page and its figures; the paths, the page first."""
    page = folder / f"{one.paper}-claims.md"
    figures = [folder / "figures" / f"{one.paper}-{number}.svg" for number in range(1, len(one.drawings) + 1)]
    for path, drawing in zip(figures, one.drawings, strict=True):
        write_page(path, standalone_svg(drawing))
    write_page(page, claims_markdown(one, [f"figures/{path.name}" for path in figures]))
    return [page, *figures]


def claims_markdown(one: Reproduction, figures: Sequence[str]) -> str:
    """The page's text; `figures` are where its figures lie."""
    quick = " --quick" if one.quick else ""
    claims = [
        (
            f"{claim.statement} ({claim.id})",
            claim.source.value,
            claim.paper,
            measured_text(claim),
            interval_text(claim),
            claim.verdict,
            claim.note,
        )
        for claim in one.claims
    ]
    parts = [
        f"# Claims: {one.title}",
        f"Written by `heddle reproduce {one.paper}{quick} --markdown docs/papers`: {one.runs:,} runs in "
        f"{one.wall_s:,.0f} s, constants `{one.constants_hash}` (`src/heddle/reproduce/constants/{one.paper}.toml`). "
        "The rules of the verdicts are in `src/heddle/reproduce/verdicts.py`.",
        *one.remarks,
        f"**{headline(one.claims)}**",
        _table(("claim", "whose", "paper says", "measured", "95 % interval", "verdict", "note"), claims),
    ]
    for table in one.tables:
        parts += [f"## {table.title}", _table(table.headings, table.rows), table.caption]
    if figures:
        parts.append("## Figures")
    for drawing, path in zip(one.drawings, figures, strict=True):
        names = "; ".join(label for _, label in drawing.key)
        lines = f" Lines, in the order of their colours: {names}." if names else ""
        parts += [f"### {drawing.title}", f"![{drawing.title}]({path})", drawing.caption + lines]
    return "\n\n".join(part for part in parts if part) + "\n"


def standalone_svg(drawing: Drawing) -> str:
    """The figure as a file of its own, with the names of its lines below it and a ground to stand on."""
    head, _, rest = drawing.svg.partition(">")
    box = head.split('viewBox="')[1].split('"')[0].split()
    width, height = float(box[2]), float(box[3])
    tall = height + 16 * len(drawing.key) + (8 if drawing.key else 0)
    names = "".join(
        f'<g class="p{slot}"><rect class="bar" x="46" y="{height + 16 * place:g}" width="14" height="9"/>'
        f'<text x="66" y="{height + 16 * place + 9:g}">{_escaped(label)}</text></g>'
        for place, (slot, label) in enumerate(drawing.key)
    )
    opened = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    opened = opened.replace(f'viewBox="{" ".join(box)}"', f'viewBox="0 0 {width:g} {tall:g}"')
    style = f"<style>{chart_style(N_COLOURS)} svg{{font-family:sans-serif}}</style>"
    ground = '<rect width="100%" height="100%" style="fill:var(--page)"/>'
    return f"{opened}>{style}{ground}{rest.removesuffix('</svg>')}{names}</svg>\n"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
