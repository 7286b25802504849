"""Similarities: a contract for every registered one, and slow formulas in float64."""

import math

import numpy as np
import pytest
import torch

from spacy_pel.candidates.evidence import find_candidates
from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.encoders.similarities import DotProduct, Similarity, TokenVectors, each, take
from spacy_pel.errors import PelError
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.kb import KnowledgeBase
from spacy_pel.registry import registry
from spacy_pel.types import Entity, MentionInText

from ..conftest import make_encoder

NAMES = sorted(registry.parts("pel_similarities").values())


def slow_cosine(m, e):
    return slow_dot_product(m, e) / math.sqrt(sum(x * x for x in m)) / math.sqrt(sum(x * x for x in e))


def slow_dot_product(m, e):
    return sum(x * y for x, y in zip(m, e, strict=True))


def slow_euclidean(m, e):
    return -math.sqrt(sum((x - y) ** 2 for x, y in zip(m, e, strict=True)))


def slow_sum_of_max(m, e):
    """Lists of token vectors, without padding."""
    return sum(max(slow_dot_product(t, u) for u in e) for t in m)


SLOW = {
    "spacy-pel.Cosine.v1": slow_cosine,
    "spacy-pel.DotProduct.v1": slow_dot_product,
    "spacy-pel.Euclidean.v1": slow_euclidean,
    "spacy-pel.SumOfMax.v1": slow_sum_of_max,
}


@pytest.fixture(params=NAMES)
def similarity(request):
    return registry.pel_similarities.get(request.param)()


def vectors(*shape, seed=0, dtype=torch.float64):
    rng = np.random.default_rng(seed)
    return torch.tensor(rng.normal(size=(*shape, 7)), dtype=dtype, requires_grad=True)


def read_by(similarity, *shape, seed=0, dtype=torch.float64, length=5):
    """What the similarity reads of texts in this shape; tokens of 1 to ``length`` a text, junk as padding."""
    if not similarity.token_level:
        return vectors(*shape, seed=seed, dtype=dtype)
    lengths = np.random.default_rng([seed, 1]).integers(1, length + 1, size=shape)
    mask = torch.from_numpy(np.arange(length) < lengths[..., None])
    return TokenVectors(vectors(*shape, length, seed=seed, dtype=dtype), mask)


def leaf(encoded):
    return encoded.vectors if isinstance(encoded, TokenVectors) else encoded


def listed(encoded):
    """Each text as nested lists, without padding."""
    if isinstance(encoded, TokenVectors):
        return [v[m].tolist() for v, m in zip(encoded.vectors, encoded.mask, strict=True)]
    return encoded.tolist()


def test_contract_equals_the_formula(similarity):
    mentions, entities = read_by(similarity, 4), read_by(similarity, 30, seed=1, length=6)
    scores = similarity(mentions, entities)
    assert scores.shape == (4, 30) and scores.dtype == torch.float64
    slow = SLOW[similarity.registered_name]
    expected = [[slow(m, e) for e in listed(entities)] for m in listed(mentions)]
    np.testing.assert_allclose(scores.detach().numpy(), expected, rtol=1e-10, atol=1e-12)


def test_contract_pairs_are_those_of_the_table(similarity):
    mentions, entities = read_by(similarity, 4), read_by(similarity, 30, seed=1, length=6)
    places = torch.from_numpy(np.random.default_rng(2).integers(30, size=(4, 3)))
    expected = similarity(mentions, entities).gather(1, places)
    scores = similarity.paired(mentions, take(entities, places))
    assert scores.shape == (4, 3)
    torch.testing.assert_close(scores, expected, rtol=1e-12, atol=1e-12)
    none = similarity.paired(mentions, take(entities, places[:, :0]))
    assert none.shape == (4, 0)


def test_contract_says_what_it_is(similarity):
    assert isinstance(similarity, Similarity)
    make = registry.pel_similarities.get(similarity.registered_name)
    assert type(make(**similarity.settings)) is type(similarity)
    with pytest.raises(PelError, match="pel_similarities.*float"):
        BiEncoder(similarity=1.0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_contract_widens_halves(similarity, dtype):
    mentions, entities = read_by(similarity, 3, dtype=dtype), read_by(similarity, 5, seed=1, dtype=dtype)
    scores = similarity(mentions, entities)
    assert scores.dtype == torch.float32
    wide = [
        each(side, lambda part: part if part.dtype == torch.bool else part.double()) for side in (mentions, entities)
    ]
    torch.testing.assert_close(scores.double(), similarity(*wide), rtol=1e-5, atol=1e-5)
    own = take(entities, torch.zeros((3, 2), dtype=torch.int64))
    assert similarity.paired(mentions, own).dtype == torch.float32


def test_contract_gradients(similarity):
    mentions, entities = read_by(similarity, 3), read_by(similarity, 4, seed=1)
    own = read_by(similarity, 3, 2, seed=2)

    def rebuilt(encoded, leaf):
        return encoded._replace(vectors=leaf) if isinstance(encoded, TokenVectors) else leaf

    def table(m, e):
        return similarity(rebuilt(mentions, m), rebuilt(entities, e))

    def pairs(m, e):
        return similarity.paired(rebuilt(mentions, m), rebuilt(own, e))

    assert torch.autograd.gradcheck(table, (leaf(mentions), leaf(entities)))
    assert torch.autograd.gradcheck(pairs, (leaf(mentions), leaf(own)))


def test_contract_zero_and_equal_vectors_have_finite_gradients(similarity):
    shape = (2, 3, 7) if similarity.token_level else (2, 7)

    def make(value, *, grad):
        values = torch.full(shape, value, requires_grad=grad)
        mask = torch.ones(shape[:-1], dtype=torch.bool)
        return (TokenVectors(values, mask) if similarity.token_level else values), values

    (mentions, left), (entities, right) = make(0.0, grad=True), make(0.0, grad=True)
    similarity(mentions, entities).sum().backward()
    (equal, same), (other, _) = make(1.0, grad=True), make(1.0, grad=False)
    similarity(equal, other).sum().backward()
    similarity.paired(equal, take(other, torch.zeros((2, 30), dtype=torch.int64))).sum().backward()
    assert all(torch.isfinite(x.grad).all() for x in (left, right, same))


def test_contract_padding_does_not_matter(similarity):
    if not similarity.token_level:
        pytest.skip("reads pooled vectors")
    mentions, entities = read_by(similarity, 3), read_by(similarity, 4, seed=1)
    junk = [t._replace(vectors=torch.where(t.mask[..., None], t.vectors, 1e6)) for t in (mentions, entities)]
    assert torch.equal(similarity(*junk), similarity(mentions, entities))
    similarity(*junk).sum().backward()
    assert (mentions.vectors.grad[~mentions.mask] == 0).all()
    assert (entities.vectors.grad[~entities.mask] == 0).all()
    empty = mentions._replace(mask=torch.zeros_like(mentions.mask))
    assert (similarity(empty, entities) == 0).all() and (similarity(entities, empty) == 0).all()


@pytest.mark.parametrize("codes", ["fp32", "fp16"])
def test_contract_the_index_ranks_as_the_similarity(similarity, codes):
    """What an index of inner products ranks by is what is trained; of tokens, it is their pooled vectors."""
    rng = np.random.default_rng(0)
    # of all lengths, and no two of them alike in their distance from a mention by less than the codes' digits
    mentions = rng.normal(size=(20, 64)).astype(np.float32)
    entities = (rng.normal(size=(40, 64)) * rng.uniform(0.5, 3, size=(40, 1))).astype(np.float32)
    index = FaissIVF(flat_below=None, codes=codes)
    rows = similarity.index_vectors(entities, "entity")
    assert rows.dtype == np.float32 and rows.shape == (40, similarity.index_width(64))
    assert similarity.index_width(64) % 4 == 0
    index.train(rows)
    index.add(rows)
    _, found = index.search(similarity.index_vectors(mentions, "mention"), 40)
    compare = DotProduct() if similarity.token_level else similarity
    table = compare(torch.from_numpy(mentions), torch.from_numpy(entities)).numpy()
    ranked = np.take_along_axis(table, found, axis=1)
    assert (np.diff(ranked, axis=1) <= (1e-4 if codes == "fp32" else 0.05)).all()


# -- in the encoder and the index ------------------------------------------------------------------

MENTIONS = [MentionInText("pain in the left kidney", 17, 23), MentionInText("fever", 0, 5)]
ENTITIES = [Entity("C1", "fever"), Entity("C2", "kidney stone"), Entity("C3", "heart attack")]


def test_exact_matches_come_first_whatever_the_range_of_the_scores(tiny_bert):
    encoder = make_encoder(tiny_bert, tied=True, similarity=DotProduct())
    with torch.no_grad():  # dot products in the thousands
        encoder.tower("mention").transformer.encoder.layer[-1].output.LayerNorm.weight *= 20
    entities = [Entity(f"X{i}", f"thing {i}") for i in range(20)] + [Entity("C1", "zyx", ("fever",))]
    kb = KnowledgeBase(entities)
    index = EntityIndex.build(kb, encoder, index=FaissIVF(), kinds=("card",))
    vectors = encoder.encode_mentions(MENTIONS[1:])
    scores, rows = index.search_entities(vectors, 21)
    assert np.ptp(scores) > 4 and kb.row("C1") != rows[0, 0]
    table = find_candidates(kb, index, vectors, ["fever"], top_k=3)
    assert table.kb_rows.shape == (1, 3) and table.kb_rows[0, 0] == kb.row("C1")
