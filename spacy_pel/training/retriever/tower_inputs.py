"""The inputs of the towers on the device, and perturbed ones."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from ...encoders.similarities import Encoded, TokenVectors
from ...encoders.tower import span_means
from .batches import Side


class TowerInputs(NamedTuple):
    """A ``Side`` on the device, with its tower; see there.

    embeddings: (n, length, width) to use instead of the ids' word embeddings, or None.
    spans: (m, 3) where the m vectors are means of spans, or None.
    """

    tower: Any
    ids: Tensor
    mask: Tensor
    places: Tensor
    embeddings: Tensor | None
    spans: Tensor | None = None

    @classmethod
    def of(cls, side: Side, towers: Any, device: torch.device, *, embed: bool) -> "TowerInputs":
        """Args:
        embed: look the embeddings up, so that they can be perturbed.
        """
        tower = towers[side.tower if side.tower in towers else "mention"]
        ids, mask, places = (torch.from_numpy(array).to(device) for array in (side.ids, side.mask, side.places))
        spans = None if side.spans is None else torch.from_numpy(side.spans).to(device)
        return cls(tower, ids, mask, places, tower.embed(ids) if embed else None, spans)

    def encoded(self, token_level: bool) -> Encoded:
        """(n, width), or of all tokens (n, length, width)."""
        inputs = (self.ids, self.mask) + (() if self.embeddings is None else (self.embeddings,))
        if self.spans is not None:
            return span_means(self.tower.states(*inputs), self.spans)
        if token_level:
            return TokenVectors(self.tower.states(*inputs), self.mask > 0)
        return self.tower(*inputs)  # type: ignore[no-any-return]

    def perturbed(self, delta: Tensor) -> "TowerInputs":
        # looked up again, as the graph of the clean pass may be gone
        return self._replace(embeddings=self.tower.embed(self.ids) + delta)

    def first(self, n: int) -> "TowerInputs":
        """The sequences, or mentions of windows, of the first n positions."""
        chosen = self.places < n
        if self.spans is not None:
            return self._replace(places=self.places[chosen], spans=self.spans[chosen])
        embeddings = None if self.embeddings is None else self.embeddings[chosen]
        return TowerInputs(self.tower, self.ids[chosen], self.mask[chosen], self.places[chosen], embeddings)
