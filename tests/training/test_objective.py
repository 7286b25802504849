import numpy as np
import torch

from spacy_pel.losses.proxy_softplus import ProxySoftplus
from spacy_pel.training.batches import PairBatch, Side
from spacy_pel.training.objective import Objective


class Lookup(torch.nn.Module):
    """A tower that gives each first token a vector of its own."""

    def __init__(self, vectors):
        super().__init__()
        self.vectors = torch.nn.Parameter(vectors)

    def forward(self, ids, mask):
        return self.vectors[ids[:, 0]]


def test_cosines_keep_their_digits_under_autocast():
    torch.manual_seed(0)
    vectors = torch.randn(6, 64)
    objective = Objective(torch.nn.ModuleDict({"mention": Lookup(vectors)}), ProxySoftplus())
    ones, places = np.ones((3, 1), dtype=np.int64), np.arange(3)
    batch = PairBatch(
        anchors=[Side("mention", np.array([[0], [1], [2]]), ones, places)],
        entities=[Side("mention", np.array([[3], [4], [5]]), ones, places)],
        negative_mask=~np.eye(3, dtype=bool),
    )
    exact, _ = objective(batch)
    with torch.autocast("cpu", torch.bfloat16):
        rounded, _ = objective(batch)
    torch.testing.assert_close(rounded, exact, rtol=1e-6, atol=1e-6)
