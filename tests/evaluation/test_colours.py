"""The colours of semantic groups: contrast to the page, and a look of its own for each group."""

import re
from importlib import resources

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
LUMINANCE = np.array([0.2126729, 0.7151522, 0.0721750])


def linear(colour):
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def contrast(a, b):
    """WCAG 2."""
    darker, lighter = sorted(float(linear(one) @ LUMINANCE) for one in (a, b))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("colours", COLOURS, ids=["light", "dark"])
def test_contrast(colours):
    for name in OWN:
        own = colours[name]
        for ground in (colours["page"], colours["card"]):
            assert contrast(own, ground) >= 4.5, name
            tint = 0.15 * own + 0.85 * ground
            assert contrast(colours["text"], tint) >= 7 and contrast(colours["link"], tint) >= 4.5, name


def test_every_group_has_a_colour_and_a_line_of_its_own():
    looks = {}
    for group in SEMANTIC_GROUPS:
        (colour,) = re.findall(rf"\.{group}\b[^{{}}]*\{{ --own: var\(--(k\d)\)", PAGE)
        lines = re.findall(rf"\.{group}\b[^{{}}]*\{{ border-bottom: (.*?) var", PAGE)
        looks[group] = (colour, *lines)
    assert len(set(looks.values())) == len(SEMANTIC_GROUPS)
