"""Figures: written in every format, the same bytes for the same data."""

import pytest

from spacy_pel.evaluation.report.figure import new_figure, save_figure


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_same_data_same_file(tmp_path, suffix, start):
    for name in ("a", "b"):
        figure, axes = new_figure()
        axes.plot([0, 1], [1, 2], label="a line")
        save_figure(figure, axes, tmp_path / f"{name}{suffix}")
    written = (tmp_path / f"a{suffix}").read_bytes()
    assert written.startswith(start) and written == (tmp_path / f"b{suffix}").read_bytes()


def test_legend_only_where_lines_have_names(tmp_path):
    for label, has_legend in (("a line", True), ("_none", False)):
        figure, axes = new_figure()
        axes.plot([0, 1], [1, 2], label=label)
        save_figure(figure, axes, tmp_path / "a.svg", tmp_path / "a.png")
        assert (axes.get_legend() is not None) == has_legend
