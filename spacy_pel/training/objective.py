"""What is minimised: batches in, the loss and its parts out. Pure torch."""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn

from ..regularizers import Regularizer
from ..scoring import Similarity
from ..scoring.cosine import Cosine
from .batches import PairBatch, Side


class Objective(nn.Module):
    """Towers and loss in one module, so that data-parallel training wraps both, and the loss's
    own parameters (proxies) cannot be forgotten by the optimiser.

    towers (ModuleDict): "mention" and, unless tied, "entity".
    loss (nn.Module): positives (n,), negatives (n, m), mask (n, m) -> (n,).
    similarity (Optional[Similarity]): of the towers' vectors; cosine by default.
    regularizer (Optional[Regularizer]): adds the loss of perturbed entities, in training mode only.
    """

    def __init__(
        self,
        towers: Any,
        loss: nn.Module,
        *,
        similarity: Optional[Similarity] = None,
        regularizer: Optional[Regularizer] = None,
    ):
        super().__init__()
        self.towers = towers
        self.loss = loss
        self.similarity: Similarity = similarity or Cosine()
        self.regularizer = regularizer

    def forward(self, batch: PairBatch) -> Tuple[Tensor, Dict[str, float]]:
        """RETURNS (tuple): the mean loss, and figures for the log: "similarity+", "similarity-"
        (means over positives and over the hardest negatives) and "accuracy" in the batch; with
        a regularizer also "loss_adversarial", the perturbed batch's part of the loss.
        """
        regularizer = self.regularizer if self.training else None
        anchors = self._encode(self._inputs(batch.anchors))
        inputs = self._inputs(batch.entities, embed=regularizer is not None)
        entities = self._encode(inputs)
        mask = torch.from_numpy(batch.negative_mask).to(anchors.device)
        scores = self._scores(anchors, entities)
        loss = self._loss(scores.diagonal(), scores, mask)
        figures = _figures(scores.detach(), mask)
        if regularizer is not None:
            perturbed = self._perturbed_loss(regularizer, inputs, anchors, scores, loss, mask)
            figures["loss_adversarial"] = float(perturbed.detach())
            loss = loss + regularizer.weight * perturbed
        return loss, figures

    def _scores(self, anchors: Tensor, entities: Tensor) -> Tensor:
        """RETURNS (Tensor): (n, m) similarities."""
        # autocast would round the cosines to 8 bits before the loss multiplies them by alpha
        with torch.autocast(anchors.device.type, enabled=False):
            return self.similarity(anchors, entities)

    def _loss(self, positives: Tensor, negatives: Tensor, mask: Tensor) -> Tensor:
        """RETURNS (Tensor): the mean over the mentions."""
        with torch.autocast(negatives.device.type, enabled=False):
            return self.loss(positives, negatives, mask).mean()  # type: ignore[no-any-return]

    def _perturbed_loss(
        self,
        regularizer: Regularizer,
        inputs: "List[SideInputs]",
        anchors: Tensor,
        scores: Tensor,
        loss: Tensor,
        mask: Tensor,
    ) -> Tensor:
        """The loss with perturbed entities; the mentions are not encoded again.

        With in-batch negatives an entity is the positive of one mention and a negative of others,
        which ask for opposite perturbations: it is encoded twice then.
        """
        n = len(mask)
        embeddings, masks = zip(*((side.embeddings, side.mask) for side in inputs), strict=True)
        pulled, pushed = _signs(scores, loss, mask)
        if not mask[:, :n].any():
            deltas = regularizer.deltas(embeddings, masks, scores, pulled + pushed)
            perturbed = self._scores(anchors, self._encode(_moved(inputs, deltas)))
            return self._loss(perturbed.diagonal(), perturbed, mask)
        deltas = regularizer.deltas(embeddings, masks, scores, pushed)
        negatives = self._scores(anchors, self._encode(_moved(inputs, deltas)))
        deltas = regularizer.deltas(embeddings, masks, scores, pulled)
        firsts = [side.first(n) for side in _moved(inputs, deltas)]
        positives = self._scores(anchors, self._encode([side for side in firsts if len(side.places)]))
        return self._loss(positives.diagonal(), negatives, mask)

    def _inputs(self, sides: List[Side], *, embed: bool = False) -> "List[SideInputs]":
        device = next(self.parameters()).device
        inputs = []
        for side in sides:
            tower = self.towers[side.tower if side.tower in self.towers else "mention"]
            ids, mask, places = (
                torch.from_numpy(array).to(device) for array in (side.ids, side.mask, side.places)
            )
            inputs.append(SideInputs(tower, ids, mask, places, tower.embed(ids) if embed else None))
        return inputs

    def _encode(self, inputs: "List[SideInputs]") -> Tensor:
        """RETURNS (Tensor): (n, width) vectors in the order of the sides' places."""
        vectors = [side.vectors() for side in inputs]
        order = torch.argsort(torch.cat([side.places for side in inputs]))
        return torch.cat(vectors)[order]


class SideInputs(NamedTuple):
    """A ``Side`` on the device, with its tower; see there.

    embeddings: (n, length, width) to read in place of the ids' word embeddings, or None.
    """

    tower: Any
    ids: Tensor
    mask: Tensor
    places: Tensor
    embeddings: Optional[Tensor]

    def vectors(self) -> Tensor:
        """RETURNS (Tensor): (n, width)."""
        if self.embeddings is None:
            return self.tower(self.ids, self.mask)  # type: ignore[no-any-return]
        return self.tower(self.ids, self.mask, self.embeddings)  # type: ignore[no-any-return]

    def first(self, n: int) -> "SideInputs":
        """RETURNS (SideInputs): the sequences of the first n places."""
        kept = self.places < n
        embeddings = None if self.embeddings is None else self.embeddings[kept]
        return SideInputs(self.tower, self.ids[kept], self.mask[kept], self.places[kept], embeddings)


def _moved(inputs: List[SideInputs], deltas: List[Tensor]) -> List[SideInputs]:
    return [
        side._replace(embeddings=side.embeddings + delta)
        for side, delta in zip(inputs, deltas, strict=True)
        if side.embeddings is not None
    ]


def _signs(scores: Tensor, loss: Tensor, mask: Tensor) -> Tuple[Tensor, Tensor]:
    """In which direction each score is to be moved, and how much it counts for its entity.

    A negative of one mention counts 1, which is Eq. 6. A negative that several mentions share
    has one embedding: each of them counts as its score does in the gradient of the loss.

    RETURNS (tuple): (n, m) of the positives: -1; and (n, m) of the negatives: from 0 to 1.
    """
    (slopes,) = torch.autograd.grad(loss, scores, retain_graph=True)
    slopes = slopes.masked_fill(~mask, 0.0)
    steepest = slopes.amax(dim=0, keepdim=True)
    # slopes that are zero in float32 do not say which way
    pushed = torch.where(steepest > 0, slopes / steepest.clamp(min=1e-38), mask.to(slopes.dtype))
    pulled = torch.zeros_like(scores)
    pulled.diagonal().fill_(-1.0)
    return pulled, pushed


def _figures(scores: Tensor, mask: Tensor) -> Dict[str, float]:
    positives, pushes = scores.diagonal(), mask.any(dim=1)
    hardest = scores.masked_fill(~mask, -torch.inf).amax(dim=1)
    return {
        "similarity+": float(positives.mean()),
        "similarity-": float(hardest[pushes].mean()) if pushes.any() else 0.0,
        "accuracy": float((positives > hardest).float().mean()),
    }
