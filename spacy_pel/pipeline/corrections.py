"""Corrected mentions of documents."""

from typing import Any, Dict, List, Optional, Sequence

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..errors import Errors, PelError
from ..linking import Correction
from ..types import NIL
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


def not_found(nlp: Language, corrections: Sequence[Correction], *, name: str) -> List[Correction]:
    """The corrections to an entity whose mentions the pipeline does not find in their own texts: there they
    have no effect.

    nlp (Language): a pipeline whose linker has learned them.
    corrections (Sequence[Correction]): what it has learned.
    name (str): of the linker.
    RETURNS (List[Correction]): some of these; none of those to NIL, as what is not found is not linked.
    """
    linker: Any = nlp.get_pipe(name)
    of_text: Dict[str, List[Correction]] = {}
    for one in corrections:
        if one.kb_id != NIL:
            of_text.setdefault(one.text, []).append(one)
    without = nlp.pipe_names[nlp.pipe_names.index(name) :]
    missing: List[Correction] = []
    for doc, own in zip(nlp.pipe(of_text, disable=without), of_text.values(), strict=True):
        found = {(span.start_char, span.end_char) for span in mention_spans(doc, linker.spans_key)}
        missing += [one for one in own if (one.start, one.end) not in found]
    return missing
