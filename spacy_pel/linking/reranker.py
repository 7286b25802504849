"""Reranking: a ranker reads the best candidates together with their mention."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from ..types import CandidateTable, Ranker, RankingTask, Scores
from ..util import logger
from ..util.ragged import offsets_of, owners, segment_max, segment_rank, segment_softmax, segment_sum
from .combiners.linear import ConditionalLogit, is_gold
from .query import MentionQuery

Floats = NDArray[np.float64]
_L2 = 1e-4  # of the two weights
_SMALLEST = 1e-30  # of a combiner's score: it has a logarithm
_RANGE = 60.0  # of the logits of one mention: their shares stay apart in float32


class Reranker:
    """Combines a ranker's scores r with the combiner's scores p (as shares of their mention):

        score = softmax(a r + b log p) over the ``top_k`` candidates that were read, times their share p.

    The scores remain shares of 1, which NIL models rely on. Unread candidates rank below the
    reranked ones, in their old order. a = 1 and b = the ranker's ``mix``; if that is None, ``fit``
    learns both, which are 1 until then.

    Args:
        ranker: reads mentions and candidates.

    Raises:
        PelError: if this is not a ranker.
    """

    def __init__(self, ranker: Ranker):
        if not callable(getattr(ranker, "score", None)) or not hasattr(ranker, "top_k"):
            raise PelError(Errors.E503.format(got=repr(ranker)))
        self.ranker = ranker
        self._learned = (1.0, 1.0)

    @property
    def weights(self) -> tuple[float, float]:
        """Of the ranker's score, and of the logarithm of the combiner's."""
        return self._learned if self.ranker.mix is None else (1.0, self.ranker.mix)

    def __call__(
        self, kb: KnowledgeBase, queries: Sequence[MentionQuery], table: CandidateTable, scores: Scores
    ) -> Scores:
        """(m,) new scores of all candidates."""
        return self.combine(table, scores, self.read(kb, queries, table, scores))

    def read(
        self,
        kb: KnowledgeBase,
        queries: Sequence[MentionQuery],
        table: CandidateTable,
        scores: Scores,
        *,
        show_progress: bool = False,
    ) -> Scores:
        """Let the ranker read the best candidates.

        Args:
            kb: holds the entities.
            queries: the n mentions.
            table: their m candidates.
            scores: (m,), the combiner's.

        Returns:
            (m,), the ranker's; NaN for unread candidates.
        """
        read = np.full(len(scores), np.nan, dtype=np.float32)
        chosen = np.flatnonzero(segment_rank(scores, table.offsets) < self.ranker.top_k)
        if len(chosen):
            distinct, rows = np.unique(table.kb_rows[chosen], return_inverse=True)
            task = RankingTask(
                mentions=[query.in_text for query in queries],
                entities=[kb.entity_at(int(row)) for row in distinct],
                rows=rows,
                offsets=offsets_of(np.bincount(owners(table.offsets)[chosen], minlength=len(table))),
            )
            read[chosen] = self.ranker.score(task, show_progress=show_progress)
        return read

    def combine(self, table: CandidateTable, scores: Scores, read: Scores) -> Scores:
        """(m,) shares; scores and read as in ``read``."""
        owner, shares = owners(table.offsets), _shares(table, scores)
        chosen = ~np.isnan(read)
        logits, offsets = self._columns(table, shares, read)
        mixed = logits @ np.array(self.weights)
        top = segment_max(mixed, offsets, empty=0.0)[owner[chosen]]
        mass = segment_sum(shares * chosen, table.offsets)
        result = shares.copy()
        result[chosen] = segment_softmax(np.maximum(mixed - top, -_RANGE), offsets) * mass[owner[chosen]]
        # unread candidates rank below reranked ones
        lowest = -segment_max(-result[chosen], offsets, empty=-np.inf)
        behind = segment_max(np.where(chosen, 0.0, shares), table.offsets, empty=0.0)
        factor = np.where(behind <= lowest, 1.0, 0.5 * lowest / np.maximum(behind, _SMALLEST))
        result[~chosen] *= factor[owner[~chosen]]
        return result.astype(np.float32)

    def fit(self, table: CandidateTable, scores: Scores, read: Scores, gold: Sequence[NDArray[np.int64]]) -> None:
        """Learn both weights as a conditional logit over the candidates that were read; mentions
        without a gold entity among them are left out. Does nothing if ``mix`` is set.

        Args:
            gold: for each mention the KB rows of its entity, empty for NIL.
        """
        from scipy.optimize import minimize

        if self.ranker.mix is not None:
            return
        columns, offsets = self._columns(table, _shares(table, scores), read)
        right = is_gold(table, gold)[~np.isnan(read)]
        has_gold = segment_sum(right, offsets) > 0
        if not has_gold.any():
            logger.warning("The ranker's weights are unchanged: no gold entity is among the candidates it read")
            return
        used = has_gold[owners(offsets)]
        problem = ConditionalLogit(columns[used], np.diff(offsets)[has_gold], right[used], _L2)
        bounds = [(0.0, None), (0.0, None)]  # a higher score of either never lowers the result
        result = minimize(problem, np.ones(2), jac=True, method="L-BFGS-B", bounds=bounds)
        self._learned = (float(result.x[0]), float(result.x[1]))
        logger.info("Ranker: weights %.3f and %.3f on %d mentions", *self._learned, has_gold.sum())

    def _columns(self, table: CandidateTable, shares: Floats, read: Scores) -> tuple[Floats, Any]:
        """(read candidates, 2) the two logits, and the offsets of their mentions."""
        chosen = ~np.isnan(read)
        counts = np.bincount(owners(table.offsets)[chosen], minlength=len(table))
        columns: list[Any] = [read[chosen].astype(np.float64), np.log(shares[chosen])]
        return np.stack(columns, axis=1), offsets_of(counts)

    def state(self) -> dict[str, Any]:
        """What ``fit`` learned, as JSON."""
        return {"weights": list(self._learned)}

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore what ``fit`` learned; an empty state gives the defaults."""
        ranker, combiner = state.get("weights", (1.0, 1.0))
        self._learned = (float(ranker), float(combiner))


def _shares(table: CandidateTable, scores: Scores) -> Floats:
    """A combiner's scores as shares of their mention: probabilities do not change, and
    positive cosines keep their order."""
    positive = np.maximum(scores.astype(np.float64), _SMALLEST)
    return positive / segment_sum(positive, table.offsets)[owners(table.offsets)]
