"""The bi-encoder: plain Hugging Face folders, two towers or one, errors in one line."""

import json

import numpy as np
import pytest
import torch

from spacy_pel.encoders.backend import TorchBackend
from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.encoders.pretrained import _letter_tokenizer, _written_rules
from spacy_pel.encoders.similarities import DotProduct
from spacy_pel.encoders.templates import MarkedContext
from spacy_pel.errors import PelError
from spacy_pel.types import MentionInText
from spacy_pel.util.saved_folder import write_manifest

from .conftest import make_encoder

pytestmark = pytest.mark.slow

NAMES = ["fever", "heart attack", "kidney stone of the left kidney"]
MENTIONS = [MentionInText("pain in the left kidney", 17, 23), MentionInText("fever", 0, 5)]


@pytest.mark.parametrize("tied", [True, False])
def test_two_towers_or_one(tiny_bert, tmp_path, tied):
    encoder = make_encoder(tiny_bert, tied=tied)
    names, mentions = encoder.encode_names(NAMES), encoder.encode_mentions(MENTIONS)
    fingerprint = encoder.fingerprint
    with torch.no_grad():
        for parameter in encoder.tower("mention").parameters():
            parameter += 0.01 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    encoder.changed()
    assert encoder.fingerprint != fingerprint
    assert not np.allclose(encoder.encode_mentions(MENTIONS), mentions, atol=1e-4)
    assert np.allclose(encoder.encode_names(NAMES), names, atol=1e-4) != tied
    encoder.to_disk(tmp_path / "model")
    assert (tmp_path / "model" / "entity").exists() != tied
    loaded = BiEncoder(tied=not tied).from_disk(tmp_path / "model")
    assert (loaded.tower("entity") is loaded.tower("mention")) == tied


@pytest.mark.parametrize("tied", [True, False])
def test_a_pooling_for_each_side(tiny_bert, tmp_path, tied):
    """Le & Nguyen (2023): mean of the outputs at both markers; [CLS] of the entity's text."""
    encoder = make_encoder(tiny_bert, tied=tied, pooling="markers", entity_pooling="cls", similarity=DotProduct())
    tokens = encoder.mention_template.tokenize(encoder.tokenizer, MENTIONS)
    markers = encoder.tokenizer.convert_tokens_to_ids(["[M_s]", "[M_e]"])
    for row, vector in enumerate(encoder.encode_mentions(MENTIONS)):
        ids = torch.tensor(tokens[row][None].astype(np.int64))
        with torch.inference_mode():
            states = encoder.tower("mention").eval().transformer(ids).last_hidden_state[0]
        places = [ids[0].tolist().index(marker) for marker in markers]
        np.testing.assert_allclose(vector, states[places].mean(dim=0).numpy(), atol=1e-5)
    first = make_encoder(tiny_bert, tied=tied, pooling="cls", similarity=DotProduct())
    np.testing.assert_allclose(encoder.encode_names(NAMES), first.encode_names(NAMES), atol=1e-5)
    same = make_encoder(tiny_bert, tied=tied, pooling="markers", similarity=DotProduct())
    assert same.fingerprint != encoder.fingerprint
    encoder.to_disk(tmp_path / "model")
    loaded = BiEncoder(backend=TorchBackend(precision="float32")).from_disk(tmp_path / "model")
    assert (loaded.pooling, loaded.entity_pooling) == ("markers", "cls")
    np.testing.assert_allclose(loaded.encode_names(NAMES), encoder.encode_names(NAMES), atol=1e-5)


def test_fingerprint_follows_templates_and_not_the_backend(tiny_bert):
    encoder = make_encoder(tiny_bert)
    assert make_encoder(tiny_bert, backend=TorchBackend(precision="bfloat16")).fingerprint == encoder.fingerprint
    assert make_encoder(tiny_bert, batch_size=3).fingerprint == encoder.fingerprint
    assert make_encoder(tiny_bert, mention_template=MarkedContext(max_length=64)).fingerprint != encoder.fingerprint
    assert make_encoder(tiny_bert, pooling="cls").fingerprint != encoder.fingerprint
    assert make_encoder(tiny_bert, tied=True).fingerprint != encoder.fingerprint


def test_fingerprint_follows_the_config_and_the_rules_of_the_tokenizer(tiny_bert):
    """The weights are the same, the answers are not: an index of one is not an index of the other."""
    encoder, other = make_encoder(tiny_bert, tied=True), make_encoder(tiny_bert, tied=True)
    assert other.fingerprint == encoder.fingerprint
    config = other.tower("mention").transformer.config
    for key, value in (("attention_type", "block_sparse"), ("conv_act", "tanh"), ("layer_norm_eps", 0.1)):
        before = other.fingerprint
        setattr(config, key, value)
        other.changed()
        assert other.fingerprint != before
    third = make_encoder(tiny_bert, tied=True)
    third.tokenizer.backend_tokenizer.normalizer = None
    third.changed()
    assert len({encoder.fingerprint, other.fingerprint, third.fingerprint}) == 3


def test_fingerprint_does_not_follow_the_version_of_tokenizers():
    """Up to 0.19 it wrote merges as "a b", from 0.20 on as ["a", "b"]."""
    from tokenizers import ByteLevelBPETokenizer

    made = ByteLevelBPETokenizer()
    made.train_from_iterator(["fever in the heart, fever in the head"], min_frequency=1)
    rules = json.loads(made.to_str())
    pairs = [one.split(" ") if isinstance(one, str) else one for one in rules["model"]["merges"]]
    found = []
    for merges in (pairs, [" ".join(pair) for pair in pairs], pairs[:-1]):
        rules["model"]["merges"] = merges
        found.append(_written_rules(json.dumps(rules)))
    assert len(pairs) > 5 and found[0] == found[1] != found[2]


@pytest.mark.parametrize("kind", ["distilbert", "albert"])
def test_fingerprints_of_other_transformers_are_the_same_after_loading(tmp_path, kind):
    from transformers import AutoConfig, AutoModel

    tokenizer = _letter_tokenizer()
    sizes = {"vocab_size": len(tokenizer), "intermediate_size": 32, "pad_token_id": tokenizer.pad_token_id}
    if kind == "distilbert":
        sizes = {"vocab_size": len(tokenizer), "dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 16}
    else:
        sizes.update(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, embedding_size=16)
    AutoModel.from_config(AutoConfig.for_model(kind, **sizes)).save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    encoder = make_encoder(tmp_path / "base", tied=True)
    encoder.to_disk(tmp_path / "model")
    assert BiEncoder().from_disk(tmp_path / "model").fingerprint == encoder.fingerprint


def test_marker_vectors_start_as_the_mean_of_the_others(tiny_bert):
    words = make_encoder(tiny_bert).tower("mention").transformer.get_input_embeddings().weight
    torch.testing.assert_close(words[-2:], words[:-2].mean(dim=0).expand(2, -1))


def test_a_marker_that_the_model_has_keeps_its_vector(tiny_bert, tmp_path):
    make_encoder(tiny_bert, tied=True).to_disk(tmp_path / "model")
    again = make_encoder(tmp_path / "model" / "mention", mention_template=MarkedContext(end_marker="[END]"))
    old = make_encoder(tmp_path / "model" / "mention").tower("mention").transformer.get_input_embeddings().weight
    new = again.tower("mention").transformer.get_input_embeddings().weight
    assert len(new) == len(old) + 1
    assert torch.equal(new[:-1], old)
    assert not [name for name, _ in again.towers.named_parameters() if "pooler" in name]


# -- backends ---------------------------------------------------------------------------------


def test_torch_precisions_agree(tiny_bert):
    exact = make_encoder(tiny_bert)
    half = make_encoder(tiny_bert, backend=TorchBackend(precision="bfloat16"))
    for vectors, expected in (
        (half.encode_names(NAMES), exact.encode_names(NAMES)),
        (half.encode_mentions(MENTIONS), exact.encode_mentions(MENTIONS)),
    ):
        assert vectors.dtype == np.float32
        assert ((vectors * expected).sum(axis=1) > 0.999).all()


# -- errors -----------------------------------------------------------------------------------


def test_no_weights_yet(tmp_path):
    encoder = BiEncoder()
    for use in (
        lambda: encoder.fingerprint,
        lambda: encoder.encode_mentions(MENTIONS),
        lambda: encoder.to_disk(tmp_path / "model"),
        lambda: encoder.initialize(),
    ):
        with pytest.raises(PelError, match="E302"):
            use()
    assert not list(tmp_path.iterdir())


def one_line(error):
    return "\n" not in str(error.value)


def test_base_model_missing_or_damaged(tiny_bert, tmp_path):
    names = [str(tmp_path / "nowhere"), "package:no_such_package", "random:height=3", "random:width=33"]
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in tiny_bert.iterdir():
        (broken / file.name).write_bytes(file.read_bytes())
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    for name in [*names, str(broken)]:
        with pytest.raises(PelError, match=name.split(",")[0]) as error:
            make_encoder(name)
        assert one_line(error)


def test_random_models_follow_from_their_name():
    torch.manual_seed(1)
    one = make_encoder("random:layers=1,width=32")
    torch.manual_seed(2)
    state = torch.random.get_rng_state()
    two = make_encoder("random:layers=1,width=32")
    assert one.fingerprint == two.fingerprint
    assert one.fingerprint != make_encoder("random:layers=1,width=32,seed=1").fingerprint
    assert one.width == 32 and make_encoder("random:layers=2,width=64,heads=4").width == 64
    assert two.entity_template.tokenize_names(two.tokenizer, ["Ab-1"])[0].tolist()[1:-1] == (
        two.tokenizer.convert_tokens_to_ids(["a", "##b", "-", "1"])
    )
    torch.random.set_rng_state(state)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: (path / "mention" / "model.safetensors").unlink(),
        lambda path: truncate(path / "mention" / "model.safetensors", 4000),
        lambda path: (path / "bi_encoder.json").write_text("[]"),
        lambda path: (path / "bi_encoder.json").unlink(),
        lambda path: edit_settings(path, tied=True),
        lambda path: flip_a_weight(path / "entity" / "model.safetensors"),
        lambda path: edit_json(path / "mention" / "config.json", layer_norm_eps=0.1),
        lambda path: edit_json(path / "entity" / "config.json", num_attention_heads=1),
        lambda path: edit_rules(path, "normalizer", lowercase=False),
        lambda path: edit_json(path / "mention" / "tokenizer_config.json", cls_token="[SEP]"),
    ],
)
@pytest.mark.parametrize("signed", [False, True])
def test_damaged_folders(tiny_bert, tmp_path, damage, signed):
    """With the old manifest, and where a new one hides the damage from it."""
    path = tmp_path / "model"
    make_encoder(tiny_bert).to_disk(path)
    BiEncoder().from_disk(path)
    damage(path)
    if signed:
        write_manifest(path, kind="encoder", version=1)
    encoder = make_encoder(tiny_bert)
    with pytest.raises(PelError, match=str(path)) as error:
        encoder.from_disk(path)
    assert one_line(error)


def truncate(path, size):
    path.write_bytes(path.read_bytes()[:size])


def edit_json(file, **changes):
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def edit_settings(path, **changes):
    edit_json(path / "bi_encoder.json", **changes)


def edit_rules(path, name, **changes):
    file = path / "mention" / "tokenizer.json"
    edit_json(file, **{name: {**json.loads(file.read_text())[name], **changes}})


def flip_a_weight(path):
    data = bytearray(path.read_bytes())
    data[-2] ^= 1
    path.write_bytes(bytes(data))
