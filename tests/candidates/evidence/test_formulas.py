"""Mentions that write a chemical in symbols."""

import numpy as np
import pytest

from spacy_pel.candidates.evidence.evidence import NAMED
from spacy_pel.candidates.evidence.formulas import formula_names
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking.combiners.linear import LinearCombiner
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
    Entity("DOPAMINE", "dopamine"),
    Entity("KCL", "KCL compound", aliases=("KCL",)),
    Entity("KCL2", "potassium chloride"),
    Entity("HYDROCHLOROTHIAZIDE", "HCT", aliases=("hydrochlorothiazide",)),
]


# "_" stands for a blank
A_FORMULA_IS_READ = """
    H2O water  H2O2 hydrogen_peroxide  CO carbon_monoxide  Co cobalt  Fe iron  K potassium  Ca2+ calcium
    Ca++ calcium  Ca2+ calcium_2  Na+ sodium_ion  Fe3+ ferric_ion  Fe(III) ferric_iron  Cr(VI) hexavalent_chromium
    Cl- chloride  SO42- sulfate  NO3- nitrate  HCO3_- bicarbonate  PO4(3-) phosphate  NH4+ ammonium  OH- hydroxide
    O2- superoxide  O2•− superoxide  Ca2+_ions calcium  13C carbon_13  [14C] carbon_14  C-13 carbon_13
    MgCl2 magnesium_dichloride  FeCl3 ferric_chloride  FeCl3 iron_iii_chloride  FeCl2 ferrous_chloride
    CuSO4·5H2O cupric_sulfate  Ca(OH)2 calcium_hydroxide  (NH4)2SO4 ammonium_sulfate  NH4Cl ammonium_chloride
    K2Cr2O7 potassium_dichromate  H₂SO₄ sulfuric_acid  H(2)O(2) hydrogen_peroxide  Ca²⁺ calcium  EtOH ethanol
    L-Arg l_arginine  L-Arg arginine  DL-Met methionine  [3H]dopamine dopamine  [3H]-L-arginine l_arginine
    Fe+3 iron_3  Ca+2 calcium_2  Ca_2+ calcium_2  Ca_(2+) calcium_2  Ca^{2+} calcium_2  Ca<sup>2+</sup> calcium_2
    [Ca2+]i calcium_2  [Ca(2+)]i calcium_2  PO4_3- phosphate_3  PO4_3- phosphate  PO4-3 phosphate  SO₄²⁻ sulfate
    CO3_2- carbonate  UO2_2+ uranyl  Fe(CN)6_3- ferricyanide  FeIII ferric_ion  Fe_II ferrous_ion  CrVI chromium_vi
    Cu(ii) cupric_ion  Zn_(II) zinc_2  Fe(0) iron  Hg0 mercury_0  iron(III) ferric_ion  Copper(II) cupric_ion
    ferrous_ions iron_2  ferric_iron iron_3  zinc_ions zinc_2  Zn_cations zinc_ion  Cl_ion chloride
    ·NO nitric_oxide  NO• nitric_oxide  •OH hydroxyl_radical  HO· hydroxyl_radical  O2−• superoxide  O2•− superoxide
    •CH3 methyl_radical  HO2• hydroperoxyl  CO3•- carbonate_radical  NO2• nitrogen_dioxide  *OH hydroxyl_radical
    15_N nitrogen_15  ¹³C carbon_13  99m_Tc technetium_99m  18F- fluorine_18  H218O water  H2(18)O 18_o_water
    H2_18O water  H2[18O] water  13CO2 carbon_dioxide  15NO3- nitrate  15NH4Cl ammonium_chloride  C18O2 carbon_dioxide
    D2O heavy_water  CDCl3 deuterated_chloroform  CDCl3 chloroform  CD3OD methanol_d4  CD3CN acetonitrile  C6D6 benzene
    D2SO4 sulfuric_acid  NaOD sodium_hydroxide  DMSO-d6 dimethyl_sulfoxide  d6-DMSO dimethyl_sulfoxide
    DMSO-D6 dimethyl_sulfoxide_d6  [D6]DMSO dimethyl_sulfoxide  (CD3)2SO dimethyl_sulfoxide  acetone-d6 acetone_d6
    chloroform-d chloroform  THF-d8 tetrahydrofuran  d3-morphine morphine  glucose-d7 deuterated_glucose
    [U-14C]glucose glucose  125I-insulin insulin  bupropion_HCl bupropion_hydrochloride  bupropion_HCl bupropion
"""


@pytest.mark.parametrize(("written", "name"), pairs_of(A_FORMULA_IS_READ))
def test_a_formula_is_read(written, name):
    assert name in formula_names(written)


@pytest.mark.parametrize(
    "written",
    [
        *("", " ", "-", "+", "()", "(2+)", "H", "p53", "CD4", "B12", "H3", "C14", "K562", "COX2", "IL-2", "5-HT"),
        *("Ca(OH", "14-3-3", "HCl solution of salts", "٣H", "NaCl" * 20),
        *("CrCl", "CrI", "CoI", "InS", "TaS", "HoF", "NiCN", "Fe(CN)6", "CaO2", "PtO2", "K(II)", "Cd4+"),
        *(
            "CD4",
            "CD3",
            "ND4",
            "D2",
            "DCN",
            "KOD",
            "NaV",
            "CaV",
            "PtII 2",
            "Pt II",
            "Th0",
            "VII",
            "lead II",
            "14 C",
            "18 F",
        ),
        *(
            "cyclin-d1",
            "vitamin-d3",
            "resolvin-d3",
            "dopamine-d3",
            "d3-receptor",
            "hepatitis-d",
            "cell ions",
            "R.",
            "Cl.",
        ),
        "dilute HCl",
    ],
)
def test_what_is_no_formula_has_no_name(written):
    assert formula_names(written) == ()


@pytest.mark.parametrize(
    "written, names",
    [
        ("FeCl3", ("ferric chloride", "iron iii chloride", "iron chloride", "iron trichloride")),
        ("HCl", ("hydrochloric acid", "hydrogen chloride")),
        ("NO2-", ("nitrite", "nitrite ion", "nitrite anion")),
        ("Zn", ("zinc atom", "zinc")),
        ("Fe0", ("iron 0", "iron atom", "iron")),
        ("O(2-)", ("oxide 2", "oxide", "oxide ion", "oxide anion")),
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
    assert named(kb, "CaCl2", "Cl-", "FeCl3", "Ca2+", "EtOH", "[3H]dopamine") == [
        {"formula": ["CACL2"]},
        {"formula": ["CHLORIDES"]},
        {"formula": ["FERRIC"]},  # and not the one that is called iron trichloride
        {"formula": ["CALCIUM2"]},
        {"formula": ["ETHANOL"]},
        {"formula": ["DOPAMINE"]},
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
