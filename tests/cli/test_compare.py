"""compare on what evaluate wrote."""

import json
import shutil

import pytest

from spacy_pel.util import read_jsonl, write_jsonl

from .conftest import done, refused, run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runs(runs):
    """Folders a and b; b has candidates in the reverse order, and so never the right id."""
    records = list(read_jsonl(runs / "a" / "predictions.jsonl"))
    for record in records:
        record["candidates"].reverse()
        record["kb_id"] = record["candidates"][0][0]
    write_jsonl(runs / "b" / "predictions.jsonl", records)
    return runs


def test_json(runs):
    found = done("compare", runs / "a", runs / "b", "--json", "--seed", 5)
    assert found.json["differences"]["recall@1"]["difference"] == -1.0
    assert found.json["tests"]["recall@1"]["significant"] is True
    assert [(row["name"], row["n"]) for row in found.json["groups"]] == [("ENTITY", 80)]
    assert (found.json["group_by"], found.json["bootstrap"]["seed"]) == ("label", 5)
    assert json.loads(run("compare", runs / "a", runs / "b", "--json", "--seed", 5).out) == found.json


def test_groups(runs):
    seen = run("compare", runs / "a", runs / "b", "--group-by", "seen", "--json").json
    assert {row["name"] for row in seen["groups"]} == {"seen", "unseen", "NIL"}
    assert run("compare", runs / "a", runs / "b", "--group-by", "colour").code == 2


def test_types_from_the_kb(folder, runs, tmp_path):
    shutil.copytree(runs / "a", tmp_path / "old")
    records = list(read_jsonl(runs / "a" / "predictions.jsonl"))
    for record in records:
        record.pop("types", None)
    write_jsonl(tmp_path / "old" / "predictions.jsonl", records)
    args = ("compare", tmp_path / "old", runs / "b", "--group-by", "type")
    refused("E684", *args)
    for kb in ("kb", "pipeline"):
        groups = run(*args, "--kb", folder / kb, "--json").json["groups"]
        assert [row["name"] for row in groups] == ["T047", "–"]
