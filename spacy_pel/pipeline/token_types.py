"""What a detector takes each token of a document for, kept with the document for the linker."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from ..types import Vectors
from ..types.semantic_types import ST21PV, st21pv_type

_KEY = "pel_token_types"  # in doc.user_data: bytes, which every format keeps
_MOST = 255
_LEAST = 0.1  # of _MOST, instead of 0


def write_token_types(doc: Doc, labels: Sequence[str], probabilities: NDArray[np.floating]) -> None:
    """Keep P(type) of each token, unless a label is no type of ST21pv.

    Args:
        doc: the document.
        labels: of the detector.
        probabilities: (tokens, labels), by token of sum 1 or 0.
    """
    columns = type_columns(tuple(labels))
    if columns is not None:
        doc.user_data[_KEY] = np.rint(_MOST * (probabilities @ columns)).astype(np.uint8).tobytes()


@lru_cache(maxsize=16)
def type_columns(labels: tuple[str, ...]) -> Vectors | None:
    """(labels, 21), 1 where a label is a type of ST21pv; None unless all are, of at least two."""
    types = [st21pv_type(label) for label in labels]
    if len(types) < 2 or None in types:
        return None
    return np.array([[kind == tui for tui in ST21PV] for kind in types], dtype=np.float32)


def span_types(doc: Doc, spans: Sequence[Span | None]) -> list[Vectors | None]:
    """P(type) of mentions: the geometric mean over their tokens.

    Args:
        doc: that a detector may have read.
        spans: mentions, found by any detector; None = one that is not in the document.

    Returns:
        For each (21,), the types of ST21pv in their order, with sum 1; None where nothing was read.
    """
    stored = doc.user_data.get(_KEY)
    if not isinstance(stored, bytes) or len(stored) != len(doc) * len(ST21PV):  # the document may be a part of one
        return [None] * len(spans)
    tokens = np.frombuffer(stored, dtype=np.uint8).reshape(len(doc), len(ST21PV))
    logs = np.log(np.maximum(tokens, _LEAST) / _MOST)
    is_read = tokens.any(axis=1)
    types: list[Vectors | None] = []
    for span in spans:
        read = None if span is None else logs[span.start : span.end][is_read[span.start : span.end]]
        if read is None or not len(read):
            types.append(None)
            continue
        mean = np.exp(read.mean(axis=0))
        types.append((mean / mean.sum()).astype(np.float32))
    return types
