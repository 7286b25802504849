"""What is fitted, and how it decides: the scores of candidates, when a mention is NIL, and how far the answer can be
trusted."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kb import KnowledgeBase
from ..types import NIL, CandidateTable, Combiner, Flags, Floats, NilModel, Numbers, Rows, Scores
from ..util.arrays import best_first, softmax
from .confidence import DEPTH, Confidence, prediction_set, trust_in_short_forms
from .corrections.matching import LISTED, NIL_ROW, MemoryMatches, put_first
from .mention_types import LabelTypes, labels_after_linking
from .query import Link, Queries
from .reranker import Reranker

if TYPE_CHECKING:
    from .linker import Linker

Threshold = None | float | Mapping[str, float]  # as in the settings


@dataclass(frozen=True)
class Ranked:
    """Mentions and their candidates with final scores.

    Attributes:
        queries: (n,).
        table: their candidates.
        scores: (n, k).
        nil_scores: (n,).
        matches: learned mentions that decide, whatever the scores say; None = nothing is learned.
        is_broader: (n,), whether words around the name were left out; False = of none.
    """

    queries: Queries
    table: CandidateTable
    scores: Scores
    nil_scores: Scores
    matches: MemoryMatches | None = None
    is_broader: Flags | bool = False


@dataclass
class Decider:
    """Decides by the evidence for candidates.

    Attributes:
        combiner: scores candidates from their evidence.
        nil_model: gives the number that is compared with the threshold.
        reranker: reorders the best candidates; None = the combiner's order stays.
        label_types: which types the labels of mentions stand for, evidence for the combiner.
        confidence: P(right), and sets of answers.
        calibrated_threshold: of nil_score; None = none was fitted.
        calibrated_in_context: whether mentions were read in their context for that; None = nothing was fitted.
        expected_nil_share: of the mentions, until something is fitted; None = as for the default weights.
    """

    combiner: Combiner
    nil_model: NilModel
    reranker: Reranker | None = None
    label_types: LabelTypes = field(default_factory=LabelTypes)
    confidence: Confidence = field(default_factory=Confidence)
    calibrated_threshold: float | None = None
    calibrated_in_context: bool | None = None
    expected_nil_share: float | None = None

    def unfitted_parts(self) -> tuple[Combiner, NilModel]:
        """Combiner and NIL model of the same settings, that have learned nothing."""
        combiner, nil_model = copy.deepcopy((self.combiner, self.nil_model))
        combiner.load_state({})
        nil_model.load_state({})
        return combiner, nil_model

    @property
    def is_calibrated(self) -> bool:
        """Whether a NIL threshold was fitted; see ``calibration.fit``."""
        return self.calibrated_threshold is not None

    @property
    def decides_without_threshold(self) -> bool:
        """Whether NIL is decided where there is no threshold, too, as the NIL model gives
        P(NIL) before it is fitted."""
        return self.nil_model.is_probability

    @property
    def gives_shares(self) -> bool:
        """Whether the scores of candidates are shares of 1 already."""
        return self.reranker is not None or self.combiner.is_probability

    def score(self, kb: KnowledgeBase, queries: Queries, table: CandidateTable) -> tuple[Scores, Scores]:
        """(n, k), the scores of the candidates of n mentions, -inf where there is none; and (n,), the nil_scores."""
        scores = self.combiner(table)
        if self.reranker is not None:
            scores = self.reranker(kb, queries, table, scores)
        record, with_record = getattr(self.nil_model, "record", None), table
        if record is not None:
            with_record = record.added_to(table, kb, [query.surface for query in queries])
        return scores, self.nil_scores(with_record, scores)

    def shares(self, table: CandidateTable, scores: Scores) -> Floats:
        """(n, k), the scores of candidates as shares of 1; 0 where there is no candidate. Of scores that are no shares,
        such as cosines, a softmax."""
        if self.gives_shares:
            return np.where(table.filled, scores, 0.0).astype(np.float64)
        return softmax(np.where(table.filled, scores, -np.inf))

    def nil_scores(self, table: CandidateTable, scores: Scores) -> Scores:
        """(n,), of the NIL model, 1 without candidates; the table has the features of the track record."""
        return np.where(table.has_candidates, self.nil_model(table, scores), 1.0).astype(np.float32)

    def threshold_of(self, label: str, setting: Threshold) -> float | None:
        """The threshold in use for the mentions of a label. A setting takes precedence over the calibration.

        Args:
            label: the mention's NER label.
            setting: a threshold, or thresholds by label; None = the calibrated one.

        Returns:
            A higher nil_score is NIL; None = each mention has its own, see ``thresholds``.
        """
        own = setting.get(label) if isinstance(setting, Mapping) else setting
        return self.calibrated_threshold if own is None else own

    def thresholds(self, labels: Sequence[str], best: Floats, setting: Threshold) -> Floats:
        """The threshold of each mention.

        Args:
            labels: (n,), of the mentions.
            best: (n,), the best candidate's share.
            setting: as for ``threshold_of``.

        Returns:
            (n,); infinite = NIL only for lack of candidates. Without any threshold, NIL has to be more probable than
            the first candidate, if the NIL model can say.
        """
        own = np.full(len(labels), np.inf)
        if self.decides_without_threshold:
            own = break_even_threshold(best) if self.gives_shares else np.full(len(labels), 0.5)
        by_label = {label: self.threshold_of(label, setting) for label in set(labels)}
        of_labels = [by_label[label] for label in labels]
        return np.where([value is None for value in of_labels], own, np.array(of_labels, dtype=np.float64))

    def decide(self, linker: "Linker", ranked: Ranked, top_k: int) -> list[Link]:
        """Decide between the best candidate and NIL.

        Args:
            linker: whose entities, settings and counts of annotated text they are.
            ranked: n mentions with their candidates.
            top_k: candidates returned for each mention.

        Returns:
            One for each mention.
        """
        kb, queries, table, matches = linker.kb, ranked.queries, ranked.table, ranked.matches
        shares, forms = self.shares(table, ranked.scores), [query.form for query in queries]
        nil_scores: Floats = np.clip(ranked.nil_scores, 0.0, 1.0).astype(np.float64)
        trust = self.confidence.assess(table, shares, nil_scores, forms)
        nil_share = self.expected_nil_share if linker.nil_share is None else linker.nil_share
        if nil_share is not None:
            trust, shifted = self.confidence.shifted(trust, nil_scores, nil_share)
            nil_scores = np.where(table.has_candidates, shifted, 1.0)
            ranked = replace(ranked, nil_scores=nil_scores.astype(np.float32))
        thresholds = self.thresholds([query.label for query in queries], shares.max(axis=1), linker.threshold)
        if linker.threshold is None:
            thresholds[trust.unambiguous] = np.inf
        first = table.kb_rows[np.arange(len(queries)), ranked.scores.argmax(axis=1)]
        is_nil, of_link = (ranked.nil_scores > thresholds) | (first < 0), trust.link
        if linker.index is not None and self.confidence.link_weights:
            of_link = np.minimum(of_link, trust_in_short_forms(kb, linker.index.priors, forms, first))
        probabilities = np.where(is_nil, trust.nil, of_link)
        learned: list[int | None] = [None] * len(queries)
        if matches is not None:
            probabilities = matches.trusted(probabilities, np.where(is_nil, NIL_ROW, first))
            is_nil = np.where(matches.decided, ~matches.linked, is_nil)
            decided = np.where(matches.decided, is_nil, ranked.nil_scores).astype(np.float32)
            ranked = replace(ranked, scores=put_first(table, ranked.scores, matches), nil_scores=decided)
            shares = self.shares(table, ranked.scores)
            by_list = [np.nan if query.sense is None else query.sense.probability for query in queries]
            probabilities = np.where(matches.entries == LISTED, by_list, probabilities)
            learned = [None if entry < 0 else entry for entry in matches.entries.tolist()]
        # best first; ties keep the table's order; only what is returned becomes objects
        order = best_first(ranked.scores)
        ids, scores = _ids_and_scores(kb, table, ranked.scores, order[:, :top_k])
        sets = self._id_sets(kb, ranked, shares, order[:, :DEPTH], linker.coverage)
        relations = np.where(ranked.is_broader, "broader", "exact")
        columns: tuple[Iterable[Any], ...] = (
            [NIL if nil else own_ids[0] for nil, own_ids in zip(is_nil.tolist(), ids, strict=True)],
            ranked.nil_scores.tolist(),
            *(ids, scores, probabilities.tolist(), sets, learned),
            [None if np.isinf(own_threshold) else own_threshold for own_threshold in thresholds.tolist()],
            labels_after_linking(kb, queries, table.kb_rows, shares),
            [relation or None for relation in np.where(is_nil, "", relations).tolist()],
        )
        return list(map(Link, *columns))

    def _id_sets(
        self, kb: KnowledgeBase, ranked: Ranked, shares: Floats, order: Rows, coverage: float | None
    ) -> list[list[str] | None]:
        """The prediction set of each mention; None without ``coverage`` or calibration."""
        if coverage is None or not self.confidence.is_fitted:
            return [None] * len(ranked.queries)
        labels = [query.label for query in ranked.queries]
        minimum = {label: self.confidence.minimum(coverage, label) for label in set(labels)}
        ids, ordered = _ids_and_scores(kb, ranked.table, shares, order)
        columns = (ids, ordered, np.clip(ranked.nil_scores, 0.0, 1.0).tolist(), map(minimum.__getitem__, labels))
        return list(map(prediction_set, *columns))


def break_even_threshold(best: Floats) -> Floats:
    """The P(NIL) above which NIL is more probable than the first candidate, whose P(right) is
    best x (1 - P(NIL)).

    Args:
        best: (n,), the first candidate's share of its mention's scores.

    Returns:
        (n,)
    """
    return best / (1.0 + best)


def _ids_and_scores(
    kb: KnowledgeBase, table: CandidateTable, scores: Scores | Floats, order: Numbers
) -> tuple[list[list[str]], list[list[float]]]:
    """For each mention the ids of its candidates at the columns ``order``, and their scores."""
    kb_rows = np.take_along_axis(table.kb_rows, order, axis=1)
    rows, which = np.unique(kb_rows[kb_rows >= 0], return_inverse=True)
    ids = np.array(kb.ids_at(rows), dtype=object)[which].tolist()
    ordered = np.take_along_axis(scores, order, axis=1).tolist()
    ends = np.cumsum((kb_rows >= 0).sum(axis=1)).tolist()
    pieces = list(zip([0, *ends[:-1]], ends, strict=True))
    scores_of_each = [row[: end - start] for row, (start, end) in zip(ordered, pieces, strict=True)]
    return [ids[start:end] for start, end in pieces], scores_of_each
