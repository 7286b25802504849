"""Mentions are verified, moved a little, or left out."""

import pytest
from cases import cases

from spacy_pel.corpora.offsets import OffsetCheck, new_report, same_but_spelling

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
    assert OffsetCheck(report)(TEXT, [(start, end)], surface, where="here") == place
    assert report == {**new_report(), "mentions": 1, **counted}


def test_parts_become_the_covering_span():
    report = new_report()
    check = OffsetCheck(report)
    assert check(TEXT, [(0, 2), (16, 21)], "no ... fever", where="here") == (0, 21)
    assert check(TEXT, [(16, 21), (0, 2)], "fever no", where="here") == (0, 21)
    assert check(TEXT, [(0, 2), (16, 21)], "no pain", where="here") is None
    assert report["mentions"] == 3 and report["dropped"] == 1


class Counted(str):
    """A text that counts the characters that are taken from it."""

    taken = 0

    def __getitem__(self, key):
        found = super().__getitem__(key)
        Counted.taken += len(found)
        return found


@pytest.mark.parametrize("blank", [" ", "x"])
def test_many_mentions_of_a_long_text_take_time_in_proportion(blank):
    taken = []
    for n in (2000, 4000, 8000):
        text, check, Counted.taken = Counted("a" + blank * n + "b"), OffsetCheck(new_report()), 0
        for number in range(n // 10):
            assert check(text, [(number, len(text))], "b", where="x") is None
            check(text, [(1, 2), (len(text) - 1, len(text))], f"{blank} b", where="x")
        taken.append(Counted.taken)
    assert taken[2] / taken[1] < 2.5 and taken[1] / taken[0] < 2.5


def test_blanks_of_parts_do_not_count():
    text = "  old   and young mice  "
    assert OffsetCheck(new_report())(text, [(0, 6), (12, 24)], "old young mice", where="x") == (2, 22)
    check = OffsetCheck(new_report())
    assert check(text, [(0, 2), (6, 8)], "", where="x") is None
    assert check.report["dropped"] == 1 and check.report["mismatches"] == 0


@pytest.mark.parametrize(("text", "other", "same"), cases("ids_and_spellings", "strings_that_differ_in_spelling_alone"))
def test_strings_that_differ_in_spelling_alone(text, other, same):
    assert same_but_spelling(text, other) == same_but_spelling(other, text) == same
