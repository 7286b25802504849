"""The objective of training on rows: a mention against the rows nearest to it."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import normalize

from ....encoders.similarities import Similarity
from ....util.ragged import Ragged
from ...score_metrics import score_metrics
from ..batches import Side
from ..objective import Objective
from ..settings import RowSettings
from .batches import RowBatch, TrainingRows
from .memory import RowMemory


class RowObjective(Objective):
    """The loss of each anchor over the rows nearest to it, all of one knowledge base and corpus.

    Its positive is the soft maximum over the right rows among them,

        s+ = t log sum_{right rows r} exp(s(m, r) / t)

    so that one near row is enough, whether a name or a mention: with CrossEntropy of scale 1 / t, the loss
    is that of neighbourhood components analysis (Goldberger et al. 2004) over rows, -log of the share of the
    right rows in a softmax. Gradients reach the anchors and the names of the batch; other rows are constants.

    towers (ModuleDict), loss (nn.Module), similarity (Similarity): as in ``Objective``; the similarity is of
        vectors of length 1.

    Args:
        memory: the rows' vectors; updated in training mode.
        rows: the rows' entities.
        settings: sizes and temperature.
    """

    def __init__(
        self,
        towers: Any,
        loss: nn.Module,
        *,
        similarity: Similarity,
        memory: RowMemory,
        rows: TrainingRows,
        settings: RowSettings,
    ):
        super().__init__(towers, loss, similarity=similarity)
        self.memory = memory
        self.settings = settings
        self.entity, self.n_names = rows.entity, rows.n_names

    def forward(self, batch: RowBatch) -> tuple[Tensor, dict[str, float]]:  # type: ignore[override]
        """The mean loss over the anchors that may see a right row, and metrics for the log:
        as ``Objective``'s, with the soft maximum over right rows as the positive; and "right", the mean share
        of the right rows in a softmax over all rows that were compared.
        """
        anchors = self._unit(batch.anchors)
        names = self._unit(batch.names) if batch.names else anchors[:0]
        nearest, found = self.memory.nearest(
            anchors, self.settings.nearest, hidden=batch.hidden, everywhere=batch.name_rows
        )
        drawn = batch.right
        again = (drawn[:, :, None] == np.where(found, nearest, -1)[:, None, :]).any(axis=2)
        rows = np.concatenate([nearest, drawn], axis=1)
        there = np.concatenate([found, (drawn >= 0) & ~again & ~np.isin(drawn, batch.name_rows)], axis=1)
        with torch.autocast(self._device.type, enabled=False):
            scores = torch.cat([self.memory.scores(anchors, rows), anchors @ names.T], dim=1)
        fresh = np.broadcast_to(batch.name_rows, (len(batch), len(batch.name_rows)))
        seen = np.concatenate([there, ~pairs_in(fresh, batch.hidden)], axis=1)
        right = seen & pairs_in(self.entity[np.concatenate([rows, fresh], axis=1)], batch.gold)
        if self.training:
            self.memory.put(batch.name_rows, names)
            of_mention = batch.rows >= self.n_names
            self.memory.put(batch.rows[of_mention], anchors[torch.from_numpy(of_mention)])
        return self._compared(scores, *(torch.from_numpy(mask).to(scores.device) for mask in (seen, right)))

    def _unit(self, sides: list[Side]) -> Tensor:
        vectors: Any = self._encode(self._inputs(sides))
        return normalize(vectors.float(), dim=1)

    def _compared(self, scores: Tensor, seen: Tensor, right: Tensor) -> tuple[Tensor, dict[str, float]]:
        """Args:
        scores: (n, k). seen, right (Tensor): (n, k) bool: rows that count, right ones.
        """
        usable, t = right.any(dim=1), self.settings.temperature
        if not usable.any():
            return 0.0 * scores.sum(), {"similarity+": 0.0, "similarity-": 0.0, "accuracy": 0.0, "right": 0.0}
        scores, seen, right = scores[usable], seen[usable], right[usable]
        of_right = torch.logsumexp((scores / t).masked_fill(~right, -torch.inf), dim=1)
        of_all = torch.logsumexp((scores / t).masked_fill(~seen, -torch.inf), dim=1)
        positives, wrong = t * of_right, seen & ~right
        metrics = score_metrics(positives.detach(), scores.detach(), wrong)
        metrics["right"] = float((of_right - of_all).detach().exp().mean())
        loss = self._loss(positives, scores, wrong)
        metrics.update(getattr(self.loss, "metrics", {}))
        return loss, metrics


def pairs_in(values: NDArray[np.int64], pieces: Ragged) -> NDArray[np.bool_]:
    """Args:
        values: (n, k). pieces (Ragged): n pieces.

    Returns:
        (n, k) whether each value is in the piece of its row.
    """
    size = 1 + max(int(values.max(initial=0)), int(pieces.values.max(initial=0)))
    return np.isin(np.arange(len(values))[:, None] * size + values, pieces.owners * size + pieces.values)
