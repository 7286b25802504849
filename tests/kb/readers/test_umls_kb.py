"""The UMLS reader: filters, preferred names, definitions and order."""

import shutil
from pathlib import Path

import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb.readers.umls_kb import UmlsKB

META = Path(__file__).parents[2] / "fixtures" / "kb" / "umls" / "META"


@pytest.fixture
def meta(tmp_path):
    return Path(shutil.copytree(META, tmp_path / "2023AB" / "META"))


def read(folder, **settings):
    return {entity.concept_id: entity for entity in UmlsKB(**settings)([folder])}


def test_names_by_rank(meta):
    kb = read(meta)
    assert list(kb) == ["C0000001", "C0000002", "C0000003", "C0000005"]
    # SNOMEDCT_US|PT outranks MSH|MH, which has all the flags
    assert kb["C0000001"].canonical_name == "Example tumour"
    assert kb["C0000001"].aliases == ("Tumor of example", "Example neoplasm")
    assert kb["C0000002"].types == ("T116", "T126")


def test_names_by_flags_without_ranks(meta):
    (meta / "MRRANK.RRF").unlink()
    kb = read(meta)
    assert kb["C0000001"].canonical_name == "Tumor of example"  # TS = P
    assert kb["C0000002"].canonical_name == "Examplase"  # STT = PF before ISPREF = Y
    assert kb["C0000002"].aliases == ("examplase", "EXα")


def test_language_and_source_filters(meta):
    spanish = read(meta, languages=["SPA"])
    assert {e.canonical_name for e in spanish.values()} == {"Tumor de ejemplo", "Sólo en español"}
    assert spanish["C0000001"].definition == "Definición."
    nci = read(meta, sources=["NCI"])
    assert {e.canonical_name for e in nci.values()} == {"Example neoplasm", "examplase"}
    assert nci["C0000001"].definition == "NCI says so."


def test_definitions_go_by_source(meta):
    kb = read(meta)
    assert kb["C0000001"].definition == "MeSH says so."
    assert kb["C0000002"].definition == "An enzyme."  # the other one is obsolete
    (meta / "MRDEF.RRF").unlink()
    assert read(meta)["C0000001"].definition is None


def test_st21pv(meta):
    # C0000003 is a Manufactured Object; one of C0000005's types is Finding
    assert list(read(meta, types=["st21pv"])) == ["C0000001", "C0000002", "C0000005"]
    assert list(read(meta, types=["st21pv"], sources=["st21pv"])) == ["C0000001", "C0000002"]
    assert list(read(meta, types=["T126"])) == ["C0000002"]


def test_merged_cuis_are_redirects(meta):
    reader = UmlsKB()
    list(reader([meta]))
    assert reader.redirects == {"C0000009": "C0000001"}
    assert reader.source["version"] == "2023AB"
    reader = UmlsKB(languages=["SPA"])
    list(reader([meta]))
    assert reader.redirects == {"C0000009": "C0000001", "C0000010": "C0000004"}


def test_a_truncated_last_line_is_named(meta):
    path = meta / "MRCONSO.RRF"
    n_lines = path.read_bytes().count(b"\n")
    path.write_bytes(path.read_bytes() + b"C0000009|ENG")
    with pytest.raises(PelError, match=rf"18 cells.*MRCONSO\.RRF, line {n_lines + 1}\b"):
        read(meta)


@pytest.mark.parametrize("table", ["MRCONSO", "MRSTY", "MRDEF"])
def test_unsorted_tables_are_errors(meta, table):
    path = meta / f"{table}.RRF"
    path.write_text("".join(reversed(path.read_text("utf8").splitlines(True))), "utf8")
    with pytest.raises(PelError, match=rf"sorted by CUI at .*{table}\.RRF, line \d+"):
        read(meta)


def test_broken_folders_are_errors(meta):
    (meta / "MRSTY.RRF").write_text("C0000001|T191\n")
    with pytest.raises(PelError, match=r"6 cells .*MRSTY\.RRF, line 1"):
        read(meta)
    (meta / "MRSTY.RRF").unlink()
    with pytest.raises(PelError, match="Expected MRSTY"):
        read(meta)
    with pytest.raises(PelError, match=r"Expected MRSTY.* at .*MRCONSO\.RRF"):
        read(meta / "MRCONSO.RRF")


def test_files_instead_of_the_folder(meta):
    assert {one.concept_id: one for one in UmlsKB()(list(meta.iterdir()))} == read(meta)


def test_codes_are_cross_references(meta):
    kb = read(meta)
    # of the names that are kept: no NOCODE, nothing of other languages
    assert kb["C0000001"].xrefs == ("MESH:D000001", "NCIT:C1", "SNOMEDCT:1")
    assert kb["C0000002"].xrefs == ("NCIT:C2", "HGNC:2")
    assert read(meta, sources=["NCI"])["C0000001"].xrefs == ("NCIT:C1",)


def test_parents_are_read_on_demand(meta):
    rows = [
        "C0000001|A1|AUI|PAR|C0000005|A5|AUI||R1||MSH|MSH|||N||",
        "C0000001|A3|AUI|RB|C0000003|A6|AUI|inverse_isa|R2||SNOMEDCT_US|SNOMEDCT_US|||N||",
        "C0000001|A3|AUI|PAR|C0000002|A7|AUI|inverse_part_of|R3||FMA|FMA|||N||",
        "C0000001|A3|AUI|PAR|C0000004|A8|AUI||R4||MSH|MSH|||O||",
        "C0000001|A3|AUI|PAR|C0000001|A9|AUI||R5||MSH|MSH|||N||",
        "C0000001|A3|AUI|CHD|C0000003|A9|AUI|isa|R6||MSH|MSH|||N||",
        "C0000005|A5|AUI|CHD|C0000001|A1|AUI||R7||MSH|MSH|||N||",
    ]
    (meta / "MRREL.RRF").write_text("".join(f"{row}\n" for row in rows))
    assert not any(entity.parents for entity in read(meta).values())
    kb = read(meta, relations=True)
    assert kb["C0000001"].parents == ("C0000005", "C0000003") and kb["C0000005"].parents == ()
    assert read(meta, relations=True, sources=["MSH"])["C0000001"].parents == ("C0000005",)
