"""Linked mentions and documents as JSON data, as `link` writes them."""

from typing import Any, Dict

from ..types import NIL, Document
from .mentions import mention_spans


def mention_record(component: Any, span: Any, n_candidates: int) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): a linked mention as JSON data.

    component (ProxyEntityLinker): linked it; a later linker may have set another id.
    span (Span): the mention.
    n_candidates (int): how many candidates to keep.
    """
    found, prefix = span._, component.extension_prefix
    kb_id, nil_score = found.get(f"{prefix}_id") or span.kb_id_, found.get(f"{prefix}_nil_score")
    probability = found.get(f"{prefix}_probability")
    candidates = [[key, round(score, 6)] for key, score in found.get(f"{prefix}_candidates") or []]
    linked = kb_id not in ("", NIL)
    return {
        "start": span.start_char,
        "end": span.end_char,
        "text": span.text,
        "label": span.label_,
        "ids": [kb_id] if linked else [],
        "kb_id": kb_id,
        "name": component.kb[kb_id].canonical_name if linked and kb_id in component.kb else None,
        "score": candidates[0][1] if candidates else None,
        "nil_score": None if nil_score is None else round(nil_score, 6),
        "probability": None if probability is None else round(probability, 6),
        **({"id_set": id_set} if (id_set := found.get(f"{prefix}_set")) else {}),
        "candidates": candidates[:n_candidates],
    }


def document_record(component: Any, doc: Any, document: Document, n_candidates: int) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): a linked document as JSON data: "id", "text", "mentions" and "meta".

    component (ProxyEntityLinker): linked it.
    doc (Doc): its text, linked.
    document (Document): its id, text and meta.
    n_candidates (int): how many candidates to keep of each mention.
    """
    spans = mention_spans(doc, component.spans_key)
    mentions = [mention_record(component, span, n_candidates) for span in spans]
    return {"id": document.id, "text": document.text, "mentions": mentions, "meta": document.meta}
