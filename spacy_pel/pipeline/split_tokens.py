"""Tokens that hold several words, such as "1.HTN" or "HTN/COPD", split where a mention begins or ends."""

from itertools import pairwise
from typing import Any, Iterable

from spacy.tokens import Doc, SpanGroup


def split_tokens(doc: Doc, places: Iterable[int]) -> None:
    """Split tokens in place, so that one begins at each of some characters. Span groups keep their text; a
    ``Span`` that was made before must not be used any more.

    doc (Doc): the document.
    places (Iterable[int]): character offsets.
    """
    starts = {token.idx for token in doc}
    ends = {token.idx + len(token) for token in doc}
    cuts = sorted(set(places) - starts - ends)
    if not cuts:
        return
    groups = [
        (key, group.attrs, [(s.start_char, s.end_char, s.label, s.kb_id, s.id) for s in group])
        for key, group in doc.spans.items()
    ]
    with doc.retokenize() as retokenizer:
        for token in doc:
            inner = [cut - token.idx for cut in cuts if token.idx < cut < token.idx + len(token)]
            if inner:
                parts = [token.text[start:end] for start, end in pairwise([0, *inner, len(token)])]
                heads: Any = [(token.head, 0), *[(token, 0)] * len(inner)]
                retokenizer.split(token, parts, heads=heads)
    for key, attrs, spans in groups:
        made = [doc.char_span(a, b, label=label, kb_id=kb, span_id=one) for a, b, label, kb, one in spans]
        doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs, spans=made)  # type: ignore[arg-type]
