"""An encoder that reads documents in windows, against a plain loop over mentions."""

import numpy as np
import pytest
import torch

from spacy_pel.encoders import load_encoder
from spacy_pel.encoders.backend import TorchBackend
from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.encoders.similarities.sum_of_max import SumOfMax
from spacy_pel.encoders.templates import DocumentWindows
from spacy_pel.encoders.templates.mention_templates import window_starts
from spacy_pel.encoders.tower import span_means
from spacy_pel.errors import PelError
from spacy_pel.training.ranker.group_recipe import GroupRecipe
from spacy_pel.training.ranker.settings import RankerSettings
from spacy_pel.training.rankers.cross_encoder import CrossEncoder
from spacy_pel.training.rankers.dual_encoder import DualEncoder
from spacy_pel.types import MentionInText
from spacy_pel.util.arrays import unit_length

from .conftest import make_encoder

TEXTS = [
    "the pain of a heart attack in the left kidney of the heart is a fever " * 3,
    "naïve fever 🫀 of the cafe\u0301 kidney stone",
    "fever",
]
ROOM, OVERLAP = 18, 0.4


def make(path, **settings):
    template = DocumentWindows(max_length=ROOM + 2, overlap=OVERLAP)
    return make_encoder(path, **{"mention_template": template, "pooling": "mention", **settings})


def make_mentions(seed=0, n=60):
    rng = np.random.default_rng(seed)
    mentions = [MentionInText(TEXTS[2], 0, 5), MentionInText(TEXTS[1], 11, 12), MentionInText(TEXTS[0], 3, 4)]
    for _ in range(n):
        text = TEXTS[rng.integers(2)]
        start = int(rng.integers(len(text) - 1))
        mentions.append(MentionInText(text, start, min(len(text), start + int(rng.integers(1, 40)))))
    return mentions


def plain_vectors(encoder, mentions):
    """One mention at a time, in the window that trying all of them finds."""
    transformer = encoder.tower("mention").transformer.eval()
    tokenizer, vectors = encoder.tokenizer, []
    for text, start, end in mentions:
        settings = {"add_special_tokens": False, "return_offsets_mapping": True}
        encoded = tokenizer(text, **settings)
        ids, offsets = encoded["input_ids"], encoded["offset_mapping"]
        own = [i for i, (a, b) in enumerate(offsets) if a < end and b > start]
        before = sum(b <= start for _, b in offsets)
        first, last = (own[0], own[-1] + 1) if own else (before, before)
        at = max(
            (one for one in window_starts(len(ids), ROOM, OVERLAP).tolist() if one <= first),
            key=lambda one: (min(last, one + ROOM) - first, min(first - one, one + ROOM - last)),
        )
        window = [tokenizer.cls_token_id, *ids[at : at + ROOM], tokenizer.sep_token_id]
        with torch.no_grad():
            states = transformer(torch.tensor([window])).last_hidden_state[0]
        kept = states[1 + first - at : 1 + last - at][:ROOM] if own else states
        kept = kept[: ROOM - (first - at)] if own else kept
        vectors.append(torch.nn.functional.normalize(kept.mean(dim=0), dim=0).numpy())
    return np.stack(vectors)


@pytest.mark.parametrize("tied", [True, False])
def test_vectors_are_those_of_a_plain_loop(tiny_bert, tied):
    encoder, mentions = make(tiny_bert, tied=tied), make_mentions()
    expected = plain_vectors(encoder, mentions)
    vectors = encoder.encode_mentions(mentions)
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    assert len(np.unique(vectors.round(4), axis=0)) > 30, "mentions in one window differ"
    np.testing.assert_allclose(encoder.encode_mention_rows(mentions), expected, atol=1e-5)
    represented = encoder.represent_mentions(mentions).vectors
    np.testing.assert_allclose(unit_length(represented), expected, atol=1e-5)


def test_saved_and_loaded(tiny_bert, tmp_path):
    encoder, mentions = make(tiny_bert, tied=True), make_mentions()
    encoder.to_disk(tmp_path / "model")
    again = load_encoder(tmp_path / "model", backend=TorchBackend(precision="float32"))
    assert isinstance(again.mention_template, DocumentWindows)
    assert again.mention_template.settings == {"max_length": ROOM + 2, "overlap": OVERLAP}
    assert again.fingerprint == encoder.fingerprint
    np.testing.assert_array_equal(again.encode_mentions(mentions), encoder.encode_mentions(mentions))
    wider = make(tiny_bert, tied=True, mention_template=DocumentWindows(max_length=ROOM + 2))
    assert wider.fingerprint != encoder.fingerprint


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_means_of_spans(dtype):
    torch.manual_seed(0)
    states = torch.randn(3, 7, 5, dtype=dtype, requires_grad=True)
    spans = torch.tensor([[2, 0, 7], [0, 3, 4], [2, 5, 6], [0, 0, 2]])
    means = span_means(states, spans)
    expected = torch.stack([states[w, a:b].mean(dim=0) for w, a, b in spans.tolist()])
    torch.testing.assert_close(means, expected)
    weights = torch.randn_like(means)
    (gradient,) = torch.autograd.grad((means * weights).sum(), states)
    (wanted,) = torch.autograd.grad((expected * weights).sum(), states)
    torch.testing.assert_close(gradient, wanted)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(span_means(states, spans), expected)


@pytest.mark.parametrize("settings", [{"pooling": "mean"}, {"pooling": "cls"}, {"pooling": "markers"}, {}])
def test_settings_that_need_markers_are_refused(settings):
    similarity = {} if settings else {"pooling": "mention", "similarity": SumOfMax()}
    with pytest.raises(PelError, match="PEL-E335"):
        BiEncoder(mention_template=DocumentWindows(), **settings, **similarity)


def test_rankers_that_read_each_mention_refuse_it():
    with pytest.raises(PelError, match="PEL-E337"):
        CrossEncoder(mention_template=DocumentWindows(max_length=16))
    ranker = DualEncoder(encoder=BiEncoder(mention_template=DocumentWindows(), pooling="mention"))
    with pytest.raises(PelError, match="PEL-E337"):
        GroupRecipe(ranker, RankerSettings(model=ranker))
