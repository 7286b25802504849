"""``spacy package``: the pipeline as a package that pip installs, without the network."""

import hashlib
import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from typer.testing import CliRunner

from spacy_pel.cli import pel_cli
from spacy_pel.types import Entity

from .conftest import NAME, TEXTS

pytestmark = pytest.mark.slow

RELEASE = "1.2.3"
FOLDER = Path("en_tiny_linker") / f"en_tiny_linker-{RELEASE}"  # as spaCy names them
SCRIPT = """
import json
import sys

import spacy

def found(doc):
    return [[e.kb_id_, [c[0] for c in e._.pel_candidates], round(e._.pel_nil_score, 4)] for e in doc.ents]

if __name__ == "__main__":
    nlp = spacy.load("en_tiny_linker")
    texts = json.loads(sys.argv[1])
    alone, both = ([found(doc) for doc in nlp.pipe(texts, n_process=n, batch_size=2)] for n in (1, 2))
    print(json.dumps({"path": str(nlp.path), "alone": alone, "both": both}))
"""


def call(*args, **options):
    """What ``python ARGS`` printed. A worker that hangs must not hang the tests."""
    command = [sys.executable, *map(str, args)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def found(doc):
    return [[e.kb_id_, [c[0] for c in e._.pel_candidates], round(e._.pel_nil_score, 4)] for e in doc.ents]


def hashes(folder):
    """Of each file, those with hidden names and in hidden folders included."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.fixture
def nlp(make_nlp, tiny_bert):
    """A pipeline with weights, an index, and an entity that was added later."""
    encoder = {"@pel_encoders": "spacy-pel.BiEncoder.v1", "name": str(tiny_bert)}
    nlp = make_nlp(encoder=encoder, index={"@pel_indexes": "spacy-pel.FaissIVF.v1"}, threshold=0.6)
    nlp.add_pipe("pel_abbreviation_detector", before=NAME)
    nlp.get_pipe(NAME).add_entities([Entity("N1", "Cold sore", ("cold",), ("T047",))])
    return nlp


@pytest.fixture
def source(nlp, tmp_path):
    """What ``spacy package`` wrote, from ``tmp_path / "saved"``."""
    from spacy.cli import app

    nlp.to_disk(tmp_path / "saved")
    (tmp_path / "out").mkdir()
    options = ["--name", "tiny_linker", "--version", RELEASE, "--build", "none"]
    result = CliRunner().invoke(app, ["package", str(tmp_path / "saved"), str(tmp_path / "out"), *options])
    assert result.exit_code == 0, result.output
    return tmp_path / "out" / FOLDER.name


def test_installed_package_links_as_the_folder_and_verifies(nlp, source, tmp_path):
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    call("-m", "pip", "install", *options, "--target", tmp_path / "site", source)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf8")
    path = os.pathsep.join(filter(None, [str(tmp_path / "site"), os.environ.get("PYTHONPATH")]))
    printed = call(script, json.dumps(TEXTS), cwd=tmp_path, env={**os.environ, "PYTHONPATH": path})

    result = json.loads(printed)
    expected = [found(doc) for doc in nlp.pipe(TEXTS)]
    assert any(expected) and result["alone"] == result["both"] == expected
    installed = tmp_path / "site" / FOLDER
    assert Path(result["path"]) == installed

    before, after = hashes(tmp_path / "saved"), hashes(installed)
    assert after.pop("README.md") and after.pop("meta.json") != before.pop("meta.json")  # spaCy writes both
    assert after == before  # pip copied every file, and linking left none behind
    verified = CliRunner().invoke(pel_cli, ["verify", str(tmp_path / "site"), "--json"])
    kinds = {folder["kind"] for folder in json.loads(verified.stdout)["folders"]}
    assert verified.exit_code == 0 and kinds == {"entity linker", "knowledge base", "encoder", "index"}


def test_package_requires_compatible_versions(source):
    requirements = json.loads((source / "meta.json").read_text(encoding="utf8"))["requirements"]
    ranges = {one.name: one.specifier for one in map(Requirement, requirements)}
    assert set(ranges) == {"spacy-pel", "spacy"}
    for name, specifier in ranges.items():
        major, minor, *_ = map(int, version(name).split("."))
        assert version(name) in specifier and f"{major}.{minor + 1}.0" not in specifier
