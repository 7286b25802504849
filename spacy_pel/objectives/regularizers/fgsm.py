"""FGSM: adversarial input embeddings by the fast gradient sign method (Wiatrak et al. 2022, Eq. 5-8)."""

from typing import List, Sequence

import torch
from torch import Tensor

from ...errors import Errors, PelError
from ...registry import registry

_LOUDER = 1024.0


@registry.pel_regularizers("spacy-pel.FGSM.v1")
def make_fgsm(epsilon: float = 0.01, weight: float = 1.0) -> "FGSM":
    """Build an FGSM; the settings are the class's."""
    return FGSM(epsilon=epsilon, weight=weight)


class FGSM:
    """Moves the composite input embeddings z (word + position + segment) of entities to where
    they are harder, and trains on both:

        z-_adv = z- + epsilon sign(grad s(m, e-))                                    (Eq. 6)
        z+_adv = z+ - epsilon sign(grad s(m, e+))                                    (Eq. 7)
        total  = L(m, P) + weight L(m, P_adv)                                        (Eq. 8)

    A delta on the word embeddings is the same delta on their sum with position and segment,
    and has the same gradient, so that any Hugging Face encoder will do.

    The gradient is that of the clean forward, which the loss needs anyway; its sign is a constant
    in the perturbed one, so there is no graph of second order. Dropout draws new masks there.
    Padding stays where it is, and in eval mode an objective does not ask.

    Works with every loss and similarity, and in a cross-encoder, where each pair is a sequence.

    epsilon (float): how far each number of an embedding moves; 0.01 in the paper.
    weight (float): lambda; 1 in the paper.
    """

    def __init__(self, *, epsilon: float = 0.01, weight: float = 1.0):
        for name, value in (("epsilon", epsilon), ("weight", weight)):
            if not value >= 0:
                raise PelError(Errors.E301.format(name=name, least=0, value=value))
        self.epsilon = epsilon
        self.weight = weight

    def deltas(
        self, embeddings: Sequence[Tensor], masks: Sequence[Tensor], scores: Tensor, signs: Tensor
    ) -> List[Tensor]:
        """RETURNS (List[Tensor]): see ``fgsm_deltas``."""
        return fgsm_deltas(embeddings, masks, scores, signs, epsilon=self.epsilon)


def fgsm_deltas(
    embeddings: Sequence[Tensor],
    masks: Sequence[Tensor],
    scores: Tensor,
    signs: Tensor,
    *,
    epsilon: float,
) -> List[Tensor]:
    """``epsilon sign(grad of sum(signs scores))``: one step that raises scores of positive sign
    and lowers those of negative sign.

    embeddings (Sequence[Tensor]): each (batch, length, width), inputs that the scores were
        computed from.
    masks (Sequence[Tensor]): each (batch, length), 1 = a real token. Others get a delta of zero.
    scores (Tensor): similarities or logits, with their graph, which is kept.
    signs (Tensor): of the scores' shape: -1 = a positive, 1 = a negative, 0 = does not count.
        Where a sequence has several scores, their sizes say how much each of them counts.
    epsilon (float): size of the step.
    RETURNS (List[Tensor]): each as its embeddings, without a graph.
    """
    # autocast is for forward passes: a backward pass runs in the types of its forward pass
    with torch.autocast(scores.device.type, enabled=False):
        # only the sign is used: the factor keeps small gradients of half-precision layers from becoming 0
        total = _LOUDER * (signs.detach() * scores).sum()
        gradients = torch.autograd.grad(total, list(embeddings), retain_graph=True, create_graph=False)
    return [
        epsilon * gradient.sign() * mask.unsqueeze(-1).to(gradient.dtype)
        for gradient, mask in zip(gradients, masks, strict=True)
    ]
