"""The training objective of a bi-encoder, in pure torch."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ...encoders.similarities import Encoded, Similarity, TokenVectors, join, take
from ...encoders.similarities.cosine import Cosine
from ...encoders.tower import span_means
from ..mixing import Mixing
from ..regularizers import GradientRegularizer, Regularizer
from ..score_metrics import score_metrics
from .batches import PairBatch, Side


class TowerInputs(NamedTuple):
    """A ``Side`` on the device, with its tower; see there.

    embeddings: (n, length, width) to use instead of the ids' word embeddings, or None.
    spans: (m, 3) where the m vectors are means of spans, or None.
    """

    tower: Any
    ids: Tensor
    mask: Tensor
    places: Tensor
    embeddings: Tensor | None
    spans: Tensor | None = None

    @classmethod
    def of(cls, side: Side, towers: Any, device: torch.device, *, embed: bool) -> "TowerInputs":
        """Args:
        embed: look the embeddings up, so that they can be perturbed.
        """
        tower = towers[side.tower if side.tower in towers else "mention"]
        ids, mask, places = (torch.from_numpy(array).to(device) for array in (side.ids, side.mask, side.places))
        spans = None if side.spans is None else torch.from_numpy(side.spans).to(device)
        return cls(tower, ids, mask, places, tower.embed(ids) if embed else None, spans)

    def encoded(self, token_level: bool) -> Encoded:
        """(n, width), or of all tokens (n, length, width)."""
        inputs = (self.ids, self.mask) + (() if self.embeddings is None else (self.embeddings,))
        if self.spans is not None:
            return span_means(self.tower.states(*inputs), self.spans)
        if token_level:
            return TokenVectors(self.tower.states(*inputs), self.mask > 0)
        return self.tower(*inputs)  # type: ignore[no-any-return]

    def perturbed(self, delta: Tensor) -> "TowerInputs":
        # looked up again, as the graph of the clean pass may be gone
        return self._replace(embeddings=self.tower.embed(self.ids) + delta)

    def first(self, n: int) -> "TowerInputs":
        """The sequences, or mentions of windows, of the first n positions."""
        chosen = self.places < n
        if self.spans is not None:
            return self._replace(places=self.places[chosen], spans=self.spans[chosen])
        embeddings = None if self.embeddings is None else self.embeddings[chosen]
        return TowerInputs(self.tower, self.ids[chosen], self.mask[chosen], self.places[chosen], embeddings)


class ReusedBackward:
    """A regularizer needs the gradient of the clean loss at the entities' input embeddings, and the update
    needs it at the weights. Both come from one backward pass, where the towers' graph is cut at the entities'
    vectors. The graph is freed before the perturbed pass makes its own.

    inputs (list[TowerInputs]): of the entities, with embeddings.
    entities (Encoded): their vectors, from these inputs.

    ``entities`` are the vectors, cut from their towers; the loss is computed from them.
    """

    def __init__(self, inputs: list[TowerInputs], entities: Encoded):
        self._inputs = inputs
        tokens = isinstance(entities, TokenVectors)
        self._graph: Tensor = entities.vectors if tokens else entities  # type: ignore[union-attr,assignment]
        self._cut = self._graph.detach().requires_grad_()
        self.joined = entities
        self.entities: Encoded = entities._replace(vectors=self._cut) if tokens else self._cut  # type: ignore[union-attr]

    def backward(self, loss: Tensor) -> tuple[list[Tensor], Tensor]:
        """Run the pass.

        Args:
            loss: computed from ``entities``; its graph is retained.

        Returns:
            The loss's gradients at the embeddings of each side; and 0, to be added to the loss:
            where the sum is differentiated, the weights receive the gradients of this pass.
        """
        embeddings = [side.embeddings for side in self._inputs]
        towers = {id(side.tower): side.tower for side in self._inputs}
        weights = [weight for tower in towers.values() for weight in tower.parameters() if weight.requires_grad]
        # autocast is for forward passes: a backward pass uses the dtypes of its forward pass
        with torch.autocast(loss.device.type, enabled=False):
            (slopes,) = torch.autograd.grad(loss, self._cut, retain_graph=True)
            gradients = torch.autograd.grad(self._graph, [*embeddings, *weights], slopes, allow_unused=True)
        del self._graph
        return list(gradients[: len(embeddings)]), _ZeroWithGradients.apply(gradients[len(embeddings) :], *weights)


class _ZeroWithGradients(torch.autograd.Function):
    """0, which gives these gradients to the weights."""

    @staticmethod
    def forward(ctx: Any, gradients: Sequence[Any], *weights: Tensor) -> Tensor:
        ctx.gradients = gradients
        return weights[0].new_zeros(())

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> Any:
        return None, *(None if gradient is None else gradient * slope for gradient in ctx.gradients)


def keeps_small_gradients(device: torch.device) -> bool:
    """False under float16 autocast, where they underflow before the trainer scales them."""
    half = torch.is_autocast_enabled(device.type) and torch.get_autocast_dtype(device.type) == torch.float16
    return not half


_STEEP_ENOUGH = 1e-20  # the towers' gradients are many times smaller


class _CleanPass(NamedTuple):
    """The clean pass: (n, m) scores, loss and mask; and what its backward pass is shared by, or None."""

    scores: Tensor
    loss: Tensor
    mask: Tensor
    reused: ReusedBackward | None


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
        a regularizer also "loss_adversarial", the perturbed batch's part of the loss; with mixing that has
        weights "mix_weight", the mean W; and the loss's own ``metrics``, if it has any.
        """
        regularizer = self.regularizer if self.training else None
        anchors = self._encode(self._inputs(batch.anchors))
        inputs = self._inputs(batch.entities, embed=regularizer is not None)
        entities = self._encode(inputs)
        mask = torch.from_numpy(batch.negative_mask).to(self._device)
        reused = None
        # an entity that is perturbed in two directions needs a gradient for each
        if isinstance(regularizer, GradientRegularizer) and not _in_batch(mask):
            if keeps_small_gradients(self._device):
                reused = ReusedBackward(inputs, entities)
                entities = reused.entities
        scores = self._scores(anchors, entities)
        metrics = score_metrics(scores.detach().diagonal(), scores.detach(), mask)
        if self.mixing is None:
            loss = self._loss(scores.diagonal(), scores, mask)
        else:
            loss = self._mixed_loss(self.mixing, anchors, entities, scores, mask, metrics)
        metrics.update(getattr(self.loss, "metrics", {}))
        if regularizer is not None:
            clean = _CleanPass(scores, loss, mask, reused)
            loss, perturbed = self._regularized(regularizer, inputs, anchors, clean)
            metrics["loss_adversarial"] = float(perturbed.detach())
            loss = loss + regularizer.weight * perturbed
        return loss, metrics

    def _scores(self, anchors: Encoded, entities: Encoded) -> Tensor:
        """(n, m) similarities."""
        # in bf16, cosines have only 8 bits, and the loss multiplies them by alpha
        with torch.autocast(self._device.type, enabled=False):
            return self.similarity(anchors, entities)

    def _mixed_loss(
        self,
        mixing: Mixing,
        anchors: Encoded,
        entities: Encoded,
        scores: Tensor,
        mask: Tensor,
        metrics: dict[str, float],
    ) -> Tensor:
        """The mean loss with mixed negatives; "mix_weight" is added to the metrics."""
        with torch.autocast(scores.device.type, enabled=False):
            strong = mixing.strong_negatives(entities, scores.detach(), mask)
            negatives = self.similarity.paired(anchors, strong.entities)
        if strong.weights is not None:
            mixed = strong.weights[strong.mask.any(dim=1)]
            metrics["mix_weight"] = float(mixed.mean()) if len(mixed) else 0.0
        return self._loss(scores.diagonal(), negatives, strong.mask)

    def _loss(self, positives: Tensor, negatives: Tensor, mask: Tensor) -> Tensor:
        """The mean over the mentions."""
        with torch.autocast(negatives.device.type, enabled=False):
            return self.loss(positives, negatives, mask).mean()  # type: ignore[no-any-return]

    def _regularized(
        self, regularizer: Any, inputs: list[TowerInputs], anchors: Encoded, clean: _CleanPass
    ) -> tuple[Tensor, Tensor]:
        """The clean loss, to be differentiated, and the loss with perturbed entities; the
        mentions are not encoded again."""
        scores, loss, mask, reused = clean
        slopes = _slopes(scores, loss)
        masks = [side.mask for side in inputs]
        if reused is not None:
            if _have_directions(slopes, mask):
                gradients, zero = reused.backward(loss)
                deltas = regularizer.steps(gradients, masks)
                return loss + zero, self._perturbed_loss(inputs, deltas, anchors, mask)
            scores = self._scores(anchors, reused.joined)
            loss = self._loss(scores.diagonal(), scores, mask)
        embeddings: Any = [side.embeddings for side in inputs]
        pulled, pushed = _signs(slopes, mask)
        if not _in_batch(mask):
            deltas = regularizer.deltas(embeddings, masks, scores, pulled + pushed)
            return loss, self._perturbed_loss(inputs, deltas, anchors, mask)
        # an entity is the positive of one mention and a negative of others, which need opposite
        # perturbations: it is encoded twice
        deltas = regularizer.deltas(embeddings, masks, scores, pushed)
        negatives = self._scores(anchors, self._encode(_perturbed(inputs, deltas)))
        deltas = regularizer.deltas(embeddings, masks, scores, pulled)
        firsts = [side.first(len(mask)) for side in _perturbed(inputs, deltas)]
        positives = self._scores(anchors, self._encode([side for side in firsts if len(side.places)]))
        return loss, self._loss(positives.diagonal(), negatives, mask)

    def _perturbed_loss(
        self, inputs: list[TowerInputs], deltas: list[Tensor], anchors: Encoded, mask: Tensor
    ) -> Tensor:
        scores = self._scores(anchors, self._encode(_perturbed(inputs, deltas)))
        return self._loss(scores.diagonal(), scores, mask)

    def _inputs(self, sides: list[Side], *, embed: bool = False) -> list[TowerInputs]:
        return [TowerInputs.of(side, self.towers, self._device, embed=embed) for side in sides]

    def _encode(self, inputs: list[TowerInputs]) -> Encoded:
        """Input of the similarity, in the order of the sides' positions."""
        encoded = [side.encoded(self.similarity.token_level) for side in inputs]
        order = torch.argsort(torch.cat([side.places for side in inputs]))
        return take(join(encoded), order)

    @property
    def _device(self) -> torch.device:
        return next(self.parameters()).device


def _perturbed(inputs: list[TowerInputs], deltas: list[Tensor]) -> list[TowerInputs]:
    return [side.perturbed(delta) for side, delta in zip(inputs, deltas, strict=True)]


def _in_batch(mask: Tensor) -> bool:
    """Whether positives are negatives of other mentions."""
    return bool(mask[:, : len(mask)].any())


def _slopes(scores: Tensor, loss: Tensor) -> Tensor:
    """(n, m), the gradient of the loss at the scores."""
    return torch.autograd.grad(loss, scores, retain_graph=True)[0]


def _have_directions(slopes: Tensor, mask: Tensor) -> bool:
    """Whether the loss's own gradient moves every entity as ``_signs`` does: slopes that
    underflow to zero have no direction."""
    n = len(mask)
    steepest = slopes.abs().masked_fill(~mask, 0.0).amax(dim=0)
    steepest[:n] = slopes.diagonal().abs()
    used = mask.any(dim=0)
    used[:n] = True
    return bool((steepest[used] > _STEEP_ENOUGH).all())


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
