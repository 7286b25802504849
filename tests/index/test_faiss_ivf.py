"""The filter in front of many rows."""

import numpy as np
import pytest

from spacy_pel.errors import PelError
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.types import Entity

from .brute_force import BruteForce
from .test_vector_indexes import unit

pytestmark = pytest.mark.slow

N = 9000  # rows; the filter is used from 4,096 rows under a mask
APART = (np.arange(N) >= 6000).astype(np.uint8)
CODES = [{}, {"codes": "fp32"}, {"codes": "fp16"}, {"row_bytes": 12}]


@pytest.fixture(autouse=True)
def all_rows_of_the_lists_are_rescored(monkeypatch):
    # short codes tell little about random vectors without clusters, 24 wide
    monkeypatch.setattr("spacy_pel.index.faiss_ivf._RESCORED_LEAST", N)


def filled(vectors=None, groups=APART, **settings):
    vectors = unit(N, 0) if vectors is None else vectors
    index = FaissIVF(**{"flat_below": 100, **settings})
    index.train(vectors[:600])  # a rotation is slow to learn
    index.add(vectors)
    index.finish(groups)
    return index


def exactly(index, queries, k, allowed=None):
    """By comparing the queries with all rows as the index keeps them."""
    return BruteForce(index.vectors(0, len(index))).search(queries, k, allowed)


def assert_found(found, expected, *, share=1.0, atol=2e-5):
    """Scores are those of the rows; at least this share of the best rows is found."""
    assert found[1].shape == expected[1].shape and found[0].dtype == np.float32
    assert ((found[1] < 0) == (expected[1] < 0)).all() and np.isneginf(found[0][found[1] < 0]).all()
    assert (found[0] <= expected[0] + atol).all()
    best = found[0] >= expected[0] - atol
    assert best.mean() >= share and best[:, 0].mean() >= share


@pytest.mark.parametrize("settings", CODES, ids=str)
@pytest.mark.parametrize("lists", [None, 20])
def test_all_lists_give_what_comparing_all_rows_gives(settings, lists):
    index = filled(lists=lists, probes=lists, **settings)
    assert [part.n_rows for part in index._filters] == [6000, 3000]
    for n_queries in (1, 50):
        queries = unit(n_queries, 1)
        for allowed in (None, APART == 0, APART == 1):
            found = index.search(queries, 20, allowed)
            assert_found(found, exactly(index, queries, 20, allowed))
            assert allowed is None or allowed[found[1]].all()


@pytest.mark.parametrize("kept", [1.0, 0.8, 0.1, 0.001])
def test_few_lists_find_nearly_all_also_under_masks(kept):
    index = filled(groups=None, lists=60, probes=15)
    queries, allowed = unit(60, 1), np.random.default_rng(3).random(N) < kept
    found = index.search(queries, 10, allowed)
    assert allowed[found[1][found[1] >= 0]].all()
    assert_found(found, exactly(index, queries, 10, allowed), share=0.9)
    part = index._filters[0]
    assert part.lists.nprobe == 15 and part.lists.nlist == 60


def test_more_rows_than_the_lists_hold():
    index = filled(groups=None, lists=60, probes=1)
    queries = unit(5, 1)
    scores, rows = index.search(queries, 2000)
    assert (rows >= 0).all() and (np.diff(scores, axis=1) <= 0).all()
    assert all(len(set(of_one)) == 2000 for of_one in rows.tolist())


def test_small_groups_have_no_filter():
    index = filled(flat_below=6001)
    assert index._filters == [] and index.codes == "fp32"
    index = filled(flat_below=6000)
    assert len(index._filters) == 1 and index.codes == "int8"
    queries = unit(40, 1)
    assert_found(index.search(queries, 20), exactly(index, queries, 20), share=0.99)


@pytest.mark.parametrize("settings", CODES, ids=str)
def test_saved_added_to_and_saved_again(settings, tmp_path):
    index, queries, new = filled(**settings), unit(40, 1), unit(300, 7)
    index.to_disk(tmp_path)
    files = ["lists-0.faiss", "lists-0.npz", "lists-1.faiss", "lists-1.npz", "vectors.faiss"]
    assert sorted(p.name for p in tmp_path.iterdir()) == files
    loaded = FaissIVF(**index.settings).from_disk(tmp_path)
    assert loaded.settings == index.settings
    for mine, theirs in zip(loaded.search(queries, 9), index.search(queries, 9), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    loaded.add(new)
    assert len(loaded) == N + 300
    _, rows = loaded.search(new, 1)
    assert (rows[:, 0] == np.arange(N, N + 300)).mean() > 0.9
    loaded.to_disk(tmp_path)
    again = FaissIVF().from_disk(tmp_path)
    assert len(again) == N + 300
    found, expected = again.search(queries, 9), loaded.search(queries, 9)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-5)
    assert (found[1] == expected[1]).mean() > 0.99
    index.train(unit(300, 7))
    index.add(new)
    index.to_disk(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["vectors.faiss"]  # old lists are gone


@pytest.mark.parametrize("damage", ["half", "empty", "other rows", "other width"])
@pytest.mark.parametrize("name", ["lists-0.faiss", "lists-0.npz"])
def test_damaged_lists(damage, name, tmp_path):
    filled(lists=20).to_disk(tmp_path)
    whole = (tmp_path / name).read_bytes()
    if damage in ("half", "empty"):
        (tmp_path / name).write_bytes(whole[: len(whole) // 2 if damage == "half" else 0])
    else:
        other = filled(unit(N, 0, width=24 if damage == "other rows" else 12), groups=None)
        if damage == "other rows":
            other.add(unit(1, 0))
            other.finish()
        other.to_disk(tmp_path / "other")
        for file in ("lists-0.faiss", "lists-0.npz"):
            (tmp_path / "other" / file).replace(tmp_path / file)
    with pytest.raises(PelError, match="PEL-E004.*lists-0"):
        FaissIVF().from_disk(tmp_path)


# -- as an index of entities ---------------------------------------------------------------------


def test_rows_that_come_and_go(kb, encoder, tmp_path, monkeypatch):
    monkeypatch.setattr("spacy_pel.index.faiss_ivf._NARROW", 0)
    index = EntityIndex.build(kb, encoder, index=FaissIVF(flat_below=10))
    assert index.vectors._filters
    index.to_disk(tmp_path / "index")
    index = EntityIndex.from_disk(tmp_path / "index", kb=kb, encoder=encoder)
    index.add_entities(kb, encoder, kb.put([Entity("N1", "zzyzx fever")]))
    retired = kb.row("C90")
    index.add_entities(kb, encoder, kb.retire(["C90"]))
    for part in (index, EntityIndex.from_bytes(index.to_bytes())):
        _, rows = part.search_entities(encoder.encode_names(["zzyzx fever", "common cold"]), 200)
        assert rows[0, 0] == kb.row("N1") and retired not in rows
        assert part.fingerprint == index.fingerprint


def test_lists_without_rows_can_be_read_again(tmp_path):
    vectors = np.repeat(unit(4, 1), 100, axis=0)
    index = FaissIVF(codes="fp32", flat_below=1, lists=64)
    index.train(vectors)
    index.add(vectors)
    index.finish()
    index.to_disk(tmp_path)
    again = FaissIVF().from_disk(tmp_path)
    assert (again.search(vectors[:1], 3)[0] == index.search(vectors[:1], 3)[0]).all()


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"codes": "int8", "row_bytes": 8}, "E414.*row_bytes"),
        ({"lists": 0}, "E301.*lists"),
        ({"codes": "fp64"}, "E016"),
        ({"codes": "int8"}, "E404"),  # no rows
    ],
)
def test_settings_that_cannot_be(settings, code):
    with pytest.raises(PelError, match=code):
        FaissIVF(**settings).train(unit(0, 0))
