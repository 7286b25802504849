"""The contract of pel_indexes: every registered index against brute force."""

import pickle

import numpy as np
import pytest

from spacy_pel.errors import PelError
from spacy_pel.registry import registry
from spacy_pel.types import VectorIndex

from .brute_force import BruteForce

WIDTH = 24
FAISS = "spacy-pel.FaissIVF.v1"
# the builder, its settings, the largest error of a score
VARIANTS = [(name, {}, 1e-5) for name in sorted(registry.parts("pel_indexes").values())] + [
    (FAISS, {"codes": "pq"}, 0.3),
    (FAISS, {"row_bytes": WIDTH}, 5e-2),
    (FAISS, {"codes": "fp16", "flat_below": None}, 2e-3),
    (FAISS, {"codes": "int8"}, 5e-2),
]


def unit(n, seed, width=WIDTH):
    # unequal directions, and a mean far from 0
    scale = np.linspace(1.0, 0.05, width)
    vectors = np.random.default_rng(seed).standard_normal((n, width)) * scale + 0.5 * scale
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(params=VARIANTS, ids=lambda v: f"{v[0].split('.')[1]}{v[1] or ''}")
def variant(request):
    return request.param


def make(variant):
    return registry.pel_indexes.get(variant[0])(**variant[1])


def filled(index, vectors):
    index.train(vectors)
    index.add(vectors)
    return index


def assert_like_oracle(index, oracle, queries, k, allowed, tolerance, found=None):
    scores, rows = index.search(queries, k, allowed) if found is None else found
    expected, expected_rows = oracle.search(queries, k, allowed)
    assert scores.shape == rows.shape == (len(queries), k)
    assert scores.dtype == np.float32 and rows.dtype == np.int64
    assert ((rows < 0) == (expected_rows < 0)).all()
    found = rows >= 0
    np.testing.assert_allclose(scores[found], expected[found], atol=tolerance)
    assert np.isneginf(scores[~found]).all()
    assert (np.diff(np.where(found, scores, -9), axis=1) <= 0).all()
    for mention in range(len(queries)):
        mine = rows[mention][found[mention]]
        assert len(set(mine.tolist())) == len(mine)
        if allowed is not None:
            assert allowed[mine].all()
    if tolerance <= 1e-5:
        assert (rows == expected_rows).all()


@pytest.mark.parametrize("n_queries", [1, 100])  # one by one, and in blocks
def test_equals_brute_force(variant, n_queries):
    vectors, queries = unit(500, 0), unit(n_queries, 1)
    index, oracle = filled(make(variant), vectors), BruteForce(vectors)
    assert isinstance(index, VectorIndex)
    assert len(index) == 500 and index.width == WIDTH
    few = np.zeros(500, dtype=bool)
    few[[3, 77, 499]] = True
    half = np.random.default_rng(2).random(500) < 0.5
    masks = [None, half, few, np.zeros(500, dtype=bool)]
    for allowed, found in zip(masks, index.search_groups(queries, 7, masks), strict=True):
        assert_like_oracle(index, oracle, queries, 7, allowed, variant[2], found)
    few_rows = filled(make(variant), unit(30, 3))
    assert_like_oracle(few_rows, BruteForce(unit(30, 3)), unit(n_queries, 4), 40, None, variant[2])
    assert index.search(unit(0, 4), 5)[1].shape == (0, 5)
    index.train(vectors)
    assert (index.search(queries, 5)[1] == -1).all()  # no rows


def test_save_load_and_add_after_load(variant, tmp_path):
    vectors, queries = unit(200, 5), unit(100, 6)
    index = filled(make(variant), vectors)
    index.to_disk(tmp_path)
    other = make(variant).from_disk(tmp_path)
    assert other.settings == index.settings and (other.width, len(other)) == (WIDTH, 200)
    for n_queries in (1, 100):
        for mine, theirs in zip(
            index.search(queries[:n_queries], 9), other.search(queries[:n_queries], 9), strict=True
        ):
            np.testing.assert_array_equal(mine, theirs)
    other.add(unit(50, 7))
    oracle = BruteForce(np.concatenate([vectors, unit(50, 7)]))
    assert_like_oracle(other, oracle, queries, 9, None, variant[2])
    other.to_disk(tmp_path)  # over the file that the first part was mapped from
    assert len(make(variant).from_disk(tmp_path)) == 250
    assert index.search(queries, 9)[1].max() < 200


def test_damaged_and_missing_files(variant, tmp_path):
    index = filled(make(variant), unit(200, 5))
    index.to_disk(tmp_path)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:10], b"", b"something else" * 50):
        file.write_bytes(content)
        with pytest.raises(PelError, match="PEL-E004.*in the index"):
            make(variant).from_disk(tmp_path)
    file.unlink()
    with pytest.raises(PelError, match="PEL-E004"):
        make(variant).from_disk(tmp_path)


def test_wrong_width_and_untrained(variant):
    index = make(variant)
    with pytest.raises(PelError, match="PEL-E403"):
        index.add(unit(3, 0))
    with pytest.raises(PelError, match="PEL-E403"):
        index.search(unit(3, 0), 1)
    index.train(unit(50, 0))
    with pytest.raises(PelError, match="PEL-E402"):
        index.add(unit(3, 0, width=WIDTH + 1))
    with pytest.raises(PelError, match="PEL-E402"):
        index.search(unit(3, 0, width=WIDTH - 1), 1)


def test_vectors_are_given_back_as_far_as_codes_keep_them(variant, tmp_path):
    vectors = unit(300, seed=3)
    index = filled(make(variant), vectors)
    index.to_disk(tmp_path)
    kept = make(variant).from_disk(tmp_path).vectors(100, 200)
    assert kept.shape == (100, WIDTH)
    assert np.einsum("ij,ij->i", kept, vectors[100:200]) == pytest.approx(1.0, abs=max(variant[2], 1e-5))


def test_a_pickled_index_can_be_filled(variant):
    index = filled(make(variant), unit(300, seed=3))
    again = pickle.loads(pickle.dumps(index))  # rows are sent with an EntityIndex
    assert type(again) is type(index) and len(again) == 0
    assert len(filled(again, unit(300, seed=3))) == 300
