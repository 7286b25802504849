"""What names say: how they are spelled, which of them is preferred, and which say a little more."""

import random

import numpy as np
import pytest
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from spacy_pel.candidates.name_evidence import NamePairs
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking.combiner import LinearCombiner
from spacy_pel.types import Entity
from spacy_pel.util import normalize_alias

from .gathering import gather, marked


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


def spelled(kb, surfaces, scorer=Indel.normalized_similarity):
    """(surfaces, entities), how similar the nearest name is."""
    forms, rows = np.divmod(np.arange(len(surfaces) * kb.n_rows), kb.n_rows)
    pairs = NamePairs.read(kb, list(map(normalize_alias, surfaces)), forms, rows)
    return pairs.similarity(scorer).reshape(len(surfaces), kb.n_rows)


@pytest.mark.parametrize("scorer", [Indel.normalized_similarity, fuzz.partial_ratio])
def test_the_nearest_name_counts(kb, surfaces, scorer):
    expected = [
        [max(scorer(normalize_alias(surface), name) for name in names_of(kb, row)) for row in range(kb.n_rows)]
        for surface in surfaces
    ]
    np.testing.assert_array_equal(spelled(kb, surfaces, scorer), expected)


def test_a_change_of_the_knowledge_base_counts_at_once(kb, tmp_path):
    surfaces = ["zzz zzz"]
    before = spelled(kb, surfaces)[0]
    kb.put([Entity("E7", "zzz zzy")])
    kb.retire(["E8"])
    kb.put([Entity("new", "zzz zzz")])
    after = spelled(kb, surfaces)[0]
    assert before[7] < 0.6 and after[7] == pytest.approx(12 / 14)
    assert before[9] == after[9] and before[8] > 0 == after[8] and after[-1] == 1
    kb.to_disk(tmp_path / "kb")
    np.testing.assert_array_equal(spelled(KnowledgeBase.from_disk(tmp_path / "kb"), surfaces)[0], after)


def test_nothing_to_compare(kb):
    nothing, retired = np.zeros(0, np.int64), np.array([8])
    assert NamePairs.read(kb, ["a"], nothing, nothing).similarity(fuzz.partial_ratio).shape == (0,)
    kb.retire(["E8"])
    assert NamePairs.read(kb, ["a"], np.array([0]), retired).similarity(fuzz.partial_ratio).tolist() == [0.0]


SYNONYMS = [
    Entity("NARROW", "non-syndromic syndactyly", aliases=("Syndactyly", "arterial trunk")),
    Entity("WIDE", "syndactyly"),
    Entity("ARCH", "arch of aorta", aliases=("arterial trunks",)),
]


@pytest.mark.parametrize("surface", ["syndactyly", "Syndactyly", "syndactylies"])
def test_the_entity_that_is_called_so_comes_first(surface):
    kb = KnowledgeBase(SYNONYMS)
    table = gather(kb, surface)
    [found] = marked(kb, table, ("exact", "variant", "preferred"))
    assert found["preferred"] == ["WIDE"]
    assert set(found["exact"] + found["variant"]) == {"NARROW", "WIDE"}
    assert kb.id_at(table.kb_rows[0, LinearCombiner()(table)[0].argmax()]) == "WIDE"


@pytest.mark.parametrize("surface", ["arterial trunk", "arch", "aortic"])
def test_synonyms_are_not_preferred(surface):
    kb = KnowledgeBase(SYNONYMS)
    assert marked(kb, gather(kb, surface), ("preferred",)) == [{"preferred": []}]


LONGER = [
    Entity("RETINA", "outer nuclear layer of retina", aliases=("retinal outer nuclear layer",)),
    Entity("EXPRESSION", "gene expression"),
    Entity("BIRTH", "parturition", aliases=("giving birth",)),
    Entity("CRYPT", "crypt of Lieberkuhn"),
    Entity("CILIUM", "assembly of cilium"),
    Entity("AXON", "assembly of axon"),
    Entity("VIRUS", "assembly of virus"),
    Entity("SPINDLE", "assembly of spindle"),
    Entity("CONE", "retinal cone cell"),
    Entity("SYSTEM", "immune system", aliases=("defence of self",)),
    Entity("DEFENCE", "defence"),
    Entity("WNT", "Wnt signaling pathway"),
    Entity("RECEPTOR", "photoreceptor cell"),
]


@pytest.mark.parametrize(
    ("surface", "expected"),
    [
        ("outer nuclear layer", "RETINA"),
        ("Outer nuclear layers", "RETINA"),  # a variant
        ("crypts", "CRYPT"),
        ("expressed", "EXPRESSION"),  # derived
        ("natal", "BIRTH"),
        ("immune", "SYSTEM"),  # without a word that texts leave out
        ("photoreceptors", "RECEPTOR"),
        ("wnt signaling", "WNT"),
        ("assembly", None),  # of four entities
        ("gene", None),  # other words only where a word is derived
        ("nuclear layer", None),
        ("defence", None),  # a name already
        ("layer of retina", None),
    ],
)
def test_names_that_say_a_little_more(surface, expected):
    kb = KnowledgeBase(LONGER)
    table = gather(kb, surface)
    assert marked(kb, table, ("extension",)) == [{"extension": [] if expected is None else [expected]}]
    added = LinearCombiner().contributions(table)["extension_unseen"]
    assert (added.max() > 0) == (expected is not None)
