from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from heddle.report.charts import WIDTH, Axis, Bar, Line, bar_chart, line_chart, nice_step, nice_top, shortened, stairs


def coordinates(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path)]


def test_axis_places_values_and_clips() -> None:
    assert Axis("x", 10, 20).place(np.array([10.0, 15.0, 20.0, 99.0])).tolist() == [0.0, 0.5, 1.0, 1.0]
    assert Axis("x", 1, 100, log=True).place(np.array([1.0, 10.0, 100.0])).tolist() == pytest.approx([0.0, 0.5, 1.0])


def test_ticks_are_round() -> None:
    assert Axis("x", 0, 100).ticks() == [0, 20, 40, 60, 80, 100]
    assert Axis("x", -3, 10).ticks() == pytest.approx([0, 5, 10])
    assert Axis("x", 0.5, 30, log=True).ticks() == pytest.approx([0.5, 1, 2, 5, 10, 20])
    assert Axis("x", 1, 10_000, log=True).ticks() == pytest.approx([1, 10, 100, 1000, 10_000])


@pytest.mark.parametrize(("rough", "step"), [(0.7, 1), (1.0, 1), (1.2, 2), (4, 5), (7, 10), (0.012, 0.02)])
def test_steps(rough: float, step: float) -> None:
    assert nice_step(rough) == pytest.approx(step)


@pytest.mark.parametrize(("highest", "top"), [(0, 1), (100, 100), (101, 150), (4.4, 5)])
def test_tops(highest: float, top: float) -> None:
    assert nice_top(highest) == pytest.approx(top)


def test_stairs_keep_each_level_from_edge_to_edge() -> None:
    x, y = stairs(np.array([0.0, 1.0, 3.0]), np.array([5.0, 7.0]))
    assert list(zip(x.tolist(), y.tolist(), strict=True)) == [(0, 5), (1, 5), (1, 7), (3, 7)]


def test_the_last_label_of_an_axis_is_not_cut_off() -> None:
    line = Line("a", 0, np.array([10.0, 1000.0]), np.array([0.0, 1.0]))
    drawn = line_chart("t", Axis("Mbit/s", 10, 1000, log=True), Axis("y", 0, 1), [line])
    (last,) = [text for text in ElementTree.fromstring(drawn).iter() if text.text == "1,000"]
    assert float(last.attrib["x"]) + 5 * 3.4 <= WIDTH


def test_line_chart_draws_its_points_labels_and_escapes_names() -> None:
    line = Line("a<b>", 3, np.array([0.0, 5.0, 10.0]), np.array([0.0, 50.0, 100.0]))
    root = ElementTree.fromstring(line_chart("T & U", Axis("time (s)", 0, 10), Axis("jobs (%)", 0, 100), [line]))
    assert root.get("aria-label") == "T & U"
    (group,) = [one for one in root.iter("g") if one.get("class") == "s s3"]
    assert group.findtext("title") == "a<b>"
    (path,) = list(group.iter("path"))
    points = coordinates(path.get("d") or "")
    assert len(points) == 3
    assert points[0][0] < points[1][0] < points[2][0] <= WIDTH
    assert points[0][1] > points[1][1] > points[2][1]  # up is smaller
    texts = [text.text for text in root.iter("text")]
    assert "time (s)" in texts
    assert "jobs (%)" in texts


def test_band_encloses_the_line_and_near_points_are_left_out() -> None:
    many = np.linspace(0, 10, 5001)
    line = Line("l", 0, many, many * 10, band_x=(many - 1, many + 1))
    root = ElementTree.fromstring(line_chart("t", Axis("x", 0, 10), Axis("y", 0, 100), [line]))
    band, drawn = (path.get("d") or "" for path in next(root.iter("g")).iter("path"))
    assert len(coordinates(drawn)) < 1100
    assert min(x for x, _ in coordinates(band)) <= min(x for x, _ in coordinates(drawn))
    assert coordinates(drawn)[-1][0] == WIDTH - 12


def test_bar_chart_bars_grow_from_zero_with_intervals() -> None:
    bars = [
        Bar("less", 1, -10.0, (-15.0, -5.0), "−10 %"),
        Bar("more", 2, 5.0, None, "+5 %"),
        Bar("x" * 90, 3, 0.0, None, ""),
    ]
    root = ElementTree.fromstring(bar_chart("t", Axis("change (%)", -20, 20), bars))
    rectangles = [(float(r.get("x") or 0), float(r.get("width") or 0)) for r in root.iter("rect")]
    middle = WIDTH / 2
    assert rectangles[0][0] + rectangles[0][1] == pytest.approx(middle, abs=0.2)
    assert rectangles[1][0] == pytest.approx(middle, abs=0.2)
    assert rectangles[0][1] == pytest.approx(2 * rectangles[1][1], abs=0.2)
    assert len([path for path in root.iter("path") if path.get("class") == "whisker"]) == 1
    assert all(len(text.text or "") < 60 for text in root.iter("text"))


def test_long_names_keep_both_ends() -> None:
    assert shortened("localhost:20531", 12) == "localh…20531"
    assert shortened("twelve chars", 12) == "twelve chars"
