"""Charts: places by hand, axes, escaping."""

import re
from xml.etree import ElementTree

import pytest

from spacy_pel.evaluation.report.svg_chart import Axis, Line, line_chart, percent_axis

X, Y = Axis("k", (1, 4, 64), log=True), Axis("%", (0, 50, 100))


def test_places():
    assert [X.place(value) for value in (1, 8, 64, 100, 0)] == pytest.approx([0, 0.5, 1, 1, 0])
    assert [Y.place(value) for value in (0, 25, 100, -5)] == [0, 0.25, 1, 0]
    assert Axis("", (3, 3)).place(3) == 0.5


def test_lines_reach_from_corner_to_corner():
    chart = line_chart("T", [Line("a", [(1, 0), (64, 100)], low=[0, 0], high=[0, 100])], x=X, y=Y)
    svg = ElementTree.fromstring(str(chart.svg))
    width, height = (float(value) for value in svg.attrib["viewBox"].split()[2:])
    (left, bottom), (right, top) = (
        tuple(map(float, point.split(","))) for point in svg.find("polyline").attrib["points"].split()
    )
    assert 0 < left < right < width and 0 < top < bottom < height
    assert len(svg.find("polygon").attrib["points"].split()) == 4
    grid = [line for line in svg.findall("line") if line.attrib["class"] == "grid"]
    assert {float(line.attrib["x1"]) for line in grid} >= {left, right}
    assert {float(line.attrib["y1"]) for line in grid} >= {top, bottom}
    assert [text.text for text in svg.findall("text")] == ["0", "50", "100", "1", "4", "64", "k", "%"]


def test_colours_go_round_and_stay_with_the_run():
    lines = [Line(str(i), [(1, 1)] if i else []) for i in range(9)]
    chart = line_chart("T", lines, x=X, y=Y, diagonal=True)
    classes = re.findall(r'<polyline class="(\w+)"', chart.svg)
    assert classes == ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s0", "s1"]
    assert chart.svg.count('class="diagonal"') == 1


def test_names_are_escaped():
    chart = line_chart('"<T>"', [Line("<b>&", [(1, 2)], dots=[(1, 2.25)])], x=Axis("<k>", (1, 2)), y=Y)
    svg = ElementTree.fromstring(str(chart.svg))
    assert svg.attrib["aria-label"] == '"<T>"' and svg.find("circle/title").text == "<b>&: 1 → 2.2"
    assert "<k>" not in chart.svg


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([67.4, 83.0], [60, 70, 80, 90]),
        ([2.0, 99.0], [0, 20, 40, 60, 80, 100]),
        ([100.0], [90, 100]),
        ([0.0, 0.0], [0, 10]),
        ([], [0, 20, 40, 60, 80, 100]),
    ],
)
def test_percent_axis(values, ticks):
    assert percent_axis("x", values).ticks == ticks
    assert percent_axis("x", values, whole=True).ticks == [0, 20, 40, 60, 80, 100]
