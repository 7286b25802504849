"""Scores of linked documents: spaCy's, and further ones for NIL and candidates."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from spacy.scorer import PRFScore, Scorer
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import registry as spacy_registry

from ..types import NIL
from .mentions import mention_spans

Resolve = Callable[[str], str | None]
_RECALL_AT = (1, 5, 10, 64)


@spacy_registry.scorers("spacy-pel.nel_scorer.v1")
def make_nel_scorer(recall_at: Sequence[int] = _RECALL_AT) -> Callable:
    """Build the scorer.

    Args:
        recall_at: the k of ``nel_recall_at_k``.

    Returns:
        (examples, **kwargs) -> scores.
    """
    return partial(nel_score, recall_at=recall_at)  # a closure could not be pickled


def nel_score(
    examples: Iterable[Example],
    *,
    recall_at: Iterable[int] = _RECALL_AT,
    spans_key: str | None = None,
    resolve: Resolve | None = None,
    extension_prefix: str = "pel",
    **kwargs: Any,
) -> dict[str, Any]:
    """Compare linked documents with their references, where gold mentions have an id or "NIL".

    * ``nel_micro_*``, ``nel_macro_*``, ``nel_score``, ``nel_f_per_type``: ``Scorer.score_links``, which looks
      at ``doc.ents`` that both sides have, and gives no credit for a right NIL.
    * ``nel_accuracy``: share of the gold mentions whose id or NIL is right. A gold mention that the
      pipeline did not find counts as wrong.
    * ``nel_nil_p``, ``nel_nil_r``, ``nel_nil_f``: of the NIL class, over the gold mentions.
    * ``nel_recall_at_k``: share of the gold mentions in the KB with the entity among the first k
      candidates.

    A score that is undefined (e.g. recall of NIL without a gold NIL) is None.

    Args:
        examples: predictions and references.
        recall_at: the k.
        spans_key: mentions are in ``doc.spans[spans_key]``; None = ``doc.ents``.
        resolve: gold id -> the KB's current id, or None if the KB lacks it and the mention
            counts as NIL. None = use gold ids as they are.
        extension_prefix: the candidates are in ``span._.PREFIX_candidates``.

    Returns:
        The scores.
    """
    examples = list(examples)
    pairs = [pair for example in examples for pair in _pairs(example, spans_key, resolve)]
    nil = PRFScore()
    for gold, predicted in pairs:
        is_nil = predicted is not None and predicted.kb_id_ == NIL
        nil.tp += is_nil and gold == NIL
        nil.fp += is_nil and gold != NIL
        nil.fn += gold == NIL and not is_nil
    attribute = f"{extension_prefix}_candidates"
    in_kb = [(gold, _candidate_ids(predicted, attribute)) for gold, predicted in pairs if gold != NIL]
    scores: dict[str, Any] = Scorer.score_links(examples, negative_labels=[NIL])
    scores["nel_accuracy"] = _share(predicted is not None and predicted.kb_id_ == gold for gold, predicted in pairs)
    scores["nel_nil_p"] = nil.precision if nil.tp + nil.fp else None
    scores["nel_nil_r"] = nil.recall if nil.tp + nil.fn else None
    scores["nel_nil_f"] = nil.fscore if nil.tp + nil.fp + nil.fn else None
    for k in recall_at:
        scores[f"nel_recall_at_{k}"] = _share(gold in ids[:k] for gold, ids in in_kb)
    return scores


def _pairs(example: Example, spans_key: str | None, resolve: Resolve | None) -> Iterator[tuple[str, Span | None]]:
    """Gold id and prediction of each gold mention, matched by character offsets."""
    predicted = _by_offsets(example.predicted, spans_key)
    for offsets, gold in _by_offsets(example.reference, spans_key).items():
        if gold.kb_id_ == "":  # not annotated
            continue
        known = gold.kb_id_ if gold.kb_id_ == NIL or resolve is None else resolve(gold.kb_id_)
        yield known or NIL, predicted.get(offsets)


def _by_offsets(doc: Doc, spans_key: str | None) -> dict[tuple[int, int], Span]:
    return {(span.start_char, span.end_char): span for span in mention_spans(doc, spans_key)}


def _candidate_ids(span: Span | None, attribute: str) -> list[str]:
    if span is None or not Span.has_extension(attribute):
        return []
    return [candidate[0] for candidate in span._.get(attribute)]


def _share(hits: Iterable[bool]) -> float | None:
    values = list(hits)
    return sum(values) / len(values) if values else None
