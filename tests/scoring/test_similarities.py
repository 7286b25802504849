"""Similarities: a contract for every registered one, and slow formulas in float64."""

import math

import numpy as np
import pytest
import torch

from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.encoders.torch_backend import TorchBackend
from spacy_pel.errors import PelError
from spacy_pel.indexes import EntityIndex
from spacy_pel.indexes.brute_force import BruteForce
from spacy_pel.kb import KnowledgeBase
from spacy_pel.registry import registry
from spacy_pel.scoring import Similarity
from spacy_pel.scoring.cosine import Cosine
from spacy_pel.scoring.dot_product import DotProduct
from spacy_pel.scoring.euclidean import Euclidean
from spacy_pel.types import Entity, MentionInText

NAMES = sorted(registry.parts("pel_similarities").values())


def slow_cosine(m, e):
    return slow_dot_product(m, e) / math.sqrt(sum(x * x for x in m)) / math.sqrt(sum(x * x for x in e))


def slow_dot_product(m, e):
    return sum(x * y for x, y in zip(m, e, strict=True))


def slow_euclidean(m, e):
    return -math.sqrt(sum((x - y) ** 2 for x, y in zip(m, e, strict=True)))


SLOW = {
    "spacy-pel.Cosine.v1": slow_cosine,
    "spacy-pel.DotProduct.v1": slow_dot_product,
    "spacy-pel.Euclidean.v1": slow_euclidean,
}


@pytest.fixture(params=NAMES)
def similarity(request):
    return registry.pel_similarities.get(request.param)()


def vectors(n, seed=0, dtype=torch.float64):
    rng = np.random.default_rng(seed)
    return torch.tensor(rng.normal(size=(n, 7)), dtype=dtype, requires_grad=True)


def test_contract_equals_the_formula(similarity):
    mentions, entities = vectors(4), vectors(30, seed=1)
    scores = similarity(mentions, entities)
    assert scores.shape == (4, 30) and scores.dtype == torch.float64
    slow = SLOW[similarity.registered_name]
    expected = [[slow(m, e) for e in entities.tolist()] for m in mentions.tolist()]
    np.testing.assert_allclose(scores.detach().numpy(), expected, rtol=1e-10, atol=1e-12)


def test_contract_says_what_it_is(similarity):
    assert isinstance(similarity, Similarity)
    make = registry.pel_similarities.get(similarity.registered_name)
    assert type(make(**similarity.settings)) is type(similarity)
    assert similarity.metric in ("inner_product", "euclidean")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_contract_widens_halves(similarity, dtype):
    mentions, entities = vectors(3, dtype=dtype), vectors(5, seed=1, dtype=dtype)
    scores = similarity(mentions, entities)
    assert scores.dtype == torch.float32
    exact = similarity(mentions.detach().double(), entities.detach().double())
    torch.testing.assert_close(scores.detach().double(), exact, rtol=1e-5, atol=1e-5)


def test_contract_gradients(similarity):
    assert torch.autograd.gradcheck(similarity, (vectors(3), vectors(4, seed=1)))


def test_contract_zero_and_equal_vectors_have_finite_gradients(similarity):
    mentions = torch.zeros((2, 7), requires_grad=True)
    entities = torch.zeros((2, 7), requires_grad=True)
    similarity(mentions, entities).sum().backward()
    equal = torch.ones((2, 7), requires_grad=True)
    similarity(equal, torch.ones((30, 7))).sum().backward()
    assert all(torch.isfinite(x.grad).all() for x in (mentions, entities, equal))


def test_contract_ranks_as_the_index_of_its_metric(similarity):
    """What an index of the encoder's vectors ranks by is what is trained."""
    mentions, entities = vectors(5).detach(), vectors(40, seed=1).detach()
    scores = similarity(mentions, entities)
    if similarity.unit_vectors:
        mentions, entities = (torch.nn.functional.normalize(v, dim=-1) for v in (mentions, entities))
    if similarity.metric == "inner_product":
        ranked = mentions @ entities.T
    else:
        ranked = -((mentions[:, None] - entities[None]) ** 2).sum(-1)
    assert torch.equal(scores.argsort(dim=1), ranked.argsort(dim=1))


def test_euclidean_keeps_small_distances_between_long_vectors():
    mentions = torch.full((40, 64), 100.0)
    entities = mentions.clone()
    entities[:, 0] += 0.01
    np.testing.assert_allclose(Euclidean()(mentions, entities).numpy(), -0.01, rtol=1e-3)


# -- in the encoder and the index ------------------------------------------------------------------

MENTIONS = [MentionInText("pain in the left kidney", 17, 23), MentionInText("fever", 0, 5)]
ENTITIES = [Entity("C1", "fever"), Entity("C2", "kidney stone"), Entity("C3", "heart attack")]


def make(name, **settings):
    encoder = BiEncoder(name=str(name), tied=True, backend=TorchBackend(precision="float32"), **settings)
    encoder.initialize()
    return encoder


def test_the_cosine_is_no_setting_of_its_own(tiny_bert):
    plain = make(tiny_bert)
    assert "similarity" not in plain.settings
    assert make(tiny_bert, similarity=Cosine()).fingerprint == plain.fingerprint
    fingerprints = {make(tiny_bert, similarity=s).fingerprint for s in (None, DotProduct(), Euclidean())}
    assert len(fingerprints) == 3


def test_unscaled_vectors(tiny_bert):
    unit, raw = make(tiny_bert), make(tiny_bert, similarity=DotProduct())
    vectors, expected = raw.encode_mentions(MENTIONS), unit.encode_mentions(MENTIONS)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    assert (np.abs(norms - 1) > 0.1).all()
    np.testing.assert_allclose(vectors / norms, expected, atol=1e-6)


def test_saved_with_the_model(tiny_bert, tmp_path):
    encoder = make(tiny_bert, similarity=DotProduct())
    encoder.to_disk(tmp_path / "model")
    loaded = BiEncoder(backend=TorchBackend(precision="float32")).from_disk(tmp_path / "model")
    assert isinstance(loaded.similarity, DotProduct) and loaded.fingerprint == encoder.fingerprint
    np.testing.assert_allclose(loaded.encode_names(["fever"]), encoder.encode_names(["fever"]), atol=1e-6)
    make(tiny_bert).to_disk(tmp_path / "cosine")
    assert isinstance(loaded.from_disk(tmp_path / "cosine").similarity, Cosine), "replaces the present one"


def test_no_similarity():
    with pytest.raises(PelError, match="pel_similarities.*float"):
        BiEncoder(similarity=1.0)


def test_the_index_finds_dot_products(tiny_bert):
    encoder, kb = make(tiny_bert, similarity=DotProduct()), KnowledgeBase(ENTITIES)
    index = EntityIndex.build(kb, encoder, index=BruteForce(), kinds=("alias",))
    mentions, names = encoder.encode_mentions(MENTIONS), [e.canonical_name for e in ENTITIES]
    scores, rows = index.search_rows(mentions, 3)
    expected = DotProduct()(torch.from_numpy(mentions), torch.from_numpy(encoder.encode_names(names)))
    order = expected.argsort(dim=1, descending=True)
    assert index.kb_rows[rows].tolist() == order.tolist()
    np.testing.assert_allclose(scores, expected.gather(1, order).numpy(), rtol=1e-5)


def test_exact_matches_come_first_whatever_the_range_of_the_scores(tiny_bert):
    encoder = make(tiny_bert, similarity=DotProduct())
    with torch.no_grad():  # dot products in the thousands
        encoder.tower("mention").transformer.encoder.layer[-1].output.LayerNorm.weight *= 20
    entities = [Entity(f"X{i}", f"thing {i}") for i in range(20)] + [Entity("C1", "zyx", ("fever",))]
    kb = KnowledgeBase(entities)
    index = EntityIndex.build(kb, encoder, index=BruteForce(), kinds=("card",))
    vectors = encoder.encode_mentions(MENTIONS[1:])
    scores, rows = index.search_rows(vectors, 21)
    assert np.ptp(scores) > 4 and kb.row("C1") != index.kb_rows[rows[0, 0]]
    table = index.evidence(kb, vectors, ["fever"], top_k=3)
    assert table.kb_rows[0] == kb.row("C1")


def test_an_index_of_inner_products_refuses_distances(tiny_bert):
    encoder = make(tiny_bert, similarity=Euclidean())
    with pytest.raises(PelError, match="Euclidean.*'euclidean'") as error:
        EntityIndex.build(KnowledgeBase(ENTITIES), encoder, index=BruteForce())
    assert "\n" not in str(error.value)

    class ByDistance(BruteForce):
        metric = "euclidean"

    EntityIndex.build(KnowledgeBase(ENTITIES), encoder, index=ByDistance())
    with pytest.raises(PelError, match="inner_product"):
        EntityIndex.build(KnowledgeBase(ENTITIES), make(tiny_bert), index=ByDistance())
