"""The text as it is read, and the way back."""

import time
from pathlib import Path
from unicodedata import normalize

import pytest
from cases import cases

from spacy_pel.util import read_jsonl
from spacy_pel.util.reading import read, read_apart

ROWS = read_jsonl(Path(__file__).parents[1] / "fixtures" / "text_as_read.jsonl")
READ = {row["text"]: row["read"] for row in ROWS if "read" in row}


@pytest.mark.parametrize("text", READ)
def test_what_is_read(text):
    assert read(text).text == READ[text]
    assert (read(text).places is None) == (READ[text] == text)


@pytest.mark.parametrize("text", READ)
def test_the_way_to_the_text_as_given_and_back(text):
    reading = read(text)
    place = 0
    for word in reading.text.split():
        place = reading.text.index(word, place)
        ((start, end),) = reading.given([(place, place + len(word))])
        assert normalize("NFKC", text[start]) == word[0] or text[start] in "&\\[ß"
        assert reading.read([(start, end)]) == [(place, place + len(word))]
        place += len(word)


def test_a_mention_of_nothing_that_is_read_is_empty():
    reading = read("<b>asthma</b> cough")
    assert reading.read([(0, 3), (9, 13)]) == [(0, 0), (6, 6)]
    assert reading.given(reading.read([(0, 13)])) == [(3, 9)]


def test_no_mention_ends_between_a_tag_and_its_other_half():
    assert read("high Ca<sup>2+</sup> levels").given([(5, 9)]) == [(5, 20)]


@pytest.mark.parametrize("unit", cases("text_as_read", "reading_takes_linear_time"))
def test_reading_takes_linear_time(unit):
    started = time.perf_counter()
    read(f"asthma {unit * (200_000 // len(unit))} end")
    assert time.perf_counter() - started < 10  # quadratic: minutes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTN→stroke->dementia", "HTN → stroke -> dementia"),
        ("CHF&CAD", "CHF & CAD"),
        ("G->A, 1→4, H&E", "G->A, 1→4, H&E"),
    ],
)
def test_names_stand_apart_at_arrows_and_ampersands(text, expected):
    assert read(text, apart=True).text == expected


def test_a_word_that_was_divided_at_the_end_of_a_line_is_joined_where_it_is_known():
    known = {"amyloidosis"}.__contains__
    assert read_apart("amy- loidosis, low- dose, hyper- and hypotension", known).text.startswith(
        "amyloidosis, low- dose"
    )
