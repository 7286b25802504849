import pickle

import numpy as np

from spacy_pel.linking import MentionQuery, replace_mention
from spacy_pel.linking.query import read_batch


def test_the_mention_can_be_replaced():
    query = replace_mention(MentionQuery("Her HD began early.", 4, 6, "X"), "Huntington disease")
    assert query.text == "Her Huntington disease began early."
    assert query.surface == query.in_text.surface == "Huntington disease" and query.label == "X"
    assert query.context == "Her HD began early."


def test_a_copied_text_is_cut_at_blanks_around_the_mention():
    before, after = "left " * 2000, " right" * 2000
    query = replace_mention(MentionQuery(f"{before}HD{after}", len(before), len(before) + 2), "MENTION")
    assert query.surface == "MENTION"
    left, right = query.text.split("MENTION")
    assert set(left.split()) == {"left"} and set(right.split()) == {"right"}
    assert 2000 < len(left) <= 2048 and 2000 < len(right) <= 2048
    query = replace_mention(MentionQuery("x" * 10_000, 5_000, 5_010), "y" * 10)
    assert len(query.text) == 2048 + 10 + 2048 and query.surface == "y" * 10


def test_a_batch_leaves_blank_mentions_out():
    queries = [MentionQuery("a cold", 2, 6, "X"), MentionQuery("a \n b", 1, 4), MentionQuery("+", 0, 1)]
    batch = read_batch([*queries, MentionQuery("ab", 1, 1), MentionQuery("🧬", 0, 1)])
    assert batch.is_blank.tolist() == [False, True, False, True, False]
    assert batch.mentions[:2] == [queries[0].in_text, queries[2].in_text]
    assert batch.contexts == ["a cold", "", ""] and batch.surfaces[1] == " \n "
    assert read_batch([]).is_blank.dtype == bool


def test_a_known_vector_goes_with_the_query():
    query = MentionQuery("a cold", 2, 6, "DISEASE", vector=np.arange(3, dtype=np.float32))
    for given in (query, query.in_text):
        again = pickle.loads(pickle.dumps(given))
        assert again.vector.tolist() == [0, 1, 2] and again[:3] == ("a cold", 2, 6)
