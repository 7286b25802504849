"""An interrupted embedding resumes."""

import numpy as np
import pytest

from spacy_pel.index import EntityIndex, embed
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.index.row_encoders import ResumableEncoder
from spacy_pel.types import Entity

KINDS = ("card", "alias", "mention")


class Interrupted(Exception):
    pass


def build(kb, encoder, documents):
    return EntityIndex.build(kb, encoder, index=FaissIVF(), kinds=KINDS, documents=documents)


def test_a_killed_build_resumes_with_the_same_vectors(kb, encoder, documents, tmp_path, monkeypatch):
    monkeypatch.setattr(embed, "_CHUNK", 16)
    whole = build(kb, encoder, documents)
    encoded = []
    encode_names = encoder.encode_names

    def encode(names, **settings):
        if len(encoded) == 7:  # the cards have four chunks, which the encoder reads as names
            raise Interrupted
        encoded.append(len(names))
        return encode_names(names, **settings)

    monkeypatch.setattr(encoder, "encode_names", encode)
    with pytest.raises(Interrupted):
        build(kb, ResumableEncoder(encoder, tmp_path / "parts"), documents)
    assert len(list((tmp_path / "parts").iterdir())) == 7 and sum(encoded) > len(kb)
    monkeypatch.setattr(encoder, "encode_names", encode_names)
    again = ResumableEncoder(encoder, tmp_path / "parts")
    index = build(kb, again, documents)
    assert again.n_resumed == sum(encoded)
    assert index.fingerprint == whole.fingerprint
    assert np.array_equal(index.vectors.vectors(0, len(index)), whole.vectors.vectors(0, len(whole)))
    again.finish()
    assert not (tmp_path / "parts").exists()


def test_what_has_changed_is_encoded_again(encoder, tmp_path):
    entity = Entity("C1", "fever", ("heat",))
    kept = ResumableEncoder(encoder, tmp_path / "parts")
    kept.encode_entities([entity])
    kept.encode_names(["fever"])
    for other in (Entity("C1", "fever", ("hot",)), Entity("C1", "fever", ("heat",), (), "Being hot.")):
        assert np.array_equal(kept.encode_entities([other]), encoder.encode_entities([other]))
    kept.encode_names(["fever", "heat"])
    ResumableEncoder(encoder, tmp_path / "parts", backend="other").encode_names(["fever"])
    assert kept.n_resumed == 0
    kept.encode_names(["fever"])
    kept.encode_entities([entity])
    assert kept.n_resumed == 2
