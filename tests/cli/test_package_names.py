"""An installed pipeline package is given by its name, and is not changed in place."""

import hashlib
import json
import shutil
import sys
from pathlib import Path

import pytest
import spacy
from spacy.cli.package import package

from spacy_pel.pipeline.saved import pipeline_folder
from spacy_pel.util import write_jsonl

from .conftest import done, refused

pytestmark = pytest.mark.slow

NAME = "en_pel_tiny"
TEXT = "We gave aspirin against fever in zebra fish."
OWN_PART = """
from spacy.language import Language

@Language.component("own_part_of_a_package")
def own_part(doc):
    return doc
"""


@pytest.fixture(scope="module")
def packaged(folder, tmp_path_factory):
    """The folder of the pipeline in a package on ``sys.path``, which has a part of its own."""
    path = tmp_path_factory.mktemp("package")
    (path / "own_part.py").write_text(OWN_PART)
    (path / "out").mkdir()
    options = {"name": "pel_tiny", "version": "1.2.3", "create_sdist": False, "code_paths": [path / "own_part.py"]}
    package(folder / "pipeline", path / "out", **options)
    top = path / "out" / f"{NAME}-1.2.3"
    shutil.copy(top / "meta.json", top / NAME)  # as its setup.py does
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(top)
        yield top / NAME / f"{NAME}-1.2.3"
    for name in (NAME, f"{NAME}.own_part"):
        sys.modules.pop(name, None)


@pytest.fixture
def unchanged(packaged):
    before = hashes(packaged)
    yield
    assert hashes(packaged) == before


def hashes(folder):
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {file: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.mark.parametrize(
    "command",
    [
        ("kb", "info", NAME),
        ("kb", "show", NAME, "C1"),
        ("explain", NAME, TEXT),
        ("teach", NAME, "--list"),
        ("demo", "--pipeline", NAME, "--text", TEXT, "--output", "demo"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_name_is_as_good_as_the_folder(packaged, unchanged, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    by_name, by_folder = (done(*map(str, args), "--json") for args in (command, with_folder(command, packaged)))
    assert by_name.json == by_folder.json and by_name.json


def with_folder(command, folder):
    return [folder if word == NAME else word for word in command]


def test_a_pipeline_made_with_its_detector_and_encoder_names_itself(packaged, unchanged, tmp_path):
    (tmp_path / "codes.csv").write_text("code,name\nX1,fever\nX2,asthma\n")
    done("quickstart", tmp_path / "codes.csv", tmp_path / "en_my_codes", "--ner", NAME, "--encoder", NAME)
    nlp = spacy.load(tmp_path / "en_my_codes")
    assert {ent.text: ent.kb_id_ for ent in nlp("Aspirin against fever.").ents}["fever"] == "X1"
    package(tmp_path / "en_my_codes", tmp_path, create_sdist=False)
    config = Path("en_my_codes-0.0.0", "en_my_codes", "en_my_codes-0.0.0", "config.cfg")  # without --name
    assert (tmp_path / config).is_file()


def test_the_default_is_the_installed_package(packaged, tmp_path, monkeypatch):
    monkeypatch.setattr("spacy_pel.cli._saved_pipeline._PACKAGE", NAME)
    done("demo", "--text", TEXT, "--output", tmp_path / "demo")
    assert f"{NAME}-1.2.3" in (tmp_path / "demo" / "links.html").read_text(encoding="utf8")


@pytest.mark.parametrize(
    "command",
    [
        ("calibrate", NAME, "dev.jsonl"),
        ("teach", NAME, "corrections.jsonl"),
        ("kb", "add", NAME, "entity.jsonl"),
        ("serve", NAME, "--save", "--port", "0"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_it_is_not_changed_in_place(folder, packaged, unchanged, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dev.jsonl").write_bytes((folder / "dev.jsonl").read_bytes())
    write_jsonl(tmp_path / "entity.jsonl", [{"concept_id": "N1", "canonical_name": "gout"}])
    write_jsonl(tmp_path / "corrections.jsonl", [{"text": "Fever.", "start": 0, "end": 5, "kb_id": "C1"}])
    said = refused("E667", *command)
    assert f"spacy.load('{NAME}').to_disk('my_pipeline')" in said


def test_a_copy_is_changed(folder, packaged, unchanged, tmp_path):
    for target in (NAME, packaged):
        refused("E667", "calibrate", folder / "pipeline", folder / "dev.jsonl", "--apply-to", target)
    done("calibrate", NAME, folder / "dev.jsonl", "--output", tmp_path / "calibrated")
    spacy.load(packaged).to_disk(tmp_path / "copied")
    write_jsonl(tmp_path / "entity.jsonl", [{"concept_id": "N1", "canonical_name": "gout"}])
    for changed in ("calibrated", "copied"):
        done("kb", "add", tmp_path / changed, tmp_path / "entity.jsonl")
        assert json.loads(done("kb", "show", tmp_path / changed, "N1", "--json").out)["canonical_name"] == "gout"


def test_what_is_no_package(packaged, tmp_path, monkeypatch):
    """A folder counts first; a module or a package without a pipeline is not one."""
    monkeypatch.chdir(tmp_path)
    assert pipeline_folder(NAME) == packaged
    (tmp_path / NAME).mkdir()
    assert [pipeline_folder(name) for name in (NAME, "json", "sys", "spacy_pel", "no such", "")] == [
        *(Path(name) for name in (NAME, "json", "sys", "spacy_pel", "no such", ""))
    ]
    assert "installed package" in refused("E002", "explain", "en_no_such", TEXT)
