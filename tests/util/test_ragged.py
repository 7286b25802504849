"""Ragged arrays: places in pieces equal their literal definition."""

import numpy as np
import pytest

from spacy_pel.util.ragged import offsets_of, places_in_pieces, segment_rank


@pytest.mark.parametrize("lengths", [[], [0], [3], [0, 2, 0, 0, 4, 1, 0]])
def test_places_in_pieces(lengths):
    places = places_in_pieces(offsets_of(np.array(lengths, dtype=np.int64)))
    assert places.dtype == np.int64
    assert places.tolist() == [place for length in lengths for place in range(length)]


def test_ranks_begin_anew_in_each_piece():
    values = np.array([1.0, 3.0, 2.0, -5.0, 7.0, 7.0])
    assert segment_rank(values, np.array([0, 3, 3, 4, 6])).tolist() == [2, 0, 1, 0, 0, 1]
