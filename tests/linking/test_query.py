from spacy_pel.linking import MentionQuery, replace_mention
from spacy_pel.linking.query import read_batch


def test_a_query_is_what_the_encoder_reads():
    query = MentionQuery("A common cold.", 2, 13, "X")
    assert query.surface == "common cold"
    assert query.in_text.surface == "common cold"


def test_the_mention_can_be_replaced():
    query = replace_mention(MentionQuery("Her HD began early.", 4, 6, "X"), "Huntington disease")
    assert query.text == "Her Huntington disease began early."
    assert query.surface == "Huntington disease" and query.label == "X"


def test_a_copied_text_is_cut_at_blanks_around_the_mention():
    before, after = "left " * 2000, " right" * 2000
    query = replace_mention(MentionQuery(f"{before}HD{after}", len(before), len(before) + 2), "MENTION")
    assert query.surface == "MENTION"
    left, right = query.text.split("MENTION")
    assert set(left.split()) == {"left"} and set(right.split()) == {"right"}
    assert 2000 < len(left) <= 2048 and 2000 < len(right) <= 2048


def test_text_without_blanks_is_cut_anyway():
    query = replace_mention(MentionQuery("x" * 10_000, 5_000, 5_010), "y" * 10)
    assert len(query.text) == 2048 + 10 + 2048 and query.surface == "y" * 10


def test_blank():
    assert MentionQuery("a \n b", 1, 4).is_blank
    assert MentionQuery("ab", 1, 1).is_blank
    assert not MentionQuery("🧬", 0, 1).is_blank
    assert not MentionQuery("+", 0, 1).is_blank


def test_a_batch_leaves_blank_mentions_out():
    queries = [MentionQuery("a cold", 2, 6, "X"), MentionQuery("a \n b", 1, 4), MentionQuery("+", 0, 1)]
    mentions, present = read_batch(queries)
    assert mentions == [queries[0].in_text, queries[2].in_text]
    assert present.tolist() == [True, False, True] == [not query.is_blank for query in queries]
    assert read_batch([])[1].dtype == bool
