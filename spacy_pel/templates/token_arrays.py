"""Token sequences of different lengths in two arrays: tokenise once, keep arrays."""

from dataclasses import dataclass
from pathlib import Path
from typing import List, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from ..util.ragged import offsets_of, take_pieces

TokenIds = NDArray[np.int32]


@dataclass
class RaggedTokens:
    """Sequence i is ``ids[offsets[i]:offsets[i + 1]]``. The arrays may be memory-mapped.

    ids: (total,) int32, word-piece ids.
    offsets: (n + 1,) int64.
    """

    ids: TokenIds
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> TokenIds:
        return self.ids[self.offsets[row] : self.offsets[row + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """RETURNS (NDArray): (n,) number of word pieces of each sequence."""
        return np.diff(self.offsets)

    @classmethod
    def from_lists(cls, sequences: Sequence[Sequence[int]]) -> "RaggedTokens":
        """sequences (Sequence[Sequence[int]]): word-piece ids of each sequence."""
        offsets = np.zeros(len(sequences) + 1, dtype=np.int64)
        np.cumsum([len(sequence) for sequence in sequences], out=offsets[1:])
        ids = np.fromiter(
            (token for sequence in sequences for token in sequence), dtype=np.int32, count=int(offsets[-1])
        )
        return cls(ids, offsets)

    @classmethod
    def concatenate(cls, parts: Sequence["RaggedTokens"]) -> "RaggedTokens":
        """RETURNS (RaggedTokens): the sequences of all parts in order."""
        starts = np.cumsum([0] + [len(part.ids) for part in parts])
        offsets = [part.offsets[:-1] + start for part, start in zip(parts, starts, strict=False)]
        ids = [part.ids for part in parts] or [np.zeros(0, dtype=np.int32)]
        return cls(np.concatenate(ids), np.concatenate([*offsets, starts[-1:]]).astype(np.int64))

    def take(self, rows: NDArray[np.int64]) -> "RaggedTokens":
        """RETURNS (RaggedTokens): these sequences, in this order, in memory."""
        lengths = self.lengths[rows]
        return RaggedTokens(take_pieces(self.ids, self.offsets, rows), offsets_of(lengths))

    def padded(
        self, rows: Union[Sequence[int], NDArray[np.int64]], pad_id: int
    ) -> Tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Collate some sequences into a rectangle.

        rows (Sequence[int] or NDArray): which sequences.
        pad_id (int): the tokenizer's padding id.
        RETURNS (tuple): ids and attention mask, both (len(rows), longest), int64.
        """
        picked = [self[row] for row in rows]
        longest = max((len(sequence) for sequence in picked), default=0)
        ids = np.full((len(picked), longest), pad_id, dtype=np.int64)
        mask = np.zeros((len(picked), longest), dtype=np.int64)
        for i, sequence in enumerate(picked):
            ids[i, : len(sequence)] = sequence
            mask[i, : len(sequence)] = 1
        return ids, mask

    def to_disk(self, path: Path) -> None:
        """Write two .npy files into a folder."""
        path.mkdir(parents=True, exist_ok=True)
        np.save(path / "ids.npy", self.ids)
        np.save(path / "offsets.npy", self.offsets)

    @classmethod
    def from_disk(cls, path: Path) -> "RaggedTokens":
        """RETURNS (RaggedTokens): backed by memory-mapped files."""
        return cls(np.load(path / "ids.npy", mmap_mode="r"), np.load(path / "offsets.npy", mmap_mode="r"))


def piece_lists(tokenizer: object, texts: Sequence[str]) -> List[List[int]]:
    """Word pieces of plain texts, without special tokens, padding or truncation.

    tokenizer (PreTrainedTokenizerBase): a Hugging Face tokenizer.
    texts (Sequence[str]): plain texts.
    RETURNS (List[List[int]]): ids of each text; "[SEP]" in a text is treated as plain text.
    """
    if not texts:
        return []
    encoded = tokenizer(  # type: ignore[operator]
        list(texts),
        add_special_tokens=False,
        padding=False,
        truncation=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        split_special_tokens=True,
        verbose=False,
    )
    return encoded["input_ids"]
