"""``demo`` on the tiny pipeline: table, JSON lines and page tell the same."""

from spacy_pel.util import read_jsonl

from .conftest import done, run

TEXT = 'Aspirin\'s "effect" in <fever> & zebra fish: aspirin against fever.'


def test_own_text(folder, tmp_path):
    arguments = ("demo", "--pipeline", folder / "pipeline", "--output", tmp_path / "demo")
    result = done(*arguments, "--text", TEXT, "--text", "Nothing here.")
    first, second = read_jsonl(tmp_path / "demo" / "links.jsonl")
    assert first["text"] == TEXT and second["mentions"] == []
    assert [m["text"] for m in first["mentions"]] == ["fever", "zebra fish", "aspirin", "fever"]
    assert [m["kb_id"] for m in first["mentions"] if m["text"] != "zebra fish"] == ["C5", "C0", "C5"]
    for shown in ("mention", "runner-up", "zebra fish", "C5", "aspirin", "No mentions were found."):
        assert shown in result.out
    page = (tmp_path / "demo" / "links.html").read_text(encoding="utf8")
    assert "in &lt;" in page and "<fever>" not in page
    assert run(*arguments, "--text", TEXT, "--json").json["documents"] == [first]


def test_default_texts(folder, tmp_path):
    result = run("demo", "--pipeline", folder / "pipeline", "--output", tmp_path, "--json")
    assert ["cystic fibrosis" in document["text"] for document in result.json["documents"]] == [False, True, False]
