"""corpus info on the tiny corpus."""

from .conftest import done, refused, run


def test_corpus_info(folder):
    args = ("corpus", "info", folder / "dev.jsonl")
    output = done(*args, "--kb", folder / "kb", "--json")
    assert (output.json["mentions"], output.json["in_kb"], output.json["outside_kb"]) == (80, 52, 28)
    assert output.json["types"] == {"T047": 52, "–": 28}
    text = run(*args).out
    assert "mentions " in text and " 80" in text and "label: ENTITY" in text
    assert "in kb" not in text and "nil " in text


def test_corpus_info_of_nothing(tmp_path):
    (tmp_path / "empty.jsonl").write_text('{"id": "1", "text": "x", "mentions": []}\n')
    refused("E620", "corpus", "info", tmp_path / "empty.jsonl")
