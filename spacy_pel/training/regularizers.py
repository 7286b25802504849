"""Regularizers: perturbations that make a training batch harder. FGSM perturbs input embeddings by the fast
gradient sign method (Wiatrak et al. 2022, Eq. 5-8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from ..registry import registry
from ..util.config import check_range

_GRADIENT_SCALE = 1024.0
Tensors = Sequence[Tensor]


@runtime_checkable
class Regularizer(Protocol):
    """Perturbs input embeddings in training; the loss of the perturbed batch is added, times ``weight``.

    Attributes:
        weight: lambda, the share of the perturbed loss in the total.
    """

    weight: float

    def deltas(
        self, embeddings: Tensors, masks: Tensors, scores: Tensor, signs: Tensor
    ) -> list[Tensor]: ...  # added to the embeddings; see FGSM


@registry.pel_regularizers("spacy-pel.FGSM.v1")
@dataclass(kw_only=True, eq=False)
class FGSM:
    """Perturbs the composite input embeddings z (word + position + segment) of entities so that they become
    harder, and trains on the original and the perturbed batch:

        z-_adv = z- + epsilon sign(grad s(m, e-))                                    (Eq. 6)
        z+_adv = z+ - epsilon sign(grad s(m, e+))                                    (Eq. 7)
        total  = L(m, P) + weight L(m, P_adv)                                        (Eq. 8)

    A perturbation of the word embeddings perturbs their sum with position and segment equally, and has
    the same gradient, so any Hugging Face encoder works.

    The gradient is that of the clean forward pass, which the loss needs anyway. Its sign is a constant in the
    perturbed pass, so there is no second-order graph. Dropout draws new masks there, and mentions keep
    the vectors of the clean pass (choices). Padding is not perturbed, and objectives do not call this in
    eval mode.

    Works with every loss and similarity, and with cross-encoders, where each pair is a sequence.

    A choice: where mentions share a negative (``shared = true``, in-batch, or two of them drew the same hard
    one), it is one sequence with one embedding. It takes one step for all of its pairs, along their
    gradients weighted by the loss, which is the sign of the loss's own gradient (Eq. 5); Eq. 6 to the
    letter, a step for each pair, is what negatives of a mention's own get.

    Args:
        epsilon: step size for each component of an embedding; 0.01 in the paper.
        weight: lambda; 1 in the paper.
    """

    epsilon: float = 0.01
    weight: float = 1.0

    def __post_init__(self) -> None:
        check_range("epsilon", self.epsilon, least=0, most=1)
        check_range("weight", self.weight, least=0, most=100)

    def deltas(self, embeddings: Tensors, masks: Tensors, scores: Tensor, signs: Tensor) -> list[Tensor]:
        """``epsilon sign(grad of sum(signs scores))``: one step that raises scores of positive sign
        and lowers those of negative sign.

        Args:
            embeddings: each (batch, length, width), inputs that the scores were
                computed from.
            masks: each (batch, length), 1 = a real token. Others get a delta of zero.
            scores: similarities or logits, attached to their graph, which is retained.
            signs: of the scores' shape: -1 = a positive, 1 = a negative, 0 = ignored.
                Where a sequence has several scores, the absolute values are their weights.

        Returns:
            Same shapes as the embeddings, detached.
        """
        # autocast is for forward passes: a backward pass uses the dtypes of its forward pass
        with torch.autocast(scores.device.type, enabled=False):
            # only the sign is used: the factor keeps small gradients of half-precision layers from becoming 0
            total = _GRADIENT_SCALE * (signs.detach() * scores).sum()
            gradients = torch.autograd.grad(total, list(embeddings), retain_graph=True)
        return [
            self.epsilon * gradient.sign() * mask.unsqueeze(-1).to(gradient.dtype)
            for gradient, mask in zip(gradients, masks, strict=True)
        ]
