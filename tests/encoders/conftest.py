"""An encoder for tests that compare numbers."""

from spacy_pel.encoders.backend import TorchBackend
from spacy_pel.encoders.bi_encoder import BiEncoder


def make_encoder(name, **settings):
    """A bi-encoder that computes in float32, with its first weights."""
    encoder = BiEncoder(name=str(name), **{"backend": TorchBackend(precision="float32"), **settings})
    encoder.initialize()
    return encoder
