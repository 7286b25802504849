"""Mentions are verified, moved a little, or left out."""

import pytest

from spacy_pel.corpora.offsets import OffsetCheck, new_report
from spacy_pel.errors import PelError

TEXT = "no fever,  high\nfever"


@pytest.mark.parametrize(
    "start,end,surface,place,counted",
    [
        (3, 8, "fever", (3, 8), {}),
        (2, 9, " fever,", (3, 9), {}),
        (11, 21, "high fever", (11, 21), {}),  # other white space is no difference
        (0, 5, "fever", (3, 8), {"mismatches": 1, "repaired": 1}),
        (13, 18, "fever", (16, 21), {"mismatches": 1, "repaired": 1}),
        (12, 17, "fever", None, {"mismatches": 1, "dropped": 1}),
        (-4, 2, "no", None, {"mismatches": 1, "dropped": 1}),
        (16, 99, "fever", (16, 21), {"mismatches": 1, "repaired": 1}),
        (9, 11, "  ", None, {"dropped": 1}),
        (3, 3, "", None, {"mismatches": 1, "dropped": 1}),
    ],
)
def test_one_span(start, end, surface, place, counted):
    report = new_report()
    assert OffsetCheck(report)(TEXT, start, end, surface, where="here") == place
    assert report == {**new_report(), "mentions": 1, **counted}


def test_parts_become_the_covering_span():
    report = new_report()
    check = OffsetCheck(report)
    assert check.parts(TEXT, [(0, 2), (16, 21)], "no ... fever", where="here") == (0, 21)
    assert check.parts(TEXT, [(16, 21), (0, 2)], "fever no", where="here") == (0, 21)
    assert check.parts(TEXT, [(0, 2), (16, 21)], "no pain", where="here") is None
    assert report["mentions"] == 3 and report["dropped"] == 1


def test_strict_names_place_and_strings():
    with pytest.raises(PelError, match=r"here: .*'pain'.*3 to 8.*'fever'"):
        OffsetCheck(new_report(), strict=True)(TEXT, 3, 8, "pain", where="here")
