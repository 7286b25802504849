"""One side of the bi-encoder: a transformer and a reduction. Pure torch."""

from typing import Any

import torch
from torch import Tensor, nn

from .pooling import Pooling, pool


class Tower(nn.Module):
    """ids, mask -> pooled vectors.

    transformer (PreTrainedModel): any Hugging Face encoder.
    pooling (Pooling): how token vectors become one vector.
    """

    def __init__(self, transformer: Any, *, pooling: Pooling):
        super().__init__()
        self.transformer = transformer
        self.pooling: Pooling = pooling

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """ids, mask (Tensor): (batch, length), int64. RETURNS (Tensor): (batch, width)."""
        tokens = self.transformer(input_ids=ids, attention_mask=mask).last_hidden_state
        # the mean of many tokens loses digits in half precision
        return pool(tokens.to(torch.float32), mask, self.pooling)
