"""Spelling compares few names, and remembers what it compared."""

import random
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from spacy_pel.candidates.evidence import spelling as module
from spacy_pel.candidates.evidence.evidence import SurfaceForms
from spacy_pel.candidates.evidence.spelling import SpellingCache, compare_names, spelling
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import CandidateTable, Entity
from spacy_pel.util import normalize_alias
from spacy_pel.util.ragged import offsets_of


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


def table_of(kb, n_mentions):
    """All entities are candidates of every mention."""
    rows = np.tile(np.arange(kb.n_rows), n_mentions)
    return CandidateTable(rows, offsets_of(np.full(n_mentions, kb.n_rows)), {})


def names_of(kb, row):
    entity = kb.entity_at(row)
    return [normalize_alias(name) for name in (entity.canonical_name, *entity.aliases)]


def all_names_compared(kb, surfaces):
    """Every name of every entity, one at a time."""
    pairs = [(normalize_alias(surface), names_of(kb, row)) for surface in surfaces for row in range(kb.n_rows)]
    scorers = {"edit": (Indel.normalized_similarity, 1), "partial": (fuzz.partial_ratio, 100)}
    return {
        name: np.array([max(scorer(form, own) for own in names) for form, names in pairs], np.float32) / np.float32(top)
        for name, (scorer, top) in scorers.items()
    }


def spelled(kb, surfaces):
    forms = SurfaceForms.of(surfaces)
    return spelling(kb, forms.distinct, forms.which, table_of(kb, len(surfaces)))


def test_equals_comparing_every_name(kb, surfaces):
    expected = all_names_compared(kb, surfaces)
    for _ in range(2):  # computed, then remembered
        found = spelled(kb, surfaces)
        assert list(found) == ["edit", "partial"]
        for name, values in found.items():
            assert values.dtype == np.float32
            np.testing.assert_array_equal(values, expected[name], err_msg=name)


def test_a_change_of_the_knowledge_base_counts_at_once(kb, tmp_path):
    surfaces = ["zzz zzz"]
    before = spelled(kb, surfaces)
    kb.update([Entity("E7", "zzz zzy")])
    kb.retire(["E8"])
    kb.add([Entity("new", "zzz zzz")])
    after = spelled(kb, surfaces)
    assert before["edit"][7] < 0.6 and after["edit"][7] == pytest.approx(12 / 14)
    assert before["edit"][9] == after["edit"][9]
    assert before["edit"][8] > 0 == after["edit"][8] == after["partial"][8]
    assert after["edit"][-1] == after["partial"][-1] == 1
    kb.to_disk(tmp_path / "kb")
    for same in (kb, KnowledgeBase.from_disk(tmp_path / "kb")):
        for name, values in spelled(same, surfaces).items():
            np.testing.assert_array_equal(values, after[name])


def test_the_cache_is_bounded_and_keeps_what_is_used(monkeypatch):
    monkeypatch.setattr(module, "_FORMS", 4)
    monkeypatch.setattr(module, "_ROWS", 3)
    cache = SpellingCache()
    rows = np.arange(2)
    cache.remember("used", rows, np.ones((2, 2), np.float32))
    for number in range(40):
        assert cache.look_up("used", rows, np.zeros((2, 2), np.float32)).all()
        cache.remember(f"form {number}", rows, np.zeros((2, 2), np.float32))
        assert len(cache) <= 8
    values = np.zeros((2, 3), np.float32)
    assert cache.look_up("used", np.array([0, 1, 5]), values).tolist() == [True, True, False]
    assert values.tolist() == [[1, 1, 0]] * 2
    assert not cache.look_up("form 0", rows, np.zeros((2, 2), np.float32)).any()


def test_threads_share_the_cache(kb, surfaces, monkeypatch):
    monkeypatch.setattr(module, "_FORMS", 3)
    expected = all_names_compared(kb, surfaces)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(lambda _: spelled(kb, surfaces), range(12)))
    finally:
        sys.setswitchinterval(interval)
    for found in results:
        for name, values in found.items():
            np.testing.assert_array_equal(values, expected[name])


def test_nothing_to_compare(kb):
    assert compare_names(kb, ["a"], np.zeros(0, np.int64), np.zeros(0, np.int64)).shape == (2, 0)
    empty = spelling(kb, ["a"], np.zeros(1, np.int64), CandidateTable(np.zeros(0, np.int64), np.zeros(2, int), {}))
    assert [len(values) for values in empty.values()] == [0, 0]
