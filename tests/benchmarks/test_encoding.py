"""The benchmark of encoding, on a tiny encoder."""

from benchmarks.encoding import TEMPLATES, main, measure, read_mentions
from spacy_pel.corpora import write_corpus
from spacy_pel.types import Document, Mention

TEXT = "fever and gout " * 30
DOCUMENTS = [
    Document(f"d{i}", f"{i} {TEXT}", [Mention(start, start + 5) for start in range(2, 60, 7)]) for i in range(3)
]


def test_documents_are_read_once_and_mentions_one_by_one(tmp_path):
    write_corpus(tmp_path / "corpus.jsonl", DOCUMENTS)
    mentions = read_mentions(tmp_path / "corpus.jsonl", 2)
    assert len(mentions) == 18 and len({mention.text for mention in mentions}) == 2
    found = {
        name: measure("random:layers=1,width=32", template, mentions, repeats=1) for name, template in TEMPLATES.items()
    }
    for name, row in found.items():
        assert row["per_second"] > 0 and row["cpu_seconds"] > 0
        assert (row["windows"] == 18) == name.startswith("Marked")
        assert row["windows"] >= 2
    assert found["MarkedContext, 32"]["pieces"] == 18 * 32 > found["DocumentWindows, 128"]["pieces"]


def test_the_table_has_a_row_for_each_template(tmp_path, run):
    write_corpus(tmp_path / "corpus.jsonl", DOCUMENTS)
    result = run(main, tmp_path / "corpus.jsonl", "--encoder", "random:layers=1,width=32", "--repeats", 1)
    assert result.exit_code == 0, result.output
    assert all(name in result.output for name in TEMPLATES) and "27 mentions" in result.output
    write_corpus(tmp_path / "empty.jsonl", [Document("d", "text", [])])
    result = run(main, tmp_path / "empty.jsonl")
    assert result.exit_code == 2 and "got none" in result.output
