"""A transformer that reads, with each word piece, what is known of the names around it; in torch."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ...encoders.tower import Tower


class NamedTower(nn.Module):
    """ids, mask -> states, for a backend. The mask holds the codes of names, see ``CodedTokens``.

    What a code means (``KnownNames.features``) is projected to the width of the word embeddings and added to them.

    Args:
        tower: whose weights it uses.
        features: of both kinds of codes, (codes, features) each.
    """

    def __init__(self, tower: Tower, features: Sequence[NDArray[np.float32]]):
        super().__init__()
        self.tower = tower
        marked, named = map(torch.from_numpy, features)
        width = int(tower.transformer.config.hidden_size)
        self.marked = nn.Linear(marked.shape[1], width, bias=False)
        self.named = nn.Linear(named.shape[1], width, bias=False)
        nn.init.zeros_(self.marked.weight)  # at first the transformer reads as before
        nn.init.zeros_(self.named.weight)
        self.register_buffer("of_marked", marked, persistent=False)
        self.register_buffer("of_named", named, persistent=False)

    @property
    def width(self) -> int:
        """Of the states."""
        return self.marked.out_features + self.marked.in_features + self.named.in_features

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Args:
            ids: (batch, length), int64.
            mask: the same, 0 = padding, otherwise 1 + code.

        Returns:
            (batch, length, width), the transformer's states, and behind them the features of names.
        """
        of_marked: Any = self.of_marked
        of_named: Any = self.of_named
        n_named = of_named.shape[0]
        codes = (mask - 1).clamp(min=0)
        named = codes % n_named
        marked = (codes - named) // n_named  # exact: some backends divide as floats
        read = of_marked[marked], of_named[named]
        names = self.marked(read[0]) + self.named(read[1])
        states = self.tower.states(ids, (mask > 0).to(mask.dtype), self.tower.embed(ids) + names)
        return torch.cat([states, *read], dim=-1)

    def weights(self) -> dict[str, Tensor]:
        """Those of the names alone."""
        return {name: getattr(self, name).weight.detach().cpu().contiguous() for name in ("marked", "named")}

    def load_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Args:
        weights: of ``weights``.
        """
        with torch.no_grad():
            for name, values in weights.items():
                getattr(self, name).weight.copy_(values)
