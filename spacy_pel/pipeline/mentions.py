"""From a Doc to queries, from links back to the Doc, and from linked Docs to the JSON data that `link` writes."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from ..abbreviations.documents import listed_in, long_forms
from ..types import NIL, Vectors
from ..types.semantic_types import GROUP_LABELS, ST21PV, mention_group, st21pv_type

if TYPE_CHECKING:  # spaCy imports this file for every pipeline
    from ..corpora.document_stream import ProcessedDocument
    from ..kb.codes import Codes
    from ..linking import Link, MentionQuery

Owner = Doc | Span
ReadStored = Callable[[Any, Any], Any]  # the Doc or Span, and what was set (None = nothing) -> the value
# of a mention that was found as a phrase: the probability that it is one, see ``phrase_probability``
PHRASE = "pel_phrase"
_TYPES = frozenset(ST21PV.values())
_prefixes: set[str] = set()  # of the linkers of this process


def declare(owner: Any, name: str, read: ReadStored) -> None:
    """Declare an attribute with a form of its own, unless there is one of this name. It is stored where spaCy stores
    those that have a default.

    Args:
        owner: Doc or Span.
        name: of the attribute.
        read: gives the value; a function of a module, as processes exchange it.
    """
    if not owner.has_extension(name):
        owner.set_extension(name, getter=partial(_get, name=name, read=read), setter=partial(_set, name=name))


def as_list(_: Owner, stored: Any) -> Any:
    """What was set; msgpack reads lists as tuples."""
    return stored if isinstance(stored, list) else list(stored or ())


def _as_pairs(_: Owner, stored: Any) -> Any:
    """What was set, or a linker's (id, score, id, score, ...): dozens of pairs for each mention would keep Python's
    garbage collector busy."""
    is_flat = stored and isinstance(stored[0], str)
    return list(map(list, zip(stored[::2], stored[1::2], strict=True) if is_flat else stored or ()))


def _get(owner: Owner, *, name: str, read: ReadStored) -> Any:
    doc, key = _doc_and_key(owner, name)
    return read(owner, doc.user_data.get(key))


def _set(owner: Owner, value: Any, *, name: str) -> None:
    doc, key = _doc_and_key(owner, name)
    doc.user_data[key] = value


def _doc_and_key(owner: Owner, name: str) -> tuple[Doc, Any]:
    """Where spaCy stores what is set as an attribute."""
    if isinstance(owner, Doc):
        return owner, ("._.", name, None, None)
    return owner.doc, ("._.", name, owner.start_char, owner.end_char)


# what a linker writes: defaults, or what reads them
EXTENSIONS: dict[str, Any] = {
    "candidates": _as_pairs,
    "nil_score": None,
    "id": "",
    "name": None,
    "types": as_list,
    "xrefs": as_list,
    "probability": None,
    "relation": None,
    "set": as_list,
}
# what is written from the knowledge base, for NIL
_NO_ENTITY = {"name": None, "types": (), "xrefs": ()}


def add_extensions(prefix: str) -> None:
    """Declare what a linker writes: ``span._.pel_candidates``, ``pel_nil_score``, ``pel_id``, ``pel_name``,
    ``pel_types``, ``pel_xrefs``, ``pel_probability``, ``pel_relation`` and ``pel_set`` for the prefix "pel".

    All are stored with the document, which may be read where there is no linker: tuples, strings and floats
    survive ``doc.to_bytes`` and a DocBin with ``store_user_data=True``. spaCy keeps them by character offsets: spans
    of equal offsets share them.

    Args:
        prefix: of the names.
    """
    _prefixes.add(prefix)
    add_phrase()
    for name, default in EXTENSIONS.items():
        if callable(default):
            declare(Span, f"{prefix}_{name}", default)
        elif not Span.has_extension(f"{prefix}_{name}"):
            Span.set_extension(f"{prefix}_{name}", default=default)


def add_phrase() -> None:
    """Declare what a finder of names writes, see ``PHRASE``."""
    if not Span.has_extension(PHRASE):
        Span.set_extension(PHRASE, default=None)


def answers_of_linkers(span: Span) -> set[str]:
    """The ids that linkers, of any prefix, have given a mention."""
    return {span._.get(f"{prefix}_id") for prefix in _prefixes} - {None, ""}


def mention_spans(doc: Doc, spans_key: str | None) -> list[Span]:
    """The mentions of a document, linked or not."""
    if spans_key is None:
        return list(doc.ents)
    return list(doc.spans[spans_key]) if spans_key in doc.spans else []


def span_queries(doc: Doc, spans: Sequence[Span], *, expand_abbreviations: bool, kb: Any) -> "list[MentionQuery]":
    """One for each span; the document is not changed."""
    from ..linking import make_queries

    forms, listed = (long_forms(doc), listed_in(doc)) if expand_abbreviations else ({}, {})
    mentions = [(span.start_char, span.end_char, span.label_) for span in spans]
    return make_queries(doc.text, mentions, types=span_types(doc, spans), forms=forms, listed=listed, kb=kb)


def write_links(
    doc: Doc,
    links: "Sequence[Link | None]",
    spans_key: str | None,
    *,
    entities: Mapping[str, Mapping[str, Any]],
    prefix: str,
) -> None:
    """Write links into a document. A label of ST21PV becomes the link's, see ``Link.label``.

    Args:
        doc: the document.
        links: one for each of its ``mention_spans``; None = leave as it is.
        spans_key: where the mentions are.
        entities: what to write of each entity, by id: name, types and xrefs.
        prefix: of the extension attributes.
    """
    for number, (span, link) in enumerate(zip(mention_spans(doc, spans_key), links, strict=True)):
        if link is None:
            continue
        label = link.label if link.label and span.label_ in _TYPES else span.label_
        _change(doc, spans_key, number, span, label=label, kb_id=link.kb_id)
        values = {
            "candidates": tuple(chain.from_iterable(zip(link.ids, link.scores, strict=True))),
            "nil_score": link.nil_score,
            "id": link.kb_id,
            **entities.get(link.kb_id, _NO_ENTITY),
            "probability": link.probability,
            "relation": link.relation,
            "set": link.id_set or (),
        }
        user_data: Any = doc.user_data
        start, end = span.start_char, span.end_char
        for name, value in values.items():  # what setting the attributes would do
            user_data["._.", f"{prefix}_{name}", start, end] = value


def write_groups(doc: Doc, spans_key: str | None, *, prefix: str) -> None:
    """Replace the labels of mentions by semantic groups; labels without one stay.

    Args:
        doc: the document, with links.
        spans_key: where the mentions are.
        prefix: of the extension attributes.
    """
    for number, span in enumerate(mention_spans(doc, spans_key)):
        label = GROUP_LABELS.get(mention_group(span.label_, span._.get(f"{prefix}_types")), span.label_)
        _change(doc, spans_key, number, span, label=label, kb_id=span.kb_id_)


def _change(doc: Doc, spans_key: str | None, number: int, span: Span, *, label: str, kb_id: str) -> None:
    """Give the mention with a number another label and id. A span is a view: what is set on it would be lost, with both
    doc.ents and doc.spans."""
    if spans_key is None:
        for token in span:
            token.ent_kb_id_, token.ent_type_ = kb_id, label
    else:
        doc.spans[spans_key][number] = Span(doc, span.start, span.end, label=label, kb_id=kb_id, span_id=span.id)


# -- as JSON data ------------------------------------------------------------------------------------


# factories of components that read what a text says of a mention -> attributes of one that the patient does not have
_DENIALS = {"negex": ("negex",), "medspacy_context": ("is_negated", "is_family", "is_hypothetical")}


def denials_of(nlp: Any) -> tuple[str, ...]:
    """The attributes that components of a pipeline set on what the patient does not have; none where nothing looks for
    that."""
    found = {name: _DENIALS.get(nlp.get_pipe_meta(name).factory, ()) for name in nlp.pipe_names}
    return tuple(getattr(nlp.get_pipe(name), "extension_name", one) for name, some in found.items() for one in some)


def mention_record(
    component: Any,
    span: Any,
    n_candidates: int,
    *,
    codes: "Codes | None" = None,
    offset: int = 0,
    denials: Sequence[str] = (),
) -> dict[str, Any]:
    """A linked mention as JSON data.

    Args:
        component: linked it; a later linker may have set another id.
        span: the mention.
        n_candidates: how many candidates to keep.
        codes: gives the codes to report; None = none.
        offset: of the span's Doc in the document.
        denials: from ``denials_of``; none = whether the patient has it is not said.
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
        "relation": attributes.get(f"{prefix}_relation"),
        **({"id_set": id_set} if (id_set := attributes.get(f"{prefix}_set")) else {}),
        **({"exists": not any(map(attributes.get, denials))} if denials else {}),
        **({"codes": codes(kb_id)} if codes and codes.names else {}),
        "candidates": candidates[:n_candidates],
    }


def document_record(
    component: Any,
    processed: "ProcessedDocument",
    n_candidates: int,
    codes: "Codes | None" = None,
    denials: Sequence[str] = (),
) -> dict[str, Any]:
    """A linked document as JSON data: "id", "text", "mentions" and "meta"; "id" and
    "error" where the pipeline failed.

    Args:
        component: linked it.
        processed: the document.
        n_candidates: how many candidates to keep of each mention.
        codes: gives the codes to report of each mention; None = none.
        denials: from ``denials_of``.
    """
    document, pieces, error = processed
    if error:
        return {"id": document.id, "error": error}
    mentions = [
        mention_record(component, span, n_candidates, codes=codes, offset=offset, denials=denials)
        for offset, doc in pieces
        for span in mention_spans(doc, component.spans_key)
    ]
    return {"id": document.id, "text": document.text, "mentions": mentions, "meta": document.meta}


# -- what a detector takes each token for -----------------------------------------------------------


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
    # sums up to each token, and of how many tokens
    is_read = tokens.any(axis=1, keepdims=True)
    logs = np.where(is_read, np.log(np.maximum(tokens, _LEAST) / _MOST), 0.0)
    sums = np.pad(np.hstack([logs, is_read]).cumsum(axis=0), ((1, 0), (0, 0)))
    places = np.array([(0, 0) if span is None else (span.start, span.end) for span in spans], dtype=np.int64)
    starts, ends = places.reshape(-1, 2).T
    found = sums[ends] - sums[starts]
    means = np.exp(found[:, :-1] / np.maximum(found[:, -1:], 1.0))
    shares = (means / means.sum(axis=1, keepdims=True)).astype(np.float32)
    return [own if n else None for own, n in zip(shares, found[:, -1].tolist(), strict=True)]
