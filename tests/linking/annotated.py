"""Annotated mentions as documents, linkers to fit on them, and the fit."""

from spacy_pel.candidates.tfidf import TfIdf
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.linking import Linker, MentionQuery
from spacy_pel.linking.calibration import collect, fit
from spacy_pel.linking.combiner import LinearCombiner
from spacy_pel.linking.nil import LogisticNil
from spacy_pel.types import Document, Mention


def examples(linker, queries, gold, documents=None, composite=None):
    """The evidence for queries with these gold ids; each text is a document, unless they are named."""
    names = [query.text for query in queries] if documents is None else documents
    whole = [False] * len(queries) if composite is None else composite
    annotated = [
        Document(str(name), query.text, [Mention(query.start, query.end, query.label, tuple(ids), composite=both)])
        for name, query, ids, both in zip(names, queries, gold, whole, strict=True)
    ]
    return collect(linker, queries, annotated)


def fit_mentions(linker, queries, gold, documents=None, **settings):
    """Fit on queries with these gold ids."""
    return fit(linker, [examples(linker, queries, gold, documents)], **settings)


def gold_queries(documents):
    """One for each mention."""
    return [MentionQuery(one.text, m.start, m.end, m.label) for one in documents for m in one.mentions]


def fit_documents(linker, documents):
    """Fit on the gold mentions of documents."""
    return fit(linker, [collect(linker, gold_queries(documents), documents)])


def hashed_linker(kb, combiner=None, nil_model=None, *, encoder=None, rows=None, **settings):
    """A linker whose encoder reads letters, and has no weights; ``rows`` are settings of its index."""
    encoder = encoder or HashEmbed(width=64)
    index = EntityIndex.build(kb, encoder, index=FaissIVF(), **rows or {})
    return Linker(kb, encoder, index, combiner or LinearCombiner(), nil_model or LogisticNil(), **settings)


def tfidf_linker(kb, nil_model=None, **settings):
    """A linker without an encoder."""
    generator = TfIdf()
    generator.build(kb)
    return Linker(kb, None, None, LinearCombiner(), nil_model or LogisticNil(), generator=generator, **settings)
