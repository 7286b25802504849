"""Token sequences of different lengths in two arrays, so that texts are tokenised only once; and windows of text
that several mentions share."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Errors, PelError
from ...util.arrays import Ragged, offsets_of, take_pieces
from ...util.config import check_range

TokenIds = NDArray[np.int32]
# how a tokenizer is called: word pieces of plain text, and nothing else
PLAIN = {
    "add_special_tokens": False,
    "padding": False,
    "truncation": False,
    "return_attention_mask": False,
    "return_token_type_ids": False,
    "split_special_tokens": True,
    "verbose": False,
}
# and where the pieces are
PLAIN_WITH_OFFSETS = {**PLAIN, "return_offsets_mapping": True}


@dataclass
class RaggedTokens(Ragged):
    """Token sequences: sequence i is ``values[offsets[i]:offsets[i + 1]]``. The arrays may be memory-mapped.

    values: (total,) int32, word-piece ids.
    offsets: (n + 1,) int64.
    """

    values: TokenIds
    dtype = np.int32

    @classmethod
    def from_lists(cls, sequences: Sequence[Sequence[int]]) -> "RaggedTokens":
        """Args:
        sequences: word-piece ids of each sequence.
        """
        offsets = offsets_of(np.array([len(sequence) for sequence in sequences], dtype=np.int64))
        ids = np.fromiter(chain.from_iterable(sequences), dtype=np.int32, count=int(offsets[-1]))
        return cls(ids, offsets)

    def padded(
        self, rows: Sequence[int] | NDArray[np.int64], pad_id: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Collate some sequences into a rectangle.

        Args:
            rows: which sequences.
            pad_id: the tokenizer's padding id.

        Returns:
            Ids and attention mask, both (len(rows), longest), int64.
        """
        rows = np.asarray(rows, dtype=np.int64)
        lengths = np.diff(self.offsets)[rows]
        real = np.arange(lengths.max(initial=0)) < lengths[:, None]
        ids = np.full(real.shape, pad_id, dtype=np.int64)
        ids[real] = take_pieces(self.values, self.offsets, rows)
        return ids, real.astype(np.int64)

    @classmethod
    def from_disk(cls, path: Path) -> "RaggedTokens":
        """The files of a ``RaggedWriter``, memory-mapped."""
        return cls(np.load(path / "ids.npy", mmap_mode="r"), np.load(path / "offsets.npy", mmap_mode="r"))


@dataclass
class MentionWindows:
    """n mentions, each the pieces of a window from its start to its end.

    Attributes:
        windows: each is encoded once, however many mentions it has.
        spans: (n, 3) int64: number of the window, first piece, and end (exclusive); never empty. May be
            memory-mapped.
    """

    windows: RaggedTokens
    spans: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.spans)

    def __getitem__(self, mention: int) -> NDArray[np.int32]:
        return self.windows[self.spans[mention, 0]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(n,) pieces of each mention's window."""
        return self.windows.lengths[self.spans[:, 0]]

    def take(self, mentions: NDArray[np.int64]) -> "MentionWindows":
        """These mentions, in this order, and the windows they need, in memory."""
        spans = np.array(self.spans[mentions])
        used, spans[:, 0] = np.unique(spans[:, 0], return_inverse=True)
        return MentionWindows(self.windows.take(used), spans)

    @classmethod
    def concatenate(cls, parts: Sequence["MentionWindows"]) -> "MentionWindows":
        """The mentions of all parts, in order."""
        spans: list[NDArray[np.int64]] = [np.zeros((0, 3), dtype=np.int64)]
        n_windows = 0
        for part in parts:
            spans.append(part.spans + np.array([n_windows, 0, 0]))
            n_windows += len(part.windows)
        return cls(RaggedTokens.concatenate([part.windows for part in parts]), np.concatenate(spans))

    def by_window(self) -> Ragged:
        """The numbers of the mentions of each window."""
        order = np.argsort(self.spans[:, 0], kind="stable")
        bounds = np.searchsorted(self.spans[order, 0], np.arange(len(self.windows) + 1))
        return Ragged(order, bounds)


# of mentions: a sequence each, which markers divide, or shared windows
MentionTokens = RaggedTokens | MentionWindows


def window_numbers(tokens: MentionTokens) -> NDArray[np.int64]:
    """(n,) the window of each mention; one of its own where none are shared."""
    return tokens.spans[:, 0] if isinstance(tokens, MentionWindows) else np.arange(len(tokens))


def check_length(max_length: int) -> None:
    """Raises:
    PelError: if so few word pieces hold no text.
    """
    check_range("max_length", max_length, least=8)


def piece_lists(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Word pieces of plain texts, without special tokens, padding or truncation.

    Args:
        tokenizer: a Hugging Face tokenizer.
        texts: plain texts.

    Returns:
        Ids of each text; "[SEP]" in a text is treated as plain text.
    """
    return tokenizer(list(texts), **PLAIN)["input_ids"] if texts else []


def pieces_with_offsets(tokenizer: Any, texts: Sequence[str]) -> list[tuple[list[int], NDArray[np.int64]]]:
    """Word pieces of plain texts and where they are.

    Args:
        tokenizer: a Hugging Face tokenizer.
        texts: plain texts.

    Returns:
        Ids of each text, see ``piece_lists``, and (pieces, 2), the start and end of the
        characters of each piece.

    Raises:
        PelError: if the tokenizer gives no offsets.
    """
    if not texts:
        return []
    if not tokenizer.is_fast:
        raise PelError(Errors.E336.format(got=type(tokenizer).__name__))
    encoded = tokenizer(list(texts), **PLAIN_WITH_OFFSETS)
    offsets = [np.array(pairs, dtype=np.int64).reshape(-1, 2) for pairs in encoded["offset_mapping"]]
    return list(zip(encoded["input_ids"], offsets, strict=True))
