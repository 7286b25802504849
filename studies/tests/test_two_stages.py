"""What a similarity reads of many texts, and retrieval in two stages against all pairs at once."""

import numpy as np
import pytest
import torch
from encoders.conftest import make_encoder
from spacy_pel_studies.mixup import SumOfMax
from spacy_pel_studies.triplets import dual_encoder
from spacy_pel_studies.triplets.dual_encoder import pair_scores, represented

from spacy_pel.encoders import backend
from spacy_pel.encoders.similarities import DotProduct, TokenVectors
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.kb import KnowledgeBase
from spacy_pel.registry import registry
from spacy_pel.training.retriever import dev
from spacy_pel.training.retriever.dev import nearest_entities
from spacy_pel.types import Entity, MentionInText

WORDS = ["heart", "attack", "kidney", "stone", "fever", "pain", "left", "right"]
PAIRS = zip(WORDS * 4, sorted(WORDS) * 4, strict=True)
ENTITIES = [Entity(f"C{i}", f"{a} {b}" if i % 3 else a) for i, (a, b) in enumerate(PAIRS)]
TEXT = "pain in the left kidney and fever of the heart"
MENTIONS = [
    MentionInText(TEXT, TEXT.index(word), TEXT.index(word) + len(word)) for word in ("kidney", "fever", "pain", "heart")
] + [MentionInText("stone", 0, 5)]


def tokens_by_hand(encoder, side, texts):
    """Token vectors of each text, run alone, without padding."""
    template = encoder.mention_template if side == "mention" else encoder.entity_template
    ragged, found = template.tokenize(encoder.tokenizer, texts), []
    for row in range(len(ragged)):
        ids = torch.from_numpy(ragged[row].astype(np.int64))[None]
        with torch.inference_mode():
            found.append(encoder.tower(side).eval().states(ids, torch.ones_like(ids))[0])
    return found


def som_by_hand(mention, entity):
    return sum(float(max((t * u).sum() for u in entity)) for t in mention)


@pytest.mark.parametrize("tied", [True, False])
def test_representations_of_tokens_are_those_of_the_texts_alone(tiny_bert, tied):
    encoder = make_encoder(tiny_bert, batch_size=3, similarity=SumOfMax(), tied=tied)
    for side, texts, found in (
        ("mention", MENTIONS, represented(encoder, "mention", MENTIONS)),
        ("entity", ENTITIES, represented(encoder, "entity", ENTITIES)),
    ):
        expected = tokens_by_hand(encoder, side, texts)
        assert len(found) == len(texts) and found.longest == max(map(len, expected))
        rows = np.arange(len(texts))[::-1]
        taken = found.take(rows)
        for row, vectors, mask in zip(rows, taken.vectors, taken.mask, strict=True):
            np.testing.assert_allclose(vectors[mask].numpy(), expected[row].numpy(), atol=1e-5)
            assert (vectors[~mask] == 0).all()


@pytest.mark.parametrize("name", sorted(registry.parts("pel_similarities").values()))
def test_pairs_of_every_similarity(tiny_bert, name, monkeypatch):
    monkeypatch.setattr(dual_encoder, "_PAIRS", 32 * 40)  # a few pairs at a time
    monkeypatch.setattr(backend, "_IN_MEMORY", 64)  # in a temporary file
    encoder = make_encoder(tiny_bert, batch_size=3, similarity=registry.pel_similarities.get(name)())
    mentions, entities = represented(encoder, "mention", MENTIONS), represented(encoder, "entity", ENTITIES)
    assert isinstance(mentions.vectors, np.memmap)
    rng = np.random.default_rng(0)
    left, right = rng.integers(5, size=100), rng.integers(len(ENTITIES), size=100)
    scores = pair_scores(encoder.similarity, mentions, entities, left, right)
    with torch.inference_mode():
        table = encoder.similarity(mentions.take(np.arange(5)), entities.take(np.arange(len(ENTITIES))))
    np.testing.assert_allclose(scores, table.numpy()[left, right], rtol=1e-4, atol=1e-4)
    assert len(pair_scores(encoder.similarity, mentions, entities, left[:0], right[:0])) == 0
    assert encoder.similarity.token_level == isinstance(mentions.take(left), TokenVectors)


@pytest.mark.parametrize("kinds", [("card",), ("card", "alias")])
def test_two_stages_are_all_pairs_if_the_first_fetches_everything(tiny_bert, kinds, monkeypatch):
    monkeypatch.setattr(dev, "_ENTITIES", 7)  # several at a time
    encoder, kb = make_encoder(tiny_bert, batch_size=3, similarity=SumOfMax()), KnowledgeBase(ENTITIES)
    index = EntityIndex.build(kb, encoder, index=FaissIVF(), kinds=kinds)
    mentions = tokens_by_hand(encoder, "mention", MENTIONS)
    entities = tokens_by_hand(encoder, "entity", [kb.entity_at(row) for row in range(len(ENTITIES))])
    expected = np.array([[som_by_hand(m, e) for e in entities] for m in mentions])
    found = nearest_entities(kb, index, encoder, MENTIONS, top_k=6, first_stage=1000)
    assert found.kb_rows.shape == (5, 6)
    for own, rows, scores in zip(expected, *found, strict=True):
        assert len(set(rows.tolist())) == 6
        np.testing.assert_allclose(scores, np.sort(own)[::-1][:6], rtol=1e-4)
        np.testing.assert_allclose(own[rows], scores, rtol=1e-4)
    pooled = make_encoder(tiny_bert, batch_size=3, similarity=DotProduct())
    first = nearest_entities(kb, index, pooled, MENTIONS, top_k=6)
    assert not np.array_equal(first.kb_rows, found.kb_rows), "the second stage has something to do"
    assert nearest_entities(kb, index, encoder, [], top_k=6).kb_rows.shape == (0, 1)
    few = nearest_entities(kb, index, encoder, MENTIONS, top_k=6, first_stage=1)
    assert np.array_equal(np.sort(few.kb_rows), np.sort(first.kb_rows))  # the same entities, in another order
