"""The cross-encoder: what it reads, how it scores, how it is kept."""

import shutil

import numpy as np
import pytest
import torch
import transformers

from spacy_pel.encoders.backend import TorchBackend
from spacy_pel.encoders.templates import EntityCard, MarkedContext
from spacy_pel.errors import PelError
from spacy_pel.linking.reranker import load_ranker
from spacy_pel.training.ranker.cross_encoder import CrossEncoder
from spacy_pel.util import read_json, write_json
from spacy_pel.util.saved_folder import write_manifest

from .conftest import ENTITIES, MENTIONS, TASK, make_ranker


def test_score_is_a_linear_layer_on_the_mean_over_real_tokens(ranker):
    ranker.backend = TorchBackend(precision="float32")
    tokens = ranker.template.tokenize(ranker.tokenizer, MENTIONS, ENTITIES, *TASK.pairs)
    ranker.tower.eval()
    expected = []
    for row in range(5):  # one by one, without padding
        ids = torch.tensor(tokens[row][None].astype(np.int64))
        first = int((ids[0] == ranker.tokenizer.sep_token_id).nonzero()[0])
        segments = (torch.arange(ids.shape[1]) > first).long()[None]
        with torch.no_grad():
            states = ranker.tower.transformer(ids, token_type_ids=segments).last_hidden_state[0]
        weight, bias = (p.detach().double().numpy() for p in ranker.tower.head.parameters())
        expected.append((weight[0] @ states.double().mean(dim=0).numpy() + bias[0]).item())
    np.testing.assert_allclose(ranker.score(TASK), TASK.spread(expected), rtol=1e-4, atol=1e-5)


def test_segments_are_left_out_where_the_model_has_none():
    ranker = make_ranker()
    before = ranker.score(TASK)
    ranker.tower.transformer.config.type_vocab_size = 1
    assert not np.allclose(ranker.score(TASK), before, equal_nan=True)


def test_before_training_all_candidates_are_equal():
    ranker = CrossEncoder(name="random:layers=1,width=16", length=32)
    ranker.initialize()
    np.testing.assert_array_equal(ranker.score(TASK), [[0.0, 0.0, 0.0], [0.0, 0.0, np.nan]])


def test_disk_in_half_precision(tmp_path):
    templates = {"mention_template": MarkedContext(max_length=24), "entity_template": EntityCard(max_length=30)}
    ranker = make_ranker(pooling="cls", store="float16", **templates)
    ranker.to_disk(tmp_path / "model")
    other = make_ranker(seed=5, top_k=7, mix=0.5)
    other.from_disk(tmp_path / "model")
    assert other.fingerprint == ranker.fingerprint and other.settings == ranker.settings
    assert (other.top_k, other.mix) == (7, 0.5)  # settings of use are not saved
    np.testing.assert_allclose(other.score(TASK), ranker.score(TASK), atol=0.05)


def test_the_folder_is_a_plain_hugging_face_folder(ranker, tmp_path):
    ranker.to_disk(tmp_path / "model")
    model = transformers.AutoModel.from_pretrained(tmp_path / "model", add_pooling_layer=False)
    for name, tensor in ranker.tower.transformer.named_parameters():
        assert torch.equal(model.get_parameter(name), tensor)


def test_fingerprint_follows_weights_and_templates_only(ranker):
    assert make_ranker(top_k=9, mix=1.0, batch_size=2).fingerprint == ranker.fingerprint
    assert len({ranker.fingerprint, make_ranker(seed=1).fingerprint, make_ranker(length=60).fingerprint}) == 3


def test_settings_out_of_range():
    for settings, code in (({}, "E431"), ({"name": "random:", "length": 600}, "E352")):
        with pytest.raises(PelError, match=code):
            CrossEncoder(**settings).initialize()


def test_damaged_and_foreign_folders(ranker, tmp_path):
    ranker.to_disk(tmp_path / "model")
    for damage in ("ranker.json", "head.safetensors", "config.json"):
        shutil.copytree(tmp_path / "model", tmp_path / damage)
        (tmp_path / damage / damage).unlink()
        write_manifest(tmp_path / damage, kind="ranker", version=1)
        with pytest.raises(PelError, match="PEL-E004"):
            load_ranker(tmp_path / damage)
    for file, change, code in (
        ("config.json", {"layer_norm_eps": 0.1}, "E004.*config"),
        ("ranker.json", {"ranker": "spacy-pel.Nothing.v1"}, "E009"),
        ("ranker.json", {"template": None}, "E004"),
        ("ranker.json", {"pooling": "cls"}, "E004"),
    ):
        ranker.to_disk(tmp_path / "model")
        write_json(tmp_path / "model" / file, {**read_json(tmp_path / "model" / file), **change})
        write_manifest(tmp_path / "model", kind="ranker", version=1)
        with pytest.raises(PelError, match=code):
            load_ranker(tmp_path / "model")
    with pytest.raises(PelError, match="PEL-E007"):
        load_ranker(tmp_path / "nowhere")
