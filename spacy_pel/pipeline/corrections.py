"""Corrected mentions of documents."""

from typing import Any, List, Optional

from spacy.tokens import Doc, Span
from spacy.training import Example

from ..errors import Errors, PelError
from ..linking import Correction
from .mentions import answers_of_linkers, mention_spans


def reference_of(given: Any) -> Doc:
    """RETURNS (Doc): the document, or the reference of an example.

    RAISES (PelError): if it is neither.
    """
    doc = given.reference if isinstance(given, Example) else given
    if not isinstance(doc, Doc):
        raise PelError(
            Errors.E536.format(expected="Docs or Examples to learn from", got=type(given).__name__)
        )
    return doc


def corrected_spans(doc: Doc, spans_key: Optional[str]) -> List[Span]:
    """RETURNS (List[Span]): mentions with an id, except those with the id that this linker, or another one
    after it, gave them."""
    spans = mention_spans(doc, spans_key)
    return [span for span in spans if span.kb_id_ and span.kb_id_ not in answers_of_linkers(span)]


def correction_of(span: Span) -> Correction:
    """RETURNS (Correction): that says what the span says.

    RAISES (PelError): if the span is only white space.
    """
    return Correction(
        text=span.doc.text,
        start=span.start_char,
        end=span.end_char,
        kb_id=span.kb_id_,
        label=span.label_,
        doc=str(span.doc.user_data.get("id", "")),
    )
