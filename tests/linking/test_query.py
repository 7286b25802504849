from spacy_pel.linking import MentionQuery, replace_mention


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
