"""What a detector takes tokens for, kept with a document."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_pel.kb import KnowledgeBase
from spacy_pel.pipeline.mentions import span_queries, span_types, write_token_types
from spacy_pel.types import Entity
from spacy_pel.types.semantic_types import ST21PV

NLP = spacy.blank("en")
LABELS = ["CHEMICAL", "FINDING"]
CHEMICAL, FINDING = (list(ST21PV).index(tui) for tui in ("T103", "T033"))


def read():
    doc = NLP("Pain  after aspirin")
    write_token_types(doc, LABELS, np.array([[0.1, 0.9], [0, 0], [0.5, 0.5], [0.9, 0.1]], dtype=np.float32))
    return doc


def test_the_types_of_a_mention_are_the_mean_of_its_tokens():
    doc = read()
    pain, all_of_it, blank, absent = span_types(doc, [doc[:1], doc[:], doc[1:2], None])
    assert pain[FINDING] == pytest.approx(0.9, abs=0.01) and pain.sum() == pytest.approx(1)
    assert all_of_it[FINDING] == pytest.approx(all_of_it[CHEMICAL]) == pytest.approx(0.5, abs=0.05)
    assert blank is None and absent is None


def test_they_are_saved_with_the_document():
    doc = read()
    (again,) = DocBin(docs=[doc], store_user_data=True).get_docs(NLP.vocab)
    np.testing.assert_array_equal(span_types(again, [again[:1]])[0], span_types(doc, [doc[:1]])[0])
    bare = Doc(NLP.vocab).from_bytes(doc.to_bytes(exclude=["user_data"]))
    assert span_types(bare, [bare[:1]]) == [None]


def test_the_linker_is_told():
    doc, kb = read(), KnowledgeBase([Entity("A", "pain")])
    (query,) = span_queries(doc, [doc.char_span(0, 4, label="FINDING")], expand_abbreviations=True, kb=kb)
    assert query.types[FINDING] == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize("labels", [["CHEMICAL"], ["CHEMICAL", "SOMETHING"]])
def test_other_labels_tell_nothing(labels):
    doc = NLP("aspirin")
    write_token_types(doc, labels, np.ones((1, len(labels)), dtype=np.float32) / len(labels))
    assert span_types(doc, [doc[:]]) == [None]
