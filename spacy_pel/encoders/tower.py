"""One side of the bi-encoder: a transformer and a reduction. Pure torch."""

from typing import Any, Optional, Tuple

import torch
from torch import Tensor, nn

from ..util.precision import widen
from .pooling import Pooling, marker_mask, mention_mask, pool

# poolings that look for the markers: what counts in their mean
_MASKS = {"mention": mention_mask, "markers": marker_mask}


class Tower(nn.Module):
    """ids, mask -> pooled vectors.

    transformer (PreTrainedModel): any Hugging Face encoder.
    pooling (Pooling): how token vectors become one vector.
    markers (Tuple[int, int]): ids of the tokens around a mention, for the poolings "mention" and "markers".
    bare_pooling (Optional[Pooling]): of sequences without markers, where one tower reads both sides;
        None = as those with markers.
    """

    def __init__(
        self,
        transformer: Any,
        *,
        pooling: Pooling,
        markers: Tuple[int, int] = (-1, -1),
        bare_pooling: Optional[Pooling] = None,
    ):
        super().__init__()
        self.transformer = transformer
        self.pooling: Pooling = pooling
        self.markers = markers
        self.bare_pooling: Optional[Pooling] = bare_pooling

    def forward(self, ids: Tensor, mask: Tensor, embeddings: Optional[Tensor] = None) -> Tensor:
        """ids, mask (Tensor): (batch, length), int64.
        embeddings (Optional[Tensor]): (batch, length, width) to read in place of the word
            embeddings of the ids; position and segment are added to them as ever.
        RETURNS (Tensor): (batch, width).
        """
        tokens = self.states(ids, mask, embeddings)
        pooled = self._pool(tokens, ids, mask, self.pooling)
        if self.bare_pooling in (None, self.pooling):
            return pooled
        marked = (ids == self.markers[0]).any(dim=1, keepdim=True)
        return torch.where(marked, pooled, self._pool(tokens, ids, mask, self.bare_pooling))

    def states(self, ids: Tensor, mask: Tensor, embeddings: Optional[Tensor] = None) -> Tensor:
        """Arguments as for ``forward``.

        RETURNS (Tensor): (batch, length, width), the vectors of the tokens, before they are pooled.
        """
        inputs = {"input_ids": ids} if embeddings is None else {"inputs_embeds": embeddings}
        # the mean of many tokens loses digits in half precision
        return widen(self.transformer(**inputs, attention_mask=mask).last_hidden_state)

    def _pool(self, tokens: Tensor, ids: Tensor, mask: Tensor, how: Pooling) -> Tensor:
        counts = _MASKS[how](ids, mask, self.markers) if how in _MASKS else mask
        return pool(tokens, counts, how)

    def embed(self, ids: Tensor) -> Tensor:
        """RETURNS (Tensor): (batch, length, width), the word embeddings that ``forward`` would read."""
        return self.transformer.get_input_embeddings()(ids)  # type: ignore[no-any-return]


class TokenTower(nn.Module):
    """A tower that is not pooled, for a backend: ids, mask -> (batch, length, width).

    tower (Tower): whose weights it uses.
    """

    def __init__(self, tower: Tower):
        super().__init__()
        self.tower = tower

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """RETURNS (Tensor): see ``Tower.states``."""
        return self.tower.states(ids, mask)
