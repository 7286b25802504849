"""One side of the bi-encoder: a transformer and a reduction (Wiatrak et al. 2022, section 5.2), in torch."""

from collections.abc import Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn

from ..util.arrays import at_least_float32

Pooling = Literal["mean", "cls", "mention", "markers"]


class Tower(nn.Module):
    """ids, mask -> pooled vectors.

    Args:
        transformer: any Hugging Face encoder.
        pooling: how token vectors become one vector.
        markers: ids of the tokens around a mention, for the poolings "mention" and "markers".
        bare_pooling: of sequences without markers, where one tower reads both sides;
            None = as those with markers.
    """

    def __init__(
        self,
        transformer: Any,
        *,
        pooling: Pooling,
        markers: tuple[int, int] = (-1, -1),
        bare_pooling: Pooling | None = None,
    ):
        super().__init__()
        self.transformer = transformer
        self.pooling: Pooling = pooling
        self.markers = markers
        self.bare_pooling: Pooling | None = bare_pooling

    def forward(self, ids: Tensor, mask: Tensor, embeddings: Tensor | None = None) -> Tensor:
        """Args:
            ids, mask: (batch, length), int64.
            embeddings: (batch, length, width) to read instead of the word
                embeddings of the ids; position and segment embeddings are added as usual.

        Returns:
            (batch, width).
        """
        tokens = self.states(ids, mask, embeddings)
        pooled = self._pool(tokens, ids, mask, self.pooling)
        if self.bare_pooling in (None, self.pooling):
            return pooled
        marked = (ids == self.markers[0]).any(dim=1, keepdim=True)
        return torch.where(marked, pooled, self._pool(tokens, ids, mask, self.bare_pooling))

    def states(self, ids: Tensor, mask: Tensor, embeddings: Tensor | None = None) -> Tensor:
        """Arguments as for ``forward``.

        Returns:
            (batch, length, width), the vectors of the tokens, before they are pooled.
        """
        inputs = {"input_ids": ids} if embeddings is None else {"inputs_embeds": embeddings}
        # the mean of many tokens loses digits in half precision
        return at_least_float32(self.transformer(**inputs, attention_mask=mask).last_hidden_state)

    def _pool(self, tokens: Tensor, ids: Tensor, mask: Tensor, how: Pooling) -> Tensor:
        counts = _MASKS[how](ids, mask, self.markers) if how in _MASKS else mask
        return pool(tokens, counts, how)

    def embed(self, ids: Tensor) -> Tensor:
        """(batch, length, width), the word embeddings that ``forward`` would read."""
        return self.transformer.get_input_embeddings()(ids)  # type: ignore[no-any-return]


class TokenTower(nn.Module):
    """A tower that is not pooled, for a backend: ids, mask -> (batch, length, width).

    Args:
        tower: whose weights it uses.
    """

    def __init__(self, tower: Tower):
        super().__init__()
        self.tower = tower

    @property
    def width(self) -> int:
        """Of the states."""
        return int(self.tower.transformer.config.hidden_size)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """See ``Tower.states``."""
        return self.tower.states(ids, mask)


def pool(tokens: Tensor, mask: Tensor, how: Pooling) -> Tensor:
    """Reduce token vectors.

    Args:
        tokens: (batch, length, width).
        mask: (batch, length), 1 = a token that counts.
        how: the first token for "cls", else the mean over the mask.

    Returns:
        (batch, width).
    """
    if how == "cls":
        return tokens[:, 0]
    weights = mask.unsqueeze(-1).to(tokens.dtype)
    return (tokens * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1.0)


def mention_mask(ids: Tensor, mask: Tensor, markers: tuple[int, int]) -> Tensor:
    """Which tokens lie between the markers, the markers excluded?

    The mean over a whole window is mostly context: before training it finds the right entity
    for a quarter of MedMentions' mentions, the mean over the mention for two thirds. Context
    still enters through attention.

    Args:
        ids: (batch, length).
        mask: (batch, length), 1 = a real token.
        markers: ids of the start and the end marker.

    Returns:
        (batch, length); the real tokens for a sequence without markers, such as a card.
    """
    start, end = ids == markers[0], ids == markers[1]
    inside = (start.cumsum(dim=1) > end.cumsum(dim=1)) & ~start
    return torch.where(inside.any(dim=1, keepdim=True), inside.to(mask.dtype), mask)


def marker_mask(ids: Tensor, mask: Tensor, markers: tuple[int, int]) -> Tensor:
    """Which tokens are the markers themselves (Le & Nguyen 2023, section 3.2.1)?

    ids, mask, markers: as for ``mention_mask``.

    Returns:
        (batch, length); the real tokens for a sequence without markers.
    """
    marked = (ids == markers[0]) | (ids == markers[1])
    return torch.where(marked.any(dim=1, keepdim=True), marked.to(mask.dtype), mask)


# poolings that look for the markers: what counts in their mean
_MASKS = {"mention": mention_mask, "markers": marker_mask}


@torch.no_grad()
def move_towards(module: nn.Module, other: Mapping[str, Tensor], weight: float) -> None:
    """Change the weights of a module to those on the straight line to other ones.

    Args:
        module: is changed.
        other: the other weights, by the same names and of the same shapes.
        weight: 0 = those of the module, 1 = the other ones.
    """
    for name, values in module.state_dict().items():  # these share the module's memory
        if values.is_floating_point():
            values.lerp_(other[name].to(values.dtype), weight)
