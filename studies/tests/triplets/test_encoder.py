"""What dual encoders of the paper read and compare: cards of synonyms, Euclidean distances."""

import numpy as np
import pytest
import torch
from spacy_pel_studies.triplets.dual_encoder import DualEncoder
from spacy_pel_studies.triplets.encoder import Euclidean, SynonymCard

from spacy_pel.encoders.backend import TorchBackend
from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.errors import PelError
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.kb import KnowledgeBase
from spacy_pel.registry import registry
from spacy_pel.training.ranker.settings import RankerSettings, recipe_of
from spacy_pel.types import Document, Entity, Mention, MentionInText

MENTIONS = [MentionInText("pain in the left kidney", 17, 23), MentionInText("fever", 0, 5)]
ENTITIES = [Entity("C1", "fever"), Entity("C2", "kidney stone"), Entity("C3", "heart attack")]
HEART = Entity("C1", "heart attack", ("pain", "left pain", "fever"), ("a", "of"), "not read")


def make_encoder(name, **settings):
    encoder = BiEncoder(name=str(name), backend=TorchBackend(precision="float32"), **settings)
    encoder.initialize()
    return encoder


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ["a, of", "heart attack", "pain", "left pain", "fever"]),
        ({"max_synonyms": 2}, ["a, of", "heart attack", "pain"]),
    ],
)
def test_the_card(settings, expected):
    assert SynonymCard(**settings).parts(HEART) == expected
    with pytest.raises(PelError, match="max_synonyms"):
        SynonymCard(max_synonyms=0)


def test_euclidean_keeps_small_distances_between_long_vectors():
    mentions = torch.full((40, 64), 100.0)
    entities = mentions.clone()
    entities[:, 0] += 0.01
    np.testing.assert_allclose(Euclidean()(mentions, entities).numpy(), -0.01, rtol=1e-3)


def test_an_index_ranks_by_half_the_squared_distance():
    mentions, entities = np.random.default_rng(0).normal(size=(2, 30, 16)).astype(np.float32)
    index = FaissIVF(flat_below=None, codes="fp32")
    rows = Euclidean().index_vectors(entities, "entity")
    assert rows.shape == (30, Euclidean().index_width(16))
    index.train(rows)
    index.add(rows)
    scores, found = index.search(Euclidean().index_vectors(mentions, "mention"), 30)
    apart = np.linalg.norm(mentions[:, None] - entities[found], axis=-1)
    np.testing.assert_allclose(scores, -(apart**2) / 2, atol=1e-3)
    assert (np.diff(apart, axis=1) >= -1e-4).all()


def test_the_index_finds_distances_of_mentions(tiny_bert):
    """A mention's row is made by the mention tower and stands on the entity side."""
    encoder = make_encoder(tiny_bert, tied=True, similarity=Euclidean())
    document = Document("d", MENTIONS[0].text, [Mention(17, 23, "", ("C2",))])
    kb = KnowledgeBase(ENTITIES)
    index = EntityIndex.build(kb, encoder, index=FaissIVF(), kinds=("alias", "mention"), documents=[document])
    assert encoder.width == index.width == 36
    scores, rows = index.vectors.search(encoder.encode_mentions(MENTIONS), len(index))
    mentions = encoder.pooled("mention", encoder.tokens("mention", MENTIONS), False)
    is_mention = index.rows.mask(("mention",), None)
    for own, score, found in zip(mentions, scores, rows, strict=True):
        ours = float(score[is_mention[found]][0])
        assert ours == pytest.approx(-(np.linalg.norm(own - mentions[0]) ** 2) / 2, abs=1e-4)
    assert is_mention[rows[0, 0]], "its own row is nearest, at a distance of 0"


def test_tokens_are_not_compared_in_training():
    similarity = registry.pel_similarities.get("spacy-pel.SumOfMax.v1")()
    ranker = DualEncoder(encoder=make_encoder("random:layers=1,width=16", similarity=similarity))
    with pytest.raises(PelError, match="PEL-E331.*SumOfMax"):
        recipe_of(ranker, RankerSettings(model=None))
