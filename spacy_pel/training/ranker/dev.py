"""Evaluation of the ranker during training: unnormalised accuracy on dev mentions."""

import numpy as np

from ...kb import KnowledgeBase
from ...linking import Reranker
from ...types import CandidateTable, Ranker, RankingTask
from ...util.ragged import owners, segment_rank, segment_sum
from .candidates import Candidates, RankMentions
from .pair_batches import are_gold


def ranking_task(kb: KnowledgeBase, mentions: RankMentions, candidates: Candidates) -> RankingTask:
    """The ranker's input for these mentions and their candidates."""
    distinct, rows = np.unique(candidates.kb_rows, return_inverse=True)
    return RankingTask(
        mentions=[query.in_text for query in mentions.queries],
        entities=[kb.entity_at(int(row)) for row in distinct],
        rows=rows,
        offsets=candidates.offsets,
    )


class DevRanking:
    """Ranks the retriever's candidates of dev mentions; the gold entity is not added. All mentions
    whose entity is in the KB count (unnormalised): those whose entity the retriever missed are errors.

    Args:
        kb: holds the entities.
        mentions: of the dev corpus.
        candidates: of the retriever.
    """

    def __init__(self, kb: KnowledgeBase, mentions: RankMentions, candidates: Candidates):
        self.task = ranking_task(kb, mentions, candidates)
        self.right = are_gold(candidates.kb_rows, candidates.offsets, mentions.gold)
        self.scores = candidates.scores
        self.table = CandidateTable(candidates.kb_rows, candidates.offsets, {})

    def retriever(self) -> dict[str, float]:
        """ "retriever_accuracy", and "retriever_recall", the upper bound of every ranker."""
        has_right = segment_sum(self.right, self.table.offsets) > 0
        return {"retriever_accuracy": self._accuracy(self.scores), "retriever_recall": float(has_right.mean())}

    def __call__(self, ranker: Ranker) -> dict[str, float]:
        """ "accuracy" of the ranker's order, and "accuracy_mixed" of its scores combined
        with the combiner's, both with weight 1.
        """
        read = ranker.score(self.task)
        mixed = Reranker(ranker).combine(self.table, self.scores, read)
        return {"accuracy": self._accuracy(read), "accuracy_mixed": self._accuracy(mixed), **self.retriever()}

    def _accuracy(self, scores: np.ndarray) -> float:
        first = segment_rank(scores, self.table.offsets) == 0
        hits = np.bincount(owners(self.table.offsets)[first & self.right], minlength=len(self.table))
        return float(hits.astype(np.bool_).mean())
