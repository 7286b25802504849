"""Rectangular tables: each row equals what a plain loop over its values gives."""

import numpy as np
import pytest

from spacy_pel.util.arrays import best_first, first_places, places_of, ranks, softmax

INF = np.inf
TABLE = np.array([[0.5, 2.0, 0.5, 2.0], [-INF, -1.0, -INF, -3.0], [-INF] * 4, [0.0, -0.0, 1e-30, INF]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_largest_value_comes_first_and_equal_ones_keep_their_order(dtype):
    order = best_first(TABLE.astype(dtype))
    assert order.tolist() == [[1, 3, 0, 2], [1, 3, 0, 2], [0, 1, 2, 3], [3, 2, 0, 1]]
    assert ranks(TABLE.astype(dtype)).tolist() == [[2, 0, 2, 0], [2, 0, 2, 1], [0] * 4, [2, 2, 1, 0]], "ties share one"


@pytest.mark.parametrize("shape", [(0, 3), (0, 0), (3, 0), (2, 1), (40, 17)])
def test_orders_and_ranks_are_those_of_sorted(shape):
    values = np.random.default_rng(0).integers(0, 5, size=shape).astype(np.float32)
    expected = [sorted(range(shape[1]), key=lambda place, row=row: -row[place]) for row in values.tolist()]
    assert best_first(values).tolist() == expected
    assert ranks(values).tolist() == [[sum(other > value for other in row) for value in row] for row in values.tolist()]


def test_shares_sum_to_1_where_a_row_has_a_value():
    values = np.array([[0.0, np.log(3), -INF], [-INF] * 3, [1000.0, 1000.0, -1000.0], [-INF, -1e4, -INF]], np.float32)
    shares = softmax(values)
    assert shares.dtype == np.float64
    assert shares == pytest.approx(np.array([[0.25, 0.75, 0], [0] * 3, [0.5, 0.5, 0], [0, 1, 0]]), abs=1e-7)
    assert softmax(values[:0]).shape == (0, 3)


@pytest.mark.parametrize("lengths", [[], [0], [3], [0, 2, 0, 0, 4, 1, 0]])
def test_places_restart_with_each_owner(lengths):
    owners = np.repeat(np.arange(len(lengths)), np.array(lengths, dtype=np.int64))
    assert places_of(owners).tolist() == [place for length in lengths for place in range(length)]


@pytest.mark.parametrize(
    ("keys", "k", "places"), [([], 3, []), ([7], 1, [0]), ([5, 5, 2, 5, 9, 2, 1], 3, [0, 2, 4]), ([3, 1, 3], 9, [0, 1])]
)
def test_distinct_keys_are_taken_where_they_come_first(keys, k, places):
    assert first_places(np.array(keys, dtype=np.int64), k).tolist() == places
