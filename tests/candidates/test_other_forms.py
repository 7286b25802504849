"""Mentions that are regular variants of a name, in the plural, or spelled with other blanks; and adjectives or verbs of
a name that is a noun."""

import numpy as np
import pytest

from spacy_pel.candidates.evidence import candidate_table, find_candidates
from spacy_pel.candidates.name_evidence import NAMED
from spacy_pel.candidates.other_forms import (
    british_or_american,
    derivations,
    other_numbers,
    other_spellings,
    quantity_terms,
)
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking.combiner import LinearCombiner
from spacy_pel.types import Entity, MentionInText, RankedRows

from .gathering import gather, marked, pairs_of

ENTITIES = [
    Entity("PLASMA", "plasma cell"),
    Entity("PLASMAS", "plasma cells in the blood", aliases=("plasma cells of blood", "cells plasma")),
    Entity("BIOPSY", "biopsy"),
    Entity("LIVER", "disease of the liver"),
    Entity("MESH", "Seizures"),
    Entity("MAST", "mast cell", aliases=("mastocyte",)),
    Entity("MAST2", "connective mast cells"),
    Entity("CAPS", "CAPS"),
]


@pytest.fixture
def kb():
    return KnowledgeBase(ENTITIES)


def gathered(kb, *surfaces, allowed=None):
    return marked(kb, gather(kb, *surfaces, allowed=allowed), ("exact", "variant"))


# "_" stands for a blank
LEAD_TO_EACH_OTHER = {
    other_numbers: """
        plasma_cell plasma_cells  biopsy biopsies  pathway pathways  virus viruses  reflex reflexes  abscess abscesses
        branch branches  disease_of_the_liver diseases_of_the_liver  part_of_cell part_of_cells
    """,
    other_spellings: """
        kf17837 kf_17837  ap_7 ap7  5_ht2a 5ht_2a  15_f_2t_isop 15_f2t_isop
    """,
    british_or_american: """
        oedema edema  haematuria hematuria  ischaemic_heart_disease ischemic_heart_disease
        acute_myeloid_leukaemia acute_myeloid_leukemia  chemotherapy_induced_anaemia chemotherapy_induced_anemia
        ethinyl_oestradiol_sulphate ethinyl_estradiol_sulfate
    """,
}
LEAD_TO = {
    other_spellings: """
        t_cell tcell  sr_48_968 sr48968  sr_48_968 sr_48968
        non_convulsive_status_epilepticus_of_adults nonconvulsive_status_epilepticus_of_adults
        α_thalassaemia alpha_thalassaemia  tnfα tnfalpha  tnfα tnf_alpha  tnf_α tnfα  nf_κb nf_kappa_b
        β_catenin betacatenin  λ_phage lambda_phage
    """,
    derivations: """
        nuclear nucleus  muscular muscle  skeletal skeleton  cortical cortex  pharyngeal pharynx  epithelial epithelium
        ovarian ovary  ischemic ischemia  thrombotic thrombosis  epileptic epilepsy  diabetic diabetes  edematous edema
        hypertensive hypertension  olfactory olfaction  obese obesity  aspartate aspartic_acid
        divided division  induce induction  divides division  modify modification  biopsied biopsy  uterine uterus
        express expression  bleeding bleed  control controlling  hepatic liver  vascular blood_vessel
        cardiac_development heart_development  neuronal_differentiation neuron_differentiation  oesophageal esophagus
        esophageal esophagus  apoptosis apoptotic_process  cell_kinesis cell_kinetic_process
        catabolism catabolic_process
    """,
    quantity_terms: """
        high_blood_pressure hypertension  low_blood_pressure hypotension  blood_pressure_elevated hypertension
        low_platelets thrombocytopenia  increased_platelet_count thrombocytosis  low_potassium hypokalaemia
        elevated_serum_calcium hypercalcemia  high_blood_sugar hyperglycemia  low_sodium_level hyponatremia
        low_white_blood_cell_count leukopenia  overactive_thyroid hyperthyroidism
    """,
}


def cases(table):
    return [(find, *pair) for find, words in table.items() for pair in pairs_of(words)]


@pytest.mark.parametrize(("find", "one", "other"), cases(LEAD_TO_EACH_OTHER))
def test_forms_that_lead_to_each_other(find, one, other):
    assert other in find(one) and one in find(other)


@pytest.mark.parametrize(("find", "form", "other"), cases(LEAD_TO))
def test_forms_that_lead_to_others(find, form, other):
    assert other in find(form)


NO_OTHER = {
    other_spellings: ["", "aspirin", "12", "1 2", "+", "---", "a b", "no 2", "ά", "καρδιά"],
    british_or_american: ["never", "epidemic"],
    derivations: ["", "camp", "il 2", "α", "---", "cardiac cells of a very old rat"],
    quantity_terms: ["", "high", "level", "blood pressure", "highly active", "high e", "low one two"],
}


@pytest.mark.parametrize(("find", "form"), [(find, form) for find, forms in NO_OTHER.items() for form in forms])
def test_forms_that_lead_to_none(find, form):
    assert list(find(form)) == []


@pytest.mark.parametrize("form", ["abscess", "sepsis", "virus", "cns", "as", "s", "", "il 2", "cap", "---"])
def test_what_is_no_plural(form):
    shorter = [other for other in other_numbers(form) if len(other) <= len(form)]
    assert shorter == []
    assert form != "cap" or other_numbers(form) == []  # CAPS is another thing


def test_numbers_stay_apart():
    assert "12 dichloroethane" not in other_spellings("1 2 dichloroethane")
    assert "1 2dichloroethane" in other_spellings("1 2 dichloroethane")
    long = "2 4 dichlorophenoxy acetic acid butyl ester"
    assert not any(one.startswith("24") for one in other_spellings(long))
    assert all(one.replace(" ", "") == long.replace(" ", "") for one in other_spellings(long))


def test_long_names_have_few_spellings():
    words = "one two three four five six seven eight nine ten eleven twelve".split()
    found = other_spellings(" ".join(words))
    assert len(found) == 11 and all(one.count(" ") == 10 for one in found)
    assert other_spellings(" ".join([*words, "thirteen"])) == []


def test_each_part_of_a_form_has_its_other_spelling():
    assert sorted(british_or_american("leukocyte tumor")) == ["leucocyte tumour", "leukocyte tumour"]
    assert british_or_american("colorectal tumor") == ["colorectal tumour"]


def test_other_spellings_are_evidence():
    kb = KnowledgeBase([Entity("KF", "KF 17837"), Entity("NON", "nondepolarizing agents")])
    found = gathered(kb, "KF17837", "non-depolarizing agents", "KF 17838")
    assert [one["variant"] for one in found] == [["KF"], ["NON"], []]
    kb.put([Entity("TUMOR", "brain tumor")])
    assert [one["variant"] for one in gathered(kb, "brain tumours", "Brain tumour")] == [["TUMOR"]] * 2
    kb.put([Entity("X", "KF17837")])
    assert gathered(kb, "KF17837") == [{"exact": ["X"], "variant": []}]


def test_evidence(kb):
    found = gathered(kb, "Plasma Cells", "biopsies", "diseases of the liver", "seizure", "cap", "plasma cell")
    plurals = [["PLASMA"], ["BIOPSY"], ["LIVER"], ["MESH"], [], []]
    assert [one["variant"] for one in found] == plurals
    assert [one["exact"] for one in found] == [[]] * 5 + [["PLASMA"]]


def test_an_exact_name_leaves_no_plural(kb):
    kb.put([Entity("X", "plasma cells")])
    assert gathered(kb, "plasma cells") == [{"exact": ["X"], "variant": []}]
    kb.retire(["X"])
    assert gathered(kb, "plasma cells") == [{"exact": [], "variant": ["PLASMA"]}]
    kb.retire(["PLASMA"])
    assert gathered(kb, "plasma cells") == [{"exact": [], "variant": []}]


# -- derivations --

NOUNS = [
    Entity("NUCLEUS", "cell nucleus", aliases=("nucleus",)),
    Entity("DIVISION", "nuclear division"),
    Entity("BODY", "nuclear body"),
    Entity("LIVER", "liver"),
    Entity("ARTERY", "hepatic artery"),
    Entity("RETIRED", "kidney"),
    Entity("OESOPHAGUS", "esophagus"),
    Entity("PLURAL", "hearts"),
]


# "_" stands for a blank
NOUNS_ARE_NOT_LED_ASTRAY = """
    thymine thymus  cats cation  rats ration  pigs pigment  urine urination  lactate lactation  states station
    during duration  organic organ  nicotinic nicotinic_acid  nicotinic_receptor nicotinic_acid_receptor  basic base
    mpsiiic mpsiii  bleed bleedding
"""


@pytest.mark.parametrize(("form", "other"), pairs_of(NOUNS_ARE_NOT_LED_ASTRAY))
def test_nouns_are_not_led_astray(form, other):
    assert other not in derivations(form)


def test_evidence_where_no_name_and_no_variant_is_the_form():
    kb = KnowledgeBase(NOUNS)
    kb.retire(["RETIRED"])
    surfaces = ["nuclear", "Hepatic", "nuclear division", "renal", "cardiac", "oesophageal", "heart"]
    only_artery = np.arange(len(NOUNS)) == kb.row("ARTERY")
    allowed = [None] * len(surfaces)
    for masks, expected in (
        (allowed, ["NUCLEUS", "LIVER", None, None, None, "OESOPHAGUS", None]),
        ([only_artery] * len(surfaces), [None] * len(surfaces)),
    ):
        found = marked(kb, gather(kb, *surfaces, allowed=masks), ("derivation", "exact", "variant"))
        for of_mention, id_ in zip(found, expected, strict=True):
            assert of_mention["derivation"] == ([] if id_ is None else [id_])
            assert id_ not in of_mention["exact"] + of_mention["variant"]


def test_derivations_that_no_vector_finds():
    """A derivation is a candidate even where the index finds nothing like it, and is kept first."""
    kb = KnowledgeBase([*NOUNS, *(Entity(f"R{i}", f"hepatic region {i}") for i in range(50))])
    encoder = HashEmbed(width=64)
    index = EntityIndex.build(kb, encoder, index=FaissIVF())
    table = find_candidates(kb, index, encoder.encode_names(["hepatic"]), ["hepatic"], row_k=4, top_k=3)
    assert kb.ids_at(table.kb_rows[0, :1]) == ["LIVER"]
    assert LinearCombiner()(table).argmax() == 0


def test_names_without_vectors():
    """Candidates of other generators have the feature, too."""
    kb = KnowledgeBase(NOUNS)
    kb.put([Entity("CACL2", "calcium chloride")])
    rows = np.array([kb.row(id_) for id_ in ("ARTERY", "LIVER", "CACL2", "PLURAL")])
    for surface, expected in (
        ("hepatic artery", [[1, 0, 0, 0], [0] * 4, [0] * 4, [0] * 4]),
        ("CaCl2", [[0] * 4, [0, 0, 1, 0], [0] * 4, [0] * 4]),
        ("heart", [[0] * 4, [0] * 4, [0, 0, 0, 1], [0] * 4]),
        ("hepatic", [[0] * 4, [0] * 4, [0] * 4, [0, 1, 0, 0]]),
    ):
        ranked = RankedRows.of([(rows, np.linspace(0.9, 0.1, 4))])
        table = candidate_table(kb, ranked, [MentionInText(surface, 0, len(surface))])
        assert [table.features[name][0].tolist() for name in NAMED] == expected, surface


@pytest.fixture
def quantities():
    return KnowledgeBase(
        [
            Entity("HYPERTENSION", "Hypertension", aliases=("Arterial hypertension",)),
            Entity("HYPOTENSION", "Hypotension", aliases=("Low blood pressure",)),
            Entity("PRESSURE", "Increased blood pressure"),
            Entity("THROMBOCYTOPENIA", "Thrombocytopenia", aliases=("Low platelet count",)),
            Entity("VOLUME", "Decreased mean platelet volume"),
        ]
    )


@pytest.mark.parametrize(
    ("surface", "id_"),
    [
        ("High Blood-Pressure", "HYPERTENSION"),
        ("Low platelets", "THROMBOCYTOPENIA"),
        ("low blood pressure", None),  # names and variants come before it
        ("increased blood pressures", None),
    ],
)
def test_the_entity_with_the_term_is_marked(quantities, surface, id_):
    assert marked(quantities, gather(quantities, surface), ("derivation",)) == [{"derivation": [id_] if id_ else []}]


@pytest.mark.parametrize("surface", ["Low platelets", "platelets low", "decreased platelets"])
def test_a_term_outweighs_a_name_that_is_spelled_alike(quantities, surface):
    table = gather(quantities, surface)
    assert quantities.id_at(table.kb_rows[0, LinearCombiner()(table).argmax()]) == "THROMBOCYTOPENIA"
