"""The benchmark of large knowledge bases, on a small one."""

import pytest

from benchmarks.kb_open import made_up_entities, measure
from spacy_pel.kb import KnowledgeBase

pytestmark = pytest.mark.slow


def test_made_up_entities_are_as_many_as_asked_for():
    entities = list(made_up_entities(300, 925))
    assert len({entity.concept_id for entity in entities}) == 300
    assert sum(len(entity.aliases) for entity in entities) == 925
    assert entities == list(made_up_entities(300, 925)) != list(made_up_entities(300, 925, seed=1))


def test_measures(tmp_path):
    KnowledgeBase.build(made_up_entities(300, 925), tmp_path / "kb")
    found = measure(tmp_path / "kb", n_queries=50)
    assert 0 < found["open, ms"] < 5000 and found["private memory of opening, MB"] < 200
