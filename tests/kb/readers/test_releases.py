"""Releases as published: SNOMED CT (RF2), RxNorm and LOINC. All rows are made up."""

import shutil
from pathlib import Path

import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb.readers.csv_kb import CsvKB
from spacy_pel.kb.readers.snomed_loinc_kb import LoincKB, Rf2KB
from spacy_pel.kb.readers.umls_kb import RxNormKB

FIXTURES = Path(__file__).parents[2] / "fixtures" / "kb"
RF2 = {
    kind: next((FIXTURES / "rf2").glob(f"*{kind}*"))
    for kind in ("_Concept_", "_Description_", "Language", "Definition", "Association")
}
FSN, SYNONYM = "900000000000003001", "900000000000013009"
HEADER = "id effectiveTime active moduleId conceptId languageCode typeId term caseSignificanceId"


def read(reader, *paths):
    return {entity.concept_id: entity for entity in reader(paths)}


def description(key, concept, term, kind=SYNONYM, *, active=1, time="20200131", language="en"):
    cells = (key, time, active, "900000000000207008", concept, language, kind, term, "900000000000448009")
    return "\t".join(map(str, cells))


@pytest.fixture
def write(tmp_path):
    def write_lines(*rows, name="sct2_Description_Snapshot-en_INT_20240101.txt", header=HEADER):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes("".join(f"{row}\r\n" for row in ["\t".join(header.split()), *rows]).encode())
        return path

    return write_lines


# --- SNOMED CT


def test_descriptions_alone(write, caplog):
    path = write(
        description(1, "126813005", "Neoplasm of lip"),
        description(2, "126813005", "Neoplasm of lip (disorder)", FSN),
        description(3, "126814004", "Old wrong name", active=0),
        description(4, "126814004", "Neoplasm of palate"),
        description(5, "10", 'A "quoted" term, with a comma'),
    )
    kb = read(Rf2KB(strict=True), path)
    assert {key: (one.canonical_name, one.aliases, one.types) for key, one in kb.items()} == {
        "126813005": ("Neoplasm of lip", (), ("disorder",)),
        "126814004": ("Neoplasm of palate", (), ()),
        "10": ('A "quoted" term, with a comma', (), ()),
    }
    assert "PEL-W145" in caplog.text


def test_the_preferred_term_comes_first():
    names = {}
    for refset in ("900000000000509007", "900000000000508004", "1"):
        kb = read(Rf2KB(refset=refset), *RF2.values())
        names[refset] = (kb["10000001"].canonical_name, kb["10000005"].canonical_name)
    assert names == {
        "900000000000509007": ("Knee examplitis", "Example hemorrhage"),
        "900000000000508004": ("Examplitis of knee", "Example haemorrhage"),
        "1": ("Examplitis of knee", "Example haemorrhage"),  # as in the file, of those that any prefers
    }
    kb = read(Rf2KB(), RF2["_Description_"], RF2["_Concept_"])
    assert kb["10000001"].canonical_name == "Examplitis of knee"  # the full name without the tag
    assert kb["10000001"].aliases == ("Knee examplitis", '"Sample" knee – Größe')
    assert kb["10000002"].canonical_name == "Exampleoma (morphologic abnormality)"
    assert kb["10000002"].types == ("finding",)


def test_inactive_concepts_are_left_out_or_retired():
    reader = Rf2KB()
    assert list(read(reader, *RF2.values())) == ["10000001", "10000002", "10000005"]
    assert reader.redirects == {"10000003": "10000001"}  # SAME AS, and not POSSIBLY EQUIVALENT TO
    assert list(read(reader, RF2["_Description_"], RF2["Association"])) == [
        *("10000001", "10000002", "10000004", "10000005")
    ]
    assert reader.redirects == {"10000003": "10000001"}


def test_a_folder_with_other_files(tmp_path, write):
    folder = Path(shutil.copytree(FIXTURES / "rf2", tmp_path / "Snapshot" / "Terminology")).parent
    write("x", name="Snapshot/Readme_en.txt", header="Hello")
    write("x", name="Snapshot/sct2_Relationship_Snapshot_INT.txt", header="id effectiveTime active sourceId")
    assert read(Rf2KB(strict=True), folder) == read(Rf2KB(), *RF2.values())
    with pytest.raises(PelError, match=r"Expected columns of descriptions \(.*Relationship.*line 1"):
        read(Rf2KB(), folder / "sct2_Relationship_Snapshot_INT.txt")


@pytest.mark.parametrize("order", [1, -1])
def test_the_latest_version_counts(write, order):
    rows = [
        description(1, "10", "First name", time="20020131"),
        description(1, "10", "Better name", time="20100131"),
        description(2, "10", "Withdrawn name", time="20020131"),
        description(2, "10", "Withdrawn name", time="20100131", active=0),
        description(3, "10", "Restored name", time="20020131", active=0),
        description(3, "10", "Restored name", time="20100131"),
    ]
    (entity,) = read(Rf2KB(), write(*rows[::order])).values()
    assert {entity.canonical_name, *entity.aliases} == {"Better name", "Restored name"}


def test_languages(write):
    path = write(
        description(1, "10", "Asthma (disorder)", FSN),
        description(2, "10", "Bronchial asthma"),
        description(3, "10", "astma", language="sv"),
        description(4, "11", "Only English (finding)", FSN),
    )
    assert {e.canonical_name: e.aliases for e in read(Rf2KB(languages=["sv"]), path).values()} == {"astma": ()}
    assert read(Rf2KB(languages=["sv"]), path)["10"].types == ("disorder",)
    assert read(Rf2KB(), path)["10"].aliases == ("Bronchial asthma", "astma")
    with pytest.raises(PelError, match=r"E144.*languages 'SV' \(did you mean 'sv'\?\).*'en' \(\d\), 'sv'"):
        read(Rf2KB(languages=["SV"]), path)


def test_faulty_rows_are_named(write):
    with pytest.raises(PelError, match=r"9 cells.*20240101\.txt, line 3, got 2"):
        read(Rf2KB(), write(description(1, "10", "Asthma"), "2\t20200131"))


@pytest.mark.parametrize("name", ["_Description_", "_Concept_", "Definition"])
def test_csv_names_the_reader_of_rf2(name):
    with pytest.raises(PelError, match=r"E002.*line 1.*Use --reader rf2"):
        read(CsvKB(), RF2[name])


def test_parents_are_the_inferred_is_a(write):
    named = write(description(1, "10", "Asthma"), description(2, "11", "Lung disease"))
    rows = [
        "1 20020131 1 0 10 11 0 116680003 900000000000011006 0",
        "2 20020131 1 0 10 12 0 116680003 900000000000011006 0",
        "2 20100131 0 0 10 12 0 116680003 900000000000011006 0",  # withdrawn
        "3 20020131 1 0 10 13 0 116680003 900000000000010007 0",  # stated
        "4 20020131 1 0 10 14 1 363698007 900000000000011006 0",  # finding site
    ]
    header = "id effectiveTime active moduleId sourceId destinationId relationshipGroup"
    header += " typeId characteristicTypeId modifierId"
    path = write(*("\t".join(row.split()) for row in rows), name="sct2_Relationship_Snapshot_INT.txt", header=header)
    kb = read(Rf2KB(strict=True), named, path)
    assert {key: entity.parents for key, entity in kb.items()} == {"10": ("11",), "11": ()}


# --- RxNorm


@pytest.fixture
def rrf(tmp_path):
    return Path(shutil.copytree(FIXTURES / "rxnorm" / "rrf", tmp_path / "RxNorm_full_01062025" / "rrf"))


def test_rxnorm_names_and_types(rrf):
    reader = RxNormKB()
    kb = read(reader, rrf)
    assert list(kb) == ["1000", "87", "900"] and reader.source["version"] == "01062025"
    assert kb["900"].canonical_name == "examplazole" and kb["900"].types == ("T121", "T109")
    assert kb["900"].aliases == ("exAMPLAzole", "EXAMPLAZOLE", "Examplazole – α form")
    assert kb["1000"].aliases == ("Brandol 5 MG Oral Tablet",)  # the suppressed one is left out
    assert list(read(RxNormKB(sources=["RXNORM"]), rrf)) == ["1000", "900"]
    with pytest.raises(PelError, match=r"E144.*sources 'RxNorm' \(did you mean 'RXNORM'\?\)"):
        read(RxNormKB(sources=["RxNorm"]), rrf)


def test_rxnorm_retired_ids(rrf):
    reader = RxNormKB()
    read(reader, rrf)
    # 55 by its own name, not by that of VANDF; 58 became several; 900 is live
    assert reader.redirects == {"55": "900", "57": "1000"}
    (rrf / "RXNATOMARCHIVE.RRF").unlink()
    read(reader, rrf / "RXNCONSO.RRF", rrf / "RXNCUI.RRF")  # files, without types
    assert reader.redirects == {"57": "1000"}


def test_rxnorm_parents(rrf):
    rows = [  # what the second is to the first
        "1000||CUI|RO|900||CUI|has_tradename|1||RXNORM|RXNORM||||4096|",
        "900||CUI|RO|1000||CUI|tradename_of|2||RXNORM|RXNORM||||4096|",
        "1000||CUI|RB|87||CUI|inverse_isa|3||RXNORM|RXNORM||||4096|",
        "|5|AUI|RB||6|AUI|inverse_isa|4||VANDF|VANDF||||4096|",
        "87||CUI|RO|900||CUI|ingredient_of|5||RXNORM|RXNORM||||4096|",
        "900||CUI|RO|87||CUI|has_ingredient|6||RXNORM|RXNORM||||4096|",
    ]
    (rrf / "RXNREL.RRF").write_text("".join(f"{row}\n" for row in rows))
    kb = read(RxNormKB(relations=True), rrf)
    assert {key: one.parents for key, one in kb.items()} == {"1000": ("900", "87"), "87": ("900",), "900": ()}
    assert not any(one.parents for one in read(RxNormKB(), rrf).values())


def test_rxnorm_in_any_order(rrf):
    plain = read(RxNormKB(), rrf)
    for table in ("RXNCONSO.RRF", "RXNSTY.RRF"):
        path = rrf / table
        path.write_text("".join(sorted(path.read_text("utf8").splitlines(True))), "utf8")
    assert {key: one.types for key, one in read(RxNormKB(), rrf).items()} == {
        key: tuple(sorted(one.types)) for key, one in plain.items()
    }


# --- LOINC

LOINC, MAP_TO = FIXTURES / "loinc" / "Loinc.csv", FIXTURES / "loinc" / "MapTo.csv"


def test_loinc_terms():
    reader = LoincKB()
    kb = read(reader, LOINC)
    assert list(kb) == ["90001-1", "90004-5"] and reader.redirects == {}
    one = kb["90001-1"]
    assert one.canonical_name == "Examplase [Mass/volume] in Serum or Plasma" and one.types == ("CHEM",)
    assert one.aliases == ("Examplase [Mass/Vol]", "Examplase SerPl-mCnc", "Examplase, Blood")
    assert one.definition == 'An enzyme, made up. Used in "tests".'
    read(reader, MAP_TO, LOINC)  # in any order; one with two replacements has no successor
    assert reader.redirects == {"90002-9": "90001-1"}


def test_the_core_table_of_loinc(tmp_path):
    path = tmp_path / "LoincTableCore.csv"
    header = '"LOINC_NUM","COMPONENT","CLASS","LONG_COMMON_NAME","SHORTNAME","STATUS"'
    path.write_text(f'{header}\n"1-8","Example","CHEM","Example in Blood","Example Bld","ACTIVE"\n')
    assert read(LoincKB(), path)["1-8"].aliases == ("Example Bld",)
    with pytest.raises(PelError, match="Use --reader loinc, or name the columns"):
        read(CsvKB(), path)
    columns = {"concept_id": "LOINC_NUM", "canonical_name": "LONG_COMMON_NAME", "aliases": "COMPONENT"}
    assert read(CsvKB(columns=columns), path)["1-8"].aliases == ("Example",)
    with pytest.raises(PelError, match="E144.*types 'chem'.*'CHEM'"):
        read(LoincKB(types=["chem"]), path)
