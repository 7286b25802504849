import numpy as np
import pytest

from spacy_pel.linking.tables import insert_empty, join_tables, take_mentions, with_features
from spacy_pel.types import CandidateTable


@pytest.fixture
def table():
    """Three mentions: candidates 10 11 | none | 12 13 14."""
    bare = CandidateTable(
        kb_rows=np.array([10, 11, 12, 13, 14]),
        offsets=np.array([0, 2, 2, 5]),
        features={"name": np.array([0.1, 0.2, 0.3, 0.4, 0.5], dtype=np.float32)},
        vectors=np.eye(3, dtype=np.float32),
    )
    return with_features(bare, {"more": bare.features["name"]}, {"length": np.float32([5, 6, 7])})


def rows(table):
    """Of each mention: its candidates, their feature, the vector, and what is known of the mention."""
    found = []
    for i, (start, stop) in enumerate(zip(table.offsets[:-1], table.offsets[1:], strict=True)):
        candidates, feature = table.kb_rows[start:stop].tolist(), table.features["more"][start:stop].tolist()
        found.append((candidates, feature, table.vectors[i].tolist(), table.of_mentions["length"][i]))
    return found


def test_join(table):
    assert rows(join_tables([table, table])) == rows(table) * 2
    bare = CandidateTable(table.kb_rows, table.offsets, table.features)
    for joined in (join_tables([table, bare]), join_tables([bare, table])):
        assert joined.vectors is None and joined.of_mentions == {}


def test_take(table):
    one, two, three = rows(table)
    assert rows(take_mentions(table, np.array([2, 0, 1, 2]))) == [three, one, two, three]
    assert len(take_mentions(table, np.array([], dtype=np.int64))) == 0


def test_insert_empty(table):
    empty = ([], [], [0.0, 0.0, 0.0], 0.0)
    one, two, three = rows(table)
    wide = insert_empty(table, np.array([False, True, True, False, True, False]))
    assert rows(wide) == [empty, one, two, empty, three, empty]
