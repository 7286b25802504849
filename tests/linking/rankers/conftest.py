"""Rankers small enough to run in milliseconds; the cross-encoder with a linear layer that is not zero."""

import numpy as np
import pytest

from spacy_pel.training.ranker.cross_encoder import CrossEncoder
from spacy_pel.types import Entity, MentionInText, RankingTask

ENTITIES = [
    Entity("C0", "fever", ("pyrexia",), ("T184",), "A body temperature above the normal."),
    Entity("C1", "kidney stone", (), ("T047",)),
    Entity("C2", "heart attack", ("MI",), ("T047",), "Death of heart muscle. " * 20),
]
MENTIONS = [
    MentionInText("he had a fever in the night", 9, 14),
    MentionInText("nothing but pain " * 30 + "a heart attack", 512, 524),
]
TASK = RankingTask(MENTIONS, ENTITIES, np.array([[0, 1, 2], [2, 0, -1]]))


def make_ranker(seed=0, **settings):
    import torch

    ranker = CrossEncoder(**{"name": f"random:layers=1,width=16,seed={seed}", "length": 64, "top_k": 3, **settings})
    ranker.initialize()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.nn.init.normal_(ranker.tower.head.weight)
    ranker.changed()
    return ranker


@pytest.fixture
def ranker():
    return make_ranker()
