"""Windows of word pieces: no piece is lost, cuts are between sentences or words, and tokens keep their pieces."""

import re

import numpy as np
import pytest
import spacy
import torch
from transformers import AutoTokenizer

from spacy_pel.pipeline.detectors.token_windows import cut_text, token_windows

NLP = spacy.blank("en")
SENTENCES = "The heart attack of the left kidney stone. " * 9
TEXTS = [
    SENTENCES,
    "heart pain " * 40,
    "- heart\n- kidney\n\n- pain of the left kidney\n" * 8,
    "a" * 300,
    "heart " + "ab-" * 90 + " kidney",
    " \n \t ",
    "",
    "fever",
    "naïve  Ångström\u200b 🫀fever\u00a0can't\r\n50mg " * 5,
    "\n" * 300 + "pain",
]


@pytest.fixture
def tokenizer(tiny_bert):
    return AutoTokenizer.from_pretrained(tiny_bert)


def pieces_of(tokenizer, text):
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    return encoded["input_ids"], encoded["offset_mapping"]


@pytest.mark.parametrize("overlap", [0.0, 0.25, 0.9])
@pytest.mark.parametrize("max_length", [8, 14, 40])
def test_each_piece_is_read_once_in_order(tokenizer, max_length, overlap):
    docs = [NLP(text) for text in TEXTS]
    found = token_windows(tokenizer, docs, max_length=max_length, overlap=overlap)
    expected = [piece for text in TEXTS for piece in pieces_of(tokenizer, text)[0]]
    assert found.windows.lengths.max() <= max_length and found.windows.lengths.min() > 2
    rows = np.arange(len(found.windows))
    ids, _ = found.windows.padded(rows, tokenizer.pad_token_id)
    inside, numbers = found.read(rows, ids.shape[1])
    assert numbers.tolist() == list(range(len(expected)))
    assert ids[inside].tolist() == expected
    assert (ids[:, 0] == tokenizer.cls_token_id).all()
    assert (ids == tokenizer.sep_token_id).sum(axis=1).tolist() == [1] * len(ids)


@pytest.mark.parametrize("text", TEXTS)
def test_a_token_has_the_pieces_of_its_characters(tokenizer, text):
    doc = NLP(text)
    found = token_windows(tokenizer, [doc], max_length=14, overlap=0.0)
    _, offsets = pieces_of(tokenizer, text)
    own = [[i for i, (a, b) in enumerate(offsets) if a < token.idx + len(token) and b > token.idx] for token in doc]
    assert found.counts.tolist() == [len(pieces) for pieces in own]
    assert found.pieces.tolist() == [piece for pieces in own for piece in pieces]
    states = torch.randn((len(offsets), 3), generator=torch.Generator().manual_seed(0))
    for vector, pieces in zip(found.means(states), own, strict=True):
        torch.testing.assert_close(vector, states[pieces].mean(dim=0) if pieces else torch.zeros(3))


@pytest.mark.parametrize(
    "text, starts",
    [
        (SENTENCES, "The"),
        ("heart attack " * 40, ("heart", "attack")),
        ("Left kidney\nright kidney stone\nfever\n" * 12, ("Left", "right", "fever")),
        ('He said "no pain." (She had a fever.) ' * 10, ("He", "(She")),
    ],
)
def test_cuts_are_between_sentences_lines_or_words(text, starts):
    first = np.array([piece.start() for piece in re.finditer(r"\w+|[^\w\s]", text)])
    for room in (33, 64):
        bounds = cut_text(text, first, room)
        sizes = np.diff(bounds)
        assert len(sizes) == -(-len(first) // room) > 1, "as few as needed"
        assert sizes.max() <= room and sizes.min() * 3 >= sizes.max()
        assert all(text[first[bound] - 1].isspace() for bound in bounds[1:-1])
        if room == 33:
            assert all(text[first[bound] :].startswith(starts) for bound in bounds[1:-1])
