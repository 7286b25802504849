"""Ragged arrays equal lists of lists."""

import numpy as np

from spacy_pel.util.arrays import Ragged, offsets_of, owners, segment_sum


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
