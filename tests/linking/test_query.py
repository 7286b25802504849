from spacy_pel.linking import MentionQuery, cut_window


def test_short_text_stays_whole():
    query = cut_window("A common cold.", 2, 13, label="X")
    assert query == MentionQuery("A common cold.", 2, 13, "X")
    assert query.surface == "common cold"
    assert query.in_text.surface == "common cold"


def test_long_text_is_cut_at_blanks_around_the_mention():
    before, after = "left " * 2000, " right" * 2000
    query = cut_window(f"{before}MENTION{after}", len(before), len(before) + 7)
    assert query.surface == "MENTION"
    left, right = query.text.split("MENTION")
    assert set(left.split()) == {"left"} and set(right.split()) == {"right"}
    assert 2000 < len(left) <= 2048 and 2000 < len(right) <= 2048


def test_text_without_blanks_is_cut_anyway():
    query = cut_window("x" * 10_000, 5_000, 5_010)
    assert len(query.text) == 2048 + 10 + 2048 and query.surface == "x" * 10


def test_same_surroundings_make_the_same_query():
    around = "word " * 1000
    text = f"{around}cold {around * 3}cold {around}"
    first, second = text.find("cold"), text.rfind("cold")
    assert cut_window(text, first, first + 4) == cut_window(text, second, second + 4)


def test_surface_can_be_replaced():
    query = cut_window("Her HD began early.", 4, 6, surface="Huntington disease")
    assert query.text == "Her Huntington disease began early."
    assert query.surface == "Huntington disease"


def test_blank():
    assert cut_window("a \n b", 1, 4).is_blank
    assert cut_window("ab", 1, 1).is_blank
    assert not cut_window("🧬", 0, 1).is_blank
    assert not cut_window("+", 0, 1).is_blank
