"""Mentions that are adjectives or verbs of a name that is a noun."""

import numpy as np
import pytest

from spacy_pel.candidates.evidence.derivations import derivations
from spacy_pel.candidates.evidence.evidence import NAMED, candidate_table, find_candidates
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking.combiners.linear import LinearCombiner
from spacy_pel.types import Entity, MentionInText, RankedRows

from .gathering import gather, marked, pairs_of

ENTITIES = [
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
ADJECTIVES_AND_VERBS_LEAD_TO_NOUNS = """
    nuclear nucleus  muscular muscle  skeletal skeleton  cortical cortex  pharyngeal pharynx  epithelial epithelium
    ovarian ovary  ischemic ischemia  thrombotic thrombosis  epileptic epilepsy  diabetic diabetes  edematous edema
    hypertensive hypertension  olfactory olfaction  obese obesity  aspartate aspartic_acid
    divided division  induce induction  divides division  modify modification  biopsied biopsy  uterine uterus
    express expression  bleeding bleed  control controlling  hepatic liver  vascular blood_vessel
    cardiac_development heart_development  neuronal_differentiation neuron_differentiation  oesophageal esophagus
    esophageal esophagus  apoptosis apoptotic_process  cell_kinesis cell_kinetic_process
    catabolism catabolic_process
"""


@pytest.mark.parametrize(("form", "noun"), pairs_of(ADJECTIVES_AND_VERBS_LEAD_TO_NOUNS))
def test_adjectives_and_verbs_lead_to_nouns(form, noun):
    assert noun in derivations(form)


@pytest.mark.parametrize("form", ["", "camp", "il 2", "α", "---", "cardiac cells of a very old rat"])
def test_what_has_no_derivations(form):
    assert derivations(form) == ()


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
    kb = KnowledgeBase(ENTITIES)
    kb.retire(["RETIRED"])
    surfaces = ["nuclear", "Hepatic", "nuclear division", "renal", "cardiac", "oesophageal", "heart"]
    only_artery = np.arange(len(ENTITIES)) == kb.row("ARTERY")
    allowed = [None] * len(surfaces)
    for masks, expected in (
        (allowed, ["NUCLEUS", "LIVER", None, None, None, "OESOPHAGUS", None]),
        ([only_artery] * len(surfaces), [None] * len(surfaces)),
    ):
        found = marked(kb, gather(kb, *surfaces, allowed=masks), ("derivation", "exact", "variant"))
        for of_mention, id_ in zip(found, expected, strict=True):
            assert of_mention["derivation"] == ([] if id_ is None else [id_])
            assert id_ not in of_mention["exact"] + of_mention["variant"]


def test_candidates_that_no_vector_finds():
    """A derivation is a candidate even where the index finds nothing like it, and is kept first."""
    kb = KnowledgeBase([*ENTITIES, *(Entity(f"R{i}", f"hepatic region {i}") for i in range(50))])
    encoder = HashEmbed(width=64)
    index = EntityIndex.build(kb, encoder, index=FaissIVF())
    table = find_candidates(kb, index, encoder.encode_names(["hepatic"]), ["hepatic"], row_k=4, top_k=3)
    assert kb.ids_at(table.kb_rows[0, :1]) == ["LIVER"]
    assert LinearCombiner()(table).argmax() == 0


def test_names_without_vectors():
    """Candidates of other generators have the feature, too."""
    kb = KnowledgeBase(ENTITIES)
    kb.add([Entity("CACL2", "calcium chloride")])
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
