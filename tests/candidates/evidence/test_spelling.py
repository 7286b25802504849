"""Spelling compares few names, and finds what comparing all of them finds."""

import random

import numpy as np
import pytest
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from spacy_pel.candidates.evidence.spelling import compare_names, spelling
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity
from spacy_pel.util import normalize_alias


def random_name(rng):
    words = ("".join(rng.choices("abcdé", k=rng.randint(1, 9))) for _ in range(rng.randint(1, 5)))
    return " ".join(words)


@pytest.fixture
def kb():
    rng = random.Random(3)
    names = [[random_name(rng) for _ in range(rng.randint(1, 12))] for _ in range(80)]
    names.append(["x" * 300 + " long", "y"])
    return KnowledgeBase(Entity(f"E{i}", own[0], tuple(own[1:])) for i, own in enumerate(names))


@pytest.fixture
def surfaces(kb):
    rng = random.Random(5)
    return [*(random_name(rng) for _ in range(20)), kb.name_at(3), kb.name_at(4) + " more", "q", "x" * 290]


def names_of(kb, row):
    entity = kb.entity_at(row)
    return [normalize_alias(name) for name in (entity.canonical_name, *entity.aliases)]


def all_names_compared(kb, surfaces):
    """Every name of every entity, one at a time."""
    pairs = [(normalize_alias(surface), names_of(kb, row)) for surface in surfaces for row in range(kb.n_rows)]
    scorers = {"edit": (Indel.normalized_similarity, 1), "partial": (fuzz.partial_ratio, 100)}
    return {
        name: np.array([max(scorer(form, own) for own in names) for form, names in pairs], np.float32).reshape(
            len(surfaces), kb.n_rows
        )
        / np.float32(top)
        for name, (scorer, top) in scorers.items()
    }


def spelled(kb, surfaces):
    """All entities are candidates of every mention."""
    return spelling(kb, list(map(normalize_alias, surfaces)), np.tile(np.arange(kb.n_rows), (len(surfaces), 1)))


def test_equals_comparing_every_name(kb, surfaces):
    surfaces = [*surfaces, surfaces[0]]  # a form of two mentions
    expected = all_names_compared(kb, surfaces)
    found = spelled(kb, surfaces)
    assert list(found) == ["edit", "partial"]
    for name, values in found.items():
        assert values.dtype == np.float32
        np.testing.assert_array_equal(values, expected[name], err_msg=name)


def test_where_there_is_no_candidate_nothing_is_alike(kb):
    kb_rows = np.array([[3, -1, -1], [-1, -1, -1], [4, 3, -1]])
    forms = [normalize_alias(kb.name_at(row)) for row in (3, 3, 4)]
    for values in spelling(kb, forms, kb_rows).values():
        assert values[0, 0] == values[2, 0] == 1 and values[2, 1] > 0
        assert not values[kb_rows < 0].any()


def test_a_change_of_the_knowledge_base_counts_at_once(kb, tmp_path):
    surfaces = ["zzz zzz"]
    before = spelled(kb, surfaces)
    kb.update([Entity("E7", "zzz zzy")])
    kb.retire(["E8"])
    kb.add([Entity("new", "zzz zzz")])
    after = spelled(kb, surfaces)
    assert before["edit"][0, 7] < 0.6 and after["edit"][0, 7] == pytest.approx(12 / 14)
    assert before["edit"][0, 9] == after["edit"][0, 9]
    assert before["edit"][0, 8] > 0 == after["edit"][0, 8] == after["partial"][0, 8]
    assert after["edit"][0, -1] == after["partial"][0, -1] == 1
    kb.to_disk(tmp_path / "kb")
    for same in (kb, KnowledgeBase.from_disk(tmp_path / "kb")):
        for name, values in spelled(same, surfaces).items():
            np.testing.assert_array_equal(values, after[name])


def test_nothing_to_compare(kb):
    assert compare_names(kb, ["a"], np.zeros(0, np.int64), np.zeros(0, np.int64)).shape == (2, 0)
    assert [values.shape for values in spelling(kb, [], np.zeros((0, 1), np.int64)).values()] == [(0, 1)] * 2
