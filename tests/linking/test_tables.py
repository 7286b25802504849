import numpy as np
import pytest

from spacy_pel.linking.tables import insert_empty, join_tables, take_mentions, with_features
from spacy_pel.types import CandidateTable


@pytest.fixture
def table():
    """Three mentions: candidates 10 11 | none | 12 13 14."""
    return CandidateTable(
        kb_rows=np.array([10, 11, 12, 13, 14]),
        offsets=np.array([0, 2, 2, 5]),
        features={"name": np.array([0.1, 0.2, 0.3, 0.4, 0.5], dtype=np.float32)},
        vectors=np.eye(3, dtype=np.float32),
    )


def rows(table):
    return [table.kb_rows[i:j].tolist() for i, j in zip(table.offsets[:-1], table.offsets[1:], strict=True)]


def names(table):
    return [table.features["name"][i:j].tolist() for i, j in zip(table.offsets[:-1], table.offsets[1:], strict=True)]


def test_join(table):
    joined = join_tables([table, table])
    assert rows(joined) == rows(table) * 2
    assert names(joined) == names(table) * 2
    assert rows(join_tables([table])) == rows(table)
    assert joined.vectors.tolist() == [*np.eye(3).tolist()] * 2
    bare = CandidateTable(table.kb_rows, table.offsets, table.features)
    assert join_tables([table, bare]).vectors is None


def test_take(table):
    taken = take_mentions(table, np.array([2, 0, 1, 2]))
    assert rows(taken) == [[12, 13, 14], [10, 11], [], [12, 13, 14]]
    assert names(taken)[1] == names(table)[0]
    assert taken.vectors.argmax(axis=1).tolist() == [2, 0, 1, 2]
    assert len(take_mentions(table, np.array([], dtype=np.int64))) == 0


def test_insert_empty(table):
    wide = insert_empty(table, np.array([False, True, True, False, True, False]))
    assert rows(wide) == [[], [10, 11], [], [], [12, 13, 14], []]
    assert wide.vectors.sum(axis=1).tolist() == [0, 1, 1, 0, 1, 0]


def test_what_is_known_of_the_mentions_goes_with_them(table):
    known = with_features(table, {"more": table.features["name"]}, {"length": np.float32([5, 6, 7])})
    assert known.of_mentions["length"].tolist() == [5, 6, 7] and "more" in known.features
    assert table.of_mentions == {}
    assert take_mentions(known, np.array([2, 0, 2])).of_mentions["length"].tolist() == [7, 5, 7]
    wide = insert_empty(known, np.array([False, True, True, False, True]))
    assert wide.of_mentions["length"].tolist() == [0, 5, 6, 0, 7]
    assert join_tables([known, known]).of_mentions["length"].tolist() == [5, 6, 7] * 2
    some = with_features(table, {}, {"length": np.float32([5, 6, 7])})
    assert join_tables([some, table]).of_mentions == {} == join_tables([table, some]).of_mentions
