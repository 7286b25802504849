"""Figures: written in every format, the same bytes for the same data."""

from xml.etree import ElementTree

import pytest

from spacy_pel.evaluation.figures import COLORS, new_figure, save_figure
from spacy_pel.training.report.report import inline_svg


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_same_data_same_file(tmp_path, suffix, start):
    for name in ("a", "b"):
        figure, axes = new_figure()
        axes.plot([0, 1], [1, 2], label="a line")
        save_figure(figure, axes, tmp_path / f"{name}{suffix}")
    written = (tmp_path / f"a{suffix}").read_bytes()
    assert written.startswith(start) and written == (tmp_path / f"b{suffix}").read_bytes()


def inline(name="a", label="<b> & $x$"):
    figure, axes = new_figure()
    for color in COLORS:
        axes.plot([0, 1], [1, 2], color=color)
    axes.fill_between([0, 1], [0, 1], [1, 2], alpha=0.2)
    axes.set(xlabel=label, ylim=(0, 1))
    return inline_svg(figure, name, title='A "title"')


def test_inline_figures_take_the_colours_of_the_page():
    svg = inline()
    assert all(f"var(--s{number})" in svg for number in range(len(COLORS)))
    assert not any(color in svg for color in (*COLORS, "#000000", "#ffffff")), "a dark page would hide them"
    root = ElementTree.fromstring(str(svg))
    assert root.attrib["aria-label"] == 'A "title"'
    assert not [one for one in root.iter() if one.tag.endswith("}metadata")], "no date, no program"


def test_inline_figures_have_ids_of_their_own():
    assert inline() == inline()
    ids = {}
    for name in "ab":
        root = ElementTree.fromstring(str(inline(name)))
        ids[name] = {one.attrib["id"] for one in root.iter() if "id" in one.attrib}
        used = {value for one in root.iter() for key, value in one.attrib.items() if key.endswith("}href")}
        assert used and {value[1:] for value in used} <= ids[name]
        assert f"url(#{name}-" in inline(name)
    assert ids["a"].isdisjoint(ids["b"])
