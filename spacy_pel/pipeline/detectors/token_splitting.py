"""Split tokens where a mention begins or ends inside of them."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from spacy.tokens import Doc, SpanGroup


def split_tokens(doc: Doc, mentions: Iterable[tuple[int, int]]) -> None:
    """Split tokens in place, so that mentions begin and end with tokens. Span groups keep their text; a
    ``Span`` that was made before must not be used any more.

    Args:
        doc: the document.
        mentions: character offsets, end exclusive.
    """
    cuts: dict[int, set[int]] = {}  # token -> its characters that begin a new token
    for mention in mentions:
        if doc.char_span(*mention) is not None:
            continue
        span: Any = doc.char_span(*mention, alignment_mode="expand")
        for token in (span[0], span[-1]):
            inner = {offset - token.idx for offset in mention} & set(range(1, len(token)))
            cuts.setdefault(token.i, set()).update(inner)
    if not cuts:
        return
    groups = [
        (key, group.attrs, [(s.start_char, s.end_char, s.label, s.kb_id, s.id) for s in group])
        for key, group in doc.spans.items()
    ]
    with doc.retokenize() as retokenizer:
        for i, inner in cuts.items():
            token = doc[i]
            parts = [token.text[start:end] for start, end in pairwise(sorted({0, *inner, len(token)}))]
            heads: Any = [(token.head, 0), *[(token, 0)] * (len(parts) - 1)]
            retokenizer.split(token, parts, heads=heads)
    for key, attrs, spans in groups:
        made = [doc.char_span(a, b, label, kb_id, span_id=span_id) for a, b, label, kb_id, span_id in spans]
        doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs, spans=made)  # type: ignore[arg-type]
