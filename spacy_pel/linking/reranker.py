"""Reranking: a ranker reads the best candidates together with their mention."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from ..registry import registry
from ..types import CandidateTable, Floats, Ranker, RankingTask, Rows, Scores
from ..util import logger
from ..util.arrays import ranks, row_sums, softmax
from ..util.saved_folder import read_part
from .combiner import conditional_logit, is_gold
from .query import Queries

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

    def __call__(self, kb: KnowledgeBase, queries: Queries, table: CandidateTable, scores: Scores) -> Scores:
        """(n, k) new scores of all candidates."""
        return self.combine(table, scores, self.read(kb, queries, table, scores))

    def read(
        self, kb: KnowledgeBase, queries: Queries, table: CandidateTable, scores: Scores, *, show_progress: bool = False
    ) -> Scores:
        """Let the ranker read the best candidates.

        Args:
            kb: holds the entities.
            queries: the n mentions.
            table: their candidates.
            scores: (n, k), the combiner's.

        Returns:
            (n, k), the ranker's; NaN for unread candidates.
        """
        chosen = table.filled & (ranks(scores) < self.ranker.top_k)
        task = RankingTask.of([query.in_text for query in queries], np.where(chosen, table.kb_rows, -1), kb.entity_at)
        return self.ranker.score(task, show_progress=show_progress)

    def combine(self, table: CandidateTable, scores: Scores, read: Scores) -> Scores:
        """(n, k) shares; scores and read as in ``read``."""
        chosen, shares = ~np.isnan(read), _shares(table, scores)
        of_ranker, of_combiner = np.moveaxis(_logits(shares, read) * self.weights, 2, 0)
        mixed = np.where(chosen, of_ranker + of_combiner, -np.inf)
        top = np.where(chosen.any(axis=1), mixed.max(axis=1), 0.0)[:, None]
        mass = row_sums(np.where(chosen, shares, 0.0))[:, None]
        reranked = softmax(np.where(chosen, np.maximum(mixed - top, -_RANGE), -np.inf)) * mass
        # unread candidates rank below reranked ones
        lowest = np.where(chosen, reranked, np.inf).min(axis=1, keepdims=True)
        behind = np.where(chosen, 0.0, shares).max(axis=1, keepdims=True)
        factor = np.where(behind <= lowest, 1.0, 0.5 * np.minimum(lowest, 1.0) / np.maximum(behind, _SMALLEST))
        result = np.where(chosen, reranked, shares * factor)
        return np.where(table.filled, result, -np.inf).astype(np.float32)

    def fit(self, table: CandidateTable, scores: Scores, read: Scores, gold: Sequence[Rows]) -> None:
        """Learn both weights as a conditional logit over the candidates that were read; mentions
        without a gold entity among them are left out. Does nothing if ``mix`` is set.

        Args:
            gold: for each mention the KB rows of its entity, empty for NIL.
        """
        from scipy.optimize import minimize

        if self.ranker.mix is not None:
            return
        chosen = ~np.isnan(read)
        right = is_gold(table.kb_rows, gold) & chosen
        used = right.any(axis=1)
        if not used.any():
            logger.warning("The ranker's weights are unchanged: no gold entity is among the candidates it read")
            return
        logits = _logits(_shares(table, scores), read)[used]
        problem = (logits, chosen[used], right[used], _L2)
        bounds = [(0.0, None), (0.0, None)]  # a higher score of either never lowers the result
        result = minimize(conditional_logit, np.ones(2), problem, "L-BFGS-B", jac=True, bounds=bounds)
        self._learned = (float(result.x[0]), float(result.x[1]))
        logger.info("Ranker: weights %.3f and %.3f on %d mentions", *self._learned, used.sum())

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
    positive = np.where(table.filled, np.maximum(scores, _SMALLEST), 0.0).astype(np.float64)
    return positive / np.maximum(row_sums(positive)[:, None], _SMALLEST)


def _logits(shares: Floats, read: Scores) -> Floats:
    """(n, k, 2), the ranker's and the combiner's; 0 where the ranker read no candidate."""
    chosen = ~np.isnan(read)
    of_ranker = np.where(chosen, read, 0.0).astype(np.float64)
    return np.stack([of_ranker, np.log(np.where(chosen, shares, 1.0))], axis=2)


# -- loading a ranker -------------------------------------------------------------------------------


_OF_ENCODER = "spacy-pel.DualEncoder.v1"


def load_ranker(path: Path, **settings: Any) -> Ranker:
    """Read a ranker from a folder; its ``ranker.json`` names the registered part.

    Args:
        path: a model folder of a ranker, or of an encoder, which then serves as a DualEncoder.
        settings: settings that are not saved in the folder, e.g. ``top_k`` and ``mix``.

    Returns:
        With weights.

    Raises:
        PelError: if the folder holds no ranker, or one that is not registered.
    """
    path = Path(path)
    make = registry.resolve_short("pel_rankers", read_ranker(path)["ranker"])  # a dual encoder's is in the studies
    return make(**settings).from_disk(path)  # type: ignore[no-any-return]


def read_ranker(path: Path, name: str | None = None) -> dict[str, Any]:
    """Check a folder and read which part it holds.

    Args:
        path: a model folder.
        name: the expected ranker; None = any.

    Returns:
        ``ranker.json``: the registered name as "ranker", settings and fingerprint;
        of an encoder's folder the name alone.

    Raises:
        PelError: if the folder holds no ranker, or another one.
    """
    if is_encoder(path) and name in (None, _OF_ENCODER):
        return {"ranker": _OF_ENCODER}
    return read_part(path, kind="ranker", name=name)


def is_encoder(path: Path) -> bool:
    """Whether an encoder wrote the folder."""
    return (path / "encoder.json").is_file()
