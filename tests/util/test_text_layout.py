"""Excerpts that cut no word, and first sentences."""

import pytest

from spacy_pel.util.console import first_sentence, words_around


@pytest.mark.parametrize("reach, expected", [(2, "asthma"), (3, "asthma\tin"), (11, "mild asthma\tin winter")])
def test_whole_words(reach, expected):
    text = "A patient\nmild asthma\tin winter"
    start = text.index("asthma")
    left, right = words_around(text, start, start + 6, reach)
    assert text[left:right].strip() == expected


def test_a_side_without_blanks_is_cut():
    assert words_around("x" * 100, 40, 50, 10) == (30, 60)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A drug. It relieves pain.", "A drug."),
        ("Relieves pain,\ne.g. of the head, in 0.5 g", "Relieves pain, e.g. of the head, in 0.5 g"),
        ("", ""),
        ("word " * 60, " ".join(["word"] * 39) + " …"),
    ],
)
def test_first_sentence(text, expected):
    assert first_sentence(text) == expected
