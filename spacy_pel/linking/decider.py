"""What is fitted: how candidates are scored, when a mention is NIL, and how far the answer can be trusted."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..types import LABEL_TYPE, CandidateTable, Combiner, Floats, NilModel, Scores
from .confidence import Confidence, is_unambiguous, shares_of
from .mention_types import LabelTypes
from .query import MentionQuery
from .reranker import Reranker

Threshold = None | float | Mapping[str, float]  # as in the settings


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
        calibrated_by_label: label -> its own threshold.
        calibrated_in_context: whether mentions were read in their context for that; None = nothing was fitted.
    """

    combiner: Combiner
    nil_model: NilModel
    reranker: Reranker | None = None
    label_types: LabelTypes = field(default_factory=LabelTypes)
    confidence: Confidence = field(default_factory=Confidence)
    calibrated_threshold: float | None = None
    calibrated_by_label: dict[str, float] = field(default_factory=dict)
    calibrated_in_context: bool | None = None

    def unfitted_parts(self) -> tuple[Combiner, NilModel]:
        """Combiner and NIL model of the same settings, that have learned nothing."""
        combiner, nil_model = copy.deepcopy((self.combiner, self.nil_model))
        combiner.load_state({})
        nil_model.load_state({})
        return combiner, nil_model

    @property
    def is_calibrated(self) -> bool:
        """Whether a NIL threshold was fitted; see ``calibration.fit``."""
        return self.calibrated_threshold is not None or bool(self.calibrated_by_label)

    @property
    def decides_without_threshold(self) -> bool:
        """Whether NIL is decided where there is no threshold, too, as the NIL model gives
        P(NIL) before it is fitted."""
        return self.nil_model.is_probability

    @property
    def gives_shares(self) -> bool:
        """Whether the scores of ``rank`` are shares of 1 already."""
        return self.reranker is not None or self.combiner.is_probability

    def with_label_types(
        self, kb: KnowledgeBase, queries: Sequence[MentionQuery], table: CandidateTable
    ) -> CandidateTable:
        """The table of n mentions with P(type | label) of each candidate, where something is known of labels."""
        if not self.label_types:
            return table
        return table.plus({LABEL_TYPE: self.label_types.shares(kb, queries, table)})

    def rank(self, kb: KnowledgeBase, queries: Sequence[MentionQuery], table: CandidateTable) -> Scores:
        """(n, k), the scores of the candidates of n mentions; -inf where there is none."""
        scores = self.combiner(table)
        return scores if self.reranker is None else self.reranker(kb, queries, table, scores)

    def shares(self, table: CandidateTable, scores: Scores) -> Floats:
        """(n, k), the scores of ``rank`` as shares of 1; 0 where there is no candidate."""
        return shares_of(table, scores, are_shares=self.gives_shares)

    def nil_scores(
        self, kb: KnowledgeBase, queries: Sequence[MentionQuery], table: CandidateTable, scores: Scores
    ) -> Scores:
        """(n,), of the NIL model; 1 without candidates."""
        record = getattr(self.nil_model, "record", None)
        if record is not None:
            table = table.plus(*record.features(table, kb, [query.surface for query in queries]))
        return self.nil_scores_of(table, scores)

    def nil_scores_of(self, table: CandidateTable, scores: Scores) -> Scores:
        """The same of a table that has the features of the track record."""
        return np.where(table.has_candidates, self.nil_model(table, scores), 1.0).astype(np.float32)

    def threshold_of(self, label: str, setting: Threshold) -> float | None:
        """The threshold in use for the mentions of a label. A setting takes precedence over the calibration, and a
        label's own threshold over the common one.

        Args:
            label: the mention's NER label.
            setting: a threshold, or thresholds by label; None = the calibrated one.

        Returns:
            A higher nil_score is NIL; None = each mention has its own, see ``thresholds``.
        """
        if isinstance(setting, Mapping):
            if label in setting:
                return setting[label]
        elif setting is not None:
            return setting
        return self.calibrated_by_label.get(label, self.calibrated_threshold)

    def thresholds(
        self, queries: Sequence[MentionQuery], table: CandidateTable, shares: Floats, setting: Threshold
    ) -> Floats:
        """The threshold of each mention.

        Args:
            queries: (n,).
            table: their candidates.
            shares: (n, k), theirs.
            setting: as for ``threshold_of``.

        Returns:
            (n,); infinite = NIL only for lack of candidates, as for an unambiguous form of a calibrated linker. Without
            any threshold, NIL has to be more probable than the first candidate, if the NIL model can say.
        """
        own = np.full(len(queries), np.inf)
        if self.decides_without_threshold:
            own = break_even_threshold(shares.max(axis=1)) if self.gives_shares else np.full(len(queries), 0.5)
        by_label = {label: self.threshold_of(label, setting) for label in {query.label for query in queries}}
        of_labels = [by_label[query.label] for query in queries]
        thresholds = np.where([value is None for value in of_labels], own, np.array(of_labels, dtype=np.float64))
        if setting is None and self.confidence.is_fitted:
            forms = [query.form for query in queries]
            thresholds[is_unambiguous(table, shares.argmax(axis=1), forms)] = np.inf
        return thresholds


def break_even_threshold(best: NDArray[np.float64]) -> NDArray[np.float64]:
    """The P(NIL) above which NIL is more probable than the first candidate, whose P(right) is
    best x (1 - P(NIL)).

    Args:
        best: (n,), the first candidate's share of its mention's scores.

    Returns:
        (n,)
    """
    return best / (1.0 + best)
