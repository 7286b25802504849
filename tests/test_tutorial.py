"""The tutorial: its notebook runs, and shows what it showed when it was written."""

import re

import notebook
import pytest
from pages import ROOT

pytestmark = pytest.mark.slow

NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?")
INTERVAL = re.compile(r"\[[-+][\d.]+, +[-+][\d.]+\]")  # of ten documents: one mention shifts its ends


def shown(outputs):
    """The kinds of outputs, and their text."""
    kinds = [kind for output in outputs for kind in output.get("data", ["stdout"])]
    return kinds, "".join(line for output in outputs for line in output.get("text", []))


def numbers(text):
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]


def test_outputs_are_those_stored(tmp_path, monkeypatch):
    path = ROOT / "docs" / "tutorial.ipynb"
    here = tmp_path / "docs"
    here.mkdir()
    (tmp_path / "assets").symlink_to(ROOT / "assets")
    (here / "tutorial").symlink_to(ROOT / "docs" / "tutorial")
    monkeypatch.chdir(here)
    n_cells = 0
    for cell, outputs in notebook.run(notebook.read(path)):
        (kinds, text), (stored_kinds, stored) = shown(outputs), shown(cell["outputs"])
        assert kinds == stored_kinds
        assert NUMBER.sub("0", text).split() == NUMBER.sub("0", stored).split()
        # another processor may change last digits, which is a mention more or less in a share of ten documents
        for got, expected in zip(*map(NUMBER.findall, (text, stored)), strict=True):
            units = 20 if any(expected in ends for ends in INTERVAL.findall(stored)) else 3
            digit = 10.0 ** -len(expected.partition(".")[2])
            assert numbers(got) == pytest.approx(numbers(expected), rel=0.01, abs=max(0.02, units * digit)), text
        n_cells += 1
    assert n_cells > 15
