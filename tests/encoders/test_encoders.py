"""A contract for every registered encoder."""

import pickle

import numpy as np
import pytest

from spacy_pel.encoders.pretrained import load_encoder
from spacy_pel.errors import PelError
from spacy_pel.registry import registry
from spacy_pel.types import Encoder, Entity, MentionInText

TEXT = "Fever and pain in the left kidney; the heart attack 🫀 of a patient."
MENTIONS = [
    MentionInText(TEXT, TEXT.index(s), TEXT.index(s) + len(s)) for s in ("Fever", "left kidney", "🫀", "pain")
] + [MentionInText("x", 0, 1), MentionInText("fever " * 500, 600, 605)]
ENTITIES = [
    Entity("C1", "heart attack", ("MI",), ("T047",), "Pain in the heart."),
    Entity("C2", "fever"),
    Entity("C3", "kidney stone", ("stone",) * 30, ("T047",)),
]
NAMES = ["fever", "heart attack", "🫀", "kidney stone"]
# settings -> settings of an object that differs, to be filled from disk
CASES = [
    ("spacy-pel.HashEmbed.v1", {"width": 64}, {"width": 32, "context_weight": 0.5}),
    ("spacy-pel.BiEncoder.v1", {"tied": False}, {"tied": True}),
    ("spacy-pel.BiEncoder.v1", {"tied": True}, {"pooling": "cls"}),
    ("spacy-pel.BiEncoder.v1", {"store": "float16"}, {}),
]


def make(name, settings, tiny_bert):
    if name == "spacy-pel.BiEncoder.v1":
        backend = registry.pel_backends.get("spacy-pel.TorchBackend.v1")(precision="float32")
        settings = {"name": str(tiny_bert), "batch_size": 2, "backend": backend, **settings}
    return registry.pel_encoders.get(name)(**settings)


def vectors_of(encoder):
    return np.concatenate(
        [encoder.encode_mentions(MENTIONS), encoder.encode_entities(ENTITIES), encoder.encode_names(NAMES)]
    )


@pytest.fixture(params=CASES, ids=str)
def case(request, tiny_bert):
    """An encoder with weights and a different one, without."""
    name, settings, other = request.param
    encoder = make(name, settings, tiny_bert)
    encoder.initialize()
    return encoder, make(name, other, tiny_bert)


def test_every_encoder_is_tested():
    assert {name for name, _, _ in CASES} == set(registry.parts("pel_encoders").values())


def test_contract_unit_vectors_of_one_shape(case):
    encoder, _ = case
    assert isinstance(encoder, Encoder)
    vectors = vectors_of(encoder)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(MENTIONS) + len(ENTITIES) + len(NAMES), encoder.width)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_contract_order_and_company_do_not_matter(case):
    encoder, _ = case
    order = np.array([3, 0, 5, 2, 4, 1])
    vectors = encoder.encode_mentions(MENTIONS)
    np.testing.assert_allclose(encoder.encode_mentions([MENTIONS[i] for i in order]), vectors[order], atol=1e-5)
    one_by_one = np.concatenate([encoder.encode_mentions([mention]) for mention in MENTIONS])
    np.testing.assert_allclose(one_by_one, vectors, atol=1e-5)
    alone = np.concatenate([encoder.encode_entities([entity]) for entity in ENTITIES])
    np.testing.assert_allclose(alone, encoder.encode_entities(ENTITIES), atol=1e-5)


def test_contract_nothing_to_encode(case):
    encoder, _ = case
    for vectors in (encoder.encode_mentions([]), encoder.encode_entities([]), encoder.encode_names([])):
        assert vectors.shape == (0, encoder.width) and vectors.dtype == np.float32


def test_contract_different_texts_have_different_vectors(case):
    encoder, _ = case
    fever, heart = encoder.encode_names(["fever", "heart attack"])
    assert fever @ heart < 0.999
    fever, pain = encoder.encode_mentions([MENTIONS[0], MENTIONS[3]])
    assert fever @ pain < 0.999


def test_contract_disk_into_a_different_encoder(case, tmp_path):
    encoder, other = case
    encoder.to_disk(tmp_path / "model")
    other.initialize()
    assert other.fingerprint != encoder.fingerprint
    tolerance = 2e-3 if getattr(encoder, "store", "") == "float16" else 1e-5
    for loaded in (other.from_disk(tmp_path / "model"), load_encoder(tmp_path / "model")):
        assert loaded.fingerprint == encoder.fingerprint
        assert loaded.width == encoder.width
    np.testing.assert_allclose(vectors_of(other), vectors_of(encoder), atol=tolerance)


def test_contract_pickle(case):
    encoder, _ = case
    before = vectors_of(encoder)
    loaded = pickle.loads(pickle.dumps(encoder))
    assert loaded.fingerprint == encoder.fingerprint
    np.testing.assert_array_equal(vectors_of(loaded), before)


def test_contract_initialize_keeps_what_there_is(case):
    encoder, _ = case
    before = encoder.fingerprint
    encoder.initialize()
    assert encoder.fingerprint == before


def test_contract_missing_and_foreign_folders(case, tmp_path):
    _, encoder = case
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(PelError, match=str(path)):
            encoder.from_disk(path)
        with pytest.raises(PelError, match=str(path)):
            load_encoder(path)
