"""Cross references in one spelling."""

import pytest
from cases import cases

from spacy_pel.util.xrefs import normalize_xref, vocabulary_key, xref_key


@pytest.mark.parametrize(("right", "spellings"), cases("ids_and_spellings", "a_vocabulary_has_one_spelling"))
def test_a_vocabulary_has_one_spelling(right, spellings):
    assert {normalize_xref(xref) for xref in spellings.split()} == {right}
    assert normalize_xref(f" {right.replace(':', ': ')}\t") == right


@pytest.mark.parametrize(
    "xref",
    [
        "FBbt:00004230",
        "CTV3:X302s",
        "611644",
        "UMLS_ICD9CM_2005_AUI:A0243854",
        "http://example.org/x",
        "MESH:",
        ":7",
        "",
    ],
)
def test_others_stay_as_they_are(xref):
    assert normalize_xref(xref) == xref


def test_the_case_of_a_vocabulary_does_not_count():
    assert xref_key("FBbt:00004230") == xref_key("fbbt:00004230")
    assert xref_key("Msh:D001249") == xref_key("MESH:D001249")
    assert xref_key("CTV3:X302s") != xref_key("CTV3:X302S")  # Read codes differ by case
    assert xref_key("ICD10:J45.9") != xref_key("ICD10CM:J45.9")


def test_the_spelling_of_a_vocabulary_does_not_count():
    assert vocabulary_key("icd-10-cm") == vocabulary_key("ICD10CM") != vocabulary_key("ICD10")
    assert vocabulary_key("My_Codes") == vocabulary_key("my codes")
