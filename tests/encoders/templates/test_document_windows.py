"""Windows of documents: they cover every text, and each mention is read where it has most context."""

import numpy as np
import pytest

from spacy_pel.encoders.templates import DocumentWindows, MentionWindows, RaggedTokens
from spacy_pel.encoders.templates.mention_templates import window_starts
from spacy_pel.encoders.templates.ragged_writer import RaggedWriter
from spacy_pel.errors import PelError
from spacy_pel.types import MentionInText

ODD = [
    "naïve Ångström cafe\u0301 ﬁbrosis",
    "a\u200bb\u00adc\ufeff heart\u2028attack\r\n\tpain",
    "🫀fever👩‍⚕️ 熱と痛み ألم",
    "the [SEP] heart [CLS] of [M_s] a [M_e] [PAD] kidney",
    "İstanbul ΟΔΟΣ straße ǅ",
    "   \n ",
    "",
]


def letters(n):
    """A text of n pieces."""
    return " ".join("abcdefghij"[i * i % 10] for i in range(n))


def pieces_of(tokenizer, text):
    """Ids and character offsets of a text, as the tokenizer gives them."""
    settings = {"add_special_tokens": False, "return_offsets_mapping": True, "split_special_tokens": True}
    encoded = tokenizer(text, **settings)
    return encoded["input_ids"], encoded["offset_mapping"]


def best_window(starts, room, first, end):
    """By trying all: most pieces of the mention, from its start on; then the larger of the smaller contexts.

    Returns:
        The start of the first one of the best.
    """

    def worth(start):
        return min(end, start + room) - first, min(first - start, start + room - end)

    return max((start for start in starts if start <= first), key=worth)


@pytest.mark.parametrize("overlap", [0.0, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("room", [6, 31])
def test_windows_cover_every_text_evenly(room, overlap):
    stride = max(1, int(room * (1 - overlap)))
    for n in range(200):
        starts = window_starts(n, room, overlap)
        steps = np.diff(starts)
        assert starts[0] == 0 and starts[-1] + room == max(n, room)
        assert ((steps > 0) & (steps <= stride)).all()
        assert len(steps) == 0 or steps.max() - steps.min() <= 1
        assert n <= room or (len(steps) - 1) * stride < n - room, "no more than are needed"


@pytest.mark.parametrize("overlap", [0.0, 0.3, 0.5])
def test_each_mention_is_read_where_it_has_most_context(tokenizer, overlap):
    template, room = DocumentWindows(max_length=14, overlap=overlap), 12
    cuts = 0
    for n in (1, 12, 13, 40, 75):
        text = letters(n)
        ids, _ = pieces_of(tokenizer, text)
        assert len(ids) == n
        spans = [(first, end) for first in range(n) for end in range(first + 1, min(n, first + 16) + 1)]
        mentions = [MentionInText(text, 2 * first, 2 * end - 1) for first, end in spans]
        tokens = template.tokenize(tokenizer, mentions)
        starts = window_starts(n, room, overlap).tolist()
        for number, (first, end) in enumerate(spans):
            start = best_window(starts, room, first, end)
            _, own_first, own_end = tokens.spans[number]
            window = tokens[number].tolist()
            assert window[1:-1] == ids[start : start + room]
            assert own_first == 1 + first - start and own_end == 1 + min(end - start, room)
            assert window[own_first:own_end] == ids[first : min(end, start + room)]
            cuts += end - start > room
    assert cuts, "some mentions fit no window"


@pytest.mark.parametrize("text", ODD)
def test_a_mention_is_its_own_pieces_in_odd_texts(tokenizer, text):
    ids, offsets = pieces_of(tokenizer, text)
    spans = [(start, end) for start in range(len(text) + 1) for end in range(start, len(text) + 1)]
    tokens = DocumentWindows(max_length=128).tokenize(tokenizer, [MentionInText(text, *span) for span in spans])
    assert len(tokens.windows) == 1
    read = tokenizer.convert_ids_to_tokens(tokens[0].tolist())
    frame = [piece for piece in read if piece in ("[CLS]", "[SEP]", "[M_s]", "[M_e]", "[PAD]")]
    assert frame == [read[0], read[-1]] == ["[CLS]", "[SEP]"]
    for number, (start, end) in enumerate(spans):
        own = [i for i, (a, b) in enumerate(offsets) if a < end and b > start]
        _, first, last = tokens.spans[number]
        if own:
            assert tokens[number][first:last].tolist() == [ids[i] for i in own]
        else:  # a mention without pieces is the whole window
            assert (first, last) == (0, len(ids) + 2)


def test_taken_and_joined_mentions_keep_their_pieces(tokenizer, tmp_path):
    template = DocumentWindows(max_length=12)
    mentions = [MentionInText(letters(n), 2 * i, 2 * i + 3) for n in (9, 30) for i in range(n - 1)]
    tokens = template.tokenize(tokenizer, mentions)

    def read(windows):
        return [(w.tolist(), *s) for w, s in zip(windows, windows.spans[:, 1:].tolist(), strict=True)]

    rows = np.array([30, 2, 30, 7])
    taken = tokens.take(rows)
    assert read(taken) == [read(tokens)[row] for row in rows]
    assert len(taken.windows) == 2 and taken.lengths.tolist() == [len(taken[i]) for i in range(4)]
    with RaggedWriter(tmp_path / "mentions") as writer:
        for part in (tokens, taken, tokens.take(np.zeros(0, dtype=np.int64))):
            writer.append(part)
    spans = np.load(tmp_path / "mentions" / "spans.npy")
    joined = MentionWindows(RaggedTokens.from_disk(tmp_path / "mentions"), spans)
    assert read(joined) == [*read(tokens), *read(taken)]
    groups = joined.by_window()
    assert sorted(groups.values.tolist()) == list(range(len(joined)))
    for window in range(len(joined.windows)):
        assert (joined.spans[groups[window], 0] == window).all()


def test_what_it_cannot_do_is_refused(tokenizer, tiny_bert):
    from transformers import BertTokenizer

    for overlap in (-0.1, 1.0):
        with pytest.raises(PelError, match="PEL-E301"):
            DocumentWindows(overlap=overlap)
    slow = BertTokenizer(str(tiny_bert / "vocab.txt"))
    if not slow.is_fast:
        with pytest.raises(PelError, match="PEL-E336"):
            DocumentWindows().tokenize(slow, [MentionInText("fever", 0, 5)])
