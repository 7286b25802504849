"""Passages of one article share the abbreviations that they define."""

import pytest
import spacy

from spacy_pel.abbreviations.documents import SharedDefinitions, long_form_at, long_forms
from spacy_pel.corpora.document_stream import ARTICLE, process_documents
from spacy_pel.types import Document

DEFINING = "Progressive encephalopathies (PEs) are rare; a PE is."
USING = "One PE was severe."


@pytest.fixture
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("pel_abbreviation_detector")
    return nlp


def read(doc):
    return long_form_at(long_forms(doc), "PE", doc.text.find("PE"))


def test_passages_of_an_article(nlp):
    share = SharedDefinitions()
    passages = [(USING, 1), (DEFINING, 1), (USING, 1), ("No other.", 1), (USING, 1), (USING, 2), (USING, None)]
    docs = nlp.pipe(share(nlp.make_doc(text), article) for text, article in passages)
    found = [read(doc) for doc in docs]
    long_form = "Progressive encephalopathies"
    assert found == [None, long_form, long_form, long_form, long_form, None, None]


def test_a_passage_s_own_definition_comes_first(nlp):
    share = SharedDefinitions()
    share(nlp.make_doc(DEFINING), "a")
    doc = nlp(share(nlp.make_doc("A PE, then pulmonary embolism (PE), and PE."), "a"))
    found = [long_form_at(long_forms(doc), "PE", token.idx) for token in doc if token.text == "PE"]
    assert found == ["pulmonary embolism"] * 3


def test_documents_of_a_stream(nlp):
    metas = [{ARTICLE: "PMC1"}, {ARTICLE: "PMC1"}, {ARTICLE: "PMC2"}, {}, {}, {ARTICLE: ""}, {ARTICLE: ""}]
    texts = [DEFINING, USING, USING, DEFINING, USING, DEFINING, USING]
    documents = [
        Document(str(number), text, meta=meta) for number, (text, meta) in enumerate(zip(texts, metas, strict=True))
    ]
    results = process_documents(nlp, documents, batch_size=1)
    found = [read(doc) for result in results for _, doc in result.pieces]
    assert [one is not None for one in found] == [True, True, False, *[True, False] * 2]


def test_pieces_of_a_long_document(nlp):
    nlp.max_length = 60
    document = Document("d", f"{DEFINING}\n\n{USING} {USING}")
    (result,) = process_documents(nlp, [document], batch_size=8)
    assert len(result.pieces) > 1
    assert read(result.pieces[-1][1]) == "Progressive encephalopathies"
