"""What people see of a reproduction: the report, the page of the docs, and figures that stand alone."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Reproduction, Source, Table, headline, mean_text
from heddle.reproduce.drawing import Curve, draw_bars, draw_curves
from heddle.reproduce.markdown import standalone_svg, write_markdown
from heddle.reproduce.page import reproductions_html


@pytest.fixture
def reproduction() -> Reproduction:
    seeds = {0: 16.0, 1: 17.0, 2: 15.0}
    claims = (
        Claim("A.1", "Sooner <fast>", "16 %", "%", verdicts.effect({"": seeds}, 16.0), "Because."),
        Claim("A.2", "Never | fails", "0", "tasks", verdicts.limit({0: 3.0, 1: 4.0}, 1.0, 1.0)),
        Claim("A.3", "Stalled", "0", "tasks", verdicts.best({}, {"other": {}})),
        Claim("A.4", "Predicted", "no number", "%", verdicts.not_judged({"": seeds})),
        Claim("A.5", "Better yet", "not in the paper", "%", verdicts.effect({"": seeds}, 16.0), source=Source.OURS),
    )
    drawings = (
        draw_curves("A curve & more", "x", "y", [Curve.of_seeds("one", {1.0: seeds, 2.0: seeds})], "Below.",
                    marks=[("paper", 1.5)]),
        draw_bars("Bars", "%", {"a": seeds, "b": {0: -1.0, 1: -2.0}}, "Below."),
    )  # fmt: skip
    table = Table("Numbers", ("day", "value"), (("a|b", mean_text(seeds)),), "Below.")
    return Reproduction("usage-feedback", "A paper", claims, drawings, (table,), ("A remark.",), "0123", True, 9, 1.5)


def test_report_shows_verdicts_and_loads_nothing(reproduction: Reproduction) -> None:
    text = reproductions_html([reproduction], "heddle reproduce <x>")
    assert "Sooner &lt;fast&gt;" in text
    assert "<fast>" not in text
    for word in ("reproduced", "not reproduced", "0123", "A remark.", "Because.", "reduced (--quick)", "Numbers"):
        assert word in text
    assert "http" not in text.replace("http-equiv", "")


def test_headline_counts_the_papers_claims_apart_and_leaves_out_what_is_not_judged(reproduction: Reproduction) -> None:
    claims = reproduction.claims
    papers = "The paper's claims: 1 of 3 reproduced, 2 not reproduced; 1 not judged."
    assert headline(claims) == f"{papers} Ours: 1 of 1 reproduced."
    assert headline(claims[:4]) == papers
    assert headline(claims[1:3]) == "The paper's claims: 0 of 2 reproduced, 2 not reproduced."
    assert headline(claims[3:4]) == "The paper's claims: 1 not judged."


def test_docs_page_has_the_claims_and_its_figures(reproduction: Reproduction, tmp_path: Path) -> None:
    paths = write_markdown(tmp_path, reproduction)
    assert [path.name for path in paths] == ["usage-feedback-claims.md", "usage-feedback-1.svg", "usage-feedback-2.svg"]
    text = paths[0].read_text()
    assert "| Never &#124; fails (A.2) | paper | 0 | 3.50 tasks |" in text
    assert "![Bars](figures/usage-feedback-2.svg)" in text
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert {row.count("|") for row in rows} == {8, 3}  # seven columns of claims, two of the table


def test_figures_stand_alone(reproduction: Reproduction) -> None:
    for drawing in reproduction.drawings:
        root = ElementTree.fromstring(standalone_svg(drawing))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "--c0" in (root[0].text or "")
        words = " ".join(root.itertext())
        for _, label in drawing.key:
            assert label in words


def test_json_has_what_the_issue_asks_for(reproduction: Reproduction) -> None:
    document = reproduction.as_json()
    assert {"paper", "claims", "constants_hash", "wall_s"} <= document.keys()
    assert {"id", "statement", "paper", "measured", "ci95", "verdict", "note"} <= document["claims"][0].keys()
    assert [claim["source"] for claim in document["claims"]] == ["paper"] * 4 + ["ours"]
    assert document["counts"]["paper"] == {"reproduced": 1, "direction": 0, "not reproduced": 2, "not judged": 1}
    assert document["counts"]["ours"]["reproduced"] == 1
    assert document["claims"][2]["measured"] is None
    assert document["claims"][2]["ci95"] is None
