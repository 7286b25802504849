"""Gold mentions of a corpus as queries, prepared like those of the component."""

from collections.abc import Callable, Iterable
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..abbreviations.documents import LongForms, long_forms, spelled_out
from ..corpora.document_stream import text_pieces
from ..linking import MentionQuery, replace_mention
from ..types import NIL, Document, Mention, Vectors
from .token_types import span_types


def query_maker(nlp: Language, *, name: str = "proxy_entity_linker") -> Callable[[Document], list[MentionQuery]]:
    """Queries for the gold mentions of documents, whether or not these align with tokens.

    Abbreviations are expanded as the component does it, and a typed detector says what kind each mention is: for
    that, and for that only, the text is tokenised and the pipeline's components for it are run.

    Args:
        nlp: a pipeline with the component.
        name: the component's name in the pipeline.

    Returns:
        Document -> one query for each of its mentions, in order.
    """
    component: Any = nlp.get_pipe(name)
    detectors = [proc for pipe, proc in nlp.pipeline if "doc._.abbreviations" in nlp.get_pipe_meta(pipe).assigns]
    if not component.expand_abbreviations:
        detectors = []
    readers = [proc for _, proc in nlp.pipeline if getattr(proc, "writes_token_types", False)]
    needed = [*readers, *detectors]

    def make_queries(document: Document) -> list[MentionQuery]:
        text = document.text
        forms: LongForms = {}
        types: list[Vectors | None] = [None] * len(document.mentions)
        if needed and document.mentions:
            for offset, piece in text_pieces(text, nlp.max_length):
                doc = nlp.make_doc(piece)
                for pipe in needed:
                    doc = pipe(doc)
                spans = [_within(doc, mention, offset) for mention in document.mentions]
                types = [
                    read if known is None else known for known, read in zip(types, span_types(doc, spans), strict=True)
                ]
                for short, places in long_forms(doc).items() if detectors else ():
                    forms.setdefault(short, {}).update(
                        (offset + start, long_form) for start, long_form in places.items()
                    )
        queries = [
            MentionQuery(text, m.start, m.end, m.label, types=of_mention)
            for m, of_mention in zip(document.mentions, types, strict=True)
        ]
        longer = spelled_out([(query.surface, query.start) for query in queries], forms)
        return [
            query if surface is None else replace_mention(query, surface)
            for query, surface in zip(queries, longer, strict=True)
        ]

    return make_queries


def _within(doc: Doc, mention: Mention, offset: int) -> Span | None:
    """A mention as a span of a piece of its text that begins at a character; None = it is in another one."""
    start, end = mention.start - offset, mention.end - offset
    return doc.char_span(start, end, alignment_mode="expand") if 0 <= start < end <= len(doc.text) else None


def documents_of(examples: Iterable[Example]) -> list[Document]:
    """The reference documents' entities that have an id; "NIL" = no id."""
    documents = []
    for number, example in enumerate(examples):
        reference = example.reference
        mentions = [
            Mention(ent.start_char, ent.end_char, ent.label_, () if ent.kb_id_ == NIL else (ent.kb_id_,))
            for ent in reference.ents
            if ent.kb_id_
        ]
        documents.append(Document(id=str(number), text=reference.text, mentions=mentions))
    return documents
