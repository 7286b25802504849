"""Rectangular tables: each row equals what a plain loop over its values gives."""

import numpy as np
import pytest

from spacy_pel.util.tables import best_first, places_of, ranks, rectangle, softmax

INF = np.inf
TABLE = np.array([[0.5, 2.0, 0.5, 2.0], [-INF, -1.0, -INF, -3.0], [-INF] * 4, [0.0, -0.0, 1e-30, INF]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_largest_value_comes_first_and_equal_ones_keep_their_order(dtype):
    order = best_first(TABLE.astype(dtype))
    assert order.tolist() == [[1, 3, 0, 2], [1, 3, 0, 2], [0, 1, 2, 3], [3, 2, 0, 1]]
    assert ranks(TABLE.astype(dtype)).tolist() == [[2, 0, 3, 1], [2, 0, 3, 1], [0, 1, 2, 3], [2, 3, 1, 0]]


@pytest.mark.parametrize("shape", [(0, 3), (0, 0), (3, 0), (2, 1), (40, 17)])
def test_orders_and_ranks_are_those_of_sorted(shape):
    values = np.random.default_rng(0).integers(0, 5, size=shape).astype(np.float32)
    expected = [sorted(range(shape[1]), key=lambda place, row=row: -row[place]) for row in values.tolist()]
    assert best_first(values).tolist() == expected
    assert ranks(values).tolist() == [[order.index(place) for place in range(shape[1])] for order in expected]


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


def test_rows_are_filled_up_or_cut():
    owners, values = np.array([0, 0, 0, 2, 4, 4]), np.array([5, 3, 4, 9, 0, 7])
    assert rectangle(owners, values, (5, 2), empty=-1).tolist() == [[5, 3], [-1, -1], [9, -1], [-1, -1], [0, 7]]
    wide = rectangle(owners, values.astype(np.float32), (6, 4), empty=-INF)
    assert wide.dtype == np.float32 and wide[0].tolist() == [5, 3, 4, -INF] and np.isinf(wide[[1, 3, 5]]).all()
    assert rectangle(owners[:0], values[:0], (2, 1), empty=-1).tolist() == [[-1], [-1]]
