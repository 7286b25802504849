"""The written policy for ids and mentions that are not simple (spacy_pel/corpora/policy.py)."""

import pytest
from cases import cases

from spacy_pel.corpora.policy import split_ids, tidy
from spacy_pel.types import Mention


@pytest.mark.parametrize(
    "given,ids,composite",
    [
        ("D001943", ("D001943",), False),
        ("D001943|D010051", ("D001943", "D010051"), False),
        ("D007153+D040181", ("D007153", "D040181"), True),
        ("D001943|D010051|D001943", ("D001943", "D010051"), False),
        *((nil, (), False) for nil in ("-1", "", "NIL", "CUI-less")),
        ("D005334|-1", ("D005334",), False),
    ],
)
def test_split_ids(given, ids, composite):
    assert split_ids(given) == (ids, composite)


@pytest.mark.parametrize("given,ids", cases("ids_and_spellings", "alternatives"))
def test_alternatives(given, ids):
    assert split_ids(given) == (tuple(ids), False)


def test_other_joiners():
    assert split_ids("A+B;C1,C2", joiners="|") == (("A+B;C1,C2",), False)
    assert split_ids("A+B|C", joiners="|") == (("A+B", "C"), False)
    assert split_ids("D1+D2;D3") == (("D1", "D2", "D3"), True)


def test_same_span_becomes_one_mention_with_alternatives():
    report = {}
    merged = tidy([Mention(0, 4, "X", ("A",)), Mention(0, 4, "X", ("B", "A")), Mention(0, 4, "Y", ("C",))], report)
    assert merged == [Mention(0, 4, "X", ("A", "B")), Mention(0, 4, "Y", ("C",))]
    assert report == {"same_span": 1}


def test_overlaps_stay_in_order():
    inner, outer, last = Mention(4, 8), Mention(0, 12), Mention(4, 20)
    report = {}
    assert tidy([inner, last, outer], report) == [outer, last, inner]
    assert report == {}
