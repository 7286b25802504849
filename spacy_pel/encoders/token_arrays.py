"""Token sequences of different lengths in two arrays, so that texts are tokenised only once."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..util.arrays import Ragged, offsets_of, take_pieces

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
