"""Codes in other vocabularies: by cross reference, by the id itself, and of a drug's ingredients by is-a."""

import pytest

from spacy_pel import KnowledgeBase
from spacy_pel.errors import PelError
from spacy_pel.kb.codes import Codes
from spacy_pel.kb.from_files import build_kb
from spacy_pel.kb.readers.umls_kb import RxNormKB
from spacy_pel.types import Entity

ENTITIES = [
    Entity("C0004096", "asthma", xrefs=("MESH:D001249", "ICD10CM:J45", "ICD10CM:J45.909", "HP:0002099")),
    Entity("C0015967", "fever", xrefs=("MESH:D005334", "HP:0001945", "CTV3:X76DI")),
    Entity("C0000001", "itch"),
]


@pytest.fixture(scope="module")
def kb():
    return KnowledgeBase(ENTITIES)


def test_codes_of_an_entity(kb):
    codes = Codes(kb, ["MeSH", "icd-10-cm", "HPO", "ctv3", "msh", "umls"])
    assert codes.names == ("MESH", "ICD10CM", "HP", "CTV3", "UMLS")
    assert codes("C0004096") == {
        **{"MESH": ["D001249"], "ICD10CM": ["J45", "J45.909"], "HP": ["HP:0002099"], "CTV3": []},
        "UMLS": ["C0004096"],
    }
    nothing = dict.fromkeys(codes.names, [])
    assert codes("C0000001") == nothing | {"UMLS": ["C0000001"]} and codes("NIL") == codes("?") == nothing
    assert kb.codes("C0004096", "MSH") == ["D001249"] and kb.codes("C0000001", "MESH") == []
    with pytest.raises(PelError, match="PEL-E100"):
        kb.codes("C9", "MESH")


def test_vocabularies(kb):
    assert kb.vocabularies() == {"UMLS": 3, "HP": 2, "MESH": 2, "CTV3": 1, "ICD10CM": 1}
    assert Codes(kb, ["ALL"]).names == tuple(kb.vocabularies()) and Codes(kb, []).names == ()
    changed = KnowledgeBase(ENTITIES)
    changed.retire(["C0015967"])
    assert changed.vocabularies() == {"UMLS": 2, "HP": 1, "ICD10CM": 1, "MESH": 1}
    without = KnowledgeBase([Entity("own", "a code")])
    assert without.vocabularies() == {}
    for name in ("all", "MESH"):
        with pytest.raises(PelError, match=f"E128.*got '{name}'. It has .entities.: none"):
            Codes(without, [name])


@pytest.mark.parametrize(
    ("vocabulary", "heading", "code"),
    [
        ("ICD10CM", "I10-I1A", "I10"),
        ("ICD10", "E10-E14.9", "E10.9"),
        ("ICD10", "C50.-", "C50"),
        ("ICD9CM", "401-405.99", "401.9"),
        ("ICDO", "981-983", "9811/3"),
        ("MESH", "", "D003550"),
    ],
)
def test_headings_of_icd_and_empty_codes_are_none(vocabulary, heading, code):
    mixed, none = (f"{vocabulary}:{heading}", f"{vocabulary}:{code}"), (f"{vocabulary}:{heading}", "LOINC:8310-5")
    kb = KnowledgeBase([Entity("1", "x", xrefs=mixed), Entity("2", "y", xrefs=none), Entity(mixed[0], "z")])
    assert kb.xrefs("1") == list(mixed)
    assert [kb.codes(key, vocabulary) for key in kb] == [[code], [], []]
    assert kb.vocabularies() == {vocabulary: 1, "LOINC": 1} and kb.codes("2", "LOINC") == ["8310-5"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("ICD10", "got 'ICD10' (did you mean 'ICD10CM'?)"),
        ("meshh", "got 'meshh' (did you mean 'MESH'?)"),
        ("RxNorm", "got 'RXNORM'. It"),
        ("RXNORM_INGREDIENT", "got 'RXNORM_INGREDIENT'. It"),
    ],
)
def test_an_unknown_vocabulary(kb, name, hint):
    with pytest.raises(PelError, match="PEL-E128") as error:
        Codes(kb, ["MESH", name])
    assert hint in str(error.value)
    assert "has (entities): 'UMLS' (3), 'HP' (2), 'MESH' (2), 'CTV3' (1), 'ICD10CM' (1)." in str(error.value)


@pytest.mark.parametrize(
    ("entity_id", "reader", "vocabulary", "code"),
    [
        ("HP:0001945", "obo", "HP", "HP:0001945"),
        ("MSH:D005334", "", "MESH", "D005334"),
        ("Orphanet:558", "csv", "ORPHA", "558"),
        ("D005334", "jsonl", "MESH", "D005334"),
        ("C000657245", "", "MESH", "C000657245"),
        ("C535336", "mesh", "MESH", "C535336"),  # MeSH or the NCI Thesaurus: the reader knows
        ("C0015967", "umls", "UMLS", "C0015967"),
        ("161", "rxnorm", "RXNORM", "161"),
        ("386661006", "rf2", "SNOMEDCT", "386661006"),
        ("8310-5", "loinc", "LOINC", "8310-5"),
    ],
)
def test_the_id_is_the_code_in_its_vocabulary(entity_id, reader, vocabulary, code):
    other = f"{vocabulary}:other"  # of the id's own vocabulary, which does not count
    kb = KnowledgeBase([Entity(entity_id, "x", xrefs=(other,))], source={"reader": reader})
    assert Codes(kb, [vocabulary])(entity_id) == {vocabulary: [code]} and kb.vocabularies() == {vocabulary: 1}


# --- brand -> ingredient

NAMES = {
    **{"161": ("IN", "acetaminophen"), "7804": ("IN", "oxycodone"), "82063": ("PIN", "oxycodone hydrochloride")},
    **{"202433": ("BN", "Tylenol"), "42844": ("BN", "Percocet"), "214183": ("MIN", "acetaminophen / oxycodone")},
    **{"369097": ("SCDF", "acetaminophen Oral Tablet"), "313782": ("SCD", "acetaminophen 325 MG Oral Tablet")},
    **{"209387": ("SBD", "acetaminophen 325 MG Oral Tablet [Tylenol]"), "999": ("BPCK", "Tylenol Pack")},
}
# what the second is to the first
RELATIONS = """202433 has_tradename 161, 161 tradename_of 202433, 42844 has_tradename 161, 42844 has_tradename 7804,
214183 part_of 161, 214183 part_of 7804, 82063 has_form 7804, 369097 ingredient_of 161, 313782 inverse_isa 369097,
209387 has_tradename 313782, 209387 ingredient_of 202433, 999 contained_in 209387""".split(",")


@pytest.fixture(scope="module")
def rxnorm(tmp_path_factory):
    """The tables of RxNorm, with rows as it has them."""
    rrf = tmp_path_factory.mktemp("rrf")
    names = [
        f"{cui}|ENG||||||{cui}|{cui}|{cui}||RXNORM|{kind}|{cui}|{name}||N|4096|" for cui, (kind, name) in NAMES.items()
    ]
    relations = [f"{a}||CUI|RO|{b}||CUI|{label}|1||RXNORM|RXNORM||||4096|" for a, label, b in map(str.split, RELATIONS)]
    for table, rows in {"CONSO": names, "REL": relations, "STY": []}.items():
        (rrf / f"RXN{table}.RRF").write_text("".join(f"{row}\n" for row in rows), encoding="utf8")
    return rrf


def read(rxnorm, folder, **settings):
    return build_kb(RxNormKB(**settings), [rxnorm], folder / "kb", about={"reader": "rxnorm"})


def test_the_ingredients_in_a_release_of_rxnorm(rxnorm, tmp_path):
    kb = read(rxnorm, tmp_path, relations=True)
    ingredients = {**dict.fromkeys(NAMES, ["161"]), "7804": ["7804"], "82063": ["7804"]}
    ingredients |= dict.fromkeys(("42844", "214183"), ["161", "7804"])
    assert {drug: kb.codes(drug, "RxNorm ingredient") for drug in NAMES} == ingredients
    assert all(kb.codes(drug, "RXNORM") == [drug] for drug in NAMES)
    assert kb.vocabularies() == {"RXNORM": 10, "RXNORM_INGREDIENT": 10}


def test_ingredients_need_relations(rxnorm, tmp_path):
    kb = read(rxnorm, tmp_path)
    assert kb.vocabularies() == {"RXNORM": 10}
    with pytest.raises(PelError, match=r"E128.*needs is-a relations \(read RxNorm with relations = true\)"):
        Codes(kb, ["RXNORM_INGREDIENT"])


def test_a_class_of_chemicals_is_no_ingredient():
    """In a merged knowledge base, is-a is MeSH's, too."""
    kb = KnowledgeBase(
        [
            Entity("C1", "amoxicillin", xrefs=("RXNORM:723", "MESH:D000658"), parents=("C2",)),
            Entity("C2", "ampicillin", xrefs=("RXNORM:733", "MESH:D000667"), parents=("C3",)),
            Entity("C3", "penicillins", xrefs=("MESH:D010406",)),
            Entity("C4", "amoxicillin / clavulanate", xrefs=("RXNORM:19711", "MESH:D019980"), parents=("C1", "C5")),
            Entity("C5", "clavulanate", xrefs=("RXNORM:48203",)),
            Entity("C6", "Augmentin", xrefs=("RXNORM:151392",), parents=("C4",)),
            Entity("C7", "Amoxil", xrefs=("RXNORM:203948", "MESH:D000658"), parents=("C1",)),  # MeSH's entry term
            Entity("C8", "asthma", xrefs=("MESH:D001249",), parents=("C9",)),
            Entity("C9", "lung disease", parents=("C8",)),
        ]
    )
    codes = Codes(kb, ["RXNORM_INGREDIENT"])
    found = {key: codes(key)["RXNORM_INGREDIENT"] for key in kb}
    both = ["723", "48203"]
    assert found == {
        **{"C1": ["723"], "C2": ["733"], "C3": [], "C4": both, "C5": ["48203"], "C6": both, "C7": ["723"]},
        **{"C8": [], "C9": []},
    }
