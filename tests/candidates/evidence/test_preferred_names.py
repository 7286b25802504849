"""Forms that are a synonym of one entity and the preferred name of another."""

import pytest

from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking.combiners.linear import LinearCombiner
from spacy_pel.types import Entity

from .gathering import gather, marked

ENTITIES = [
    Entity("TABLE", "sodium chloride", aliases=("salt",)),
    Entity("SALTS", "salt"),
    Entity("WATER", "water", aliases=("ice",)),
    Entity("STEAM", "steam", aliases=("ice",)),
    Entity("COLD", "common cold"),
]


@pytest.mark.parametrize(
    ("surface", "ids"), [("salt", ["TABLE"]), ("SALT", ["TABLE"]), ("ice", []), ("common cold", [])]
)
def test_the_synonym_is_marked_where_another_has_the_preferred_name(surface, ids):
    kb = KnowledgeBase(ENTITIES)
    assert marked(kb, gather(kb, surface), ("synonym",)) == [{"synonym": ids}]


@pytest.mark.parametrize("entities", [ENTITIES, ENTITIES[::-1]])
def test_it_comes_second_in_any_order(entities):
    kb = KnowledgeBase(entities)
    table = gather(kb, "salt")
    scores = LinearCombiner()(table)[0]
    assert [kb.id_at(table.kb_rows[0, place]) for place in (-scores).argsort()[:2]] == ["SALTS", "TABLE"]


def test_an_entity_that_is_not_allowed_or_retired_is_no_rival():
    kb = KnowledgeBase(ENTITIES)
    kb.retire(["SALTS"])
    assert marked(kb, gather(kb, "salt"), ("synonym",)) == [{"synonym": []}]
