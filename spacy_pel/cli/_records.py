"""Linked mentions in the output format of the commands."""

from typing import Any, Dict

from ..types import NIL


def mention_record(kb: Any, span: Any, n_candidates: int) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): a linked mention as JSON data.

    kb (KnowledgeBase): gives the name.
    span (Span): the mention.
    n_candidates (int): how many candidates to keep.
    """
    candidates = [[entity_id, round(score, 6)] for entity_id, score in span._.pel_candidates or []]
    linked = span.kb_id_ not in ("", NIL)
    return {
        "start": span.start_char,
        "end": span.end_char,
        "text": span.text,
        "label": span.label_,
        "ids": [span.kb_id_] if linked else [],
        "kb_id": span.kb_id_,
        "name": kb[span.kb_id_].canonical_name if linked else None,
        "score": candidates[0][1] if candidates else None,
        "nil_score": None if span._.pel_nil_score is None else round(span._.pel_nil_score, 6),
        "candidates": candidates[:n_candidates],
    }
