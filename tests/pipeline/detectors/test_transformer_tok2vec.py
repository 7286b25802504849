"""The transformer as a layer of spaCy: vectors, gradients, files."""

import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import spacy
import torch
from thinc.api import Adam, Model
from transformers import AutoConfig, AutoModel, AutoTokenizer

from spacy_pel.encoders.backend import TorchBackend
from spacy_pel.errors import PelError
from spacy_pel.pipeline.detectors.transformer_tok2vec import make_transformer_tok2vec
from spacy_pel.pipeline.factory import detector_layers

NLP = spacy.blank("en")
TEXT = "The heart attack of the left kidney stone."


@pytest.fixture
def layer(tiny_bert):
    return make(tiny_bert)


def make(folder, **settings) -> Model:
    layer = make_transformer_tok2vec(str(folder), **settings)
    layer.shims[0].backend = TorchBackend(precision="float32")  # the same on every processor
    layer.initialize()
    return layer


def test_a_token_is_the_mean_of_its_pieces(layer, tiny_bert):
    doc = NLP("heart stones  of A-kidney")
    tokenizer, bert = AutoTokenizer.from_pretrained(tiny_bert), AutoModel.from_pretrained(tiny_bert).eval()
    pieces = tokenizer(doc.text, return_tensors="pt", return_offsets_mapping=True)
    offsets = pieces.pop("offset_mapping")[0].tolist()
    with torch.no_grad():
        states = bert(**pieces).last_hidden_state[0].numpy()
    (vectors,) = layer.predict([doc])
    assert vectors.shape == (len(doc), 32) == (len(doc), layer.get_dim("nO"))
    for token, vector in zip(doc, vectors, strict=True):
        own = [
            row
            for row, (start, end) in enumerate(offsets)
            if start < end and start >= token.idx and end <= token.idx + len(token)
        ]
        expected = states[own].mean(axis=0) if own else np.zeros(32)
        assert np.abs(vector - expected).max() < 1e-5, token.text
    assert [token.is_space for token in doc].count(True) == 1


def test_a_linker_sets_the_precision():
    nlp = spacy.blank("en")
    nlp.add_pipe("ner", config={"model": {"tok2vec": {"@architectures": "spacy-pel.TransformerTok2Vec.v1"}}})
    (layer,) = [layer for name, layer in detector_layers(nlp) if name == "ner" and hasattr(layer, "backend")]
    assert layer.backend.precision is None
    encoder = {"@pel_encoders": "spacy-pel.HashEmbed.v1", "width": 8}
    nlp.add_pipe("proxy_entity_linker", config={"precision": "bfloat16", "encoder": encoder})
    assert layer.backend.precision == "bfloat16"


def test_long_texts_are_read_in_windows(tiny_bert):
    short = make(tiny_bert, max_length=16, overlap=0.5)
    assert short.predict([]) == []
    texts = ["heart pain " * 40, "left kidney", ""]
    docs = [NLP(text) for text in texts]
    found = short.predict(docs)
    assert [len(vectors) for vectors in found] == [len(doc) for doc in docs]
    alone = [short.predict([doc])[0] for doc in docs]
    assert all(np.abs(one - other).max(initial=0) < 1e-5 for one, other in zip(found, alone, strict=True))
    whole = make(tiny_bert).predict(docs)
    assert np.abs(found[1] - whole[1]).max() < 1e-5
    assert np.abs(found[0] - whole[0]).max() > 1e-3


def test_training_reads_as_inference_does(tiny_bert):
    layer = make(tiny_bert, max_length=12, batch_size=2)
    docs = [NLP(text) for text in (TEXT * 3, "fever", "", TEXT)]
    expected = layer.predict(docs)
    found, _ = layer.begin_update(docs)
    assert all(np.abs(a - b).max(initial=0) < 1e-5 for a, b in zip(found, expected, strict=True))
    layer.attrs["dropout_rate"] = 0.5
    dropped, _ = layer.begin_update(docs)
    assert 0.3 < (np.concatenate(dropped) == 0).mean() < 0.7


def test_the_gradient_is_that_of_the_vectors(layer):
    doc = NLP(TEXT)
    bias = dict(layer.shims[0]._model.named_parameters())[NORM + "bias"]
    vectors, backprop = layer.begin_update([doc])
    weights = np.random.default_rng(0).normal(size=vectors[0].shape).astype(np.float32)
    backprop([weights])
    assert np.abs(bias.grad.numpy() - weights.sum(axis=0)).max() < 1e-4  # the last addition of the model


NORM = "tower.transformer.encoder.layer.0.output.LayerNorm."


def test_an_update_shows_at_once_and_moves_by_the_rate(tiny_bert):
    moved = []
    for rate in (1.0, 0.25):
        layer = make(tiny_bert, rate=rate)
        doc = NLP(TEXT)
        bias = dict(layer.shims[0]._model.named_parameters())[NORM + "bias"]
        before, start, memory = layer.predict([doc])[0], bias.detach().clone(), bias.data_ptr()
        vectors, backprop = layer.begin_update([doc])
        backprop([np.ones_like(vectors[0])])
        layer.finish_update(Adam(0.01, L2=0.0))
        assert np.abs(layer.predict([doc])[0] - before).max() > 1e-4
        assert bias.grad is None and bias.data_ptr() == memory  # a new tensor would keep the old one
        moved.append(float((bias.detach() - start).abs().mean()))
    assert moved[0] == pytest.approx(0.01, rel=0.01) and moved[1] == pytest.approx(0.0025, rel=0.01)


def test_averages_are_used_for_a_while(layer):
    doc, optimizer = NLP(TEXT), Adam(0.05, use_averages=True)
    for _ in range(3):
        vectors, backprop = layer.begin_update([doc])
        backprop([np.ones_like(vectors[0])])
        layer.finish_update(optimizer)
    now = layer.predict([doc])[0]
    with layer.use_params(optimizer.averages):
        average = layer.predict([doc])[0]
    assert np.abs(average - now).max() > 1e-4
    assert np.array_equal(layer.predict([doc])[0], now)


@pytest.mark.parametrize("store, most", [("float32", 0.0), ("float16", 0.01), ("int8", 0.05)])
def test_bytes_hold_the_weights(tiny_bert, store, most):
    layer = make(tiny_bert, store=store)
    read = make_transformer_tok2vec("a folder that is gone", batch_size=2)
    read.shims[0].backend = TorchBackend(precision="float32")
    read.from_bytes(layer.to_bytes())
    doc = NLP(TEXT)
    assert read.get_dim("nO") == 32
    assert np.abs(read.predict([doc])[0] - layer.predict([doc])[0]).max() <= most
    assert read.shims[0].settings.batch_size == 2  # of the config, not of the bytes
    again = make_transformer_tok2vec(max_length=12).from_bytes(read.to_bytes())
    assert again.shims[0].settings.max_length == 12


def test_a_layer_without_weights(tmp_path):
    layer = make_transformer_tok2vec()
    with pytest.raises(PelError, match="E353"):
        layer.initialize()
    with pytest.raises(PelError, match="E353"):
        layer.predict([NLP(TEXT)])
    assert make_transformer_tok2vec().from_bytes(layer.to_bytes()).shims[0]._model is None
    layer.to_cpu()


@pytest.mark.parametrize("sign", [b'"hidden_size"', b'"data_offsets"', b'"sha256"'])
def test_damaged_bytes_are_refused(layer, sign):
    """Of config.json, model.safetensors and the manifest."""
    whole = layer.shims[0].to_bytes()
    damaged = whole.replace(sign, sign.swapcase(), 1)
    for data in (damaged, whole[:-9]):
        with pytest.raises(PelError):
            make_transformer_tok2vec().shims[0].from_bytes(data)


def test_settings_out_of_range():
    for settings, code in (({"max_length": 4}, "E301"), ({"overlap": 1.0}, "E301"), ({"rate": 0.0}, "E301")):
        with pytest.raises(PelError, match=code):
            make_transformer_tok2vec("package:x", **settings)
    with pytest.raises(PelError, match="E011"):
        make_transformer_tok2vec("package:x", store="float64")


def test_some_of_the_layers(tiny_bert, tmp_path):
    shutil.copytree(tiny_bert, tmp_path / "deep")
    config = AutoConfig.from_pretrained(tiny_bert, num_hidden_layers=6)
    AutoModel.from_config(config).save_pretrained(tmp_path / "deep")

    def weights(layer):
        return [one.output.dense.weight for one in layer.shims[0]._model.tower.transformer.encoder.layer]

    whole, half = (make(tmp_path / "deep", layers=layers) for layers in (None, 3))
    assert all(torch.equal(a, b) for a, b in zip(weights(half), weights(whole)[::2], strict=True))
    read = make_transformer_tok2vec().from_bytes(half.to_bytes())
    doc = NLP(TEXT)
    assert len(weights(read)) == 3 and np.abs(read.predict([doc])[0] - half.predict([doc])[0]).max() < 0.01
    for layers in (0, 7):
        with pytest.raises(PelError, match=f"E355.*from 1 to 6.*got {layers}"):
            make(tmp_path / "deep", layers=layers)


def test_windows_longer_than_the_transformer_reads(tiny_bert):
    with pytest.raises(PelError, match="E352.*at most 512.*got 513"):
        make(tiny_bert, max_length=513)
    saved = make(tiny_bert).to_bytes()
    with pytest.raises(PelError, match="E352"):
        make_transformer_tok2vec(max_length=600).from_bytes(saved)


def test_roberta_has_fewer_positions(tmp_path):
    from transformers import RobertaConfig, RobertaModel

    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    model = RobertaModel(RobertaConfig(vocab_size=20, max_position_embeddings=34, **sizes))
    shim = make_transformer_tok2vec(max_length=33).shims[0]
    with pytest.raises(PelError, match="at most 32"):
        shim._set(None, model)
    make_transformer_tok2vec(max_length=32).shims[0]._set(None, model)


def test_a_folder_with_older_weights(tiny_bert, tmp_path, layer):
    """Anything that transformers reads, such as pytorch_model.bin."""
    shutil.copytree(tiny_bert, tmp_path / "old")
    (tmp_path / "old" / "model.safetensors").unlink()
    AutoModel.from_pretrained(tiny_bert).save_pretrained(tmp_path / "old", safe_serialization=False)
    doc = NLP(TEXT)
    assert np.abs(make(tmp_path / "old").predict([doc])[0] - layer.predict([doc])[0]).max() < 1e-5


def test_copies_and_pickles_are_their_own(layer):
    doc, before = NLP(TEXT), None
    before = layer.predict([doc])[0]
    twins = [layer.copy(), pickle.loads(pickle.dumps(layer))]
    _, backprop = layer.begin_update([doc])
    backprop([np.ones_like(before)])
    layer.finish_update(Adam(0.05))
    assert all(np.abs(twin.predict([doc])[0] - before).max() < 1e-6 for twin in twins)


def test_threads_get_the_same(layer):
    docs = [NLP(f"{TEXT} {'pain ' * n}") for n in range(24)]
    expected = [layer.predict([doc])[0] for doc in docs]
    layer.shims[0]._encode = None
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda doc: layer.predict([doc])[0], docs * 4))
    assert all(np.array_equal(a, b) for a, b in zip(found, expected * 4, strict=True))
