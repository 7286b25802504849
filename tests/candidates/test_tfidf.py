"""Tf-idf candidates equal a slow, literal count of n-grams."""

import math
import re
from collections import Counter

import pytest

from spacy_pel.candidates.tfidf import TfIdf
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity
from spacy_pel.util import normalize_alias

from .conftest import ENTITIES, found, mentions_of, values_of

SURFACES = ["hart attak", "renal factor", "cold", "acid", "the kidney", "lung", "2 acetoxy", "factor 11", "it"]
STOP = {"it", "the", "of"}


def char_grams(text):
    return [text[i : i + n] for n in range(2, 6) for i in range(len(text) - n + 1)]


def word_grams(text):
    words = re.findall(r"[^\W_]+", text)
    return [word for word in words if word not in STOP] or words


def cosines(names, text, grams):
    """tf * (ln((1 + N) / (1 + df)) + 1), vectors of length 1."""
    df = Counter(gram for name in names for gram in set(grams(name)))

    def vector(one):
        counts = Counter(gram for gram in grams(one) if gram in df)
        weights = {g: n * (math.log((1 + len(names)) / (1 + df[g])) + 1) for g, n in counts.items()}
        length = math.sqrt(sum(w * w for w in weights.values()))
        return {g: w / length for g, w in weights.items()}

    query = vector(text)
    return [sum(query.get(g, 0.0) * w for g, w in vector(name).items()) for name in names]


def literal(surface, kinds):
    """Every entity with the best cosine of its names over the kinds of n-grams."""
    owners = {}
    for entity in ENTITIES:
        for name in (entity.canonical_name, *entity.aliases):
            owners.setdefault(normalize_alias(name), set()).add(entity.concept_id)
    names = list(owners)
    best = Counter()
    for grams in kinds:
        for name, cosine in zip(names, cosines(names, normalize_alias(surface), grams), strict=True):
            for entity_id in owners[name]:
                best[entity_id] = max(best[entity_id], cosine)
    return {entity_id: cosine for entity_id, cosine in best.items() if cosine > 0}


@pytest.mark.parametrize(
    ("settings", "kinds"),
    [({}, [char_grams, word_grams]), ({"word_ngrams": None}, [char_grams]), ({"char_ngrams": None}, [word_grams])],
)
def test_equals_the_literal_cosine(kb, settings, kinds):
    generator = TfIdf(**settings)
    generator.build(kb)
    for surface in SURFACES:
        table = generator.find_candidates(kb, mentions_of(surface))
        expected = literal(surface, kinds)
        got = {kb.id_at(row): score for row, score in values_of(table, "name")[0].items()}
        assert got == pytest.approx(expected, abs=1e-5), surface
        cut = generator.find_candidates(kb, mentions_of(surface), top_k=3)
        best = sorted(expected.values(), reverse=True)[:3]
        assert list(values_of(cut, "name")[0].values()) == pytest.approx(best, abs=1e-5)


def test_names_are_read_until_there_are_enough_entities(monkeypatch):
    # the nearest 40 names belong to one entity: the first search does not do
    many = Entity("A", "kidney stone", tuple(f"kidney stone {i}" for i in range(40)))
    others = [Entity(f"B{i}", f"kidney {i}") for i in range(5)]
    kb = KnowledgeBase([many, *others])
    generator = TfIdf()
    generator.build(kb)
    table = generator.find_candidates(kb, mentions_of("kidney stone"), top_k=4)
    assert found(kb, table)[0][0] == "A" and table.kb_rows.shape == (1, 4)


@pytest.mark.parametrize(
    "settings",
    [
        {"char_ngrams": None, "word_ngrams": None},
        {"char_ngrams": (3, 2)},
        {"char_ngrams": (0, 2)},
        {"word_ngrams": (1,)},
    ],
)
def test_wrong_settings(settings):
    with pytest.raises(PelError, match="E447"):
        TfIdf(**settings)


def test_nothing_to_count():
    with pytest.raises(PelError, match="E446"):
        TfIdf().build(KnowledgeBase([]))
    with pytest.raises(PelError, match="E446"):
        TfIdf(word_ngrams=None).build(KnowledgeBase([Entity("C1", "x")]))
