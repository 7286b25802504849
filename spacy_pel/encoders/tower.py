"""One side of the bi-encoder: a transformer and a reduction. Pure torch."""

from typing import Any, Optional, Tuple

from torch import Tensor, nn

from ..scoring.widen import widen
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

    def forward(self, ids: Tensor, mask: Tensor, embeddings: Optional[Tensor] = None) -> Tensor:
        """ids, mask (Tensor): (batch, length), int64.
        embeddings (Optional[Tensor]): (batch, length, width) to read in place of the word
            embeddings of the ids; position and segment are added to them as ever.
        RETURNS (Tensor): (batch, width).
        """
        inputs = {"input_ids": ids} if embeddings is None else {"inputs_embeds": embeddings}
        tokens = self.transformer(**inputs, attention_mask=mask).last_hidden_state
        counts = mention_mask(ids, mask, self.markers) if self.pooling == "mention" else mask
        # the mean of many tokens loses digits in half precision
        return pool(widen(tokens), counts, self.pooling)

    def embed(self, ids: Tensor) -> Tensor:
        """RETURNS (Tensor): (batch, length, width), the word embeddings that ``forward`` would read."""
        return self.transformer.get_input_embeddings()(ids)  # type: ignore[no-any-return]
