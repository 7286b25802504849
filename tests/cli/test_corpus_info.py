"""corpus info on the tiny corpus."""

from spacy_pel.util import read_json

from .conftest import done, refused, run


def test_corpus_info(folder, tmp_path):
    args = ("corpus", "info", folder / "dev.jsonl", "--output", tmp_path / "out")
    output = done(*args, "--kb", folder / "kb", "--json")
    assert (output.json["mentions"], output.json["in_kb"], output.json["outside_kb"]) == (80, 52, 28)
    assert output.json["types"] == {"T047": 52, "–": 28}
    assert read_json(tmp_path / "out" / "corpus.json") == output.json
    assert (tmp_path / "out" / "mentions.svg").is_file()
    text = run(*args).out
    assert "mentions                          80" in text and "label: ENTITY" in text
    assert "in kb" not in text and "nil " in text


def test_corpus_info_of_nothing(tmp_path):
    (tmp_path / "empty.jsonl").write_text('{"id": "1", "text": "x", "mentions": []}\n')
    refused("E620", "corpus", "info", tmp_path / "empty.jsonl", "--output", tmp_path / "out")
    assert not (tmp_path / "out").exists()
