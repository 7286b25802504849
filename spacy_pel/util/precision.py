"""Half precision has too few digits for scores that a loss multiplies."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def widen(vectors: "Tensor") -> "Tensor":
    """RETURNS (Tensor): float32; float64 stays what it is."""
    import torch

    return vectors.to(torch.promote_types(vectors.dtype, torch.float32))
