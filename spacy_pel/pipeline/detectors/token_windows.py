"""Documents in windows of word pieces, for a transformer that gives each token of them a vector."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from spacy.attrs import LENGTH, SPACY
from spacy.tokens import Doc
from torch import Tensor

from ...encoders.backend import EncodedBatch
from ...encoders.templates import RaggedTokens
from ...encoders.token_arrays import pieces_with_offsets
from ...types import Vectors

_FRAME = 2  # [CLS] and [SEP]
_GAP = re.compile(r"\S\s+")
_CLOSING = "\"')]}”’"
_ENDS = frozenset(".!?")


@dataclass
class CodedTokens(RaggedTokens):
    """Tokens with a code each, which a mask holds: 0 = padding, otherwise 1 + code. So they go wherever masks go.

    codes: (total,), 0 or above.
    """

    codes: NDArray[np.int64]

    def padded(
        self, rows: Sequence[int] | NDArray[np.int64], pad_id: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """As of plain tokens, with codes in the mask."""
        ids, mask = super().padded(rows, pad_id)
        mask[mask > 0] += np.concatenate([self.codes[self.offsets[row] : self.offsets[row + 1]] for row in rows])
        return ids, mask


class TokenWindows(NamedTuple):
    """Each piece of the documents is read in one window, where it has the most context.

    Attributes:
        windows: with [CLS] and [SEP].
        reads: (windows, 3) int64: number of the first piece that is read in a window, where in the
            window it is, and how many pieces are read there.
        pieces: the numbers of each token's pieces, token after token. A piece that ends one token and begins
            the next one is there twice.
        counts: (tokens,) pieces of each token; 0 for white space.
    """

    windows: RaggedTokens
    reads: NDArray[np.int64]
    pieces: NDArray[np.int64]
    counts: NDArray[np.int64]

    def read(self, rows: NDArray[np.int64], length: int) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """What is read in some windows.

        Args:
            rows: which windows.
            length: of a window, padding included.

        Returns:
            (rows, length), where pieces are read; and their numbers.
        """
        first, start, count = (column[:, None] for column in self.reads[rows].T)
        position = np.arange(length) - start
        inside = (position >= 0) & (position < count)
        return inside, (first + position)[inside]

    def vectors(self, batches: Iterable[EncodedBatch], width: int) -> Vectors:
        """Vectors of the tokens.

        Args:
            batches: of windows: which, their mask, and the states of their pieces.
            width: of the states.

        Returns:
            (tokens, width); 0 for a token without pieces.
        """
        states = np.empty((int(self.reads[:, 2].sum()), width), dtype=np.float32)
        for rows, mask, of_batch in batches:
            inside, numbers = self.read(rows, mask.shape[1])
            states[numbers] = of_batch[inside]
        return self.means(torch.from_numpy(states)).numpy()  # type: ignore[no-any-return]

    def means(self, states: Tensor) -> Tensor:
        """(tokens, width), the means over (pieces, width) of each token; 0 for a token without pieces."""
        if not len(self.pieces):
            return states.new_zeros((len(self.counts), states.shape[1]))
        pieces, counts = (torch.from_numpy(array).to(states.device) for array in (self.pieces, self.counts))
        return torch.segment_reduce(states[pieces], "sum", lengths=counts) / counts.clamp(min=1).unsqueeze(1)


def token_windows(
    tokenizer: Any,
    docs: Sequence[Doc],
    *,
    max_length: int,
    overlap: float,
    codes_of: Callable[[Doc], NDArray[np.int64]] | None = None,
) -> TokenWindows:
    """Cut documents into windows.

    Args:
        tokenizer: with offsets.
        docs: the documents.
        max_length: word pieces of a window at most, special tokens included.
        overlap: share of a window that only lends context to the rest of it.
        codes_of: gives the codes of a document's tokens, for ``CodedTokens``; None = plain tokens.

    Returns:
        Of all documents; one without word pieces has no windows.
    """
    room = max_length - _FRAME
    margin = int(room * overlap / 2)
    windows: list[list[int]] = []
    codes: list[Any] = [np.zeros(0, dtype=np.int64)]
    reads: list[tuple[int, int, int]] = []
    firsts, counts = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    total = 0
    for doc, (ids, offsets) in zip(docs, pieces_with_offsets(tokenizer, [doc.text for doc in docs]), strict=True):
        lengths = doc.to_array([LENGTH, SPACY]).astype(np.int64).reshape(-1, 2)
        ends = lengths.sum(axis=1).cumsum()
        starts = ends - lengths.sum(axis=1)
        n = len(ids)
        if codes_of is not None and n:
            owners = np.searchsorted(starts + lengths[:, 0], offsets[:, 0], side="right")
            codes_of_doc = codes_of(doc)[np.minimum(owners, len(doc) - 1)]
        bounds = [0, n] if n <= room else cut_text(doc.text, offsets[:, 0], room - 2 * margin)
        for start, end in zip(bounds[:-1], bounds[1:], strict=True):
            before = max(0, start - margin)
            if start < end:
                windows.append([tokenizer.cls_token_id, *ids[before : end + margin], tokenizer.sep_token_id])
                if codes_of is not None:
                    codes += [[0], codes_of_doc[before : end + margin], [0]]
                reads.append((total + start, 1 + start - before, end - start))
        first = np.searchsorted(offsets[:, 1], starts, side="right")
        last = np.searchsorted(offsets[:, 0], starts + lengths[:, 0], side="left")
        firsts.append(total + first)
        counts.append(np.maximum(last - first, 0))
        total += n
    each = np.concatenate(counts)
    shifts = np.repeat(np.concatenate(firsts) - (each.cumsum() - each), each)  # from place in this list to number
    pieces = np.arange(len(shifts)) + shifts
    tokens = RaggedTokens.from_lists(windows)
    if codes_of is not None:
        tokens = CodedTokens(tokens.values, tokens.offsets, np.concatenate(codes).astype(np.int64))
    return TokenWindows(tokens, np.array(reads, dtype=np.int64).reshape(-1, 3), pieces, each)


def cut_text(text: str, starts: NDArray[np.int64], room: int) -> list[int]:
    """Divide the pieces of a text into as few parts as needed, of about even length: between sentences or
    lines where one ends near, else between words, else anywhere.

    Args:
        text: the text.
        starts: (pieces,), the first character of each piece.
        room: pieces of a part at most.

    Returns:
        The first piece of each part, ascending, and the number of pieces.
    """
    sentences, words = (np.searchsorted(starts, places) for places in _places(text))
    n = len(starts)
    bounds = [0]
    for left in range(-(-n // room), 1, -1):
        even = (n - bounds[-1]) // left
        middle = bounds[-1] + even
        least = max(middle - even // 3, n - (left - 1) * room)
        most = min(middle + even // 3, bounds[-1] + room)
        cut = max(middle, least)
        for places in (sentences, words):
            near = places[np.searchsorted(places, least) : np.searchsorted(places, most, side="right")]
            if len(near):
                cut = int(near[np.abs(near - middle).argmin()])
                break
        bounds.append(cut)
    return [*bounds, n]


def _places(text: str) -> tuple[list[int], list[int]]:
    """The characters at which sentences or lines begin, and those at which words do."""
    sentences, words = [], []
    for gap in _GAP.finditer(text):
        words.append(place := gap.end())
        ending = text[max(0, gap.start() - 2) : gap.start() + 1].rstrip(_CLOSING)[-1:]
        if (ending in _ENDS or "\n" in gap.group()) and not text[place : place + 1].islower():
            sentences.append(place)
    return sentences, words
