"""Supported Pythons: the classifiers, the pinned versions and the table of tested versions agree."""

import re
from importlib.metadata import metadata, requires

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from pages import ROOT, rows, section

METADATA = metadata("spacy-pel")
PYTHONS = re.findall(r"Python :: (3\.\d+)", str(METADATA.get_all("Classifier")))
PINS = [
    Requirement(line)
    for line in (ROOT / "constraints.txt").read_text(encoding="utf8").splitlines()
    if not line.startswith("#")
]
COLUMNS = ["numpy", "spacy", "torch", "transformers", "faiss-cpu"]  # of the table, after Python


def pinned(python):
    """The version of each package for a Python, as ``constraints.txt`` gives it."""
    pins = [pin for pin in PINS if pin.marker is None or pin.marker.evaluate({"python_version": python})]
    found = {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in pins}
    assert len(found) == len(pins)  # one version each
    return found


def test_classifiers_are_the_allowed_versions():
    allowed = SpecifierSet(METADATA["Requires-Python"])
    assert PYTHONS and all(python in allowed for python in PYTHONS)
    minor = int(PYTHONS[0].split(".")[1])
    assert PYTHONS == [f"3.{minor + i}" for i in range(len(PYTHONS))] and f"3.{minor - 1}" not in allowed


@pytest.mark.parametrize("python", PYTHONS)
def test_pins_satisfy_the_requirements(python):
    """Of the extras, too."""
    pins = pinned(python)
    checked = 0
    for requirement in map(Requirement, requires("spacy-pel")):
        extra = next(iter(re.findall(r'extra == "(\w+)"', str(requirement.marker))), "")
        where = {"python_version": python, "extra": extra}
        name = canonicalize_name(requirement.name)
        if name in pins and (requirement.marker is None or requirement.marker.evaluate(where)):
            assert pins[name] in requirement.specifier, requirement
            checked += 1
    assert checked > 20


def test_table_of_tested_versions_has_the_pins():
    tested = list(rows(section(ROOT / "CONTRIBUTING.md", "versions")))
    assert {cells[0].rpartition(".")[0] for cells in tested} == set(PYTHONS)
    pins = {python: pinned(python) for python in PYTHONS}
    for python in PYTHONS:
        expected = [pins[python][column] for column in COLUMNS]
        assert any(cells[0].startswith(f"{python}.") and cells[1:6] == expected for cells in tested), python
