"""Tables of BioPortal, and the is-a relations that RxNorm's names imply."""

import csv

import pytest
from cases import cases

from spacy_pel import Entity
from spacy_pel.cli._kb import reader_of
from spacy_pel.errors import PelError
from spacy_pel.training.corpora.bioportal_kb import BioportalKB, broader_drugs

HEADER = "Class ID,Preferred Label,Synonyms,Definitions,Obsolete,CUI,Semantic Types,Parents".split(",")
STY = "http://purl.bioontology.org/ontology/STY/"


@pytest.fixture
def table(tmp_path):
    def write(*rows, base="http://purl.bioontology.org/ontology/RXNORM/", header=HEADER):
        path = tmp_path / "table.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            for code, name, synonyms, definition, obsolete, cui, types, parents in rows:
                iris = ("|".join(start + one for one in ids.split()) for start, ids in ((STY, types), (base, parents)))
                writer.writerow([base + code, name, synonyms, definition, obsolete, cui, *iris])
        return path

    return write


ROWS = [
    ("161", "Acetaminophen", "APAP|paracetamol", 'A drug, "mild".|Another.', "false", "C0000970", "T109 T121", "1"),
    ("1", "Drugs", "", "", "false", "C0000001|C0000002", "T121", ""),
    ("2", "Acetaminophen 325 MG Oral Tablet", "", "", "false", "C0000003", "T200", "161"),
    ("3", "old pill", "", "", "true", "C0000004", "T121", "1"),
    ("4", "no type", "", "", "", "", "", "3"),
]


def test_classes_with_their_codes(table):
    path = table(*ROWS)
    assert reader_of(path) == "bioportal"
    reader = BioportalKB(prefix="RXNORM")
    entities = list(reader([path]))
    assert [entity.concept_id for entity in entities] == ["RXNORM:161", "RXNORM:1", "RXNORM:2", "RXNORM:4"]
    assert entities[0] == Entity(
        "RXNORM:161",
        "Acetaminophen",
        ("APAP", "paracetamol"),
        ("T109", "T121"),
        'A drug, "mild".',
        parents=("RXNORM:1",),
    )
    assert entities[-1].parents == (), "not an obsolete class"
    assert [entity.concept_id for entity in BioportalKB(id_prefix="16")([path])] == ["161"]


def test_classes_with_their_cuis(table):
    reader = BioportalKB(id="cui", prefix="RXNORM", not_types=["T200"])
    reader.notes_obsolete = True
    entities = list(reader([table(*ROWS)]))
    assert set(reader.obsolete) == {"C0000004"}
    assert [entity.concept_id for entity in entities] == ["C0000970", "C0000001", "C0000002"]
    assert entities[0].xrefs == ("RXNORM:161",) and entities[0].parents == ("C0000001", "C0000002")


@pytest.mark.parametrize(
    "base, code, entity_id",
    [
        ("http://purl.obolibrary.org/obo/", "HP_0000118", "HP:0000118"),
        ("http://x.org/onto#", "heart_attack", "X:heart_attack"),
        ("http://x.org/onto/", "E11.9", "X:E11.9"),
    ],
)
def test_ids_of_iris(table, base, code, entity_id):
    (entity,) = BioportalKB(prefix="X")([table((code, "name", "", "", "false", "", "", ""), base=base)])
    assert entity.concept_id == entity_id


def test_another_table_is_refused(table):
    with pytest.raises(PelError, match="class_id"):
        list(BioportalKB()([table(header=["code", "name"])]))


DRUGS = cases("drugs", "brands_are_below_their_ingredients")


@pytest.mark.parametrize(
    "drug, above",
    [
        ("zoloft", ["sertraline"]),
        ("percocet", ["combination"]),  # by the form that names the ingredient, not its salt
        ("combination", ["apap", "oxy"]),
        ("lovenox", ["heparin"]),
        ("lucky", ["vitamin"]),
        ("two", ["sertraline", "vitamin"]),  # there is no name for both
        ("odd", None),
        ("mixed", ["apap"]),  # what half of its drugs have
        ("sertraline", None),
        ("zoloft 50", None),
    ],
)
def test_brands_are_below_their_ingredients(drug, above):
    assert broader_drugs(list(DRUGS.items())).get(drug) == above


def test_brands_in_a_table(table):
    rows = [(str(n), name, "", "", "false", f"C{n:07}", "T121", "") for n, name in enumerate(DRUGS.values())]
    found = {entity.canonical_name: entity for entity in BioportalKB(id="cui", drug_parents=True)([table(*rows)])}
    assert found["Zoloft"].parents == (found["Sertraline"].concept_id,)
