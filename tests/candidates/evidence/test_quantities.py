"""Mentions of quantities that are high or low."""

import pytest

from spacy_pel.candidates.evidence.quantities import quantity_names
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking.combiners.linear import LinearCombiner
from spacy_pel.types import Entity

from .gathering import gather, marked, pairs_of

# "_" stands for a blank
ANOTHER_NAME = """
    high_blood_pressure hypertension  low_blood_pressure hypotension  blood_pressure_elevated hypertension
    raised_blood_pressure increased_blood_pressure  low_platelets thrombocytopenia
    low_platelets low_platelet_count  platelets_low low_platelet_count  increased_platelet_count thrombocytosis
    low_potassium hypokalemia  low_potassium hypokalaemia  elevated_serum_calcium hypercalcemia
    high_blood_sugar hyperglycemia  low_blood_glucose_levels hypoglycemia  low_sodium_level hyponatremia
    high_bilirubin hyperbilirubinemia  elevated_triglycerides hypertriglyceridemia  low_oxygen hypoxemia
    low_heart_rate bradycardia  fast_heart_rate tachycardia  low_white_blood_cell_count leukopenia
    high_ferritin increased_circulating_ferritin_concentration  reduced_muscle_tone hypotonia
    overactive_thyroid hyperthyroidism  underactive_thyroid hypothyroidism
"""


@pytest.mark.parametrize(("form", "name"), pairs_of(ANOTHER_NAME))
def test_a_quantity_has_other_names(form, name):
    assert name in quantity_names(form)


@pytest.mark.parametrize(
    ("form", "name"),
    pairs_of(
        "low_platelets thrombocytosis  high_sugar hypoglycemia  low_blood_cell_count low_cell_count  high_e hyperemia"
    ),
)
def test_but_not_these(form, name):
    assert name not in quantity_names(form)


@pytest.mark.parametrize("form", ["", "high", "blood pressure", "highly active", "low one two three four five six"])
def test_what_says_no_quantity_has_none(form):
    assert quantity_names(form) == ()


@pytest.fixture
def kb():
    return KnowledgeBase(
        [
            Entity("HYPERTENSION", "Hypertension", aliases=("Arterial hypertension",)),
            Entity("HYPOTENSION", "Hypotension", aliases=("Low blood pressure",)),
            Entity("PRESSURE", "Increased blood pressure"),
            Entity("THROMBOCYTOPENIA", "Thrombocytopenia", aliases=("Low platelet count",)),
            Entity("VOLUME", "Decreased mean platelet volume"),
            Entity("FERRITIN", "Increased circulating ferritin concentration"),
        ]
    )


@pytest.mark.parametrize(
    ("surface", "id_"),
    [
        ("high blood pressure", "HYPERTENSION"),  # the term comes before other words
        ("High Blood-Pressure", "HYPERTENSION"),
        ("Low platelets", "THROMBOCYTOPENIA"),
        ("decreased platelets", "THROMBOCYTOPENIA"),
        ("elevated ferritin", "FERRITIN"),
    ],
)
def test_the_entity_with_the_first_of_these_names_is_marked(kb, surface, id_):
    assert marked(kb, gather(kb, surface), ("derivation",)) == [{"derivation": [id_]}]


@pytest.mark.parametrize("surface", ["Low platelets", "platelets low", "decreased platelets"])
def test_it_outweighs_a_name_that_is_spelled_alike(kb, surface):
    table = gather(kb, surface)
    assert kb.id_at(table.kb_rows[0, LinearCombiner()(table).argmax()]) == "THROMBOCYTOPENIA"


@pytest.mark.parametrize(
    ("surface", "kind"), [("low blood pressure", "exact"), ("increased blood pressures", "variant")]
)
def test_names_and_variants_come_before_it(kb, surface, kind):
    found = marked(kb, gather(kb, surface), (kind, "derivation"))[0]
    assert found[kind] and not found["derivation"]
