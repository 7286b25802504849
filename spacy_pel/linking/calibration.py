"""Fitting a linker on annotated mentions: collect their evidence, then fit."""

import copy
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from logging import INFO
from typing import Any

import numpy as np

from ..errors import Errors, PelError, Warnings
from ..kb import KnowledgeBase
from ..kb.compare import prefix_hint, warn_of_other_ids
from ..types import LABEL_TYPE, NIL, CandidateTable, Document, Flags, Numbers, Rows, Scores
from ..util import logger, normalize_alias
from ..util.arrays import numbered
from .combiner import is_gold, right_first
from .confidence import AnswerScores, Confidence, answer_features
from .decider import Decider, Ranked
from .linker import Linker
from .mention_types import LabelTypes
from .query import Link, MentionQuery, Queries
from .reranker import Reranker
from .track_record import Outcome, TrackRecord

FOLDS = 5  # of the documents
ChooseThreshold = Callable[[Scores, Flags], float]


# -- NIL thresholds from a development set -----------------------------------------------------------


def best_f1_threshold(nil_scores: Scores, is_nil: Flags) -> float:
    """Choose the threshold that maximises F1 of the NIL class, when a mention is NIL iff its
    score is above the threshold.

    It lies midway between two neighbouring scores; of several equally good ones the highest
    is taken (fewest mentions called NIL).

    Args:
        nil_scores: (n,).
        is_nil: (n,), True where the gold entity is not in the KB.

    Returns:
        The threshold, exact in float32.

    Raises:
        PelError: if no mention is NIL.
    """
    ranked, hits = _ranked(nil_scores, is_nil)
    called = np.arange(1, len(ranked) + 1)
    f1 = 2 * hits / (called + hits[-1])
    f1[:-1][ranked[:-1] == ranked[1:]] = -1.0  # no threshold separates equal scores
    return _below(ranked, int(np.argmax(f1)))


def precision_threshold(nil_scores: Scores, is_nil: Flags, *, precision: float) -> float:
    """Choose the lowest threshold whose NIL precision reaches the stated one: of all such
    thresholds it finds the most NIL mentions.

    Precision is not a monotonic function of the threshold: slightly higher thresholds may miss it. It
    holds for the given mentions; on other text it will be somewhat higher or lower.

    Args:
        nil_scores: (n,).
        is_nil: (n,), True where the gold entity is not in the KB.
        precision: above 0, at most 1.

    Returns:
        The threshold, exact in float32.

    Raises:
        PelError: if no mention is NIL, or no threshold reaches the precision.
    """
    if not 0.0 < precision <= 1.0:
        raise PelError(Errors.E613.format(got=precision))
    ranked, hits = _ranked(nil_scores, is_nil)
    reached = hits / np.arange(1, len(ranked) + 1)
    reached[:-1][ranked[:-1] == ranked[1:]] = -1.0
    enough = np.flatnonzero(reached >= precision - 1e-12)
    if not len(enough):
        raise PelError(Errors.E614.format(expected=precision, best=f"{reached.max():.3f}", n=len(ranked)))
    return _below(ranked, int(enough[-1]))


def _ranked(nil_scores: Scores, is_nil: Flags) -> tuple:
    """The scores, highest first, and the number of NIL mentions up to each."""
    n_nil = int(is_nil.sum())
    if n_nil == 0:
        raise PelError(Errors.E610.format(n_nil=0, n=len(is_nil)))
    order = np.argsort(-nil_scores, kind="stable")
    return nil_scores[order].astype(np.float32), np.cumsum(is_nil[order])


def _below(ranked: Scores, cut: int) -> float:
    """A threshold that calls the mentions down to ``cut`` NIL and the next one not."""
    lowest = ranked[cut]
    below = ranked[cut + 1] if cut + 1 < len(ranked) else np.nextafter(lowest, np.float32(-np.inf))
    middle = np.float32((np.float64(lowest) + np.float64(below)) / 2)
    return float(middle if middle < lowest else below)


# -- the fit ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Examples:
    """Annotated mentions and the candidates that a linker found for them.

    Attributes:
        kb: of the linker.
        queries: the n mentions.
        table: their candidates.
        gold: for each mention the KB rows of its entity; empty = NIL.
        documents: (n,), which document each mention is in.
        composite: (n,), which mean all of their entities.
    """

    kb: KnowledgeBase
    queries: list[MentionQuery]
    table: CandidateTable
    gold: list[Rows]
    documents: list[Any]
    composite: Flags

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def surfaces(self) -> list[str]:
        """(n,), the surface forms of the mentions."""
        return [query.surface for query in self.queries]

    @property
    def is_nil(self) -> Flags:
        """(n,), True where the entity is not in the KB."""
        return np.array([len(rows) == 0 for rows in self.gold], dtype=np.bool_)

    @property
    def linkable(self) -> "Examples":
        """The mentions whose entity is in the KB."""
        return self.take(np.flatnonzero(~self.is_nil))

    def take(self, rows: Rows) -> "Examples":
        """The mentions of the given positions only."""
        lists: Any = (self.queries, self.gold, self.documents)
        queries, gold, documents = ([items[i] for i in rows] for items in lists)
        return Examples(self.kb, queries, self.table.take(rows), gold, documents, self.composite[rows])

    @property
    def document_numbers(self) -> Numbers:
        """(n,), the documents numbered in the order of their first mention."""
        return numbered(self.documents)[1]

    @property
    def folds(self) -> Numbers:
        """(n,), which fifth of the documents each mention is in."""
        return self.document_numbers % FOLDS

    def by_fold(self) -> Iterator[tuple[Rows, "Examples", "Examples"]]:
        """The mentions of each fifth of the documents: their positions, themselves, and all others."""
        folds = self.folds
        for number in np.unique(folds).tolist():
            own = np.flatnonzero(folds == number)
            yield own, self.take(own), self.take(np.flatnonzero(folds != number))


def collect(linker: Linker, queries: Queries, documents: Sequence[Document]) -> Examples:
    """Find the evidence for the gold mentions of documents. Learned mentions do not count: the documents that
    they were corrected in may be among these.

    Args:
        linker: finds the candidates.
        queries: one for each mention, in order, prepared as at inference.
        documents: annotated; a mention none of whose ids is in the KB is NIL.

    Returns:
        To fit this linker, or another one, on.

    Raises:
        PelError: if no mention's entity is in the KB.
    """
    mentions = [(document.id, mention) for document in documents for mention in document.mentions]
    ids = [mention.ids for _, mention in mentions]
    gold = list(map(linker.gold_rows, ids))
    outside = [given[0] for given, rows in zip(ids, gold, strict=True) if given and not len(rows)]
    example = outside[0] if outside else ""
    if not any(map(len, gold)):
        raise PelError(Errors.E501.format(n=len(gold), hint=prefix_hint(linker.kb, example)))
    warn_of_other_ids(linker.kb, n_outside=len(outside), n=sum(map(bool, ids)), example=example)
    plain = linker.without_memory()
    read, _ = plain.finder.read(queries)
    composite = np.array([mention.composite for _, mention in mentions], dtype=np.bool_)
    return Examples(linker.kb, read, plain.evidence(read), gold, [original for original, _ in mentions], composite)


def fit(linker: Linker, parts: Sequence[Examples], *, choose: ChooseThreshold = best_f1_threshold) -> list[Link]:
    """Count which types the labels of the first part stand for; fit the combiner on its mentions whose entity is in
    the KB, then the reranker's weights, then the NIL model on the mentions of all parts; choose the threshold with the
    best F1 of the NIL class, and calibrate P(right) and the sets by cross-fitting over documents.

    As a rule the encoder was trained on the other parts: its cosines are better there than elsewhere, and
    weights fitted there would trust them too much. What a KB lacks shows there all the same.

    Without NIL mentions only the combiner is fitted; that is logged as a warning.

    Args:
        linker: is fitted.
        parts: of this linker, and of linkers with other knowledge bases, if any.
        choose: takes nil_scores and which are NIL, gives the threshold.

    Returns:
        The links of the first part's mentions with the fitted parts.
    """
    decider = linker.decider
    label_types, parts = count_label_types(parts)
    first, joined = parts[0], _joined(parts)
    table, is_nil, n = joined.table, joined.is_nil, len(first)
    linkable = first.linkable
    decider.combiner.fit(linkable.table, linkable.gold)
    decider.label_types, decider.calibrated_in_context = label_types, linker.reads_context
    decider.expected_nil_share = None
    scores = decider.combiner(table)
    ranker_scores = None
    if decider.reranker is not None:
        ranker_scores = _fit_reranker(decider.reranker, parts, scores)
        scores = decider.reranker.combine(table, scores, ranker_scores)
    record = getattr(decider.nil_model, "record", None)
    if record is not None and is_nil.any():
        decider.nil_model.record, table = count_outcomes(parts, _by_part(parts, scores))  # type: ignore[attr-defined]
    elif record is not None:
        table = CandidateTable.concatenate([record.added_to(part.table, part.kb, part.surfaces) for part in parts])
    if is_nil.any():
        decider.nil_model.fit(table, scores, is_nil)
    nil_scores = decider.nil_scores(table, scores)
    if is_nil.any():
        decider.confidence = Confidence()
        decider.calibrated_threshold = choose(nil_scores, is_nil)
        answers = cross_fitted_answers(decider, replace(joined, table=table), n_ranked=n, ranker_scores=ranker_scores)
        if answers is None:
            logger.warning(Warnings.W507.format(n=FOLDS))
        else:
            decider.confidence.fit(table, answers, joined.gold, joined.queries, composite=joined.composite)
    else:
        logger.warning(Warnings.W500.format(n=len(joined)))
    ranked = Ranked(first.queries, first.table, scores[:n], nil_scores[:n])
    return linker.decide(ranked, linker.top_k)


def _fit_reranker(reranker: Reranker, parts: Sequence[Examples], scores: Scores) -> Scores:
    """What the reranker says of all candidates, read once, as it is slow; NaN where it says nothing."""
    show, ranker_scores = logger.isEnabledFor(INFO), []
    for part, part_scores in zip(parts, _by_part(parts, scores), strict=True):
        ranker_scores.append(reranker.read(part.kb, part.queries, part.table, part_scores, show_progress=show))
    first = parts[0]
    reranker.fit(first.table, _by_part(parts, scores)[0], ranker_scores[0], first.gold)
    widths = [scores.shape[1] - part.shape[1] for part in ranker_scores]
    padded = zip(ranker_scores, widths, strict=True)
    return np.concatenate([np.pad(part, ((0, 0), (0, more)), constant_values=np.nan) for part, more in padded])


def _by_part(parts: Sequence[Examples], scores: Scores) -> list[Scores]:
    """Scores of the joined mentions by part, as wide as its table."""
    of_parts = np.split(scores, np.cumsum([len(part) for part in parts])[:-1])
    return [of_part[:, : part.table.kb_rows.shape[1]] for part, of_part in zip(parts, of_parts, strict=True)]


def _joined(parts: Sequence[Examples]) -> Examples:
    """The mentions of all parts, in order, whose documents are all different. Rows of a KB are compared within
    a mention only, so that the KBs may differ; that of the first part stands for all."""
    queries = [query for part in parts for query in part.queries]
    table = CandidateTable.concatenate([part.table for part in parts])
    gold = [rows for part in parts for rows in part.gold]
    documents = [(number, document) for number, part in enumerate(parts) for document in part.documents]
    return Examples(parts[0].kb, queries, table, gold, documents, np.concatenate([part.composite for part in parts]))


# -- cross-fitting: what is learned from the other documents --------------------------------


def count_label_types(parts: Sequence[Examples]) -> tuple[LabelTypes, list[Examples]]:
    """Count the labels and types of annotated mentions, for the evidence of the same mentions and of others.

    Args:
        parts: annotated mentions. Those of the first part count.

    Returns:
        The counts, and the parts with the feature LABEL_TYPE; that of the first part is computed out of fold.
    """
    counts, first = _label_types(parts[0]), parts[0]
    shares = [counts.shares(part.kb, part.queries, part.table) for part in parts]
    for rows, own, others in first.by_fold():
        shares[0][rows] = _label_types(others).shares(first.kb, own.queries, own.table)
    with_shares = zip(parts, shares, strict=True)
    return counts, [replace(part, table=part.table.plus({LABEL_TYPE: of_part})) for part, of_part in with_shares]


def _label_types(part: Examples) -> LabelTypes:
    return LabelTypes.of(part.kb, part.queries, part.gold)


def count_outcomes(parts: Sequence[Examples], scores: Sequence[Scores]) -> tuple[TrackRecord, CandidateTable]:
    """Count what became of annotated mentions.

    Args:
        parts: annotated mentions, each part with a knowledge base of its own.
        scores: of the candidates of each part.

    Returns:
        The counts of all parts, and the candidates of all mentions with what the counts of the other parts say of
        them; those of a single part with the counts of the other fifths of its documents.
    """
    order = np.arange(sum(map(len, parts)))
    texts: list[Any] = [[number] * len(part) for number, part in enumerate(parts)]
    if len(parts) == 1:
        folds = [rows for rows, _, _ in parts[0].by_fold()]
        order, scores = np.concatenate(folds), [scores[0][rows] for rows in folds]
        parts = [parts[0].take(rows) for rows in folds]
        texts = [part.documents for part in parts]
    outcomes = [Counter(_outcomes(*of_part)) for of_part in zip(parts, scores, texts, strict=True)]
    in_all = sum(outcomes, Counter[Outcome]())
    tables = [
        TrackRecord.of(in_all - of_part).added_to(part.table, part.kb, part.surfaces)
        for part, of_part in zip(parts, outcomes, strict=True)
    ]
    return TrackRecord.of(in_all), CandidateTable.concatenate(tables).take(np.argsort(order))


def _outcomes(part: Examples, scores: Scores, texts: Sequence[Hashable]) -> list[Outcome]:
    first = part.table.kb_rows[np.arange(len(part)), scores.argmax(axis=1)]
    right = right_first(part.table, scores, part.gold)
    ids = np.full(len(part), "", dtype=object)
    ids[first >= 0] = part.kb.ids_at(first[first >= 0])
    forms = map(normalize_alias, part.surfaces)
    return list(map(Outcome, texts, forms, ids.tolist(), right.tolist(), part.is_nil.tolist()))


def cross_fitted_answers(
    decider: Decider, examples: Examples, *, n_ranked: int, ranker_scores: Scores | None = None
) -> AnswerScores | None:
    """Score each fifth of the documents with a combiner and a NIL model that were fitted on the others. (A reranker
    has two weights, which are those fitted on all documents.)

    Args:
        decider: with fitted parts; copies are fitted here.
        examples: annotated mentions.
        n_ranked: the combiner is fitted on this many of the first mentions.
        ranker_scores: (n, k), what the reranker read, if there is one.

    Returns:
        None if there are too few documents, or a fifth leaves nothing to fit on.
    """
    table, gold, is_nil, folds = examples.table, examples.gold, examples.is_nil, examples.folds
    is_rankable = is_gold(table.kb_rows, gold).any(axis=1) & (np.arange(len(gold)) < n_ranked)
    cross_fitted, nil_scores = np.zeros(table.kb_rows.shape, np.float32), np.ones(len(gold), np.float32)
    for number in range(FOLDS):
        own, others = np.flatnonzero(folds == number), np.flatnonzero(folds != number)
        rankable = others[is_rankable[others]]
        nil_of_others = is_nil[others][table.has_candidates[others]]
        if not len(own) or not len(rankable) or nil_of_others.all() or not nil_of_others.any():
            return None
        combiner, nil_model = decider.unfitted_parts()  # which have not seen the documents that are left out
        combiner.fit(table.take(rankable), [gold[i] for i in rankable])
        scores = combiner(table)
        if decider.reranker is not None and ranker_scores is not None:
            scores = decider.reranker.combine(table, scores, ranker_scores)
        nil_model.fit(table.take(others), scores[others], is_nil[others])
        cross_fitted[own], nil_scores[own] = scores[own], nil_model(table.take(own), scores[own])
    return AnswerScores(decider.shares(table, cross_fitted), np.where(table.has_candidates, nil_scores, 1.0))


# -- calibrating on a few documents -----------------------------------------------------------------


FEW_NIL = 30  # mentions; fewer do not tell where a threshold should be
Refit = Callable[[Linker, Sequence[Examples]], object]


def refit_decision(
    linker: Linker, parts: Sequence[Examples], *, choose: ChooseThreshold | None = best_f1_threshold
) -> None:
    """Calibrate P(right) and the sets again on the first part, and choose the NIL threshold; with too few NIL mentions
    for that, NIL is what has the same P(right) of NIL as before. The weights of the evidence and P(NIL) stay as they
    are.

    P(right) of links is fitted on all parts, each with the same weight: one corpus alone says how sure links are in
    text of its kind, and others are surer or less sure.

    Nothing that scores these mentions was fitted on them, so no cross-fitting is needed.

    Args:
        linker: calibrated; is changed.
        parts: annotated mentions of each corpus.
        choose: takes nil_scores and which are NIL, gives the threshold; None = it stays.
    """
    decider, first = linker.decider, parts[0]
    scored = [(part, *decider.score(part.kb, part.queries, part.table)) for part in parts]
    _, scores, nil_scores = scored[0]
    answers, before = AnswerScores(decider.shares(first.table, scores), nil_scores), copy.copy(decider.confidence)
    decider.confidence.fit(first.table, answers, first.gold, first.queries, composite=first.composite, rescale=True)
    if choose and first.is_nil.sum() >= FEW_NIL:
        decider.calibrated_threshold = choose(nil_scores, first.is_nil)
    elif choose and before.is_fitted and before.nil_weights[1] > 0 and decider.calibrated_threshold is not None:
        decider.calibrated_threshold = decider.confidence.nil_score_of(before, decider.calibrated_threshold)
    decider.calibrated_in_context, decider.expected_nil_share = linker.reads_context, None
    inputs = []
    for part, scores, nil_scores in scored if len(parts) > 1 else ():
        answered = linker.decide(Ranked(part.queries, part.table, scores, nil_scores), 1)
        linked = np.flatnonzero([answer.kb_id != NIL for answer in answered])
        features = answer_features(part.table, decider.shares(part.table, scores), nil_scores.astype(np.float64))
        whole = part.composite & (np.array([len(rows) for rows in part.gold]) > 1)
        right = right_first(part.table, scores, part.gold) & ~whole
        if len(linked):
            inputs.append((features[linked], right[linked]))
    if inputs:
        decider.confidence.fit_links(inputs)


def cross_fitted_links(linker: Linker, parts: Sequence[Examples], refit: Refit) -> list[Link] | None:
    """Link each fifth of the documents with a copy of a linker that was fitted on the others.

    Args:
        linker: is not changed.
        parts: annotated mentions; those of the first part are linked.
        refit: fits a linker.

    Returns:
        The links of the first part's mentions; None if there are fewer than five documents.

    Raises:
        PelError: if a fifth leaves too little to fit on.
    """
    first = parts[0]
    if len(np.unique(first.folds)) < FOLDS:
        return None
    links: dict[int, Link] = {}
    for rows, own, others in first.by_fold():
        fitted = fitted_copy(linker)
        refit(fitted, [others, *parts[1:]])
        links.update(zip(rows.tolist(), fitted.link(own.queries), strict=True))
    return [links[i] for i in range(len(first))]


def fitted_copy(linker: Linker) -> Linker:
    """A linker with the same parts that can be fitted while this one stays as it is."""
    decider, fitted = linker.decider, copy.copy(linker)
    parts = {name: copy.deepcopy(getattr(decider, name)) for name in ("combiner", "nil_model", "confidence")}
    # a reranker has two weights, and a model that stays
    fitted.decider = replace(decider, **parts, reranker=copy.copy(decider.reranker))
    return fitted
