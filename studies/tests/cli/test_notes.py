"""research notes."""

from cli.conftest import done, refused

from spacy_pel.corpora import read_corpus
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity


def test_texts_are_written(tmp_path):
    kb = KnowledgeBase.build([Entity("C1", "Asthma", types=("T047",))], tmp_path / "kb").path
    output = done("research", "notes", kb, tmp_path / "notes.jsonl", "--documents", 30, "--json")
    documents = list(read_corpus(tmp_path / "notes.jsonl"))
    mentions = [mention for document in documents for mention in document.mentions]
    assert len({document.id for document in documents}) == 30 == output.json["documents"]
    assert (output.json["mentions"], output.json["with_id"]) == (len(mentions), sum(m.ids == ("C1",) for m in mentions))
    assert output.json["with_id"]


def test_no_knowledge_base(tmp_path):
    refused("E686", "research", "notes", tmp_path, tmp_path / "notes.jsonl")
    assert not (tmp_path / "notes.jsonl").exists()
