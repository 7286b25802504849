"""Ragged arrays: places in pieces equal their literal definition."""

import numpy as np
import pytest

from spacy_pel.util.ragged import Ragged, distinct, offsets_of, owners, places_in_pieces, segment_order, segment_rank


@pytest.mark.parametrize("lengths", [[], [0], [3], [0, 2, 0, 0, 4, 1, 0]])
def test_places_in_pieces(lengths):
    places = places_in_pieces(offsets_of(np.array(lengths, dtype=np.int64)))
    assert places.dtype == np.int64
    assert places.tolist() == [place for length in lengths for place in range(length)]


def test_ranks_restart_in_each_piece():
    values = np.array([1.0, 3.0, 2.0, -5.0, 7.0, 7.0])
    assert segment_rank(values, np.array([0, 3, 3, 4, 6])).tolist() == [2, 0, 1, 0, 0, 1]


VALUES = [-np.inf, -2.0, -1.5, -0.0, 0.0, 1e-30, 0.3, np.nextafter(np.float32(0.3), np.float32(1)), np.inf]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(20))
def test_orders_are_those_of_a_stable_sort(seed, dtype):
    rng = np.random.default_rng(seed)
    offsets = offsets_of(rng.integers(0, 30, size=rng.integers(0, 40)))
    values = rng.choice(np.array(VALUES, dtype=dtype), size=offsets[-1])
    if seed % 5 == 0:
        values[rng.random(len(values)) < 0.1] = np.nan
    first = rng.random(len(values)) < 0.3
    expected = np.lexsort((-values, owners(offsets)))
    assert segment_order(values, offsets).tolist() == expected.tolist()
    expected = np.lexsort((-values, ~first, owners(offsets)))
    assert segment_order(values, offsets, first=first).tolist() == expected.tolist()


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
    assert ragged.lengths.tolist() == [2, 0, 1, 3] and ragged.owners.tolist() == [0, 0, 2, 3, 3, 3]
    taken = ragged.take(np.array([3, 1, 3, 0]))
    assert [piece.tolist() for piece in taken] == [lists[i] for i in (3, 1, 3, 0)]
    joined = Ragged.concatenate([ragged, taken.take(np.zeros(0, dtype=np.int64)), taken])
    assert [piece.tolist() for piece in joined] == lists + [lists[i] for i in (3, 1, 3, 0)]
    assert len(Ragged.concatenate([])) == 0
