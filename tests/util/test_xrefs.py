"""Cross references in one spelling."""

import pytest

from spacy_pel.util.xrefs import normalize_xref, vocabulary_key, xref_key


@pytest.mark.parametrize(
    ("right", "spellings"),
    [
        ("MESH:D001249", "MESH:D001249 mesh:D001249 MeSH:D001249 MSH:D001249 MSH2015_2014_09_08:D001249 mesh:d001249"),
        ("UMLS:C0004096", "UMLS:C0004096 UMLS_CUI:C0004096 umls:c0004096"),
        ("ICD10:J45.9", "ICD10:J45.9 ICD-10:J45.9 icd-10:j45.9"),
        ("ICD10CM:J45.909", "ICD10CM:J45.909 ICD-10-CM:J45.909 ICD10-CM:J45.909"),
        ("ICD9CM:493.9", "ICD9CM:493.9 ICD-9-CM:493.9 ICD9CM_2005:493.9"),
        ("ICDO:9432/1", "ICDO:9432/1 ICD-O:9432/1 ICD-O-3:9432/1"),
        (
            "SNOMEDCT:195967001",
            "SNOMEDCT:195967001 SNOMEDCT_US:195967001 SNOMED:195967001 SNOMED_CT:195967001 SCTID:195967001 "
            "SNOMEDCT_2010_1_31:195967001 SNOMEDCT_US_2016_03_01:195967001",
        ),
        ("NCIT:C28397", "NCIT:C28397 NCIt:C28397 NCI:C28397 NCI2009_04D:C28397"),
        ("OMIM:600807", "OMIM:600807 MIM:600807"),
        ("OMIM:PS604391", "OMIM:PS604391 MIM:PS604391"),
        ("ORPHA:3213", "ORPHA:3213 Orphanet:3213 ORPHANET:3213 ORDO:3213 Orphanet:ORPHA3213 ORPHA:ORPHA:3213"),
        ("RXNORM:161", "RXNORM:161 RxNorm:161 RxCUI:161"),
        ("LOINC:2345-7", "LOINC:2345-7 LNC:2345-7"),
        ("MEDDRA:10003553", "MEDDRA:10003553 MedDRA:10003553 MDR:10003553"),
        ("HP:0002099", "HP:0002099 HPO:0002099 HPO:HP:0002099 hp:0002099"),
        ("GO:0005623", "GO:0005623 GO:GO:0005623"),
    ],
)
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
