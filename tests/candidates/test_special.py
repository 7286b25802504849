"""What is special about single generators, and how they are made."""

import sys

import numpy as np
import pytest

from spacy_pel.errors import PelError
from spacy_pel.training.generators.dense_synonyms import DenseSynonyms
from spacy_pel.training.generators.recall import make_generator

from .conftest import ENTITIES, found, mentions_of, values_of

TINY = "random:layers=1,width=32"


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_dense_is_the_cosine_of_lower_cased_names(kb, pooling):
    generator = DenseSynonyms(name=TINY, pooling=pooling)
    generator.build(kb)
    encoder = generator._new_encoder()
    encoder.initialize()
    assert encoder.encode_names(["ASPIRIN"]) == pytest.approx(encoder.encode_names(["aspirin"]))
    table = generator.find_candidates(kb, mentions_of("Renal Failure"), top_k=100)
    query = encoder.encode_names(["renal failure"])[0].astype(np.float64)
    for row, score in values_of(table, "name")[0].items():
        names = encoder.encode_names(kb.names_at([row])[0]).astype(np.float64)
        assert score == pytest.approx((names @ query).max(), abs=1e-4)
    assert table.kb_rows.shape == (1, len(ENTITIES))


def test_dense_codes_and_backends(kb):
    half, whole = DenseSynonyms(name=TINY, codes="fp16"), DenseSynonyms(name=TINY)
    for generator in (half, whole):
        generator.build(kb)
    tables = [one.find_candidates(kb, mentions_of("heart attack")) for one in (half, whole)]
    assert tables[0].features["name"] == pytest.approx(tables[1].features["name"], abs=2e-3)
    assert tables[0].features["name"].tolist() != tables[1].features["name"].tolist()
    with pytest.raises(PelError, match="E447"):
        DenseSynonyms(name=TINY, backend="torch").build(kb)
    with pytest.raises(PelError, match="E302"):
        DenseSynonyms().build(kb)
    backend = {"@pel_backends": "spacy-pel.TorchBackend.v1", "precision": "float32"}
    assert make_generator("densesynonyms", {"name": TINY, "backend": backend}).backend.precision == "float32"


def test_scispacy_asks_its_own_generator(kb):
    pytest.importorskip("scispacy")
    few = make_generator("scispacy", {"neighbours": 2})
    few.build(kb)
    table = few.find_candidates(kb, mentions_of("kidney failure"))
    assert 1 <= table.filled.sum() <= 2 and found(kb, table)[0][0] == "C2"
    assert table.features["name"][0, 0] == pytest.approx(1.0)


def test_missing_extras_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "scispacy.candidate_generation", None)
    with pytest.raises(PelError, match=r"spacy-pel\[scispacy\]"):
        make_generator("scispacy", {})


@pytest.mark.parametrize(
    ("name", "settings", "code"),
    [
        ("nothing", {}, "E001"),
        ("tfidf", {"ngrams": [1, 2]}, "E445"),
        ("scispacy", {"neighbours": 0}, "E301.*neighbours"),
    ],
)
def test_wrong_names_and_settings(name, settings, code):
    if name == "scispacy":
        pytest.importorskip("scispacy")
    with pytest.raises(PelError, match=code):
        make_generator(name, settings)
