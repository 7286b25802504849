"""Gold mentions of a corpus as queries, prepared like those of the component."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..abbreviations.documents import LongForms, listed_in, long_forms
from ..abbreviations.short_forms import Sense
from ..corpora.document_stream import text_pieces
from ..errors import Errors, PelError
from ..linking import Correction, MentionQuery, make_queries
from ..types import NIL, Document, Mention, Vectors
from .mentions import answers_of_linkers, mention_spans, span_types


def query_maker(
    nlp: Language, *, name: str = "proxy_entity_linker", component: Any = None
) -> Callable[..., list[MentionQuery]]:
    """Queries for the gold mentions of documents, whether or not these align with tokens.

    Abbreviations are expanded as the component does it, and a typed detector says what kind each mention is: for
    that, and for that only, the text is tokenised and the pipeline's components for it are run.

    Args:
        nlp: a pipeline with the component.
        name: the component's name in the pipeline.
        component: itself, which may be in another pipeline, too, or under another name.

    Returns:
        Document -> one query for each of its mentions, in order. With ``alone=True`` the mention is all there is to
        read: of the components only those that find abbreviations, for what their lists say of a term.
    """
    component = component or nlp.get_pipe(name)
    detectors = [proc for pipe, proc in nlp.pipeline if "doc._.abbreviations" in nlp.get_pipe_meta(pipe).assigns]
    if not component.expand_abbreviations:
        detectors = []
    readers = [proc for _, proc in nlp.pipeline if getattr(proc, "writes_token_types", False)]
    needed = [*readers, *detectors]

    def queries_of_document(document: Document, *, alone: bool = False) -> list[MentionQuery]:
        text = document.text
        forms: LongForms = {}
        listed: dict[tuple[int, int], Sense] = {}
        types: list[Vectors | None] = [None] * len(document.mentions)
        if document.mentions and (pipes := detectors if alone else needed):
            for offset, piece in text_pieces(text, nlp.max_length):
                doc = nlp.make_doc(piece)
                for pipe in pipes:
                    doc = pipe(doc)
                spans = [_within(doc, mention, offset) for mention in document.mentions]
                types = [
                    read if known is None else known for known, read in zip(types, span_types(doc, spans), strict=True)
                ]
                listed |= listed_in(doc, offset=offset)
                for short, places in long_forms(doc).items() if detectors else ():
                    forms.setdefault(short, []).extend((offset + start, long_form) for start, long_form in places)
        mentions = [(mention.start, mention.end, mention.label) for mention in document.mentions]
        return make_queries(text, mentions, types=types, forms=forms, listed=listed, kb=component.kb)

    return queries_of_document


def _within(doc: Doc, mention: Mention, offset: int) -> Span | None:
    """A mention as a span of a piece of its text that begins at a character; None = it is in another one."""
    start, end = mention.start - offset, mention.end - offset
    return doc.char_span(start, end, alignment_mode="expand") if 0 <= start < end <= len(doc.text) else None


def term_reader(nlp: Language, component: Any) -> Callable[[str], MentionQuery]:
    """Queries for terms that are all there is to read, by the lists of a pipeline. RAISES (PelError): if one is no
    text."""
    ask = query_maker(nlp, component=component)

    def query_of_term(term: str) -> MentionQuery:
        if not isinstance(term, str):
            raise PelError(Errors.E011.format(expected="texts or Spans", got=type(term).__name__))
        text = term.strip()
        return ask(Document("", text, [Mention(0, len(text))]), alone=True)[0]

    return query_of_term


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


# -- corrected mentions -----------------------------------------------------------------------------


def reference_of(doc_or_example: Any) -> Doc:
    """The document, or the reference of an example.

    Raises:
        PelError: if it is neither.
    """
    doc = doc_or_example.reference if isinstance(doc_or_example, Example) else doc_or_example
    if not isinstance(doc, Doc):
        raise PelError(Errors.E011.format(expected="Docs or Examples to learn from", got=type(doc_or_example).__name__))
    return doc


def corrected_mentions(doc: Doc, spans_key: str | None) -> tuple[list[Span], list[Correction]]:
    """Find the mentions of a document with another id than this linker, or another one after it, gave them.

    The document tells which id that was, unless its user data were not kept, or other spans share the
    offsets, by which spaCy keeps user data. Then the correction is not explicit.

    Returns:
        The spans, and a correction for each.

    Raises:
        PelError: if a span is only white space.
    """
    groups = (doc.ents, *doc.spans.values())
    sharing = Counter((span.start, span.end) for group in groups for span in group)
    spans: list[Span] = []
    corrections: list[Correction] = []
    for span in mention_spans(doc, spans_key):
        answers = answers_of_linkers(span) if sharing[span.start, span.end] == 1 else set()
        if not span.kb_id_ or span.kb_id_ in answers:
            continue
        spans.append(span)
        corrections.append(
            Correction(
                text=doc.text,
                start=span.start_char,
                end=span.end_char,
                kb_id=span.kb_id_,
                label=span.label_,
                doc=str(doc.user_data.get("id", "")),
                explicit=bool(answers),
            )
        )
    return spans, corrections


def queries_of(
    corrections: Sequence[Correction], make_queries: Callable[..., list[MentionQuery]]
) -> list[MentionQuery]:
    """A query for each corrected mention.

    Args:
        corrections: those of one text in a row.
        make_queries: of ``query_maker``.
    """
    queries: list[MentionQuery] = []
    for (text, doc), group in groupby(corrections, key=lambda correction: (correction.text, correction.doc)):
        mentions = [Mention(correction.start, correction.end, correction.label) for correction in group]
        queries += make_queries(Document(doc, text, mentions), alone=mentions[0].end - mentions[0].start == len(text))
    return queries


def not_found(nlp: Language, corrections: Sequence[Correction], *, name: str) -> list[Correction]:
    """The corrections to an entity whose mentions the pipeline does not find in their own texts: there they
    have no effect.

    Args:
        nlp: a pipeline whose linker has learned them.
        corrections: what it has learned.
        name: of the linker.

    Returns:
        Some of these; none of those to NIL, as what is not found is not linked, nor of terms without a text.
    """
    linker: Any = nlp.get_pipe(name)
    of_text: dict[str, list[Correction]] = {}
    for correction in corrections:
        if correction.kb_id != NIL and correction.surface != correction.text:
            of_text.setdefault(correction.text, []).append(correction)
    without = nlp.pipe_names[nlp.pipe_names.index(name) :]
    missing: list[Correction] = []
    for doc, of_document in zip(nlp.pipe(of_text, disable=without), of_text.values(), strict=True):
        offsets = {(span.start_char, span.end_char) for span in mention_spans(doc, linker.spans_key)}
        missing += [correction for correction in of_document if (correction.start, correction.end) not in offsets]
    return missing
