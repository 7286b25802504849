"""One side of the bi-encoder: a transformer and a reduction. Pure torch."""

from typing import Any, Tuple

import torch
from torch import Tensor, nn

from .pooling import Pooling, mention_mask, pool


class Tower(nn.Module):
    """ids, mask -> pooled vectors.

    transformer (PreTrainedModel): any Hugging Face encoder.
    pooling (Pooling): how token vectors become one vector.
    markers (Tuple[int, int]): ids of the tokens around a mention, for the pooling "mention".
    """

    def __init__(self, transformer: Any, *, pooling: Pooling, markers: Tuple[int, int] = (-1, -1)):
        super().__init__()
        self.transformer = transformer
        self.pooling: Pooling = pooling
        self.markers = markers

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """ids, mask (Tensor): (batch, length), int64. RETURNS (Tensor): (batch, width)."""
        tokens = self.transformer(input_ids=ids, attention_mask=mask).last_hidden_state
        counts = mention_mask(ids, mask, self.markers) if self.pooling == "mention" else mask
        # the mean of many tokens loses digits in half precision
        return pool(tokens.to(torch.float32), counts, self.pooling)
