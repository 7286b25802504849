"""Line charts as inline SVG: small, sharp on every screen, coloured by the page's style sheet."""

import math
from typing import List, NamedTuple, Sequence, Tuple

from markupsafe import Markup

Point = Tuple[float, float]
_WIDTH, _HEIGHT = 420, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 12, 44
N_STYLES = 7  # colours in the style sheet
_SVG = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>')
_RULE = Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>')
_LINE = Markup('<polyline class="{}" points="{}"/>')
_BAND = Markup('<polygon class="{} band" points="{}"/>')
_DOT = Markup('<circle class="{}" cx="{}" cy="{}" r="4"><title>{}</title></circle>')
_TEXT = Markup('<text class="{}" x="{}" y="{}">{}</text>')
_SIDEWAYS = Markup('<text class="mid name" transform="translate(12 {}) rotate(-90)">{}</text>')


class Line(NamedTuple):
    """A line of a chart.

    name (str): of the run.
    points (Sequence[Point]): (x, y) in the data's units.
    low, high (Sequence[float]): bounds of a band around the line, or nothing.
    dots (Sequence[Point]): places marked on it.
    """

    name: str
    points: Sequence[Point]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    dots: Sequence[Point] = ()


class Axis(NamedTuple):
    """An axis.

    label (str): what it shows.
    ticks (Sequence[float]): labelled places; the first and the last are its ends.
    log (bool): logarithmic.
    """

    label: str
    ticks: Sequence[float]
    log: bool = False

    def place(self, value: float) -> float:
        """RETURNS (float): 0 at the first tick, 1 at the last, cut off beyond."""
        low, high = self.ticks[0], self.ticks[-1]
        if self.log:
            value, low, high = (math.log(max(one, 1e-12)) for one in (value, low, high))
        return min(1.0, max(0.0, (value - low) / (high - low))) if high > low else 0.5


class Chart(NamedTuple):
    """A chart: a title and its SVG."""

    title: str
    svg: Markup


def line_chart(title: str, lines: Sequence[Line], *, x: Axis, y: Axis, diagonal: bool = False) -> Chart:
    """Draw lines.

    title (str): what is shown; read aloud in place of the picture.
    lines (Sequence[Line]): the n-th has the class ``s{n % N_STYLES}``, in each chart of a page.
    x, y (Axis): the axes.
    diagonal (bool): draw the line from corner to corner that perfect calibration would give.
    RETURNS (Chart): all text in it is escaped.
    """
    parts = _grid(x, y)
    if diagonal:
        ends = [_at(x, y, (x.ticks[end], y.ticks[end])) for end in (0, -1)]
        parts.append(_RULE.format("diagonal", *ends[0], *ends[1]))
    for number, line in enumerate(lines):
        parts += _line(line, f"s{number % N_STYLES}", x, y)
    svg = _SVG.format(_WIDTH, _HEIGHT, title, Markup("").join(parts))
    return Chart(title, svg)


def percent_axis(label: str, values: Sequence[float], *, whole: bool = False) -> Axis:
    """RETURNS (Axis): of shares in percent, cut to the tens around the values unless ``whole``."""
    low, high = (0.0, 100.0) if whole or not values else (min(values), max(values))
    first, last = 10 * math.floor(low / 10), max(10 * math.ceil(high / 10), 10)
    first = min(first, last - 10)
    step = 20 if last - first > 60 else 10
    return Axis(label, [*range(first, last, step), last])


def _at(x: Axis, y: Axis, point: Point) -> Tuple[float, float]:
    across = _LEFT + x.place(point[0]) * (_WIDTH - _LEFT - _RIGHT)
    down = _HEIGHT - _BOTTOM - y.place(point[1]) * (_HEIGHT - _TOP - _BOTTOM)
    return round(across, 1), round(down, 1)


def _path(x: Axis, y: Axis, points: Sequence[Point]) -> str:
    return " ".join("{},{}".format(*_at(x, y, point)) for point in points)


def _line(line: Line, style: str, x: Axis, y: Axis) -> List[Markup]:
    parts = []
    if line.low and line.high:
        across = [point[0] for point in line.points]
        around = [*zip(across, line.high, strict=True), *reversed([*zip(across, line.low, strict=True)])]
        parts.append(_BAND.format(style, _path(x, y, around)))
    parts.append(_LINE.format(style, _path(x, y, line.points)))
    for dot in line.dots:
        text = f"{line.name}: {dot[0]:g} → {dot[1]:.1f}"
        parts.append(_DOT.format(style, *_at(x, y, dot), text))
    return parts


def _grid(x: Axis, y: Axis) -> List[Markup]:
    parts = []
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    for tick in y.ticks:
        down = _at(x, y, (x.ticks[0], tick))[1]
        parts.append(_RULE.format("grid", _LEFT, down, right, down))
        parts.append(_TEXT.format("end", _LEFT - 6, down + 4, f"{tick:g}"))
    for tick in x.ticks:
        across = _at(x, y, (tick, y.ticks[0]))[0]
        parts.append(_RULE.format("grid", across, _TOP, across, bottom))
        parts.append(_TEXT.format("mid", across, bottom + 18, f"{tick:g}"))
    parts.append(_TEXT.format("mid name", (_LEFT + right) / 2, _HEIGHT - 6, x.label))
    return [*parts, _SIDEWAYS.format((_TOP + bottom) / 2, y.label)]
