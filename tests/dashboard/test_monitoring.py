"""The Grafana dashboard and the alert rules speak of metrics that steer really offers, with labels that they have."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from heddle.cli.main import run
from heddle.yarn.live.applying.turn import Verdict
from heddle.yarn.live.steering.metrics_page import SteeringMetrics

from .showing_up import decision

NODE = {"node": "a:1", "reserved_mb": 1, "used_mb": 1, "promised_mb": 1, "metrics_age_s": 0.0}
ADDED_BY_PROMETHEUS = {"instance", "job"}


@pytest.fixture(scope="module")
def offered() -> dict[str, set[str]]:
    """Every metric with its labels, from the page itself with everything in it."""
    metrics = SteeringMetrics("p", "live")
    metrics.stepped({**decision(NODE), "at": 1.0, "in_full_s": 10.0})
    found: dict[str, set[str]] = {}
    for line in metrics.text().splitlines():
        if not line.startswith("#"):
            name, _, rest = line.partition("{")
            found[name.split()[0]] = set(re.findall(r'(\w+)="', rest)) | ADDED_BY_PROMETHEUS
    assert len(found) >= 13
    return found


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("monitoring") / "new"
    assert run(["yarn", "monitoring", str(folder)]) == 0
    return folder


def grafana(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "heddle-grafana.json").read_text())
    return document


def rules(folder: Path) -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((folder / "heddle-alerts.yaml").read_text())["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def expressions(folder: Path) -> Iterator[str]:
    for panel in grafana(folder)["panels"]:
        assert panel["targets"]
        yield from (target["expr"] for target in panel["targets"])
    yield from (rule["expr"] for rule in rules(folder))


def test_every_metric_and_label_is_one_that_is_offered(written: Path, offered: dict[str, set[str]]) -> None:
    asked = list(expressions(written))
    for expression in asked:
        named = re.findall(r"\b(heddle_\w+)(?:\{([^}]*)\})?", expression)
        assert named, expression
        for metric, selector in named:
            assert metric in offered, expression
            assert set(re.findall(r"(\w+)\s*[=!]", selector)) <= offered[metric], expression
        labels = {label for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(", ")}
        assert labels <= set().union(*(offered[metric] for metric, _ in named)), expression
        assert set(re.findall(r'verdict="([^"]*)"', expression)) <= set(Verdict)
        for opening, closing in ("()", "{}", "[]"):
            assert expression.count(opening) == expression.count(closing), expression
    everything = "".join(asked)
    assert [metric for metric in offered if metric not in everything] == []  # and nothing is offered in vain


def test_legends_name_labels_that_are_there(written: Path, offered: dict[str, set[str]]) -> None:
    for panel in grafana(written)["panels"]:
        for target in panel["targets"]:
            known = set().union(*(offered[name] for name in re.findall(r"heddle_\w+", target["expr"])))
            assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= known


def test_panels_do_not_overlap_and_have_titles_and_ids_of_their_own(written: Path) -> None:
    panels = grafana(written)["panels"]
    assert len({panel["title"] for panel in panels}) == len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


def test_alerts_say_what_is_wrong_and_how_bad(written: Path) -> None:
    for rule in rules(written):
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"]


def test_an_unwritable_place_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert run(["yarn", "monitoring", str(tmp_path / "file")]) == 2
