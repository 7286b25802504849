"""Overrides reach parts that a config leaves out."""

import pytest

from spacy_pel.errors import PelError
from spacy_pel.util.config import load_config

TEXT = """
[paths]
kb = "a"

[system]
seed = 0

[pel]
mixing = null
kb = ${paths.kb}

[pel.encoder]
name = "x"
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "some.cfg"
    path.write_text(TEXT)
    return path


def test_a_part_that_is_not_there_or_null(path):
    overrides = {"pel.encoder.backend.@pel_backends": "B", "pel.mixing.@pel_mixings": "M", "pel.mixing.k": 3}
    config = load_config(path, {**overrides, "paths.kb": "b"})
    assert config["pel"]["encoder"] == {"name": "x", "backend": {"@pel_backends": "B"}}
    assert config["pel"]["mixing"] == {"@pel_mixings": "M", "k": 3} and config["pel"]["kb"] == "b"


def test_without_overrides_the_file_as_it_is(path):
    assert load_config(path)["pel"] == {"mixing": None, "kb": "a", "encoder": {"name": "x"}}
    assert load_config(path, {"system.seed": 1})["pel"] == load_config(path)["pel"]


@pytest.mark.parametrize("name", ["pell.encoder.name", "pel.encoder.name.first", "paths.kb.first"])
def test_no_such_section(path, name):
    with pytest.raises(PelError, match="E601"):
        load_config(path, {name: 1})


@pytest.mark.parametrize(
    "text", ['[a]\n[a.b.c]\nd = 1\n[a.b]\ne = "f"\n', "[paths\nkb = 1", "[paths]\nkb = ${nowhere.x}", "[a.b]\nc = 1"]
)
def test_a_file_that_is_no_config(tmp_path, text):
    with pytest.raises(PelError, match="E002.*x.cfg"):
        load_config(tmp_path / "x.cfg")
    (tmp_path / "x.cfg").write_text(text)
    with pytest.raises(PelError, match="E601.*x.cfg"):
        load_config(tmp_path / "x.cfg")


def test_text_that_utf8_cannot_hold(tmp_path):
    (tmp_path / "x.cfg").write_text('[a]\nb = "\\ud800"\n')
    with pytest.raises(PelError, match="x.cfg.*a lone surrogate"):
        load_config(tmp_path / "x.cfg")
