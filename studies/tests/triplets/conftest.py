"""Dual encoders small enough to run in milliseconds."""

from spacy_pel_studies.triplets.dual_encoder import DualEncoder

from spacy_pel.encoders.backend import TorchBackend
from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.encoders.similarities import DotProduct
from spacy_pel.encoders.templates import EntityCard, MarkedContext


def make_dual(seed=0, similarity=None, top_k=3, card=EntityCard, **settings):
    import torch

    encoder = BiEncoder(
        name=f"random:layers=1,width=16,seed={seed}",
        pooling="markers",
        entity_pooling="cls",
        mention_template=MarkedContext(max_length=32),
        entity_template=card(max_length=32),
        similarity=similarity or DotProduct(),
        backend=TorchBackend(precision="float32"),
    )
    ranker = DualEncoder(encoder=encoder, top_k=top_k, **settings)
    ranker.initialize()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for tower in encoder.towers.values():  # so that texts differ clearly
            torch.nn.init.normal_(tower.transformer.get_input_embeddings().weight)
    ranker.changed()
    return ranker
