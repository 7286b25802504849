"""verify: a pipeline as it was saved, and with one changed byte in any of its files."""

import sys

import pytest
from forks import meanwhile

from spacy_pel.cli._saved_pipeline import copy_pipeline, read_learned, store_learned
from spacy_pel.pipeline.saved import load_pipeline

from .conftest import done, refused, run


def test_a_saved_pipeline_is_as_saved(folder):
    result = done("verify", folder / "pipeline", "--json")
    kinds = {one["kind"] for one in result.json["folders"]}
    assert kinds >= {"entity linker", "knowledge base", "index"}
    listed = sum(one["files"] for one in result.json["folders"]) - (len(result.json["folders"]) - 1)
    manifests = len(result.json["folders"])
    files = [file for file in (folder / "pipeline").rglob("*") if file.is_file()]
    assert listed + manifests + result.json["files_without_manifest"] == len(files), "inner manifests count once"
    assert "as saved" in run("verify", folder / "pipeline").out


def test_every_changed_byte_is_found(pipeline):
    changed = 0
    for file in sorted((pipeline / "proxy_entity_linker").rglob("*")):
        if not file.is_file() or not (content := file.read_bytes()):
            continue
        other = bytearray(content)
        other[len(other) // 3] ^= 4
        file.write_bytes(other)
        result = run("verify", pipeline)
        assert result.code == 2 and result.err.count("\n") == 1, file
        assert file.name in result.err or file.name == "manifest.json", result.err
        file.write_bytes(content)
        changed += 1
    assert changed > 10 and run("verify", pipeline).code == 0


def test_nothing_to_verify(tmp_path):
    refused("E007", "verify", tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_a_pipeline_that_another_process_changes_is_whole(pipeline, tmp_path):
    """Its linker's folder is replaced all the time; so a copy has no half of it."""
    learned, before = read_learned(pipeline), kinds(pipeline)
    with meanwhile(lambda: store_learned(pipeline, learned)):
        for number in range(8):
            copy = tmp_path / f"copy{number}"
            copy_pipeline(pipeline, copy, learned)
            assert kinds(pipeline) == kinds(copy) == before
            assert not list(copy.glob(".*")), "what the other process was writing"
            load_pipeline(pipeline)


def kinds(pipeline):
    return [one["kind"] for one in done("verify", pipeline, "--json").json["folders"]]
