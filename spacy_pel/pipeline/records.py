"""Linked mentions and documents as JSON data, as `link` writes them."""

from typing import Any

from ..corpora.document_stream import ProcessedDocument
from ..kb.codes import Codes
from ..types import NIL
from .mentions import mention_spans


def mention_record(
    component: Any, span: Any, n_candidates: int, *, codes: Codes | None = None, offset: int = 0
) -> dict[str, Any]:
    """A linked mention as JSON data.

    Args:
        component: linked it; a later linker may have set another id.
        span: the mention.
        n_candidates: how many candidates to keep.
        codes: gives the codes to report; None = none.
        offset: of the span's Doc in the document.
    """
    attributes, prefix = span._, component.extension_prefix
    kb_id, nil_score = attributes.get(f"{prefix}_id") or span.kb_id_, attributes.get(f"{prefix}_nil_score")
    probability = attributes.get(f"{prefix}_probability")
    candidates = [[key, round(score, 6)] for key, score in attributes.get(f"{prefix}_candidates") or []]
    linked = kb_id not in ("", NIL)
    return {
        "start": offset + span.start_char,
        "end": offset + span.end_char,
        "text": span.text,
        "label": span.label_,
        "ids": [kb_id] if linked else [],
        "kb_id": kb_id,
        "name": component.kb[kb_id].canonical_name if linked and kb_id in component.kb else None,
        "score": candidates[0][1] if candidates else None,
        "nil_score": None if nil_score is None else round(nil_score, 6),
        "probability": None if probability is None else round(probability, 6),
        **({"id_set": id_set} if (id_set := attributes.get(f"{prefix}_set")) else {}),
        **({"codes": codes(kb_id)} if codes and codes.names else {}),
        "candidates": candidates[:n_candidates],
    }


def document_record(
    component: Any, processed: ProcessedDocument, n_candidates: int, codes: Codes | None = None
) -> dict[str, Any]:
    """A linked document as JSON data: "id", "text", "mentions" and "meta"; "id" and
    "error" where the pipeline failed.

    Args:
        component: linked it.
        processed: the document.
        n_candidates: how many candidates to keep of each mention.
        codes: gives the codes to report of each mention; None = none.
    """
    document, pieces, error = processed
    if error:
        return {"id": document.id, "error": error}
    mentions = [
        mention_record(component, span, n_candidates, codes=codes, offset=offset)
        for offset, doc in pieces
        for span in mention_spans(doc, component.spans_key)
    ]
    return {"id": document.id, "text": document.text, "mentions": mentions, "meta": document.meta}
