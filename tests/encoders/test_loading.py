"""Which encoder a folder holds is written in it: one file adds an encoder."""

import catalogue
import numpy as np
import pytest

from spacy_pel.encoders import load_encoder
from spacy_pel.encoders.backend import TorchBackend
from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.errors import PelError
from spacy_pel.registry import registry
from spacy_pel.types import Encoder
from spacy_pel.util import read_json, write_json
from spacy_pel.util.saved_folder import check_folder, write_manifest
from spacy_pel.util.saved_part import read_part, write_part

NAME = "tests.Lengths.v1"


class Lengths:
    """Texts by their lengths: all that a new encoder has to be."""

    width = 2
    fingerprint = "lengths"

    def __init__(self, *, scale: float = 1.0):
        self.scale = scale

    def initialize(self):
        pass

    def encode_names(self, names, *, show_progress=False):
        return np.array([[self.scale, len(name)] for name in names], dtype=np.float32)

    def encode_mentions(self, mentions, *, show_progress=False):
        return self.encode_names([mention.surface for mention in mentions])

    encode_mention_rows = encode_mentions

    def encode_entities(self, entities, *, show_progress=False):
        return self.encode_names([entity.canonical_name for entity in entities])

    def to_disk(self, path):
        with write_part(path, kind="encoder", name=NAME, scale=self.scale):
            pass

    def from_disk(self, path):
        self.scale = read_part(path, kind="encoder", name=NAME)["scale"]
        return self


@pytest.fixture
def registered():
    registry.pel_encoders.register(NAME)(Lengths)
    yield
    del catalogue.REGISTRY[("spacy", "pel_encoders", NAME)]


def test_an_encoder_of_one_file_is_loaded_by_its_name(registered, tmp_path):
    assert isinstance(Lengths(), Encoder)
    Lengths(scale=3.0).to_disk(tmp_path / "model")
    check_folder(tmp_path / "model", kind="encoder", version=1, every_hash=True)
    loaded = load_encoder(tmp_path / "model", backend=TorchBackend())
    assert isinstance(loaded, Lengths) and loaded.encode_names(["four"]).tolist() == [[3.0, 4.0]]


def test_an_encoder_that_is_not_registered_is_named(tmp_path):
    Lengths().to_disk(tmp_path / "model")
    with pytest.raises(PelError, match=rf"PEL-E009.*{tmp_path / 'model'}.*'{NAME}'.*pel_encoders"):
        load_encoder(tmp_path / "model")


def test_another_encoder_is_refused(tmp_path):
    HashEmbed(width=8).to_disk(tmp_path / "model")
    with pytest.raises(PelError, match="PEL-E010.*BiEncoder.v1.*HashEmbed.v1"):
        BiEncoder().from_disk(tmp_path / "model")
    write_manifest(tmp_path / "model", kind="ranker", version=1)
    with pytest.raises(PelError, match="PEL-E007"):
        load_encoder(tmp_path / "model")


@pytest.mark.parametrize("content", [[], {}, {"encoder": 1}, {"ranker": "spacy-pel.HashEmbed.v1"}])
def test_a_folder_that_names_no_encoder_is_refused(tmp_path, content):
    HashEmbed().to_disk(tmp_path)
    assert read_json(tmp_path / "encoder.json") == {"encoder": "spacy-pel.HashEmbed.v1"}
    write_json(tmp_path / "encoder.json", content)
    write_manifest(tmp_path, kind="encoder", version=1)
    with pytest.raises(PelError, match="PEL-E004.*encoder.json"):
        load_encoder(tmp_path)


def test_the_backend_is_passed_to_encoders_that_have_one(tiny_bert, tmp_path):
    encoder = BiEncoder(name=str(tiny_bert), tied=True)
    encoder.initialize()
    encoder.to_disk(tmp_path / "model")
    backend = TorchBackend(precision="float32")
    assert load_encoder(tmp_path / "model", backend=backend).backend is backend
