"""research map on the tiny corpus."""

import pytest
from cli.conftest import NAMES, folder, run
from spacy_pel_studies.triplets.dual_encoder import DualEncoder

from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.util import read_json

__all__ = ["folder"]


@pytest.fixture(scope="module")
def models(tiny_bert, tmp_path_factory):
    path = tmp_path_factory.mktemp("models")
    encoder = BiEncoder(name=str(tiny_bert))
    encoder.initialize()
    encoder.to_disk(path / "model")
    ranker = DualEncoder(encoder=BiEncoder(name=str(tiny_bert)))
    ranker.initialize()
    ranker.to_disk(path / "ranker")
    return path


def test_map_before_and_after(folder, models, tmp_path):
    args = (folder / "kb", models / "model", folder / "dev.jsonl", "--before", "random:layers=1,width=32")
    done = run("research", "map", *args, "--output", tmp_path / "a", "--n-entities", 3, "--max-mentions", 4, "--json")
    assert done.code == 0, done.err
    before, after = done.json["maps"]
    assert [len(one["entities"]) for one in (before, after)] == [3, 3] and len(after["mentions"]) == 12
    assert [one["title"] for one in (before, after)] == ["before", "after"]
    assert [one["name"] in NAMES for one in after["entities"]] == [True] * 3
    assert before["mentions"][0]["x"] != after["mentions"][0]["x"]
    assert read_json(tmp_path / "a" / "map.json") == done.json
    assert (tmp_path / "a" / "map.png").read_bytes().startswith(b"\x89PNG")
    again = run("research", "map", *args, "--output", tmp_path / "b", "--n-entities", 3, "--max-mentions", 4)
    assert again.code == 0 and "after: 12 mentions of 3 entities" in again.out
    for file in ("map.png", "map.svg", "map.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_map_of_a_ranker(folder, models, tmp_path):
    args = (
        "research",
        "map",
        folder / "pipeline",
        models / "ranker",
        folder / "dev.jsonl",
        "--output",
        tmp_path / "out",
    )
    done = run(*args, "--entities", "C3, C1", "--json")
    assert done.code == 0, done.err
    assert [one["id"] for one in done.json["maps"][0]["entities"]] == ["C3", "C1"]


def test_map_refused(folder, models, tmp_path):
    def error(kb, model, *options):
        result = run("research", "map", kb, model, folder / "dev.jsonl", "--output", tmp_path / "out", *options)
        assert result.code == 2 and not (tmp_path / "out").exists()
        return result.err

    assert "E652" in error(folder / "kb", models / "model", "--entities", "C77")
    assert "E653" in error(folder / "kb", folder / "model")  # a HashEmbed
    assert "E653" in error(folder / "kb", folder / "pipeline")  # and one in a pipeline
    assert "E004" in error(folder / "kb", tmp_path)
    assert "E686" in error(tmp_path, models / "model")
