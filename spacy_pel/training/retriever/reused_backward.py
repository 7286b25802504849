"""One backward pass through the entities' towers for both their weights and their perturbation."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ...encoders.similarities import Encoded, TokenVectors
from .tower_inputs import TowerInputs


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
