"""Offsets lead back to the original text."""

import pytest

from spacy_pel.errors import PelError
from spacy_pel.training.offset_map import OffsetMap


def test_by_hand():
    offsets = OffsetMap.from_json([[4, 0], [17, 4, 2], [5, 6]])  # "the AR gene", with "androgen receptor"
    assert len(offsets) == len("the androgen receptor gene")
    assert offsets.original_span(13, 21) == (4, 6) and offsets.original_span(22, 26) == (7, 11)


@pytest.mark.parametrize("span", [(0, 0), (-1, 2), (2, 6), (3, 2)])
def test_a_span_outside_of_the_text(span):
    with pytest.raises(PelError, match="E239"):
        OffsetMap.cut(0, 5).original_span(*span)


@pytest.mark.parametrize("given", [None, 3, [3], [[3]], [["a", 1]], [[0, 0]], [[3, 5], [2, 0]], [[1, 2, 3, 4]]])
def test_what_is_no_map(given):
    with pytest.raises(PelError, match="E238"):
        OffsetMap.from_json(given)
