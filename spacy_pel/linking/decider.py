"""What is fitted: how candidates are scored, when a mention is NIL, and how far the answer can be trusted."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..types import CandidateTable, Combiner, NilModel, Scores
from .confidence import Confidence
from .nil.thresholds import Threshold, break_even_threshold
from .query import MentionQuery
from .reranker import Reranker


@dataclass
class Decider:
    """Decides by the evidence of one stage: of surface forms alone, or of mentions read in their context.

    Attributes:
        combiner: scores candidates from their evidence.
        nil_model: gives the number that is compared with the threshold.
        reranker: reorders the best candidates; None = the combiner's order stays.
        confidence: P(right), and sets of answers.
        calibrated_threshold: of nil_score; None = none was fitted.
        calibrated_by_label: label -> its own threshold.
        new_share: the share of new entities in the text of the calibration, see ``new_entities.py``; None = not known.
    """

    combiner: Combiner
    nil_model: NilModel
    reranker: Reranker | None = None
    confidence: Confidence = field(default_factory=Confidence)
    calibrated_threshold: float | None = None
    calibrated_by_label: dict[str, float] = field(default_factory=dict)
    new_share: float | None = None

    def unfitted(self) -> "Decider":
        """One with parts of the same settings, without a reranker, that has learned nothing."""
        parts = copy.deepcopy((self.combiner, self.nil_model))
        for part in parts:
            part.load_state({})
        return Decider(*parts)

    @property
    def is_calibrated(self) -> bool:
        """Whether a NIL threshold was fitted; see ``calibration.fit``."""
        return self.calibrated_threshold is not None or bool(self.calibrated_by_label)

    @property
    def decides_without_threshold(self) -> bool:
        """Whether NIL is decided where there is no threshold, too, as the NIL model gives
        P(NIL) before it is fitted."""
        return bool(getattr(self.nil_model, "is_probability", False))

    def rank(self, kb: KnowledgeBase, queries: Sequence[MentionQuery], table: CandidateTable) -> Scores:
        """(n, k), the scores of the candidates of n mentions; -inf where there is none."""
        scores = self.combiner(table)
        return scores if self.reranker is None else self.reranker(kb, queries, table, scores)

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
        self, queries: Sequence[MentionQuery], best: NDArray[np.float64], setting: Threshold
    ) -> NDArray[np.float64]:
        """The threshold of each mention.

        Args:
            queries: (n,).
            best: (n,), the best candidate's share.
            setting: as for ``threshold_of``.

        Returns:
            (n,); infinite = NIL only for lack of candidates. Without any threshold, NIL has to be more probable than
            the first candidate, if the NIL model can say.
        """
        own = np.full(len(queries), np.inf)
        if self.decides_without_threshold:
            is_share = getattr(self.combiner, "is_probability", False)
            own = break_even_threshold(best) if is_share else np.full(len(queries), 0.5)
        by_label = {label: self.threshold_of(label, setting) for label in {query.label for query in queries}}
        known = [by_label[query.label] for query in queries]
        return np.where([value is None for value in known], own, np.array(known, dtype=np.float64))
