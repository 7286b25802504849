"""Ragged arrays equal lists of lists, and distinct keys those of NumPy."""

import numpy as np
import pytest

from spacy_pel.util.arrays import Ragged, distinct, offsets_of, owners, segment_sum


@pytest.mark.parametrize("most", [1, 50, 2**40, 2**62])
def test_distinct_keys_are_those_of_numpy(most):
    for size in (0, 1, 3000):
        keys = np.random.default_rng(0).integers(0, most, size=size)
        keys = np.concatenate([keys, keys[::7]])
        found, which = distinct(keys)
        expected, inverse = np.unique(keys, return_inverse=True)
        assert found.tolist() == expected.tolist() and which.tolist() == inverse.tolist()
        assert which.dtype == np.int64


def test_pieces_are_those_of_the_lists():
    lists = [[3, 1], [], [4], [1, 5, 9]]
    ragged = Ragged(np.array(sum(lists, [])), offsets_of(np.array([len(one) for one in lists])))
    assert [piece.tolist() for piece in ragged] == lists and len(ragged) == 4
    assert segment_sum(ragged.values, ragged.offsets).tolist() == [4, 0, 4, 15]
    assert ragged.lengths.tolist() == [2, 0, 1, 3] and owners(ragged.offsets).tolist() == [0, 0, 2, 3, 3, 3]
    taken = ragged.take(np.array([3, 1, 3, 0]))
    assert [piece.tolist() for piece in taken] == [lists[i] for i in (3, 1, 3, 0)]
    joined = Ragged.concatenate([ragged, taken.take(np.zeros(0, dtype=np.int64)), taken])
    assert [piece.tolist() for piece in joined] == lists + [lists[i] for i in (3, 1, 3, 0)]
    assert len(Ragged.concatenate([])) == 0
