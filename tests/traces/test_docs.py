"""Every format has a page that says what it assumes, and its words are the declaration's."""

import re
from pathlib import Path

import pytest

from heddle.traces.imports.registry import format_of, names

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("name", names())
def test_the_page_of_a_format_has_its_assumptions_files_and_traps(name: str) -> None:
    page = (DOCS / "traces" / f"{name}.md").read_text()
    declared = format_of(name)
    assert declared.has in page
    assert declared.models in page
    for key, one in declared.assumptions.items():
        assert f"| `{key}` | {one.default:g} | {one.what} |" in page
    for role, what in declared.roles.items():
        assert f"| {role} | {what} |" in page
    assert page.partition("## Traps\n")[2].startswith("- ")


@pytest.mark.parametrize("page", ["traces/README.md", "traces/tools.md", "traces/csv.md", "efficiency.md", "ledger.md"])
def test_links_lead_somewhere(page: str) -> None:
    path = DOCS / page
    targets = re.findall(r"\]\(([^)#]+)", path.read_text())
    assert [target for target in targets if not (path.parent / target).exists()] == []
