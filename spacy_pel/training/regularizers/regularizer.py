"""The interface of regularizers."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from torch import Tensor


@runtime_checkable
class Regularizer(Protocol):
    """Perturbs input embeddings in training; the loss of the perturbed batch is added, times ``weight``.

    Attributes:
        weight: lambda, the share of the perturbed loss in the total.
    """

    weight: float

    def deltas(
        self, embeddings: Sequence[Tensor], masks: Sequence[Tensor], scores: Tensor, signs: Tensor
    ) -> list[Tensor]: ...  # added to the embeddings; see FGSM


@runtime_checkable
class GradientRegularizer(Regularizer, Protocol):
    """A regularizer that can do with the gradients of the clean loss. The objective takes them from the pass
    that the update needs anyway, which saves one."""

    def steps(
        self, gradients: Sequence[Tensor], masks: Sequence[Tensor]
    ) -> list[Tensor]: ...  # from the loss's gradients at the embeddings: what is added to these
