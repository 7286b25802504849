"""The colours of semantic groups: contrast, and differences that colour-blind people see."""

import re
from importlib import resources
from itertools import combinations

import numpy as np
import pytest

from spacy_pel.types.semantic_types import SEMANTIC_GROUPS

PAGE = resources.files("spacy_pel.evaluation").joinpath("page.css").read_text(encoding="utf8")
_LIGHT, _DARK = PAGE.split("@media (prefers-color-scheme: dark)")[:2]
COLOURS = [
    {name: np.array([int(code[at : at + 2], 16) for at in (0, 2, 4)]) / 255 for name, code in found}
    for found in (re.findall(r"--([\w-]+): #([0-9a-f]{6})", part.split("* {")[0]) for part in (_LIGHT, _DARK))
]
OWN = [*(f"k{number}" for number in range(5)), "nil-line"]
# linear RGB as people with protanopia, deuteranopia and tritanopia see it (Machado, Oliveira & Fernandes 2009)
VIEWS = [
    np.eye(3),
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
]
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def linear(colour):
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def contrast(a, b):
    """WCAG 2."""
    darker, lighter = sorted(float(linear(one) @ XYZ[1]) for one in (a, b))
    return (lighter + 0.05) / (darker + 0.05)


def lab(colour, view):
    t = XYZ @ np.clip(np.asarray(view) @ linear(colour), 0, 1) / XYZ.sum(1)
    x, y, z = np.where(t > 216 / 24389, np.cbrt(t), (24389 / 27 * t + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def ciede2000(a, b):
    """Sharma, Wu & Dalal 2005."""
    chroma = (np.hypot(*a[1:]) + np.hypot(*b[1:])) / 2
    wide = np.array([1.5 - 0.5 * np.sqrt(chroma**7 / (chroma**7 + 25**7)), 1])
    (l1, l2), (c1, c2) = (a[0], b[0]), (np.hypot(*(one[1:] * wide)) for one in (a, b))
    h1, h2 = (np.degrees(np.arctan2(one[2], one[1] * wide[0])) % 360 for one in (a, b))
    turn = (h2 - h1 + 180) % 360 - 180
    lightness, mean, hue = (l1 + l2) / 2, (c1 + c2) / 2, (h1 + turn / 2) % 360
    waves = ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63))
    t = 1 + sum(size * np.cos(np.radians(times * hue + shift)) for size, times, shift in waves)
    dl = (l2 - l1) / (1 + 0.015 * (lightness - 50) ** 2 / np.sqrt(20 + (lightness - 50) ** 2))
    dc = (c2 - c1) / (1 + 0.045 * mean)
    dh = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn) / 2) / (1 + 0.015 * mean * t)
    turned = np.sin(np.radians(60 * np.exp(-(((hue - 275) / 25) ** 2))))
    return np.sqrt(dl**2 + dc**2 + dh**2 - 2 * turned * np.sqrt(mean**7 / (mean**7 + 25**7)) * dc * dh)


def test_ciede2000_as_published():
    assert ciede2000(np.array([50, 2.6772, -79.7751]), np.array([50, 0, -82.7485])) == pytest.approx(2.0425, abs=1e-4)
    assert ciede2000(np.array([22.7233, 20.0904, -46.694]), np.array([23.0331, 14.973, -42.5619])) == pytest.approx(
        2.0373, abs=1e-4
    )


@pytest.mark.parametrize(("colours", "least"), list(zip(COLOURS, (8, 11), strict=True)), ids=["light", "dark"])
def test_colours(colours, least):
    for name in OWN:
        own = colours[name]
        for ground in (colours["page"], colours["card"]):
            assert contrast(own, ground) >= 4.5, name
            tint = 0.15 * own + 0.85 * ground
            assert contrast(colours["text"], tint) >= 7 and contrast(colours["link"], tint) >= 4.5, name
    for a, b in combinations(OWN, 2):
        assert min(ciede2000(lab(colours[a], view), lab(colours[b], view)) for view in VIEWS) >= least, (a, b)


def test_every_group_has_a_colour_and_a_line_of_its_own():
    looks = {}
    for group in SEMANTIC_GROUPS:
        (colour,) = re.findall(rf"\.{group}\b[^{{}}]*\{{ --own: var\(--(k\d)\)", PAGE)
        lines = re.findall(rf"\.{group}\b[^{{}}]*\{{ border-bottom: (.*?) var", PAGE)
        looks[group] = (colour, *lines)
    assert len(set(looks.values())) == len(SEMANTIC_GROUPS)
