"""What is minimised: batches in, the loss and its parts out. Pure torch."""

from typing import Any, Dict, List, Tuple

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from .batches import PairBatch, Side


class Objective(nn.Module):
    """Towers and loss in one module, so that data-parallel training wraps both, and the loss's
    own parameters (proxies) cannot be forgotten by the optimiser.

    towers (ModuleDict): "mention" and, unless tied, "entity".
    loss (nn.Module): positives (n,), negatives (n, m), mask (n, m) -> (n,).
    """

    def __init__(self, towers: Any, loss: nn.Module):
        super().__init__()
        self.towers = towers
        self.loss = loss

    def forward(self, batch: PairBatch) -> Tuple[Tensor, Dict[str, float]]:
        """RETURNS (tuple): the mean loss, and figures for the log: "similarity+", "similarity-"
        (means over positives and over the hardest negatives) and "accuracy" in the batch.
        """
        anchors = self._encode(batch.anchors)
        entities = self._encode(batch.entities)
        mask = torch.from_numpy(batch.negative_mask).to(anchors.device)
        # autocast would round the cosines to 8 bits before the loss multiplies them by alpha
        with torch.autocast(anchors.device.type, enabled=False):
            similarity = anchors.float() @ entities.float().T  # (n, n + m)
            positives = similarity.diagonal()[: len(batch)]
            loss = self.loss(positives, similarity, mask).mean()
        with torch.no_grad():
            hardest = similarity.masked_fill(~mask, -1.0).max(dim=1).values
            figures = {
                "similarity+": float(positives.mean()),
                "similarity-": float(hardest.mean()),
                "accuracy": float((positives > hardest).float().mean()),
            }
        return loss, figures

    def _encode(self, sides: List[Side]) -> Tensor:
        """RETURNS (Tensor): (n, width) unit vectors in the order of the sides' places."""
        device = next(self.parameters()).device
        vectors, places = [], []
        for side in sides:
            tower = self.towers[side.tower if side.tower in self.towers else "mention"]
            ids, mask = (torch.from_numpy(array).to(device) for array in (side.ids, side.mask))
            vectors.append(normalize(tower(ids, mask), dim=-1))
            places.append(torch.from_numpy(side.places))
        order = torch.argsort(torch.cat(places)).to(device)
        return torch.cat(vectors)[order]
