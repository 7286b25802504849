"""Ragged arrays: places in pieces equal their literal definition."""

import numpy as np
import pytest

from spacy_pel.util.ragged import Ragged, offsets_of, places_in_pieces, segment_rank


@pytest.mark.parametrize("lengths", [[], [0], [3], [0, 2, 0, 0, 4, 1, 0]])
def test_places_in_pieces(lengths):
    places = places_in_pieces(offsets_of(np.array(lengths, dtype=np.int64)))
    assert places.dtype == np.int64
    assert places.tolist() == [place for length in lengths for place in range(length)]


def test_ranks_restart_in_each_piece():
    values = np.array([1.0, 3.0, 2.0, -5.0, 7.0, 7.0])
    assert segment_rank(values, np.array([0, 3, 3, 4, 6])).tolist() == [2, 0, 1, 0, 0, 1]


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
