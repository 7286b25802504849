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
        *((nil, (), False) for nil in ("-1", "", "NIL", "CUI-less")),
        ("D005334|-1", ("D005334",), False),
    ],
)
def test_split_ids(given, ids, composite):
    assert split_ids(given) == (ids, composite)


@pytest.mark.parametrize(
    "given,ids",
    [
        ("MESH:D003371;MESH:D003372", ("MESH:D003371", "MESH:D003372")),
        ("D005076,D005077", ("D005076", "D005077")),
        ("MESH:D001943|MESH:D010051;OMIM:1", ("MESH:D001943", "MESH:D010051", "OMIM:1")),
        ("rs113488022,p|SUB|V|600|E", ("rs113488022", "p|SUB|V|600|E")),
        ("http://x.org/HP_1,http://x.org/HP_2", ("http://x.org/HP_1", "http://x.org/HP_2")),
        ("10533(Tax:9606),50754(Tax:9606)", ("10533(Tax:9606)", "50754(Tax:9606)")),
        ("10533(Tax:9606;10090)", ("10533(Tax:9606;10090)",)),
        ("D005334;-1", ("D005334",)),
        ("MESH:-1", ()),
        ("UMLS:CUI-less", ()),
        ("MESH:-;OMIM:", ()),
        # names hold commas, too
        ("2,4-dinitrophenol", ("2,4-dinitrophenol",)),
        ("MESH:D003371;Cough", ("MESH:D003371;Cough",)),
        ("HGVS:c.[35del;101C>G]", ("HGVS:c.[35del;101C>G]",)),
        # variants
        ("c|SUB|G|444+1|A", ("c|SUB|G|444+1|A",)),
        ("p|FS|R|97||12", ("p|FS|R|97||12",)),
        ("c|SUB|T|1799|A,p|SUB|V|600|E", ("c|SUB|T|1799|A", "p|SUB|V|600|E")),
        ("NM_000059.3:c.444+1G>A", ("NM_000059.3:c.444+1G>A",)),
        (
            "tmVar:p|SUB|V|600|E;HGVS:p.V600E;VariantGroup:0;CorrespondingGene:673;RS#:113488022;CA#:123643",
            ("tmVar:p|SUB|V|600|E", "HGVS:p.V600E", "RS#:113488022", "CA#:123643"),
        ),
    ],
)
def test_alternatives(given, ids):
    assert split_ids(given) == (ids, False)


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
