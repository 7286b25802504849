"""The training objective of a bi-encoder, in pure torch."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from ...encoders.similarities import Cosine, Encoded, Similarity, TokenVectors, take
from ..negatives import Mixing
from ..regularizers import Regularizer
from ..training_log import score_metrics
from .batches import PairBatch, Side


class TowerInputs(NamedTuple):
    """A ``Side`` on the device, with its tower; see there.

    embeddings: (n, length, width) to use instead of the ids' word embeddings, or None.
    """

    tower: Any
    ids: Tensor
    mask: Tensor
    places: Tensor
    embeddings: Tensor | None

    @classmethod
    def of(cls, side: Side, towers: Any, device: torch.device, *, embed: bool) -> "TowerInputs":
        """Args:
        embed: look the embeddings up, so that they can be perturbed.
        """
        tower = towers[side.tower if side.tower in towers else "mention"]
        ids, mask, places = (torch.from_numpy(array).to(device) for array in (side.ids, side.mask, side.places))
        return cls(tower, ids, mask, places, tower.embed(ids) if embed else None)

    def encoded(self, token_level: bool) -> Encoded:
        """(n, width), or of all tokens (n, length, width)."""
        inputs = (self.ids, self.mask) + (() if self.embeddings is None else (self.embeddings,))
        if token_level:
            return TokenVectors(self.tower.states(*inputs), self.mask > 0)
        return self.tower(*inputs)  # type: ignore[no-any-return]

    def first(self, n: int) -> "TowerInputs":
        """The sequences of the first n positions."""
        chosen = self.places < n
        embeddings = None if self.embeddings is None else self.embeddings[chosen]
        return TowerInputs(self.tower, self.ids[chosen], self.mask[chosen], self.places[chosen], embeddings)


class Objective(nn.Module):
    """Towers and loss in one module, so that data-parallel training wraps both, and the loss's
    own parameters (proxies) reach the optimizer.

    Args:
        towers: "mention" and, unless tied, "entity".
        loss: positives (n,), negatives (n, m), mask (n, m) -> (n,).
        similarity: of the towers' vectors; the cosine by default.
        regularizer: adds the loss of perturbed entities, in training mode only.
        mixing: makes the loss's negatives from those of the batch.

    Raises:
        PelError: if there are both a regularizer and mixing.
    """

    def __init__(
        self,
        towers: Any,
        loss: nn.Module,
        *,
        similarity: Similarity | None = None,
        regularizer: Regularizer | None = None,
        mixing: Mixing | None = None,
    ):
        super().__init__()
        self.towers = towers
        self.loss = loss
        self.similarity: Similarity = similarity or Cosine()
        self.regularizer = regularizer
        self.mixing = mixing

    def forward(self, batch: PairBatch) -> tuple[Tensor, dict[str, float]]:
        """The mean loss, and metrics for the log: "similarity+", "similarity-"
        (means over positives and over the hardest negatives) and "accuracy" in the batch; with
        a regularizer also "loss_adversarial", the perturbed batch's part of the loss; with mixing
        "mix_weight", the mean W; and the loss's own ``metrics``, if it has any.
        """
        regularizer = self.regularizer if self.training else None
        anchors = self._encode(self._inputs(batch.anchors))
        inputs = self._inputs(batch.entities, embed=regularizer is not None)
        entities = self._encode(inputs)
        mask = torch.from_numpy(batch.negative_mask).to(self._device)
        scores = self._scores(anchors, entities)
        metrics = score_metrics(scores.detach().diagonal(), scores.detach(), mask)
        if self.mixing is None:
            loss = self._loss(scores.diagonal(), scores, mask)
        else:
            with torch.autocast(self._device.type, enabled=False):
                strong = self.mixing.strong_negatives(entities, scores.detach(), mask)
                negatives = self.similarity.paired(anchors, strong.entities)
            loss = self._loss(scores.diagonal(), negatives, strong.mask)
            mixed = strong.weights[strong.mask.any(dim=1)]
            metrics["mix_weight"] = float(mixed.mean()) if len(mixed) else 0.0
        metrics.update(getattr(self.loss, "metrics", {}))
        if regularizer is not None:
            perturbed = self._perturbed_loss(regularizer, inputs, anchors, scores, loss, mask)
            metrics["loss_adversarial"] = float(perturbed.detach())
            loss = loss + regularizer.weight * perturbed
        return loss, metrics

    def _scores(self, anchors: Encoded, entities: Encoded) -> Tensor:
        """(n, m) similarities."""
        # in bf16, cosines have only 8 bits, and the loss multiplies them by alpha
        with torch.autocast(self._device.type, enabled=False):
            return self.similarity(anchors, entities)

    def _loss(self, positives: Tensor, negatives: Tensor, mask: Tensor) -> Tensor:
        """The mean over the mentions."""
        with torch.autocast(negatives.device.type, enabled=False):
            return self.loss(positives, negatives, mask).mean()  # type: ignore[no-any-return]

    def _perturbed_loss(
        self, regularizer: Any, inputs: list[TowerInputs], anchors: Encoded, scores: Tensor, loss: Tensor, mask: Tensor
    ) -> Tensor:
        """The loss with perturbed entities; the mentions are not encoded again.

        Args:
            scores, loss: of the clean pass, with their graph.
        """
        pulled, pushed = _signs(_slopes(scores, loss), mask)

        def perturbed(signs: Tensor) -> list[TowerInputs]:
            deltas = regularizer.deltas(embeddings, [side.mask for side in inputs], scores, signs)
            moved = [before + delta for before, delta in zip(embeddings, deltas, strict=True)]
            return [side._replace(embeddings=after) for side, after in zip(inputs, moved, strict=True)]

        embeddings: Any = [side.embeddings for side in inputs]
        n = len(mask)
        if not mask[:, :n].any():
            negatives = self._scores(anchors, self._encode(perturbed(pulled + pushed)))
            return self._loss(negatives.diagonal(), negatives, mask)
        # an entity is the positive of one mention and a negative of others, which need opposite
        # perturbations: it is encoded twice
        negatives = self._scores(anchors, self._encode(perturbed(pushed)))
        firsts = [side.first(n) for side in perturbed(pulled)]
        positives = self._scores(anchors, self._encode([side for side in firsts if len(side.places)]))
        return self._loss(positives.diagonal(), negatives, mask)

    def _inputs(self, sides: list[Side], *, embed: bool = False) -> list[TowerInputs]:
        return [TowerInputs.of(side, self.towers, self._device, embed=embed) for side in sides]

    def _encode(self, inputs: list[TowerInputs]) -> Encoded:
        """Input of the similarity, in the order of the sides' positions."""
        encoded = [side.encoded(self.similarity.token_level) for side in inputs]
        order = torch.argsort(torch.cat([side.places for side in inputs]))
        return take(_joined(encoded), order)

    @property
    def _device(self) -> torch.device:
        return next(self.parameters()).device


def _slopes(scores: Tensor, loss: Tensor) -> Tensor:
    """(n, m), the gradient of the loss at the scores."""
    return torch.autograd.grad(loss, scores, retain_graph=True)[0]


def _signs(slopes: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """The direction in which to move each score, and its weight for its entity.

    A negative of one mention counts 1, which is Eq. 6 of Wiatrak et al. (2022). A negative that several
    mentions share has one embedding: the mentions are weighted by their scores' gradients, which is Eq. 5.

    Returns:
        (n, m) of the positives: -1; and (n, m) of the negatives: from 0 to 1.
    """
    slopes = slopes.masked_fill(~mask, 0.0)
    steepest = slopes.amax(dim=0, keepdim=True)
    # slopes that underflow to zero in float32 have no direction
    pushed = torch.where(steepest > 0, slopes / steepest.clamp(min=1e-38), mask.to(slopes.dtype))
    pulled = torch.zeros_like(slopes)
    pulled.diagonal().fill_(-1.0)
    return pulled, pushed


def _joined(parts: Sequence[Encoded]) -> Encoded:
    """The texts of all parts in order, tokens padded to the longest."""
    tokens = [part for part in parts if isinstance(part, TokenVectors)]
    if not tokens:
        return torch.cat([part for part in parts if not isinstance(part, TokenVectors)])
    columns = ([part.vectors for part in tokens], [part.mask for part in tokens])
    vectors, masks = (pad_sequence([row for part in parts for row in part], batch_first=True) for parts in columns)
    return TokenVectors(vectors, masks)
