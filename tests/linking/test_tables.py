"""Tables of candidates, and the tasks of rankers made from them."""

import numpy as np
import pytest

from spacy_pel.types import CandidateTable, Entity, MentionInText, RankingTask

from .tables import laid_out, table_of


@pytest.fixture
def table():
    """Three mentions: candidates 10 11 | none | 12 13 14."""
    bare = table_of([[10, 11], [], [12, 13, 14]], name=[[0.1, 0.2], [], [0.3, 0.4, 0.5]])
    bare.vectors = np.eye(3, dtype=np.float32)
    return bare.plus({"more": bare.features["name"]}, {"length": np.float32([5, 6, 7])})


def rows(table):
    """Of each mention: its candidates, their feature, the vector, and what is known of the mention."""
    filled, known = table.filled, zip(table.vectors.tolist(), table.of_mentions["length"].tolist(), strict=True)
    return [
        (table.kb_rows[i][filled[i]].tolist(), table.features["more"][i][filled[i]].tolist(), *of_mention)
        for i, of_mention in enumerate(known)
    ]


def test_more_features_leave_the_table_as_it_was(table):
    wide = table.plus({"name": np.zeros((3, 3), np.float32)}, {"length": np.zeros(3, np.float32)})
    assert wide.features["name"].max() == wide.of_mentions["length"].max() == 0
    assert rows(wide)[0][:2] == rows(table)[0][:2] and table.features["name"].max() == 0.5


def test_take(table):
    one, two, three = rows(table)
    assert rows(table.take(np.array([2, 0, 1, 2]))) == [three, one, two, three]
    assert len(table.take(np.array([], dtype=np.int64))) == 0


def test_widened(table):
    assert table.widened(5).kb_rows.shape == table.widened(5).features["name"].shape == (3, 5)
    assert rows(table.widened(5)) == rows(table.widened(2)) == rows(table)


def test_concatenate(table):
    narrow = table.take(np.array([0]))
    narrow = CandidateTable(
        narrow.kb_rows[:, :2], {k: v[:, :2] for k, v in narrow.features.items()}, narrow.vectors, narrow.of_mentions
    )
    assert rows(CandidateTable.concatenate([narrow, table, narrow])) == [*rows(narrow), *rows(table), *rows(narrow)]
    assert CandidateTable.concatenate([table]) is table
    bare = CandidateTable(table.kb_rows, table.features, None, table.of_mentions)
    assert CandidateTable.concatenate([table, bare]).vectors is None


def test_put(table):
    room = table.zeros(5)
    room = CandidateTable(np.full_like(room.kb_rows, -1), room.features, room.vectors, room.of_mentions)
    room.put(np.array([4, 1]), table.take(np.array([0, 2])))
    empty = ([], [], [0.0, 0.0, 0.0], 0.0)
    one, _, three = rows(table)
    assert rows(room) == [empty, three, empty, empty, one]


def test_a_ranking_task_has_each_entity_once():
    entities = [Entity(f"D{i}", f"name {i}") for i in range(5)]
    mentions = [MentionInText("a", 0, 1)] * 3
    kb_rows = laid_out([[3, 1], [], [1, 4, 3]], -1, np.int64)
    task = RankingTask.of(mentions, kb_rows, lambda row: entities[row])
    assert [entity.concept_id for entity in task.entities] == ["D1", "D3", "D4"]
    owner, entity = task.pairs
    assert owner.tolist() == [0, 0, 2, 2, 2] and entity.tolist() == [1, 0, 0, 2, 1]
    scores = task.spread(np.float32([5, 6, 7, 8, 9]))
    np.testing.assert_array_equal(scores, laid_out([[5, 6], [], [7, 8, 9]], np.nan))
    none = RankingTask.of(mentions, np.full((3, 2), -1), lambda row: entities[row])
    assert none.entities == [] and np.isnan(none.spread(np.zeros(0, np.float32))).all()
