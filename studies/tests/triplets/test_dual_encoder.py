"""The dual encoder keeps the contract of rankers, and compares vectors."""

from dataclasses import replace

import numpy as np
import pytest
from linking.rankers.conftest import ENTITIES, MENTIONS, TASK, make_ranker
from linking.rankers.test_rankers import (
    test_contract_changed,
    test_contract_disk_and_pickle,
    test_contract_no_weights_at_first,
    test_contract_nothing_to_score,
    test_contract_scores_follow_mention_and_entity_only,
)
from spacy_pel_studies.triplets.dual_encoder import DualEncoder, represented

from spacy_pel.encoders.backend import TorchBackend
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.errors import PelError
from spacy_pel.linking.reranker import load_ranker
from spacy_pel.registry import registry

from .conftest import make_dual

__all__ = [
    "test_contract_changed",
    "test_contract_disk_and_pickle",
    "test_contract_no_weights_at_first",
    "test_contract_nothing_to_score",
    "test_contract_scores_follow_mention_and_entity_only",
]


@pytest.fixture
def make():
    return make_dual


@pytest.mark.parametrize("name", sorted(registry.parts("pel_similarities").values()))
def test_dual_encoder_scores_are_the_similarity_of_the_texts(name):
    import torch

    ranker = make_dual(similarity=registry.pel_similarities.get(name)())
    encoder = ranker.encoder
    mentions, entities = represented(encoder, "mention", MENTIONS), represented(encoder, "entity", ENTITIES)
    with torch.inference_mode():
        table = encoder.similarity(mentions.take(np.arange(2)), entities.take(np.arange(3))).numpy()
    for _ in range(2):  # the second time, the entities' vectors are known
        np.testing.assert_allclose(ranker.score(TASK), TASK.spread(table[TASK.pairs]), rtol=1e-4, atol=1e-4)


def test_dual_encoder_encodes_each_text_once(monkeypatch):
    ranker = make_dual()
    asked, run = [], type(ranker.encoder).batches

    def count(self, side, tokens, *rest):
        asked.append((side, len(tokens)))
        return run(self, side, tokens, *rest)

    monkeypatch.setattr(type(ranker.encoder), "batches", count)
    ranker.score(replace(TASK, mentions=[MENTIONS[0]] * 2))
    assert asked == [("mention", 1), ("entity", 3)]


def test_a_bi_encoder_serves_as_a_ranker(tmp_path):
    encoder = make_dual(seed=3).encoder
    encoder.to_disk(tmp_path / "bi")
    ranker = load_ranker(tmp_path / "bi", top_k=4, backend=TorchBackend(precision="float32"))
    assert ranker.registered_name == "spacy-pel.DualEncoder.v1" and ranker.top_k == 4
    assert ranker.fingerprint == encoder.fingerprint
    np.testing.assert_allclose(ranker.score(TASK), make_dual(seed=3).score(TASK), atol=1e-5)


def test_dual_encoder_errors():
    with pytest.raises(PelError, match="PEL-E433.*HashEmbed"):
        DualEncoder(encoder=HashEmbed())


def test_a_folder_of_another_ranker_is_refused(tmp_path):
    make_ranker().to_disk(tmp_path / "model")
    with pytest.raises(PelError, match="PEL-E010.*DualEncoder.*CrossEncoder"):
        DualEncoder().from_disk(tmp_path / "model")
