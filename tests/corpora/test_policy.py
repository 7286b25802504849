"""The written policy for ids and mentions that are not simple (spacy_pel/corpora/policy.py)."""

import pytest

from spacy_pel.corpora.policy import split_ids, tidy
from spacy_pel.types import Mention


@pytest.mark.parametrize(
    "given,ids,composite",
    [
        ("D001943", ("D001943",), False),
        ("D001943|D010051", ("D001943", "D010051"), False),
        ("D007153+D040181", ("D007153", "D040181"), True),
        ("D001943|D010051|D001943", ("D001943", "D010051"), False),
        (" D001943 ", ("D001943",), False),
        ("-1", (), False),
        ("", (), False),
        ("-", (), False),
        ("NIL", (), False),
        ("CUI-less", (), False),
        ("D005334|-1", ("D005334",), False),
        ("D005334+-1", ("D005334",), False),
        ("OMIM:312080+OMIM:312920", ("OMIM:312080", "OMIM:312920"), True),
    ],
)
def test_split_ids(given, ids, composite):
    assert split_ids(given) == (ids, composite)


def test_prefixes_stay_unless_stripped():
    assert split_ids("MESH:D1|OMIM:2")[0] == ("MESH:D1", "OMIM:2")
    assert split_ids("MESH:D1|OMIM:2", strip_prefix="MESH:")[0] == ("D1", "OMIM:2")


def test_other_joiners():
    assert split_ids("A;B,C|D", alternatives="|;,")[0] == ("A", "B", "C", "D")
    assert split_ids("A+B", composite="") == (("A+B",), False)


def test_same_span_becomes_one_mention_with_alternatives():
    report = {}
    merged = tidy(
        [Mention(0, 4, "X", ("A",)), Mention(0, 4, "X", ("B", "A")), Mention(0, 4, "Y", ("C",))], report
    )
    assert merged == [Mention(0, 4, "X", ("A", "B")), Mention(0, 4, "Y", ("C",))]
    assert report == {"same_span": 1}


def test_overlaps_stay_in_order():
    inner, outer, last = Mention(4, 8), Mention(0, 12), Mention(4, 20)
    report = {}
    assert tidy([inner, last, outer], report) == [outer, last, inner]
    assert report == {}
