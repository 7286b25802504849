"""Names with the same words, or with phrases that other names of the knowledge base exchange."""

import pytest
from cases import cases

from spacy_pel import KnowledgeBase
from spacy_pel.candidates import own_words
from spacy_pel.candidates.own_words import OwnWords
from spacy_pel.types import Entity

KINDS = ("memory", "plasma", "follicular", "immature")
ENTITIES = [
    *(Entity(f"B{n}", f"{kind} B cell", (f"{kind} B-lymphocyte",)) for n, kind in enumerate(KINDS)),
    Entity("N", "naive B cell"),
    Entity("B", "cell"),
    *(Entity(f"{side}{n}", f"{side} {part}") for side in ("left", "right") for n, part in enumerate(("lung", "ear"))),
    Entity("E0", "fracture of bone", ("broken bone",)),
    Entity("E1", "fracture of rib", ("broken rib",)),
    Entity("L", "carcinoma of the lung"),
    *(
        Entity(f"G{n}", f"{gene} 3", tuple(f"{gene}{other}" for other in (" 4", " v5", " v6", " iii", " iv", "")))
        for n, gene in enumerate(("nexin", "actin", "gelsolin"))
    ),
    *(Entity(name, name) for name in ("titin 4", "desmin v6", "keratin", "vimentin iii", "glioma grade 1 stage 2")),
    Entity("H", "hepatitis a"),
    Entity("S0", "spastic ataxia, autosomal dominant"),
    Entity("S1", "ataxia, dominant spastic autosomal"),
]


@pytest.mark.parametrize(("form", "name"), cases("words_around", "a_form_is_read_as_a_name"))
def test_a_form_is_read_as_a_name(form, name):
    assert OwnWords(KnowledgeBase(ENTITIES)).name_of(form) == name


def test_two_entities_are_too_few_and_wrong_exchanges_are_none():
    few = [entity for entity in ENTITIES if entity.concept_id not in ("B2", "B3")]
    assert OwnWords(KnowledgeBase(few)).name_of("naive b lymphocyte") is None
    # for three entities "left" and "right" are the same, for three more they are not
    both = [Entity(f"P{n}", f"left {part}", (f"right {part}",)) for n, part in enumerate(("a1", "b1", "c1"))]
    apart = [Entity(f"{side}{part}", f"{side} {part}") for side in ("left", "right") for part in ("arm", "leg", "eye")]
    one = Entity("H", "left hand")
    assert OwnWords(KnowledgeBase([*both, one])).name_of("right hand") == "left hand"
    assert OwnWords(KnowledgeBase([*both, *apart, one])).name_of("right hand") is None


def test_a_large_knowledge_base_is_not_read(monkeypatch):
    monkeypatch.setattr(own_words, "_MOST_NAMES", 10)
    assert OwnWords(KnowledgeBase(ENTITIES)).name_of("lung carcinoma") is None
