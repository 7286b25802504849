"""Precision and length of vectors."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def at_least_float32(vectors: Tensor) -> Tensor:
    """Half precision has too few digits for scores that a loss multiplies.

    Returns:
        Float32; float64 does not change.
    """
    return vectors.to(torch.promote_types(vectors.dtype, torch.float32))


def unit_length(vectors: NDArray[Any]) -> NDArray[Any]:
    """(n, width), scaled to length 1; a vector of zeros does not change."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(norms, 1e-12)
