"""Mentions that are the preferred name of one entity and a synonym of another."""

import pytest

from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking.combiners.linear import LinearCombiner
from spacy_pel.types import Entity

from .gathering import gather, marked

ENTITIES = [
    Entity("NARROW", "non-syndromic syndactyly", aliases=("Syndactyly", "arterial trunk")),
    Entity("WIDE", "syndactyly"),
    Entity("ARCH", "arch of aorta", aliases=("arterial trunks",)),
]


@pytest.mark.parametrize("surface", ["syndactyly", "Syndactyly", "syndactylies"])
def test_the_entity_that_is_called_so_comes_first(surface):
    kb = KnowledgeBase(ENTITIES)
    table = gather(kb, surface)
    [found] = marked(kb, table, ("exact", "variant", "preferred"))
    assert found["preferred"] == ["WIDE"]
    assert set(found["exact"] + found["variant"]) == {"NARROW", "WIDE"}
    assert kb.id_at(table.kb_rows[0, LinearCombiner()(table)[0].argmax()]) == "WIDE"


@pytest.mark.parametrize("surface", ["arterial trunk", "arch", "aortic"])
def test_synonyms_are_not_preferred(surface):
    kb = KnowledgeBase(ENTITIES)
    assert marked(kb, gather(kb, surface), ("preferred",)) == [{"preferred": []}]
