"""The evaluation of a linker, with a KB and an index in memory."""

import json

import pytest
from linking.tables import NearestRow

from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.errors import PelError
from spacy_pel.evaluation import evaluate
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import Linker
from spacy_pel.linking.nil import NetworkNil
from spacy_pel.types import Document, Entity, Mention
from spacy_pel.util import read_jsonl

ENTITIES = [Entity("A", "aspirin", types=("T2", "T1")), Entity("B", "breast cancer"), Entity("O", "ovarian cancer")]
TEXT = "Aspirin against breast cancer and ovarian cancer, with gadgets."
TRAIN = [Document("t", "aspirin", [Mention(0, 7, "", ("A",))])]


def at(surface, *ids, composite=False):
    start = TEXT.index(surface)
    return Mention(start, start + len(surface), "X", ids, composite)


@pytest.fixture
def linker():
    kb = KnowledgeBase(ENTITIES, redirects={"OLD": "A"})
    encoder = HashEmbed(width=128)
    index = EntityIndex.build(kb, encoder, index=FaissIVF(), documents=TRAIN)
    return Linker(kb, encoder, index, NearestRow(), NetworkNil(), threshold=0.6)


@pytest.fixture
def documents():
    mentions = [
        at("Aspirin", "OLD"),  # a retired id
        at("breast cancer", "B", "X9"),  # one of two ids is known
        at("breast cancer and ovarian cancer", "B", "O", composite=True),
        at("gadgets", "X9"),  # an id that the KB lacks
        at("against"),  # NIL in the corpus
    ]
    return [Document("d", TEXT, mentions), Document("e", TEXT, [at("ovarian cancer", "O")])]


def test_gold_mentions(linker, documents, tmp_path):
    metrics = evaluate(linker, documents, output=tmp_path, corpus_fingerprint="c")
    assert (metrics["n"], metrics["n_nil"], metrics["n_outside"], metrics["n_documents"]) == (6, 2, 2, 2)
    assert metrics["recall@1"] == 3 / 4 and metrics["recall@2"] == 1.0  # the composite one needs two places
    assert (metrics["n_seen"], metrics["n_unseen"]) == (1, 3)
    assert metrics["nil_recall"] == 1.0 and metrics["threshold"] == 0.6
    predictions = list(read_jsonl(tmp_path / "predictions.jsonl"))
    assert [p["gold"] for p in predictions] == [["A"], ["B"], ["B", "O"], [], [], ["O"]]
    assert [p["kb_id"] for p in predictions] == ["A", "B", predictions[2]["kb_id"], "NIL", "NIL", "O"]
    assert predictions[0]["types"] == ["T1", "T2"] and "types" not in predictions[1]
    assert predictions[1]["outside"] == ["X9"] and predictions[2]["composite"] is True
    assert metrics == json.loads((tmp_path / "metrics.json").read_text())


def test_ids_of_another_kb_are_noticed(linker, caplog):
    known, unknown = (Document("a", TEXT, [at("Aspirin", "A")]), Document("b", TEXT, [at("gadgets", "MESH:X9")]))
    evaluate(linker, [known, unknown, Document("c", TEXT, [at("against")])])
    assert "PEL-W103" not in caplog.text, "half of those with ids; NIL mentions do not count"
    evaluate(linker, [known, unknown, unknown])
    assert "lacks the ids of 2 of 3 annotated mentions, e.g. 'MESH:X9'" in caplog.text
    assert "ids such as 'A'" in caplog.text


def test_many_documents_keep_their_order(linker):
    """More mentions than are linked at a time."""
    several = [Document(str(i), TEXT, [at("Aspirin", "A"), at("gadgets")]) for i in range(700)]
    metrics = evaluate(linker, several)
    assert (metrics["n"], metrics["n_nil"], metrics["recall@1"]) == (1400, 700, 1.0)
    assert metrics["accuracy"] == 1.0


def test_corpora_without_use(linker):
    with pytest.raises(PelError, match="E620"):
        evaluate(linker, [Document("d", TEXT, [])])
    foreign = [Document("d", TEXT, [at("Aspirin", "MESH:X9")])]
    for documents in (foreign, iter(foreign)):
        with pytest.raises(PelError, match="E621.*X9.*ids such as.*strip_prefix=MESH:$"):
            evaluate(linker, documents)
    assert evaluate(linker, [Document("d", TEXT, [at("gadgets")])])["n_nil"] == 1  # NIL alone may be


def test_nothing_is_left_of_a_broken_run(linker, documents, tmp_path):
    def texts():
        yield documents[0]
        raise PelError("broken")

    with pytest.raises(PelError, match="broken"):
        evaluate(linker, texts(), output=tmp_path / "out")
    assert not any((tmp_path / "out").rglob("*"))
