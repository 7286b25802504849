"""The 2-D map: distances of each similarity, the plane, the choice of points."""

import numpy as np
import pytest
from spacy_pel_studies.reports.entity_map import EntityMap, distances, draw_maps, in_a_plane, kruskal_stress, make_map
from spacy_pel_studies.reports.map_points import choose_points
from spacy_pel_studies.triplets.encoder import Euclidean

from spacy_pel.encoders.similarities import Cosine, DotProduct
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.registry import registry
from spacy_pel.types import Document, Entity, Mention


def test_distances_rank_as_the_similarity_does():
    vectors = np.random.default_rng(0).normal(size=(9, 5))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def apart(rows):
        return np.linalg.norm(rows[:, None] - rows[None], axis=-1)

    for similarity, rows in ((Euclidean(), vectors), (DotProduct(), vectors), (Cosine(), unit)):
        found = distances(similarity, vectors.astype(np.float32))
        assert np.allclose(found, apart(rows), atol=1e-5) and (np.diag(found) == 0).all()
        assert np.array_equal(found, found.T)


def test_what_lies_in_a_plane_stays_as_it_is():
    rows = np.random.default_rng(1).normal(size=(12, 2))
    apart = np.linalg.norm(rows[:, None] - rows[None], axis=-1)
    places, stress = in_a_plane(apart)
    assert np.allclose(np.linalg.norm(places[:, None] - places[None], axis=-1), apart, atol=1e-3)
    assert stress < 1e-3 and np.array_equal(in_a_plane(apart)[0], places)
    higher = np.random.default_rng(1).normal(size=(12, 9))
    assert in_a_plane(np.linalg.norm(higher[:, None] - higher[None], axis=-1))[1] > 0.05


def test_the_stress_is_that_of_kruskal():
    rows = np.random.default_rng(2).normal(size=(10, 6))
    apart = np.linalg.norm(rows[:, None] - rows[None], axis=-1)
    places, stress = in_a_plane(apart)
    above = below = 0.0
    for i in range(10):
        for j in range(i):
            shown = float(np.sqrt(((places[i] - places[j]) ** 2).sum()))
            above += (apart[i, j] - shown) ** 2
            below += shown**2
    assert stress == pytest.approx((above / below) ** 0.5) and stress > 0.05
    assert kruskal_stress(apart, np.zeros((10, 2))) == 0.0


def test_scaling_by_the_oldest_scikit_learn(monkeypatch):
    """Before 1.7 metric scaling knows no normalised stress, and says so by an error."""
    from sklearn import manifold

    newest = manifold.smacof

    def oldest(*args, normalized_stress="auto", **kwargs):
        if normalized_stress is True:
            raise ValueError("Normalized stress is not supported for metric MDS.")
        return newest(*args, normalized_stress=normalized_stress, **kwargs)

    monkeypatch.setattr(manifold, "smacof", oldest)
    rows = np.random.default_rng(2).normal(size=(6, 4))
    places, stress = in_a_plane(np.linalg.norm(rows[:, None] - rows[None], axis=-1))
    assert places.shape == (6, 2) and 0 < stress < 1


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_or_equal_points(n):
    assert in_a_plane(np.zeros((n, n)))[0].shape == (n, 2)
    assert np.isfinite(in_a_plane(1.0 - np.eye(n))[0]).all()


class Towers:
    """Mentions and entities of one name get nearly one vector."""

    def __init__(self, similarity):
        self.similarity = similarity

    def tokens(self, side, texts):
        return [text.surface if side == "mention" else text.canonical_name for text in texts]

    def pooled(self, side, tokens, show_progress):
        shift = 0.01 * np.arange(len(tokens), dtype=np.float32)[:, None] if side == "mention" else 0
        return np.array([self._of(name) for name in tokens], dtype=np.float32) + shift

    def _of(self, name):
        return np.random.default_rng(list(name.encode())).normal(size=6)


@pytest.fixture
def kb():
    return KnowledgeBase([Entity(f"C{i}", name) for i, name in enumerate(["fever", "stroke", "asthma"])])


@pytest.fixture
def documents():
    made = []
    for number in range(6):
        text = "fever stroke asthma thing"
        ids = [("C0",), ("C1",) if number < 3 else ("C1", "C2"), (), ("X",)]
        starts = [0, 6, 13, 20]
        mentions = [
            Mention(start, start + len(text[start:].split()[0]), "", gold)
            for start, gold in zip(starts, ids, strict=True)
        ]
        made.append(Document(f"d{number}", text, mentions))
    return made


def test_the_choice_of_points(kb, documents):
    def choose(wanted=(), n_entities=8, max_mentions=40, seed=0):
        return choose_points(kb, documents, wanted, n_entities=n_entities, max_mentions=max_mentions, seed=seed)

    points = choose()
    assert [entity.concept_id for entity in points.entities] == ["C0", "C1"]  # the most mentioned first
    assert points.owners == [0] * 6 + [1] * 3  # neither NIL nor several ids nor ids that the KB lacks
    assert points.documents[6:] == ["d0", "d1", "d2"] and points.mentions[6].surface == "stroke"
    assert [entity.concept_id for entity in choose(n_entities=1).entities] == ["C0"]
    assert [entity.concept_id for entity in choose(["C1", "C0", "C1"]).entities] == ["C1", "C0"]
    few = choose(max_mentions=2)
    assert few.owners == [0, 0, 1, 1] and choose(max_mentions=2) == few
    assert any(choose(max_mentions=2, seed=seed) != few for seed in range(1, 6))
    for wanted, words in ((["C9"], "has no 'C9'"), (["C2"], "no mention of 'C2'")):
        with pytest.raises(PelError, match=f"E652.*{words}"):
            choose(wanted)


@pytest.mark.parametrize("name", sorted(registry.parts("pel_similarities").values()))
def test_a_map_with_every_similarity(kb, documents, name):
    points = choose_points(kb, documents, [], n_entities=2, max_mentions=9, seed=0)
    similarity = registry.pel_similarities.get(name)()
    if similarity.token_level:
        with pytest.raises(PelError, match="E654"):
            make_map(Towers(similarity), points.mentions, points.entities, points.owners)
        return
    found = make_map(Towers(similarity), points.mentions, points.entities, points.owners)
    assert found.nearest_own == 1.0 and found.mentions.shape == (9, 2)
    apart = np.linalg.norm(found.mentions[:, None] - found.entities[None], axis=-1)
    assert (apart.argmin(axis=1) == points.owners).all()
    record = points.record(found)
    assert record["mentions"][0]["x"] == found.mentions[0, 0] and record["entities"][1]["name"] == "stroke"


def test_the_same_picture_for_the_same_maps(tmp_path):
    rng = np.random.default_rng(0)
    maps = {
        name: EntityMap(rng.normal(size=(20, 2)), rng.normal(size=(10, 2)), 0.1, 0.5) for name in ("before", "after")
    }
    owners = [place // 2 for place in range(20)]
    names = [f"entity {place} with a name that is long" for place in range(10)]
    for folder in ("a", "b"):
        draw_maps(maps, names, owners, tmp_path / folder / "map.png", tmp_path / folder / "map.svg")
    for file in ("map.png", "map.svg"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
