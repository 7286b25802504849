"""A wrong config is named in one line: the key, what came, and the file."""

import pytest
import torch

from spacy_pel.errors import PelError
from spacy_pel.training.checkpoint import describe
from spacy_pel.training.losses.proxy_softplus import ProxySoftplus
from spacy_pel.training.retriever.settings import read_settings

from ..conftest import CONFIG


@pytest.fixture
def edited(tmp_path):
    """A function that reads configs/tiny.cfg after replacing a piece of its text."""

    def read(old, new):
        text = CONFIG.read_text()
        assert text.count(old) >= 1
        path = tmp_path / "edited.cfg"
        path.write_text(text.replace(old, new, 1))
        return read_settings(path)

    return read


WRONG = {
    "unknown key of the training": ("batch_size = 16", "batch_size = 16\nbatchsize = 3", "batchsize"),
    "unknown key of a part": ("alpha = 32.0", "alpah = 32.0", "alpah"),
    "no regularizer": (
        "[pel.loss]",
        '[pel.regularizer]\n@pel_losses = "spacy-pel.CrossEntropy.v1"\n\n[pel.loss]',
        "regularizer",
    ),
    "unknown section": ("[pel.training.dev]", "[pel.training.score]", "score"),
    "missing section": (
        '[pel.loss]\n@pel_losses = "spacy-pel.ProxySoftplus.v1"\nalpha = 32.0\nmargin = 0.0\n',
        "",
        "loss",
    ),
    "wrong type": ("batch_size = 16", 'batch_size = "many"', "batch_size"),
    "out of range": ("batch_size = 16", "batch_size = 0", "batch_size"),
    "a part's own limit": ("max_length = 24", "max_length = 2", "max_length"),
    "unknown choice": ("eval_frequency = 100", 'mixed_precision = "int8"', "mixed_precision"),
    "unknown part": ("spacy-pel.ProxySoftplus.v1", "spacy-pel.ProxySoftmax.v1", "ProxySoftmax"),
    "no sampler": (
        '@pel_negatives = "spacy-pel.RandomNegatives.v1"\nn_negatives = 32\nshared = true\nin_batch = true',
        "n = 3",
        "negatives",
    ),
    "no config": ("[pel]\n", "[pel\n", "edited.cfg"),
    "no [pel]": ("[pel", "[training", "edited.cfg"),
}


@pytest.mark.parametrize(("old", "new", "named"), WRONG.values(), ids=WRONG.keys())
def test_wrong_configs(edited, old, new, named):
    with pytest.raises(PelError, match=named) as error:
        edited(old, new)
    assert "\n" not in str(error.value)


def test_an_encoder_without_towers_cannot_be_trained():
    with pytest.raises(PelError, match="encoder.*BiEncoder"):
        read_settings(CONFIG, {"pel.encoder": {"@pel_encoders": "spacy-pel.HashEmbed.v1"}})


def test_parts_are_described_by_their_settings():
    """That an offset is to be found counts, and the value that was found does not: it would change during the run."""
    pel = read_settings(CONFIG).pel
    described = describe(pel.negatives)
    for name, value in {"in_batch": True, "n_negatives": 32, "shared": True}.items():
        assert f"('{name}', {value})" in described
    parts = [ProxySoftplus(offset=offset) for offset in (0.0, 0.4, None)]
    texts = list(map(describe, parts))
    assert len(set(texts)) == len(parts)
    parts[2](torch.rand(4), torch.rand(4, 3), torch.ones(4, 3, dtype=torch.bool))
    assert parts[2].started
    assert list(map(describe, parts)) == texts
