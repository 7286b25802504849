"""The made-up batches of the benchmark of training steps."""

import numpy as np

from benchmarks.training_cost import Sizes, made_up_batch

TINY = Sizes(batch_size=3, n_negatives=2, mention_length=6, entity_length=4)


def test_batches_are_as_large_as_asked_for():
    shared = made_up_batch(TINY, shared=True, vocabulary=50)
    assert shared.negative_mask.shape == (3, 5) and shared.negative_mask[:, 3:].all()
    own = made_up_batch(TINY, shared=False, vocabulary=50)
    assert own.negative_mask.shape == (3, 9)
    assert (own.negative_mask.sum(axis=1) == 2).all() and (own.negative_mask[:, 3:].sum(axis=0) == 1).all()
    assert own.entities[0].ids.shape == (9, 4) and own.anchors[0].ids.shape == (3, 6)
    again = made_up_batch(TINY, shared=False, vocabulary=50)
    assert np.array_equal(own.entities[0].ids, again.entities[0].ids)
