"""Mentions that write a chemical in symbols."""

import numpy as np
import pytest

from spacy_pel.candidates.formulas import formula_names
from spacy_pel.candidates.name_evidence import NAMED
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking.combiner import LinearCombiner
from spacy_pel.linking.nil import SUMMARY, summarize
from spacy_pel.types import Document, Entity, Mention

from .gathering import gather, marked, pairs_of

ENTITIES = [
    Entity("CALCIUM", "Calcium"),
    Entity("CALCIUM2", "calcium(2+)"),
    Entity("CHLORIDES", "Chlorides"),
    Entity("CACL2", "Calcium Chloride"),
    Entity("FERRIC", "ferric chloride"),
    Entity("IRON3", "iron trichloride"),
    Entity("CO", "Carbon Monoxide"),
    Entity("COBALT", "cobalt"),
    Entity("ETHANOL", "ethanol"),
    Entity("RETIRED", "sodium chloride"),
    Entity("KCL", "KCL compound", aliases=("KCL",)),
    Entity("KCL2", "potassium chloride"),
]


# "_" stands for a blank
A_FORMULA_IS_READ = """
    H2O water  H2O2 hydrogen_peroxide  CO carbon_monoxide  Co cobalt  Fe iron  K potassium  Ca2+ calcium
    Ca++ calcium  Ca2+ calcium_2  Na+ sodium_ion  Fe3+ ferric_ion  Cl- chloride  SO42- sulfate  NO3- nitrate
    HCO3_- bicarbonate  PO4(3-) phosphate  NH4+ ammonium  OH- hydroxide  O2- superoxide  Ca2+_ions calcium
    13C carbon_13  [14C] carbon_14  C-13 carbon_13  ¹³C carbon_13  18F- fluorine_18  3H tritium
    MgCl2 magnesium_dichloride  FeCl3 ferric_chloride  FeCl3 iron_iii_chloride  FeCl2 ferrous_chloride
    Ca(OH)2 calcium_hydroxide  (NH4)2SO4 ammonium_sulfate  NH4Cl ammonium_chloride  K2Cr2O7 potassium_dichromate
    H₂SO₄ sulfuric_acid  H(2)O(2) hydrogen_peroxide  Ca²⁺ calcium  EtOH ethanol  D2O heavy_water
    Ca_2+ calcium_2  Ca_(2+) calcium_2  Ca^{2+} calcium_2  Ca<sup>2+</sup> calcium_2  [Ca2+]i calcium_2
    [Ca(2+)]i calcium_2  PO4_3- phosphate_3  PO4_3- phosphate  SO₄²⁻ sulfate  CO3_2- carbonate  UO2_2+ uranyl
    Fe(CN)6_3- ferricyanide  Zn_cations zinc_ion  Cl_ion chloride  NH4_ions ammonium_ion
"""


@pytest.mark.parametrize(("written", "name"), pairs_of(A_FORMULA_IS_READ))
def test_a_formula_is_read(written, name):
    assert name in formula_names(written)


@pytest.mark.parametrize(
    "written",
    [
        *("", " ", "-", "+", "()", "(2+)", "H", "p53", "CD4", "B12", "H3", "C14", "K562", "COX2", "IL-2", "5-HT"),
        *("Ca(OH", "14-3-3", "HCl solution of salts", "٣H", "NaCl" * 20),
        *("CrCl", "CrI", "CoI", "InS", "TaS", "HoF", "NiCN", "Fe(CN)6", "CaO2", "PtO2", "KOD", "K(II)", "Cd4+"),
        *("CD3", "ND4", "D2", "DCN", "NaV", "CaV", "PtII 2", "Pt II", "VII", "14 C", "18 F", "cyclin-d1", "cell ions"),
    ],
)
def test_what_is_no_formula_has_no_name(written):
    assert formula_names(written) == ()


@pytest.mark.parametrize(
    "written, names",
    [
        ("FeCl3", ("ferric chloride", "iron iii chloride", "iron chloride", "iron trichloride")),
        ("HCl", ("hydrochloric acid", "hydrogen chloride")),
        ("NO2-", ("nitrite 1", "nitrite", "nitrite ion", "nitrite anion")),
        ("Zn", ("zinc atom", "zinc")),
    ],
)
def test_the_preferred_name_comes_first(written, names):
    assert formula_names(written) == names


@pytest.fixture
def kb():
    return KnowledgeBase(ENTITIES)


def named(kb, *surfaces, allowed=None):
    """For each mention the ids by kind of name."""
    found = marked(kb, gather(kb, *surfaces, allowed=allowed), NAMED)
    return [{name: ids for name, ids in of_mention.items() if ids} for of_mention in found]


def test_a_formula_finds_the_first_of_its_names_or_a_variant_of_it(kb):
    assert named(kb, "CaCl2", "Cl-", "FeCl3", "Ca2+", "EtOH") == [
        {"formula": ["CACL2"]},
        {"formula": ["CHLORIDES"]},
        {"formula": ["FERRIC"]},  # and not the one that is called iron trichloride
        {"formula": ["CALCIUM2"]},
        {"formula": ["ETHANOL"]},
    ]


def test_capitals_count_for_formulas_and_names_come_before_them(kb):
    assert named(kb, "CO", "Co", "co", "KCl") == [{"formula": ["CO"]}, {"formula": ["COBALT"]}, {}, {"exact": ["KCL"]}]


def test_retired_and_excluded_entities_are_not_found(kb):
    assert named(kb, "NaCl") == [{"formula": ["RETIRED"]}]
    kb.retire(["RETIRED"])
    mask = np.ones(kb.n_rows, dtype=np.bool_)
    mask[kb.row("ETHANOL")] = False
    assert named(kb, "NaCl", "EtOH", allowed=[None, mask]) == [{}, {}]


def first(kb, table, combiner):
    return kb.id_at(table.kb_rows[0, combiner(table).argmax()])


def test_the_weighted_sum_trusts_a_formula_more_than_letters():
    kb = KnowledgeBase([*ENTITIES, Entity("HCLA", "HCl gas mixture"), Entity("ACID", "hydrochloric acid")])
    table = gather(kb, "HCl")
    combiner = LinearCombiner()
    assert first(kb, table, combiner) == "ACID"
    combiner.weights["formula_unseen"] = 0.0
    assert first(kb, table, combiner) == "HCLA"
    # annotated text that has the form knows better
    seen = [Document("d", "HCl", [Mention(0, 3, "", ("HCLA",))])]
    assert first(kb, gather(kb, "HCl", documents=seen), LinearCombiner()) == "HCLA"


def test_a_fit_on_a_few_formulas_keeps_the_default_weight():
    kb = KnowledgeBase([*ENTITIES, Entity("ACID", "hydrochloric acid"), Entity("GAS", "HCl gas mixture")])
    table = gather(kb, "HCl", "calcium chloride solution")  # annotated as something else
    combiner = LinearCombiner()
    combiner.fit(table, [np.array([kb.row("GAS")]), np.array([kb.row("CACL2")])])
    assert combiner.weights["formula_unseen"] == LinearCombiner().weights["formula_unseen"]
    many = gather(kb, *["HCl"] * 10)
    combiner.fit(many, [np.array([kb.row("GAS")])] * 10)
    assert combiner.weights["formula_unseen"] < 0


def test_the_nil_model_takes_the_name_of_a_formula_for_a_name(kb):
    for surface, named in {"CaCl2": 1, "CaCl2x": 0}.items():
        table = gather(kb, surface)
        summary = dict(zip(SUMMARY, summarize(table, LinearCombiner()(table))[0], strict=True))
        assert (summary["top_variant"], summary["top_exact"]) == (named, 0)
